"""Models of a column: ``ulmus fit``, ``predict``, ``info`` and ``export``."""

import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.arguments import counted, figure
from ulmus.cli.printing import check_free, facts, note, stem_of, tell, watching, width
from ulmus.cli.reading import check_model, is_parquet, load_model, read_data, read_for
from ulmus.cli.results import Columns, check_result, plain_values, rounded, row_names, write_columns
from ulmus.estimators.elm import ELMClassifier, ELMRegressor
from ulmus.exceptions import InvalidInputError
from ulmus.exporting.onnx_maps import input_names
from ulmus.exporting.onnx_model import save_onnx
from ulmus.files import write_text
from ulmus.persistence import describe, save
from ulmus.tables import Table, TableModel, fit_table
from ulmus.tables.assessing import is_training, judge_by_folds, score_words
from ulmus.tables.header import each_once
from ulmus.typing import Rows

# Classes that `fit` names, and words of a list that `info` names.
_MOST_CLASSES, _MOST_WORDS = 10, 12
# Notes on single columns that `fit` prints.
_MOST_NOTES = 10
# Columns that `fit` and `info` name, those that matter most first.
_MOST_COLUMNS = 5
_TAKES = {
    "category": "text",
    "number": "number",
    "boolean": "1 or 0",
    "date": "days since 1970",
    "text": "text",
}
# Rows that are predicted between two movements of the bar.
_AT_ONCE = 50_000

Pairs = list[tuple[str, Any]]


# ---------------------------------------------------------------------- fit
def fit(options: Namespace) -> int:
    """Read, choose, fit, write; say what was chosen and how to go on."""
    path = options.model or f"{stem_of(options.data)}.ulmus"
    check_free(path, options.force)
    data = read_data(options)
    for name in dict.fromkeys(options.without):
        if name == options.target:
            raise InvalidInputError(f"--without {name}: that is the --target; leave one out.")
        data = data.without(name)
    with watching("Fitting", options.quiet, steps=9) as watch:
        model = fit_table(
            data,
            options.target,
            task=options.task,
            kinds=dict(options.kinds),
            unlabelled_blank=options.unlabelled_blank,
            seed=options.seed,
            watch=watch,
            verbose=int(not options.quiet and sys.stderr.isatty()),
        )
        judge_by_folds(model, data, watch)
    # With -v all.
    later = () if options.verbose else model.encoder.notes[_MOST_NOTES:]
    for sentence in model.summary["notes"]:
        if sentence not in later[1:]:
            more = f"{len(later)} more notes on single columns; -v prints them."
            note(more if sentence in later and later[1:] else sentence, options.quiet)
    for line in facts(model.encoder.decisions, width(sys.stderr)) if options.verbose else ():
        note(line, options.quiet)
    check_free(path, options.force)
    # Intervals and sets leave rows out: of hidden units at most 2000 rows and their sums are kept.
    save(model, path, for_update=isinstance(model.estimator, ELMClassifier | ELMRegressor))
    new = "FOLDER" if model.encoder.image_shape else "NEW.csv"
    command, size = shlex.join(["ulmus", "predict", path, new]), Path(path).stat().st_size
    again = shlex.join(["ulmus", "evaluate", path, options.data, "--folds", "5"])
    classes = None if model.classes is None else model.classes.tolist()
    words = f"{len(classes)} classes: {_some(classes, _MOST_CLASSES)}" if classes else "a number"
    found = {"model": path, "bytes": size, "target": model.target, "task": model.task}
    found = {**found, "classes": classes, **model.summary, "predict": command}
    pairs = [
        ("model", f"{path} ({_size_words(size)})"),
        ("target", f"{model.target}, {words}"),
        *_summary_words(model.summary, [("columns", f"{len(model.encoder.names)}")]),
        ("seconds", f"{model.summary['seconds']:.1f}"),
    ]
    what = (
        "images, in a folder" if model.encoder.image_shape else "rows, in a file with these columns"
    )
    last = [f"To predict new {what}:", f"  {command}"]
    if options.data != "-":
        last += ["To see where it is wrong, on rows that are left out:", f"  {again}"]
    return tell(options, found, *facts(pairs), *last)


