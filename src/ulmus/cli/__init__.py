"""The command line: words and pages, no mathematics."""

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ulmus.cli.parsers import parser
from ulmus.cli.printing import note
from ulmus.exceptions import UlmusError

__all__ = ["interruptible", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``ulmus``; the exit status is 0, 1 for an error that was foreseen, 2 for usage.

    An interrupt gives 130, and a closed pipe 141, as in shells.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the locale: files are in UTF-8 too
    options = parser().parse_args(arguments)
    with warnings.catch_warnings(), interruptible():
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
