"""Progress of long work: a bar on a terminal or in a notebook, elsewhere plain lines."""

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

_WIDTH = 24
# Seconds between two drawings of a bar, and between two plain lines.
_PERIOD, _LINE_PERIOD = 0.1, 10.0

Words = Callable[[float, float | None], str]


def _counted(noun: str, of: str = "of") -> Words:
    return lambda done, total: f"{done:,.0f} {f'{of} {total:,.0f} ' if total else ''}{noun}"


rows, units = _counted("rows"), _counted("hidden units")
# A factor stops before the last column when it is good enough.
columns = _counted("columns", "of at most")


class Bar:
    """A line on a terminal, standard error by default, that is rewritten, and cleared at the end.

    ``words`` makes the text after the bar from the amount done and the total. Where it
    cannot be rewritten, ``lines`` writes a plain line every ten seconds, and one at the end.
    """

    def __init__(
        self,
        title: str,
        stream: TextIO | None = None,
        words: Words = rows,
        lines: bool = False,
    ) -> None:
        self.title, self.words = title, words
        self.stream = sys.stderr if stream is None else stream
        # A notebook rewrites a line as a terminal does.
        notebook = type(self.stream).__module__.partition(".")[0] == "ipykernel"
        self.shown = self.stream.isatty() or notebook
        self._lines = lines and not self.shown
        self._due = 0.0

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def due_now(self) -> None:
        """Show the next update at once."""
        self._due = 0.0

    def update(self, done: float, total: float | None) -> None:
        """Show the amount done, and the total if it is known."""
        now = time.monotonic()
        if self.shown and now >= self._due:
            self._due = now + _PERIOD
            text = line(self.title, done, total, self.words(done, total))
            self.stream.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
            self.stream.flush()
        elif self._lines and (now >= self._due or done == total):
            self._due = now + _LINE_PERIOD
            self.stream.write(f"{self.title}: {self.words(done, total)}\n")
            self.stream.flush()


def line(title: str, done: float, total: float | None, words: str) -> str:
    """The bar as text."""
    if not total:
        return f"{title}  {words}"
    part = min(done / total, 1.0)
    filled = int(part * _WIDTH)
    return f"{title}  {'█' * filled}{'░' * (_WIDTH - filled)} {part:4.0%}  {words}"
