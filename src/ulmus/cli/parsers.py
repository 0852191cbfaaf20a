"""The commands and their options. Nothing heavy is imported until a command runs."""

import argparse
from importlib import import_module

from ulmus.version import __version__

__all__ = ["parser"]

_EXAMPLES = """\
three commands, from a file to a picture:
  ulmus fit flowers.csv --target kind
  ulmus predict flowers.ulmus new.csv
  ulmus embed flowers.csv --plot --color kind
"""


def parser():
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="ulmus",
        description="Extreme learning machines: fit, predict, cluster and draw tables.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"ulmus {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_fit, _predict, _evaluate, _cluster, _embed, _export, _info, _bench):
        add(commands)
    for add in (_demo, _data, _reproduce):
        add(commands)
    return top


# ---------------------------------------------------------------------- models
def _fit(commands):
    command = _command(commands, "fit", "learn a column of a table, and write a model")
    _reads_data(command)
    command.add_argument(
        "--target", metavar="NAME", help="the column to learn; npz, svmlight and images have one"
    )
    command.add_argument(
        "--model", metavar="FILE", help="where the model goes (default: DATA's name, .ulmus)"
    )
    command.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="auto: classification for words and for few whole numbers, else regression",
    )
    command.add_argument(
        "--unlabelled-blank",
        action="store_true",
        help="learn from rows with a blank target too, even if they are few",
    )
    _seeded(command)
    _writes(command)


def _predict(commands):
    command = _command(commands, "predict", "predict the rows of a table, as CSV")
    _reads_model(command)
    _reads_data(command)
    command.add_argument("--proba", action="store_true", help="a probability for each class too")
    command.add_argument(
        "--raw", action="store_true", help="leave text as it is that a spreadsheet may work out"
    )
    _out(command)
    _writes(command)


def _evaluate(commands):
    command = _command(commands, "evaluate", "hold predictions against a table that has the target")
    _reads_model(command)
    _reads_data(command)


def _export(commands):
    command = _command(commands, "export", "write a model for other programs")
    _reads_model(command)
    command.add_argument(
        "--onnx",
        nargs="?",
        const="",
        required=True,
        metavar="FILE",
        help="as ONNX (default: MODEL's name, .onnx)",
    )
    _writes(command)


def _info(commands):
    _reads_model(_command(commands, "info", "say what a model file holds"))


# ---------------------------------------------------------------------- no target
def _cluster(commands):
    command = _command(commands, "cluster", "put the rows of a table into clusters, as CSV")
    _reads_data(command)
    command.add_argument(
        "-k", "--clusters", type=_positive, required=True, metavar="K", help="how many clusters"
    )
    command.add_argument(
        "--method",
        choices=("auto", "spectral", "kmeans"),
        default="auto",
        help="auto: spectral up to 10,000 rows, else k-means",
    )
    command.add_argument(
        "--compare", metavar="NAME", help="a column that is left out, and compared with"
    )
    _without(command)
    _out(command)
    _seeded(command)
    _writes(command)


def _embed(commands):
    command = _command(commands, "embed", "put the rows of a table on a map, as CSV or a picture")
    _reads_data(command)
    command.add_argument(
        "--dims", type=_positive, default=2, metavar="N", help="of the map (default: 2)"
    )
    command.add_argument(
        "--plot",
        nargs="?",
        const="",
        metavar="PICTURE",
        help="draw the map (default: DATA's name, -map.png)",
    )
    command.add_argument(
        "--color", metavar="NAME", help="a column that is left out, and that colours the picture"
    )
    _without(command)
    _out(command)
    _seeded(command)
    _writes(command)


# ---------------------------------------------------------------------- the rest
def _bench(commands):
    command = _command(commands, "bench", "time this machine, a few seconds")
    command.add_argument("--rows", type=_positive, default=10_000, help="(default: %(default)s)")
    command.add_argument("--units", type=_positive, default=1000, help="(default: %(default)s)")
    _seeded(command)


def _demo(commands):
    command = _command(commands, "demo", "fit digits, print three tables, draw one picture")
    command.add_argument(
        "--picture", default="ulmus-demo.png", help="where the picture goes (default: %(default)s)"
    )
    _writes(command)


def _data(commands):
    data = commands.add_parser("data", help="list the papers' data sets, or fetch their files")
    actions = data.add_subparsers(dest="action", required=True, metavar="ACTION")
    words = "every data set, and where it would come from now"
    _command(actions, "list", words, "papers.list_datasets")
    words = "put files into the cache, and print where they are"
    files = _command(actions, "fetch", words, "papers.fetch_files")
    files.add_argument("names", nargs="+", metavar="NAME", help="as `ulmus data list` has it")


def _reproduce(commands):
    tables = _command(
        commands,
        "reproduce",
        "run the papers' tables and figures, and write a report",
        "papers.reproduce",
        description="Run the papers' tables and figures, and write a report. What the folder "
        "already has is not run again, so a run that was stopped goes on where it was.",
    )
    tables.add_argument(
        "tables", nargs="*", metavar="TABLE", help="such as 0-table-2, or 2 for a whole paper"
    )
    tables.add_argument("--list", action="store_true", help="print the tables there are, and stop")
    tables.add_argument(
        "--quick", action="store_true", help="few repetitions, ten minutes in place of a day"
    )
    tables.add_argument(
        "--out", default="ulmus-report", metavar="DIR", help="where (default: %(default)s)"
    )
    tables.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: cores)")
    _seeded(tables)
    tables.add_argument(
        "--minutes", type=float, metavar="M", help="start nothing after so long, and report"
    )


# ---------------------------------------------------------------------- options of several
def _command(commands, name, words, run=None, description=None):
    """A command, run by the function of its name in the module of its name."""
    about = description or f"{words[0].upper()}{words[1:]}."
    command = commands.add_parser(name, help=words, description=about)
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.add_argument("--quiet", action="store_true", help="neither notes nor progress")
    command.set_defaults(run=_Runner(run or f"{name}.{name}"))
    return command


class _Runner:
    """Imports a command's module when the command is run, and not before."""

    def __init__(self, place):
        self.place = place

    def __call__(self, options):
        module, function = self.place.split(".")
        command = getattr(import_module(f"ulmus.cli.{module}"), function)
        # Now that the libraries are loaded whose threads are to be held.
        with import_module("ulmus.backends.threads").held_threads():
            return command(options)


def _reads_data(command):
    command.add_argument(
        "data",
        metavar="DATA",
        help="CSV, TSV, Parquet, npz, svmlight, a folder of images, or - for CSV on standard input",
    )
    group = command.add_argument_group("how DATA is read")
    group.add_argument(
        "--kind",
        choices=("csv", "tsv", "txt", "parquet", "npz", "svmlight", "images"),
        help="what DATA is, where its name does not say",
    )
    group.add_argument("--encoding", metavar="NAME", help="of text (default: found)")
    group.add_argument("--delimiter", metavar="CHAR", help="between fields (default: found)")


def _reads_model(command):
    command.add_argument("model", metavar="MODEL", help="a file that `ulmus fit` wrote")


def _without(command):
    command.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="NAME",
        help="a column to leave out; may be given several times",
    )


def _out(command):
    command.add_argument("--out", metavar="FILE", help="write the CSV here, not to standard output")


def _writes(command):
    command.add_argument("--force", action="store_true", help="replace files that are there")


def _seeded(command):
    command.add_argument("--seed", type=_seed, default=0, help="of all that is random (default: 0)")


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _seed(text):
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError("must be from 0 to 4294967295")
    return number
