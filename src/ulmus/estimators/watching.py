"""Who is told how far a fit is: a terminal, the log, and scikit-learn's callbacks.

Callbacks came with scikit-learn 1.9. There a fit is a task, each of its passes over the rows a
task within it, and a hundredth of the rows a task within that.
"""

from contextlib import contextmanager

from ulmus.progress import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:
        """What has no callbacks in an older scikit-learn."""

    def with_callbacks(method):
        """The method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "as_task", "watched", "with_callbacks"]

_PARTS = 100


@contextmanager
def as_task(estimator):
    """A fit, within a method that has `with_callbacks`."""
    if not hasattr(estimator, "_init_callback_context"):
        yield
        return
    task = estimator._init_callback_context(max_subtasks=None)
    task.call_on_fit_task_begin(estimator=estimator)
    yield
    task.call_on_fit_task_end(estimator=estimator)


@contextmanager
def watched(estimator, title, words=None):
    """A pass over the rows; gives what is to be told how many rows of how many are done.

    ``words`` says what else than rows is counted.
    """
    told = _Told(estimator, title)
    with Progress(title, estimator.verbose, words) as progress:

        def update(done, total):
            progress.update(done, total)
            told.update(done, total)

        yield update
    told.close()


class _Told:
    """One pass over the rows, as callbacks see it."""

    def __init__(self, estimator, title):
        self._estimator, self._title = estimator, title
        self._fit = getattr(estimator, "_callback_fit_ctx", None)
        self._task, self._parts = None, 0

    def update(self, done, total):
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

    def close(self):
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)
