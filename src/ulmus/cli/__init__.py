"""The command line: words and pages, no mathematics."""

import argparse
import sys

from ulmus.exceptions import UlmusError
from ulmus.version import __version__

__all__ = ["main"]


def main(arguments=None):
    """Run ``ulmus``; the exit status is 0, 1 for an error that was foreseen, 2 for usage.

    An interrupt from the keyboard gives 130, as shells have it.
    """
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (UlmusError, OSError) as error:
        print(f"ulmus: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ulmus: stopped", file=sys.stderr)
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog="ulmus", description="Extreme learning machines with scikit-learn's interface."
    )
    parser.add_argument("--version", action="version", version=f"ulmus {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="fit digits, print three tables, draw one picture")
    demo.add_argument(
        "--picture", default="ulmus-demo.png", help="where the picture goes (default: %(default)s)"
    )
    demo.set_defaults(run=_demo)
    _add_data(commands)
    _add_reproduce(commands)
    return parser


def _add_data(commands):
    data = commands.add_parser("data", help="list the data sets, or fetch their files")
    actions = data.add_subparsers(dest="action", required=True, metavar="ACTION")
    table = actions.add_parser("list", help="every data set, and where it would come from now")
    table.add_argument("--json", action="store_true", help="print JSON in place of a table")
    table.set_defaults(run=_list)
    files = actions.add_parser("fetch", help="put files into the cache, and print where they are")
    files.add_argument("names", nargs="+", metavar="NAME", help="as `ulmus data list` has it")
    files.add_argument("--cache", metavar="DIR", help="another cache than the usual one")
    files.set_defaults(run=_fetch)


def _add_reproduce(commands):
    tables = commands.add_parser(
        "reproduce",
        help="run the papers' tables and figures, and write a report",
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
    tables.add_argument("--seed", type=int, default=0, help="of splits and models (default: 0)")
    tables.add_argument(
        "--minutes", type=float, metavar="M", help="start nothing after so long, and report"
    )
    tables.set_defaults(run=_reproduce)


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _demo(options):
    # Imported here so that `ulmus --help` need not wait for scikit-learn.
    from ulmus.cli.demo import demo

    return demo(options.picture)


def _list(options):
    from ulmus.cli.data import list_datasets

    return list_datasets(options.json)


def _fetch(options):
    from ulmus.cli.data import fetch_files

    return fetch_files(options.names, options.cache)


def _reproduce(options):
    from ulmus.cli.reproduce import list_tables, reproduce

    if options.list:
        return list_tables()
    return reproduce(
        options.tables,
        options.out,
        quick=options.quick,
        jobs=options.jobs,
        seed=options.seed,
        minutes=options.minutes,
    )
