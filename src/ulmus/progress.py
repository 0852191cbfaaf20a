"""How far a long piece of work is, and what a fit came to, for whoever wants to know.

A person at a terminal sees a bar, the log has lines, and scikit-learn's callbacks, which came with
its version 1.9, are told: there a fit is a task, each of its passes over the rows a task within it,
and a hundredth of the rows a task within that.
"""

import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from ulmus.summary import facts

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """What has no callbacks in an older scikit-learn."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


__all__ = [
    "Bar",
    "CallbackSupportMixin",
    "Progress",
    "as_task",
    "columns",
    "duration",
    "log_facts",
    "units",
    "watched",
    "with_callbacks",
]

_LOG = logging.getLogger(__name__)
Words = Callable[[float, float | None], str]
_WIDTH = 24
_PERIOD = 0.1
_LOG_PERIOD = 10.0
# Tasks within a pass over the rows that callbacks are told of.
_PARTS = 100


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


@contextmanager
def as_task(estimator: Any) -> Iterator[None]:
    """A fit, within a method that has `with_callbacks`."""
    if not hasattr(estimator, "_init_callback_context"):
        yield
        return
    task = estimator._init_callback_context(max_subtasks=None)
    task.call_on_fit_task_begin(estimator=estimator)
    yield
    task.call_on_fit_task_end(estimator=estimator)


@contextmanager
def watched(
    estimator: Any, title: str, words: Words | None = None
) -> Iterator[Callable[[float, float | None], None]]:
    """A pass over the rows; gives what is to be told how many rows of how many are done.

    ``words`` says what else than rows is counted.
    """
    told = _Told(estimator, title)
    with Progress(title, estimator.verbose, words) as progress:

        def update(done: float, total: float | None) -> None:
            progress.update(done, total)
            told.update(done, total)

        yield update
    told.close()


class _Told:
    """One pass over the rows, as callbacks see it."""

    def __init__(self, estimator: Any, title: str) -> None:
        self._estimator, self._title = estimator, title
        self._fit = getattr(estimator, "_callback_fit_ctx", None)
        self._task: Any = None
        self._parts = 0

    def update(self, done: float, total: float | None) -> None:
        if self._fit is None:
            return
        if self._task is None:
            parts = _PARTS if total else None
            self._task = self._fit.subcontext(task_name=self._title, max_subtasks=parts)
            self._task.call_on_fit_task_begin(estimator=self._estimator)
        ended = int(_PARTS * done / total) if total else self._parts + 1
        for _ in range(self._parts, ended):
            part = self._task.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)
        self._parts = max(self._parts, ended)

    def close(self) -> None:
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)


def log_facts(model: Any) -> None:
    """One line at INFO of what a fit settled on, in the log of the model's module."""
    logger = logging.getLogger(type(model).__module__)
    if logger.isEnabledFor(logging.INFO):
        words = "; ".join(f"{name}: {words}" for name, words in facts(model))
        logger.info("%s fitted. %s", type(model).__name__, words)
