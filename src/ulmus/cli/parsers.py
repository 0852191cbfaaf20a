"""The commands and their options. Nothing heavy is imported until a command runs."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ulmus.version import __version__

__all__ = ["parser"]

_EXAMPLES = """\
three commands, from a file to a picture:
  ulmus fit flowers.csv --target kind
  ulmus predict flowers.ulmus new.csv
  ulmus embed flowers.csv --plot --color kind
"""

# argparse's add_argument, and what calls it for some arguments.
Add = Callable[..., Any]
Arguments = Callable[[Add], None]


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="ulmus",
        description="Extreme learning machines: fit, predict, cluster and draw tables.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"ulmus {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (words, *arguments) in _COMMANDS.items():
        _command(commands, name, f"{name}.{name}", words, *arguments)
    data = commands.add_parser("data", help="list the papers' data sets, or fetch their files")
    actions = data.add_subparsers(dest="action", required=True, metavar="ACTION")
    words = "list every data set, and where it would come from now"
    _command(actions, "list", "papers.list_datasets", words)
    words = "put files into the cache, and print where they are"
    _command(actions, "fetch", "papers.fetch_files", words, _fetch)
    words = "run the papers' tables and figures that the folder lacks, and write a report"
    _command(commands, "reproduce", "papers.reproduce", words, _reproduce, _SEED)
    return top


def _command(commands: Any, name: str, place: str, words: str, *arguments: Arguments) -> None:
    """A command that is run by the function at ``place``, module and name below `ulmus.cli`."""
    command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    for some in arguments:
        some(command.add_argument)
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.add_argument("--quiet", action="store_true", help="neither notes nor progress")
    command.set_defaults(run=lambda options: _run(place, options))


def _run(place: str, options: argparse.Namespace) -> int:
    module, function = place.split(".")
    command = getattr(import_module(f"ulmus.cli.{module}"), function)
    # Now that the libraries are loaded whose threads are limited.
    with import_module("ulmus.backends.threads").held_threads():
        return int(command(options))


# ---------------------------------------------------------------------- each command's own
def _fit(add: Add) -> None:
    add("--target", metavar="NAME", help="the column to learn; npz, svmlight and images have one")
    add("--model", metavar="FILE", help="where the model goes (default: DATA's name, .ulmus)")
    tasks = ("auto", "classification", "regression")
    words = "auto: classification for words and for few whole numbers, else regression"
    add("--task", choices=tasks, default="auto", help=words)
    words = "learn from rows with a blank target too, even if they are few"
    add("--unlabelled-blank", action="store_true", help=words)


def _predict(add: Add) -> None:
    add("--proba", action="store_true", help="a probability for each class too")
    words = "write text that a spreadsheet would take for a formula as it is"
    add("--raw", action="store_true", help=words)


def _cluster(add: Add) -> None:
    add("-k", "--clusters", type=_positive, required=True, metavar="K", help="how many clusters")
    methods = ("auto", "spectral", "kmeans")
    words = "auto: spectral up to 10,000 rows, else k-means"
    add("--method", choices=methods, default="auto", help=words)
    add("--compare", metavar="NAME", help="a column to leave out, and to compare the clusters with")


def _embed(add: Add) -> None:
    add("--dims", type=_positive, default=2, metavar="N", help="dimensions (default: 2)")
    words = "draw the map (default: DATA's name, -map.png)"
    add("--plot", nargs="?", const="", metavar="PICTURE", help=words)
    add("--color", metavar="NAME", help="a column to leave out, and to colour the picture by")


def _export(add: Add) -> None:
    words = "as ONNX (default: MODEL's name, .onnx)"
    add("--onnx", nargs="?", const="", required=True, metavar="FILE", help=words)


def _bench(add: Add) -> None:
    add("--rows", type=_positive, default=10_000, help="(default: %(default)s)")
    add("--units", type=_positive, default=1000, help="(default: %(default)s)")


def _demo(add: Add) -> None:
    words = "where the picture goes (default: %(default)s)"
    add("--picture", default="ulmus-demo.png", help=words)


def _fetch(add: Add) -> None:
    add("names", nargs="+", metavar="NAME", help="as `ulmus data list` has it")


def _reproduce(add: Add) -> None:
    add("tables", nargs="*", metavar="TABLE", help="such as 0-table-2, or 2 for a whole paper")
    add("--list", action="store_true", help="print the tables there are, and stop")
    add("--quick", action="store_true", help="few repetitions, ten minutes in place of a day")
    add("--out", default="ulmus-report", metavar="DIR", help="where (default: %(default)s)")
    add("--jobs", type=_positive, metavar="N", help="processes (default: cores)")
    add("--minutes", type=float, metavar="M", help="start nothing after so long, and report")


# ---------------------------------------------------------------------- shared by several
def _data(add: Add) -> None:
    words = "CSV, TSV, Parquet, npz, svmlight, a folder of images, or - for CSV on standard input"
    add("data", metavar="DATA", help=words)
    kinds = ("csv", "tsv", "txt", "parquet", "npz", "svmlight", "images")
    add("--kind", choices=kinds, help="what DATA is, where its name does not say")
    add("--encoding", metavar="NAME", help="encoding of DATA, where it is text (default: found)")
    add("--delimiter", metavar="CHAR", help="separates the fields of DATA (default: found)")


def _option(*names: str, **how: Any) -> Arguments:
    return lambda add: add(*names, **how)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _seed(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError("must be from 0 to 4294967295")
    return number


_MODEL = _option("model", metavar="MODEL", help="a file that `ulmus fit` wrote")
_OUT = _option("--out", metavar="FILE", help="write the CSV here, not to standard output")
_FORCE = _option("--force", action="store_true", help="replace files that are there")
_SEED = _option("--seed", type=_seed, default=0, help="of all that is random (default: 0)")
_WITHOUT = _option(
    "--without",
    action="append",
    default=[],
    metavar="NAME",
    help="a column to leave out; repeatable",
)

# What each command does, and its arguments.
_COMMANDS: dict[str, tuple[Any, ...]] = {
    "fit": ("learn a column of a table, and write a model", _data, _fit, _SEED, _FORCE),
    "predict": ("predict the rows of a table, as CSV", _MODEL, _data, _predict, _OUT, _FORCE),
    "evaluate": ("compare predictions with a table that has the target", _MODEL, _data),
    "cluster": (
        "put the rows of a table into clusters, as CSV",
        _data, _cluster, _WITHOUT, _OUT, _SEED, _FORCE,
    ),
    "embed": (
        "put the rows of a table on a map, as CSV or a picture",
        _data, _embed, _WITHOUT, _OUT, _SEED, _FORCE,
    ),
    "export": ("write a model for other programs", _MODEL, _export, _FORCE),
    "info": ("say what a model file holds", _MODEL),
    "bench": ("time this machine, a few seconds", _bench, _SEED),
    "demo": ("fit digits, print three tables, draw one picture", _demo, _FORCE),
}  # fmt: skip
