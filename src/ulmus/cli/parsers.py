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

Add = Callable[..., Any]


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
    for name, (words, arguments) in _COMMANDS.items():
        _command(commands, name, f"{name}.{name}", words, arguments)
    data = commands.add_parser("data", help="list the papers' data sets, or fetch their files")
    actions = data.add_subparsers(dest="action", required=True, metavar="ACTION")
    words = "list every data set, and where it would come from now"
    _command(actions, "list", "papers.list_datasets", words)
    words = "put files into the cache, and print where they are"
    _command(actions, "fetch", "papers.fetch_files", words, _fetch)
    words = "run the papers' tables and figures that the folder lacks, and write a report"
    _command(commands, "reproduce", "papers.reproduce", words, _reproduce)
    return top


def _command(
    commands: Any, name: str, place: str, words: str, arguments: Callable[[Add], None] | None = None
) -> None:
    """A command that is run by the function at ``place``, module and name below `ulmus.cli`."""
    command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    if arguments:
        arguments(command.add_argument)
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.add_argument("--quiet", action="store_true", help="neither notes nor progress")
    command.set_defaults(run=lambda options: _run(place, options))


def _run(place: str, options: argparse.Namespace) -> int:
    module, function = place.split(".")
    command: Callable[[argparse.Namespace], int] = getattr(
        import_module(f"ulmus.cli.{module}"), function
    )
    # Now that the libraries are loaded whose threads are limited.
    with import_module("ulmus.backends.threads").held_threads():
        return command(options)


# ---------------------------------------------------------------------- each command's own
def _fit(add: Add) -> None:
    _data(add)
    add("--target", metavar="NAME", help="the column to learn; npz, svmlight and images have one")
    add("--model", metavar="FILE", help="where the model goes (default: DATA's name, .ulmus)")
    tasks = ("auto", "classification", "regression")
    words = "auto: classification for words and for few whole numbers, else regression"
    add("--task", choices=tasks, default="auto", help=words)
    words = "learn from rows with a blank target too, even if they are few"
    add("--unlabelled-blank", action="store_true", help=words)
    _seed(add)
    _force(add)


def _predict(add: Add) -> None:
    _model(add)
    _data(add)
    add("--proba", action="store_true", help="a probability for each class too")
    words = "write text that a spreadsheet would take for a formula as it is"
    add("--raw", action="store_true", help=words)
    _out(add)
    _force(add)


def _evaluate(add: Add) -> None:
    _model(add)
    _data(add)


def _cluster(add: Add) -> None:
    _data(add)
    add("-k", "--clusters", type=_positive, required=True, metavar="K", help="how many clusters")
    methods = ("auto", "spectral", "kmeans")
    words = "auto: spectral up to 10,000 rows, else k-means"
    add("--method", choices=methods, default="auto", help=words)
    add("--compare", metavar="NAME", help="a column to leave out, and to compare the clusters with")
    _without(add)
    _out(add)
    _seed(add)
    _force(add)


def _embed(add: Add) -> None:
    _data(add)
    add("--dims", type=_positive, default=2, metavar="N", help="dimensions (default: 2)")
    words = "draw the map (default: DATA's name, -map.png)"
    add("--plot", nargs="?", const="", metavar="PICTURE", help=words)
    add("--color", metavar="NAME", help="a column to leave out, and to colour the picture by")
    _without(add)
    _out(add)
    _seed(add)
    _force(add)


def _export(add: Add) -> None:
    _model(add)
    words = "as ONNX (default: MODEL's name, .onnx)"
    add("--onnx", nargs="?", const="", required=True, metavar="FILE", help=words)
    _force(add)


def _bench(add: Add) -> None:
    add("--rows", type=_positive, default=10_000, help="(default: %(default)s)")
    add("--units", type=_positive, default=1000, help="(default: %(default)s)")
    _seed(add)


def _demo(add: Add) -> None:
    words = "where the picture goes (default: %(default)s)"
    add("--picture", default="ulmus-demo.png", help=words)
    _force(add)


def _fetch(add: Add) -> None:
    add("names", nargs="+", metavar="NAME", help="as `ulmus data list` has it")


def _reproduce(add: Add) -> None:
    add("tables", nargs="*", metavar="TABLE", help="such as 0-table-2, or 2 for a whole paper")
    add("--list", action="store_true", help="print the tables there are, and stop")
    add("--quick", action="store_true", help="few repetitions, ten minutes in place of a day")
    add("--out", default="ulmus-report", metavar="DIR", help="where (default: %(default)s)")
    add("--jobs", type=_positive, metavar="N", help="processes (default: cores)")
    _seed(add)
    add("--minutes", type=float, metavar="M", help="start nothing after so long, and report")


_COMMANDS: dict[str, tuple[str, Callable[[Add], None]]] = {
    "fit": ("learn a column of a table, and write a model", _fit),
    "predict": ("predict the rows of a table, as CSV", _predict),
    "evaluate": ("compare predictions with a table that has the target", _evaluate),
    "cluster": ("put the rows of a table into clusters, as CSV", _cluster),
    "embed": ("put the rows of a table on a map, as CSV or a picture", _embed),
    "export": ("write a model for other programs", _export),
    "info": ("say what a model file holds", lambda add: _model(add)),
    "bench": ("time this machine, a few seconds", _bench),
    "demo": ("fit digits, print three tables, draw one picture", _demo),
}


# ---------------------------------------------------------------------- shared by several
def _data(add: Add) -> None:
    words = "CSV, TSV, Parquet, npz, svmlight, a folder of images, or - for CSV on standard input"
    add("data", metavar="DATA", help=words)
    kinds = ("csv", "tsv", "txt", "parquet", "npz", "svmlight", "images")
    add("--kind", choices=kinds, help="what DATA is, where its name does not say")
    add("--encoding", metavar="NAME", help="encoding of DATA, where it is text (default: found)")
    add("--delimiter", metavar="CHAR", help="separates the fields of DATA (default: found)")


def _model(add: Add) -> None:
    add("model", metavar="MODEL", help="a file that `ulmus fit` wrote")


def _without(add: Add) -> None:
    words = "a column to leave out; may be given several times"
    add("--without", action="append", default=[], metavar="NAME", help=words)


def _out(add: Add) -> None:
    add("--out", metavar="FILE", help="write the CSV here, not to standard output")


def _force(add: Add) -> None:
    add("--force", action="store_true", help="replace files that are there")


def _seed(add: Add) -> None:
    add("--seed", type=_seed_number, default=0, help="of all that is random (default: 0)")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _seed_number(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError("must be from 0 to 4294967295")
    return number
