"""The command line: words and pages, no mathematics."""

import argparse
import sys

from ulmus.exceptions import UlmusError
from ulmus.version import __version__

__all__ = ["main"]


def main(arguments=None):
    """Run ``ulmus``; the exit status is 0, 1 for an error that was foreseen, 2 for usage."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (UlmusError, OSError) as error:
        print(f"ulmus: {error}", file=sys.stderr)
        return 1


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
    return parser


def _demo(options):
    # Imported here so that `ulmus --help` need not wait for scikit-learn.
    from ulmus.cli.demo import demo

    return demo(options.picture)