# ---------------------------------------------------------------------- predict
def predict(options: Namespace) -> int:
    """Print a prediction a row, with the row's number and what else is asked for."""
    check_result(options.out, options.force)
    model = load_model(options.model)
    model.check_wishes(options.probabilities, options.interval)
    data = read_for(model, options)
    beside = _beside(model, data, options)
    X = model.matrix(data)
    found = _predicted(model, X, options)
    for sentence in (*data.notes, *model.encoder.met):
        note(sentence, options.quiet)
    names, values = zip(*beside, *found.items(), strict=True)
    once = each_once(list(names))
    columns: Columns = dict(zip(once, values, strict=True))
    own = slice(1, len(beside))  # the first are the rows' numbers
    origins = dict(zip(once[own], names[own], strict=True)) if is_parquet(options) else {}
    write_columns(options, columns, origins)
    told = f"{counted(len(data), 'prediction')} of {model.target!r}"
    result = {"target": model.target, "rows": len(data)}
    if options.out:
        return tell(options, {**result, "out": options.out}, f"{told}: {options.out}")
    _say_next(model, data, X, told, options)
    if not options.json:
        return 0
    if model.classes is not None:
        result["classes"] = model.classes.tolist()
    return tell(options, {**result, "columns": {n: plain_values(v) for n, v in columns.items()}})


def _beside(model: TableModel, data: Table, options: Namespace) -> list[tuple[str, np.ndarray]]:
    """What tells the rows apart: number or file, ids, and columns that are asked for."""
    ids = [name for name in model.encoder.ids(data) if name != model.target]
    wanted = [*ids, *options.keep]
    # Images are known by their file names; their pixels would only fill the file.
    names = data.names if options.append and not data.files else dict.fromkeys(wanted)
    return [row_names(data), *((name, data[name]) for name in names)]


def _predicted(model: TableModel, X: Rows, options: Namespace) -> Columns:
    """The predictions, and the probabilities or intervals that belong to them."""
    rows = X.shape[0]
    parts = [X[start : start + _AT_ONCE] for start in range(0, rows, _AT_ONCE)]
    blocks = []
    with watching("Predicting", options.quiet, steps=len(parts)) as step:
        for k, part in enumerate(parts):
            step(f"{min(k * _AT_ONCE, rows):,} of {counted(rows, 'row')}")
            blocks.append(model.columns(part, options.probabilities, options.interval))
    found = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    digits = 9 if model.classes is None else 6
    return {k: rounded(v, digits) if v.dtype.kind == "f" else v for k, v in found.items()}


def _say_next(model: TableModel, data: Table, X: Rows, told: str, options: Namespace) -> None:
    what, command = "it" if len(data) == 1 else "them", None
    text = f"--out FILE writes {what} to a file."
    if model.target in data.names and options.data != "-":
        text = "the file has that column too; to compare:"
        command = shlex.join(["ulmus", "evaluate", options.model, options.data])
        # Ten rows at least: five folds need them.
        if len(data) >= 10 and is_training(model, model.known_share(X)):
            text = "the model was fitted to these rows; to judge it by rows that it has not seen:"
            command += " --folds 5"
    note(f"{told}; {text}", options.quiet, command)


# ---------------------------------------------------------------------- info
def info(options: Namespace) -> int:
    """Print a model's kind, target, columns, choices and versions, without loading it."""
    check_free(options.card, options.force)
    check_model(options.model)
    found = describe(options.model)
    size = f"{_size_words(found['bytes'])}, format {found['version']}"
    of_table = found["class"] == "ulmus.tables.TableModel"
    pairs = _of_table(found["params"]) if of_table else _of_estimator(found)
    if options.card:
        if not of_table:
            raise InvalidInputError("--card: only models of `ulmus fit` have a card.")
        write_text(options.card, _card(stem_of(options.model), found["params"], pairs))
        return tell(options, {"card": options.card}, f"A model card: {options.card}")
    return tell(options, found, *facts([("file", f"{options.model} ({size})"), *pairs]))


def _of_table(parts: dict[str, Any]) -> Pairs:
    summary, encoder = parts["summary"], parts["encoder"]["params"]
    classes = parts["estimator"]["fitted"].get("classes_")
    kinds = encoder["kinds"] or ["number"] * len(encoder["names"])
    columns = [f"{name} ({kind})" for name, kind in zip(encoder["names"], kinds, strict=True)]
    return [
        ("task", parts["task"]),
        ("target", parts["target"]),
        ("classes", _some(classes) if isinstance(classes, list) else classes),
        ("columns", f"{len(columns)}: {_some(columns)}"),
        ("left out", _some(list(encoder["dropped"]))),
        *_summary_words(summary),
        ("fitted", f"{summary['fitted_at']} in {summary['seconds']:.1f} s, seed {summary['seed']}"),
        ("versions", ", ".join(f"{name} {v}" for name, v in summary["versions"].items())),
    ]


