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
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """What has no callbacks in an older scikit-learn."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


_LOG = logging.getLogger(__name__)
_WIDTH = 24
# Seconds between two drawings of a bar, and between two lines of the log.
_PERIOD, _LOG_PERIOD = 0.1, 10.0
# Tasks within a pass over the rows that callbacks are told of.
_PARTS = 100

Words = Callable[[float, float | None], str]


def _counted(noun: str, of: str = "of") -> Words:
    return lambda done, total: f"{done:,.0f} {f'{of} {total:,.0f} ' if total else ''}{noun}"


rows, units = _counted("rows"), _counted("hidden units")
# A factor stops before the last column when it is good enough.
columns = _counted("columns", "of at most")


class Bar:
    """A line on a terminal, standard error by default, that is rewritten, and cleared at the end.

    ``words`` gives what stands after the bar, of how much is done and the total. Where no line is
    shown, ``logged`` asks for a line in the log every ten seconds.
    """

    def __init__(
        self,
        title: str,
        stream: TextIO | None = None,
        words: Words = rows,
        shown: bool = True,
        logged: bool = False,
    ) -> None:
        self.title, self.words = title, words
        self.stream = sys.stderr if stream is None else stream
        self.shown = shown and self.stream.isatty()
        self._logged = logged and not self.shown
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
            self.stream.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
            self.stream.flush()
        elif self._logged and (now >= self._due or done == total):
            self._due = now + _LOG_PERIOD
            _LOG.info("%s: %s", self.title, self.words(done, total))


def line(title: str, done: float, total: float | None, words: str) -> str:
    """The bar as text."""
    if not total:
        return f"{title}  {words}"
    part = min(done / total, 1.0)
    filled = int(part * _WIDTH)
    return f"{title}  {'█' * filled}{'░' * (_WIDTH - filled)} {part:4.0%}  {words}"


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
    estimator: Any, title: str, words: Words = rows
) -> Iterator[Callable[[float, float | None], None]]:
    """A pass over the rows; gives what is to be told how many rows of how many are done."""
    fit, task, parts = getattr(estimator, "_callback_fit_ctx", None), None, 0
    loud = bool(estimator.verbose)
    with Bar(title, words=words, shown=loud, logged=loud) as bar:

        def update(done: float, total: float | None) -> None:
            nonlocal task, parts
            bar.update(done, total)
            if fit is None:
                return
            if task is None:
                task = fit.subcontext(task_name=title, max_subtasks=_PARTS if total else None)
                task.call_on_fit_task_begin(estimator=estimator)
            ended = int(_PARTS * done / total) if total else parts + 1
            for _ in range(parts, ended):
                part = task.subcontext(task_name="part")
                part.call_on_fit_task_begin(estimator=estimator)
                part.call_on_fit_task_end(estimator=estimator)
            parts = max(parts, ended)

        yield update
    if task is not None:
        task.call_on_fit_task_end(estimator=estimator)


def log_facts(model: Any) -> None:
    """One line at INFO of what a fit settled on, in the log of the model's module."""
    logger = logging.getLogger(type(model).__module__)
    if logger.isEnabledFor(logging.INFO):
        words = "; ".join(f"{name}: {words}" for name, words in facts(model))
        logger.info("%s fitted. %s", type(model).__name__, words)
