"""The command line: words and pages, no mathematics."""

import errno
import os
import sys
import warnings

from ulmus.cli.interrupts import interruptible
from ulmus.cli.parsers import parser
from ulmus.cli.printing import note
from ulmus.exceptions import UlmusError

__all__ = ["main"]


def main(arguments=None):
    """Run ``ulmus``; the exit status is 0, 1 for an error that was foreseen, 2 for usage.

    An interrupt gives 130, and a reader that has gone away 141, as shells have it.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the locale: files are in UTF-8 too
    options = parser().parse_args(arguments)
    with warnings.catch_warnings(), interruptible():
        _as_sentences(options.quiet)
        try:
            status = options.run(options)
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


def _as_sentences(quiet):
    """Warnings become notes, each once; those for programmers are left out."""
    told = set()

    def tell(message, *_, **__):
        text = str(message).splitlines()[0]
        if text not in told:
            told.add(text)
            note(f"ulmus: {text}", quiet)

    warnings.simplefilter("always")
    for category in (DeprecationWarning, FutureWarning, ResourceWarning, ImportWarning):
        warnings.simplefilter("ignore", category)
    warnings.showwarning = tell


def _cause(error):
    """What the system says, as a sentence."""
    if error.errno == errno.ENOSPC:
        where = f" for {error.filename}" if error.filename else ""
        return f"There is no space left on the disk{where}; what was there before is as it was."
    if error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return error
