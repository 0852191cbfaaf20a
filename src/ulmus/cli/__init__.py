"""The command ``ulmus``: its arguments, and what it says of errors.

A command's module, and with it NumPy, is imported when the command runs: no help waits for it.
"""

import argparse
import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import ulmus
from ulmus.cli.options import COMMANDS, EXAMPLES, OPTIONS
from ulmus.cli.printing import note
from ulmus.commanded import commanded
from ulmus.exceptions import MissingExtraError, UlmusError
from ulmus.version import __version__

__all__ = ["interruptible", "main", "parser"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``ulmus``; the exit status is 0, 1 for an error that was foreseen, 2 for usage.

    An interrupt gives 130, and a closed pipe 141, as in shells.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the locale: files are in UTF-8 too
    options = parser().parse_args(arguments)
    with warnings.catch_warnings(), interruptible(), commanded():
        _warn_in_sentences(options.quiet)
        try:
            status: int = options.run(options)
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            # What is still to be written goes nowhere, so that leaving raises nothing either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except UlmusError as error:
            note(f"ulmus: {error}")
        except OSError as error:
            note(f"ulmus: {_cause(error)}")
        except MemoryError:
            note("ulmus: There is not enough memory for this; try fewer rows or columns.")
        except KeyboardInterrupt:
            note("ulmus: stopped")
            return 130
    return 1


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT, also where the process began with it ignored.

    A script ignores it for what it starts in the background (``nohup ulmus reproduce &``), and
    Python leaves that as it is, so that only a kill would stop the command.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _warn_in_sentences(quiet: bool) -> None:
    """Warnings become notes, each once; those for programmers are left out."""
    told = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message).splitlines()[0]
        if text not in told:
            told.add(text)
            note(f"ulmus: {text}", quiet)

    warnings.simplefilter("always")
    for category in (DeprecationWarning, FutureWarning, ResourceWarning, ImportWarning):
        warnings.simplefilter("ignore", category)
    warnings.showwarning = tell


def _cause(error: OSError) -> str:
    """What the system says, as a sentence."""
    if error.errno == errno.ENOSPC:
        where = f" for {error.filename}" if error.filename else ""
        return f"There is no space left on the disk{where}; what was there before is as it was."
    if error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error)


# ---------------------------------------------------------------------- commands and options
def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="ulmus",
        description="Extreme learning machines: fit, predict, cluster and draw tables.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"ulmus {__version__}")
    commands = {"": top.add_subparsers(dest="command", required=True, metavar="COMMAND")}
    for name, (place, words, options) in COMMANDS.items():
        group, _, last = name.rpartition(" ")
        if group not in commands:
            data = commands[""].add_parser(group, help="list the papers' data sets, or fetch files")
            commands[group] = data.add_subparsers(dest="action", required=True, metavar="ACTION")
        about = f"{words[0].upper()}{words[1:]}."
        command = commands[group].add_parser(last, help=words, description=about)
        needed = ["%(prog)s [options]"]
        for option in f"{options}, --json, --quiet".strip(", ").split(", "):
            names, _, shown = option.partition(" ")
            how = {"metavar": shown, **OPTIONS[option]} if shown else OPTIONS[option]
            command.add_argument(*names.split("/"), **how)
            needed += _needed(names, shown, how)
        # One line, which an error follows; the options are listed by --help alone.
        command.usage = " ".join(needed)
        command.set_defaults(run=partial(_run, place))
    return top


def _needed(names: str, shown: str, how: dict[str, Any]) -> list[str]:
    """What a command cannot do without, as its usage has it."""
    if names.startswith("-"):
        return [f"{names.partition('/')[0]} {shown}"] if how.get("required") else []
    several = {"+": f"{shown} ...", "*": f"[{shown} ...]"}
    return [several.get(how.get("nargs", ""), shown)]


def _run(place: str, options: argparse.Namespace) -> int:
    """Call the function at ``place``, its module and name, with a command's options."""
    module, _, function = place.rpartition(".")
    if module.startswith("papers"):
        _find_papers()
    command = getattr(import_module(module), function)
    # Now that the libraries are loaded whose threads are limited.
    with import_module("ulmus.backends.threads").held_threads():
        return int(command(options))


def _find_papers() -> None:
    """Let ``papers`` be imported from the clone that this package was installed from."""
    clone = Path(ulmus.__file__).parents[2]
    if not (clone / "papers" / "command.py").is_file():
        raise MissingExtraError(
            "The papers' tables and data are in a clone of the repository, not in an installed "
            "package. In the clone: pip install --editable '.[papers]', then this command again."
        )
    if str(clone) not in sys.path:
        sys.path.append(str(clone))
