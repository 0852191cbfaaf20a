"""How far a long piece of work is: a bar for a person at a terminal, else lines in the log."""

import logging
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["Bar", "Progress", "columns", "duration", "units"]

_LOG = logging.getLogger(__name__)
Words = Callable[[float, float | None], str]
_WIDTH = 24
_PERIOD = 0.1
_LOG_PERIOD = 10.0


class Bar:
    """A line on standard error that is rewritten, and cleared at the end.

    Parameters
    ----------
    title : str
        What is being done.
    stream : file, default=None
        Where the line goes; nothing is written where that is no terminal.
    words : callable, default=rows
        What stands after the bar, of how much is done and the total.
    """

    def __init__(
        self,
        title: str,
        stream: TextIO | None = None,
        words: Words | None = None,
    ) -> None:
        self.title = title
        self.stream = sys.stderr if stream is None else stream
        self.words = rows if words is None else words
        self.shown = self.stream.isatty()
        self._due = 0.0

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def due_now(self) -> None:
        """Let the next update be shown however soon it comes."""
        self._due = 0.0

    def update(self, done: float, total: float | None) -> None:
        """Say that so much is done, of so much if that is known."""
        now = time.monotonic()
        if self.shown and now >= self._due:
            self._due = now + _PERIOD
            text = line(self.title, done, total, self.words(done, total))
            columns = shutil.get_terminal_size().columns
            self.stream.write(f"\r\x1b[K{text[: columns - 1]}")
            self.stream.flush()


class Progress:
    """How many rows, or what else ``words`` says, a fit is through, where ``verbose`` asks for it.

    On a terminal it is a bar, elsewhere a line in the log of "ulmus" every ten seconds.
    """

    def __init__(self, title: str, verbose: int | bool, words: Words | None = None) -> None:
        self._bar = Bar(title, words=words)
        self._bar.shown = self._bar.shown and bool(verbose)
        self._logs = bool(verbose) and not self._bar.shown
        self._title, self._due = title, 0.0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.__exit__(*error)

    def update(self, done: float, total: float | None) -> None:
        """Say that so many are done, of so many if that is known."""
        self._bar.update(done, total)
        now = time.monotonic()
        if self._logs and (now >= self._due or done == total):
            self._due = now + _LOG_PERIOD
            _LOG.info("%s: %s", self._title, self._bar.words(done, total))


def line(title: str, done: float, total: float | None, words: str) -> str:
    """The bar as text."""
    if not total:
        return f"{title}  {words}"
    part = min(done / total, 1.0)
    filled = int(part * _WIDTH)
    bar = "█" * filled + "░" * (_WIDTH - filled)
    return f"{title}  {bar} {part:4.0%}  {words}"


def rows(done: float, total: float | None) -> str:
    """Rows, for a fit."""
    return f"{done:,.0f} of {total:,.0f} rows" if total else f"{done:,.0f} rows"


def columns(done: float, total: float | None) -> str:
    """Columns, for a factor that stops when it is good enough."""
    return f"{done:,.0f} of at most {total:,.0f} columns" if total else f"{done:,.0f} columns"


def units(done: float, total: float | None) -> str:
    """Hidden units, for a graph's penalty."""
    return f"{done:,.0f} of {total:,.0f} hidden units" if total else f"{done:,.0f} hidden units"


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