def _of_estimator(found: dict[str, Any]) -> Pairs:
    """A model of `ulmus.save`, from Python."""
    params = [f"{name}={value!r}" for name, value in found["params"].items() if value is not None]
    return [
        ("class", found["class"]),
        ("parameters", ", ".join(params)),
        ("fitted", _some(list(found["fitted"]))),
        ("versions", f"ulmus {found['ulmus']}, scikit-learn {found['scikit-learn']}"),
    ]


def _card(name: str, parts: dict[str, Any], pairs: Pairs) -> str:
    """A model card as Markdown, of a model's description and the facts that `info` prints."""
    summary, encoder = parts["summary"], parts["encoder"]["params"]
    kinds = encoder["kinds"] or ["number"] * len(encoder["names"])
    importances = summary["importances"]
    columns = [
        (column, kind, f"{importances[column]:.1%}" if column in importances else "")
        for column, kind in zip(encoder["names"], kinds, strict=True)
    ]
    headings = "column", "holds", "importance, or why it was left out"
    dropped = [(column, "left out", why) for column, why in encoder["dropped"].items()]
    target = _plain(parts["target"])
    what = "the class" if parts["task"] == "classification" else "the number"
    notes = [f"- {_plain(note)}" for note in summary["notes"]] or ["- None."]
    return "\n".join(
        [
            f"# {_plain(name)}: {target}",
            "",
            f"A model of Ulmus that predicts {what} {target} from the columns of a table.",
            "",
            *_markdown(("", ""), [pair for pair in pairs if pair[1] not in (None, "")]),
            "",
            "## Columns",
            "",
            *_markdown(headings, [*columns, *dropped]),
            "",
            "## How good it is",
            "",
            f"By {': '.join(score_words(summary))}. No score on "
            "rows of another time or place is known; `ulmus evaluate` gives one.",
            "",
            "## What was decided on the way",
            "",
            *notes,
            "",
        ]
    )


def _markdown(headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    lines = [headings, ("---",) * len(headings), *rows]
    return [f"| {' | '.join(_plain(cell) for cell in line)} |" for line in lines]


def _plain(cell: object) -> str:
    """Text that is no Markdown: names of columns and classes come from anybody's file."""
    text = " ".join(str(cell).split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|!" else char for char in text)


# ---------------------------------------------------------------------- export
def export(options: Namespace) -> int:
    """Write an ONNX file whose inputs are the table's columns."""
    path = options.onnx or f"{stem_of(options.model)}.onnx"
    check_free(path, options.force)
    model = load_model(options.model)
    encoder = model.encoder
    save_onnx(model, path)
    size, inputs = Path(path).stat().st_size, {"X": f"{encoder.width} numbers a row"}
    if not encoder.width:
        takes = (_TAKES[kind] for kind in encoder.kinds)
        inputs = dict(zip(input_names(encoder).values(), takes, strict=True))
    words = ", ".join(f"{name} ({kind})" for name, kind in inputs.items())
    lines = [*facts([("inputs", words)]), f"{options.model} as ONNX: {path} ({_size_words(size)})"]
    return tell(options, {"onnx": path, "bytes": size, "inputs": inputs}, *lines)


# ---------------------------------------------------------------------- words
def _size_words(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _some(words: list[Any], most: int = _MOST_WORDS) -> str:
    return ", ".join(map(str, words[:most])) + (", …" if len(words) > most else "")


def _summary_words(summary: dict[str, Any], more: Pairs | None = None) -> Pairs:
    """How many rows a model was fitted to, what was chosen, and how well it predicts them."""
    rows, chosen = f"{summary['rows']:,}", summary["chosen"]
    if summary["semi_supervised"]:
        rows += f", {summary['rows_with_target']:,} of them with a target"
    parts = [chosen["estimator"]]
    if "n_hidden" in chosen:
        parts.append(f"{chosen['n_hidden']} hidden units")
    if "gamma" in chosen:
        parts.append(f"{chosen['kernel']} kernel, gamma = {chosen['gamma']:.3g}")
    parts += [f"{name} = {figure(chosen[name], 3)}" for name in ("C", "lam") if name in chosen]
    pairs = [("rows", rows), *(more or []), ("chosen", ", ".join(parts)), score_words(summary)]
    shares = [*summary["importances"].items()][:_MOST_COLUMNS]
    told = ", ".join(f"{name} {share:.0%}" for name, share in shares if share >= 0.005)
    return [*pairs, ("importance", told)] if told else pairs
