"""The commands of ``ulmus`` and their options, as data that `parser` reads."""

import argparse
import csv
from collections.abc import Callable
from typing import Any


def _between(kind: type, low: float, high: float, words: str) -> Callable[[str], Any]:
    """What reads a number of a range; ``words`` say which numbers are meant."""

    def read(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise argparse.ArgumentTypeError(f"must be {words}")
        return number

    return read


_INFINITE, _LEAST = float("inf"), 1e-9
_positive = _between(int, 1, _INFINITE, "1 or more")
_several = _between(int, 2, _INFINITE, "2 or more")
_percent = _between(float, 1, 100 - _LEAST, "between 0 and 100, in per cent, such as 90")
_share = _between(float, _LEAST, 1 - _LEAST, "between 0 and 1, such as 0.2")
_seed = _between(int, 0, 2**32 - 1, "from 0 to 4294967295")
_port = _between(int, 0, 2**16 - 1, "from 0 to 65535")
_clusters = _between(int, 1, _INFINITE, "1 or more, or auto")
_row = _between(int, 1, _INFINITE, "numbers of rows from 1 on, such as 1,5")


def _column_kind(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if not name or kind not in _COLUMN_KINDS:
        kinds = ", ".join(_COLUMN_KINDS)
        raise argparse.ArgumentTypeError(f"must be COLUMN=KIND, with a KIND of {kinds}")
    return name, kind


def _names(text: str) -> list[str]:
    """Names between commas; one that has a comma itself is in quotes, as in CSV."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in names if name.strip()]


EXAMPLES = """\
three commands, from a file to a picture:
  ulmus fit flowers.csv --target kind
  ulmus predict flowers.ulmus new.csv
  ulmus embed flowers.csv --plot --color kind
"""
_DATA = "data DATA, --kind, --encoding NAME, --delimiter CHAR, --header, --skip-bad-lines"
# The function that runs each command, what it does, and its options.
COMMANDS = {
    "fit": (
        "ulmus.cli.supervised.fit",
        "learn a column of a table, and write a model",
        f"{_DATA}, --target NAME, --without NAMES, --as COLUMN=KIND, --model FILE, --task, "
        "--unlabelled-blank, --seed, --force, -v/--verbose",
    ),
    "predict": (
        "ulmus.cli.supervised.predict",
        "predict the rows of a table, as CSV, JSON lines or Parquet",
        f"model MODEL, {_DATA}, --keep NAMES, --append, --probabilities, --interval PERCENT, "
        "--raw, --out FILE, --force",
    ),
    "evaluate": (
        "ulmus.cli.evaluating.evaluate",
        "compare predictions with a table that has the target",
        f"model MODEL, {_DATA}, --holdout SHARE, --folds K, --time NAME, --group NAME, "
        "--report PAGE, --seed, --force",
    ),
    "explain": (
        "ulmus.cli.evaluating.explain",
        "say which columns a model goes by, and why it predicts what it does",
        f"model MODEL, {_DATA}, --rows NUMBERS, --seed",
    ),
    "cluster": (
        "ulmus.cli.unlabelled.cluster",
        "put the rows of a table into clusters, as CSV",
        f"{_DATA}, -k/--clusters K, --method, --compare NAME, --without NAMES, --out FILE, --seed, "
        "--force",
    ),
    "embed": (
        "ulmus.cli.unlabelled.embed",
        "put the rows of a table on a map, as CSV or a picture",
        f"{_DATA}, --dims N, --plot PICTURE, --color NAME, --without NAMES, --out FILE, --seed, "
        "--force",
    ),
    "label": (
        "ulmus.app.commands.label",
        "label rows on a page in the browser, a few clicks for all",
        f"{_DATA}, --target LABELS, --without NAMES, --image-shape HxW, --journal FILE, --port N, "
        "--no-open, --seed",
    ),
    "serve": (
        "ulmus.app.commands.serve",
        "answer requests for predictions over HTTP",
        "model MODEL, --host ADDRESS, --port N",
    ),
    "export": (
        "ulmus.cli.supervised.export",
        "write a model for other programs",
        "model MODEL, --onnx FILE, --force",
    ),
    "info": (
        "ulmus.cli.supervised.info",
        "say what a model file holds, or write a model card",
        "model MODEL, --card FILE, --force",
    ),
    "bench": (
        "ulmus.cli.bench.bench",
        "time this machine, a few seconds",
        "--rows, --units, --seed",
    ),
    "demo": (
        "ulmus.cli.demo.demo",
        "few labels, a table and a stream beside rivals, and one picture",
        "--picture, --force",
    ),
    "data list": (
        "papers.datasets.command.list_datasets",
        "list every data set, and where it would come from now",
        "",
    ),
    "data fetch": (
        "papers.datasets.command.fetch_files",
        "put files into the cache, and print where they are",
        "names NAME",
    ),
    "reproduce": (
        "papers.command.reproduce",
        "run the papers' tables and figures that the folder lacks, and write a report",
        "tables TABLE, --list, --quick, --out DIR, --jobs N, --minutes M, --seed",
    ),
}
_KINDS = ("csv", "tsv", "txt", "jsonl", "parquet", "npz", "svmlight", "images")
_SOURCES = "CSV, TSV, JSON lines, Parquet, npz, svmlight, a folder of images, or - for CSV as input"
_COLUMN_KINDS = ("number", "boolean", "date", "category", "text")
_TASKS = ("auto", "classification", "regression")
_GUESS = "auto: classification for words and for few whole numbers, else regression"
_METHODS = "auto: spectral up to 10,000 rows, else k-means"
_YES = {"action": "store_true"}
_MAYBE = {"nargs": "?", "const": ""}
# What argparse is told of each option, under its name and the word for its value.
OPTIONS: dict[str, dict[str, Any]] = {
    "data DATA": {"help": _SOURCES},
    "--kind": {"choices": _KINDS, "help": "what DATA is, where its name does not say"},
    "--encoding NAME": {"help": "encoding of DATA, where it is text (default: found)"},
    "--delimiter CHAR": {"help": "separates the fields of DATA (default: found)"},
    "model MODEL": {"help": "a file that `ulmus fit` wrote"},
    "--target NAME": {"help": "the column to learn; npz, svmlight and images have one"},
    "--model FILE": {"help": "where the model goes (default: DATA's name, .ulmus)"},
    "--task": {"choices": _TASKS, "default": "auto", "help": _GUESS},
    "--without NAMES": {
        "type": _names,
        "action": "extend",
        "default": [],
        "help": "columns to leave out, such as a,b or '\"a, b\",c'; repeatable",
    },
    "--as COLUMN=KIND": {
        "type": _column_kind,
        "action": "append",
        "default": [],
        "dest": "kinds",
        "help": "what a column holds: number, boolean, date, category or text; repeatable",
    },
    "-v/--verbose": {"help": "say what became of each column, and all notes", **_YES},
    "--unlabelled-blank": {"help": "learn from rows with a blank target, even if few", **_YES},
    "--header": {
        "action": argparse.BooleanOptionalAction,
        "help": "whether the first row of DATA has the columns' names (default: found)",
    },
    "--skip-bad-lines": {"help": "leave out rows with too many or too few fields", **_YES},
    "--keep NAMES": {
        "type": _names,
        "default": [],
        "help": "columns of DATA to write too, such as a,b",
    },
    "--append": {"help": "write all columns of DATA, and the predictions after them", **_YES},
    "--probabilities": {"help": "a probability for each class, not only the predicted one", **_YES},
    "--interval PERCENT": {
        "type": _percent,
        "help": "the interval or the set of classes that holds so many of a hundred new rows",
    },
    "--holdout SHARE": {
        "type": _share,
        "help": "fit again without this share of DATA, such as 0.2, and judge by it",
    },
    "--folds K": {"type": _several, "help": "fit again without each of K parts of DATA, such as 5"},
    "--time NAME": {"help": "a column of dates or numbers: the later rows are held out"},
    "--group NAME": {"help": "a column: rows with the same value are held out together"},
    "--report PAGE": {
        "help": "write a page of HTML: baselines, calibration, importance, worst rows and slices"
    },
    "--raw": {"help": "write text that a spreadsheet would take for a formula as it is", **_YES},
    "-k/--clusters K": {
        "type": lambda text: text if text == "auto" else _clusters(text),
        "required": True,
        "help": "how many clusters, or auto: the number on which clusterings agree most",
    },
    "--method": {"choices": ("auto", "spectral", "kmeans"), "default": "auto", "help": _METHODS},
    "--compare NAME": {"help": "a column to leave out, and to compare the clusters with"},
    "--dims N": {"type": _positive, "help": "so many of US-ELM's own (default: a layout in 2)"},
    "--plot PICTURE": {"help": "draw it; .html shows rows (default: DATA-map.png)", **_MAYBE},
    "--color NAME": {"help": "a column to leave out, and to colour the picture by"},
    "--target LABELS": {"help": "the column of labels that some rows have already"},
    "--image-shape HxW": {"help": "columns are the pixels of images of this size, such as 28x28"},
    "--journal FILE": {"help": "where labels are kept (default: DATA's name, .labels.jsonl)"},
    "--port N": {"type": _port, "default": 0, "help": "of the page (default: any that is free)"},
    "--host ADDRESS": {
        "default": "127.0.0.1",
        "help": "address to listen at (default: %(default)s, this machine alone)",
    },
    "--no-open": {"help": "print the page's address, and open no browser", **_YES},
    "--out FILE": {
        "type": lambda text: None if text == "-" else text,
        "help": "write here (.csv, .tsv, .jsonl, .parquet), not to standard output",
    },
    "--card FILE": {"help": "write a model card here, as Markdown"},
    "--onnx FILE": {"help": "as ONNX (default: MODEL's name, .onnx)", "required": True, **_MAYBE},
    "--rows NUMBERS": {
        "type": lambda text: [_row(part) for part in text.split(",")],
        "default": [],
        "dest": "rows_wanted",
        "help": "rows to give reasons for, such as 1,5, counted below the header",
    },
    "--rows": {"type": _positive, "default": 10_000, "help": "(default: %(default)s)"},
    "--units": {"type": _positive, "default": 1000, "help": "(default: %(default)s)"},
    "--picture": {"help": "where it goes (default: %(default)s)", "default": "ulmus-demo.png"},
    "names NAME": {"nargs": "+", "help": "as `ulmus data list` has it"},
    "tables TABLE": {"nargs": "*", "help": "such as 0-table-2, or 2 for a whole paper"},
    "--list": {"help": "print the tables there are, and stop", **_YES},
    "--quick": {"help": "few repetitions, ten minutes in place of a day", **_YES},
    "--out DIR": {"help": "where (default: %(default)s)", "default": "ulmus-report"},
    "--jobs N": {"type": _positive, "help": "processes (default: cores)"},
    "--minutes M": {
        "type": _between(float, 0, _INFINITE, "a number"),
        "help": "start nothing after so long, and report",
    },
    "--seed": {"type": _seed, "default": 0, "help": "of all that is random (default: 0)"},
    "--force": {"help": "replace files that are there", **_YES},
    "--json": {"help": "print the result as JSON", **_YES},
    "--quiet": {"help": "neither notes nor progress", **_YES},
}
