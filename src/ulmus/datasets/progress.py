"""How far a download is, for a person at a terminal and for nobody else."""

import sys
import time
from typing import TextIO

__all__ = ["Bar"]

_WIDTH = 24
_PERIOD = 0.1


class Bar:
    """A line on standard error that is rewritten, and cleared at the end."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title = title
        self.stream = sys.stderr if stream is None else stream
        self.shown = self.stream.isatty()
        self._due = 0.0

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def update(self, done: int, total: int | None) -> None:
        """Say that so many bytes are there, of so many if that is known."""
        now = time.monotonic()
        if self.shown and now >= self._due:
            self._due = now + _PERIOD
            self.stream.write(f"\r\x1b[K{line(self.title, done, total)}")
            self.stream.flush()


def line(title: str, done: int, total: int | None) -> str:
    """The bar as text."""
    megabytes = f"{done / 1e6:.1f}"
    if not total:
        return f"{title}  {megabytes} MB"
    part = min(done / total, 1.0)
    filled = int(part * _WIDTH)
    bar = "█" * filled + "░" * (_WIDTH - filled)
    return f"{title}  {bar} {part:4.0%}  {megabytes} of {total / 1e6:.1f} MB"
