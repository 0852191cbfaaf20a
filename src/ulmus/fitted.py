"""Fitted state: declared once, checked to be finite, and replaced as a whole.

Fitted attributes are annotations of a class:

    beta_: OnDevice[Array]
    _moments: ForUpdate[OnDevice[Moments]]

Device moves, saving, forgetting and Dask read these. `tests/contract/test_fitted.py` fits every
estimator and finds any attribute that is not declared.

Callbacks of scikit-learn 1.9 and later are called with the progress of a fit: the fit is a task,
each of its passes over the rows a subtask, and a hundredth of the rows a subtask of that.
"""

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from enum import Enum, auto
from functools import cache, wraps
from inspect import get_annotations
from threading import Lock
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin

import numpy as np
from sklearn.base import BaseEstimator

from ulmus.arguments import check_arguments
from ulmus.backends.namespace import all_finite, is_array_api_obj, namespace
from ulmus.backends.threads import held_threads
from ulmus.exceptions import InvalidInputError
from ulmus.progress import Bar, Words, rows
from ulmus.summary import facts
from ulmus.typing import Array

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A class without callbacks, for an older scikit-learn."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])
Model = TypeVar("Model")

# Fitted parts that are objects of their own, and hold numbers.
_PARTS = ("features_", "scaling_")
_SCALE = ("center", "factor")
# Attributes are replaced by one thread at a time.
_SWAP = Lock()
# Subtasks of a pass over the rows that callbacks are called for.
_SUBTASKS = 100


class Mark(Enum):
    """What is true of a fitted attribute beside its type."""

    DEVICE = auto()
    ROWS = auto()
    UPDATE = auto()
    AGAIN = auto()


# On the same device as the rows: `ulmus.to_device` moves it.
OnDevice = Annotated[T, Mark.DEVICE]
# Holds data of training rows; predictions do not need it, so it is not sent to Dask's workers.
OfRows = Annotated[T, Mark.ROWS]
# The same, and only later updates need it: `ulmus.save(for_update=False)` leaves it out.
ForUpdate = Annotated[T, Mark.ROWS, Mark.UPDATE]
# Can be computed again from the rest: copies, files and devices do not have it.
MadeAgain = Annotated[T, Mark.ROWS, Mark.AGAIN]


def declared(kind: Any) -> dict[str, frozenset[Mark]]:
    """Every fitted attribute of a class and its bases, with its marks."""
    return _declared(kind)


@cache
def _declared(kind: Any) -> dict[str, frozenset[Mark]]:
    found: dict[str, frozenset[Mark]] = {}
    for base in reversed(kind.__mro__):
        for name, annotation in get_annotations(base).items():
            origin: Any = get_origin(annotation)
            if origin is not ClassVar and annotation is not ClassVar:
                marks = get_args(annotation)[1:] if origin is Annotated else ()
                found[name] = frozenset(mark for mark in marks if isinstance(mark, Mark))
    return found


def marked(kind: type[Any], mark: Mark) -> list[str]:
    """The attributes of a class that have a mark."""
    return [name for name, marks in declared(kind).items() if mark in marks]


def forget_fit(estimator: Any) -> None:
    """Delete all fitted attributes of an earlier fit."""
    for name in fitted_names(estimator):
        del vars(estimator)[name]


def fitted_names(estimator: Any) -> list[str]:
    """The fitted attributes that an estimator has."""
    fitted = declared(type(estimator)).keys() - set(estimator.get_params(deep=False))
    return [n for n in vars(estimator) if n in fitted or (n.endswith("_") and n[0] != "_")]


def without_rows(model: Any) -> Any:
    """A copy without data of training rows, to send to workers."""
    light = copy(model)
    for name in marked(type(model), Mark.ROWS):
        vars(light).pop(name, None)
    for name, part in vars(light).items():
        if hasattr(part, "get_params") and not isinstance(part, type):
            vars(light)[name] = without_rows(part)
    return light


def light_state(estimator: Any) -> dict[str, Any]:
    """``__getstate__`` of an estimator whose copies leave out what can be computed again."""
    again = marked(type(estimator), Mark.AGAIN)
    state = BaseEstimator.__getstate__(settled(estimator))
    return {name: part for name, part in state.items() if name not in again}


def atomic(method: Method) -> Method:
    """A method that changes its estimator in one step at its end; not at all if it raises.

    Arguments are checked before it begins, and fitted attributes must be finite at its end. It
    works on a copy that shares the fitted arrays, so it must rebind what it changes and never write
    into it. Meanwhile BLAS has no more threads than there are CPUs, and one to fit few rows.
    """
    # A batch says nothing of how many rows are fitted with it.
    fits_all = method.__name__ != "partial_fit"

    @wraps(method)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_arguments(self)
        model = twin(self, vars(self).copy())
        rows = args[0] if args else kwargs.get("X")
        with held_threads(_count(rows) if fits_all else np.inf):
            result = method(model, *args, **kwargs)
        check_finite(model)
        with _SWAP:
            self.__dict__ = vars(model)
        return self if result is model else result

    return whole  # type: ignore[return-value]


def _count(X: Any) -> float:
    """The number of rows, where X tells it; else it may be any."""
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple):
        return float(len(X)) if isinstance(X, list | tuple) else np.inf
    rows = shape[0] if shape else np.inf
    return float(rows) if isinstance(rows, int | float) else np.inf


def snapshot(estimator: Model) -> Model:
    """The estimator as it is now: a fit in another thread replaces the dictionary of attributes.

    Rows that wait to be fitted are (`ulmus.sources.waiting`).
    """
    now = vars(estimator)
    if "_waiting" not in now:
        return twin(estimator, now)
    state = {name: part for name, part in now.items() if name != "_waiting"}
    state |= now["_waiting"].after()
    swap(estimator, now, state)
    return twin(estimator, state)


def settled(estimator: Model) -> Model:
    """The estimator, after rows that wait are fitted."""
    if "_waiting" in vars(estimator):
        snapshot(estimator)
    return estimator


def swap(estimator: Any, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Replace the attributes, unless another thread has done so since."""
    with _SWAP:
        if vars(estimator) is before:
            estimator.__dict__ = after


def twin(estimator: Model, state: dict[str, Any]) -> Model:
    """Another estimator of the same class with this state."""
    twin = object.__new__(type(estimator))
    twin.__dict__ = state
    return twin


def check_finite(estimator: Any) -> None:
    """Refuse a fit whose weights, scale or left-out errors overflowed or are NaN."""
    for name, value in _numbers(estimator):
        if not _finite(value):
            raise InvalidInputError(
                f"{type(estimator).__name__} came out with values in {name} that are not finite: "
                "numbers in X, y or sample_weight are too large or too small for sums of their "
                "squares. Bring them nearer to one, as scaling='auto' or StandardScaler do for X, "
                "and divide y and the weights by their mean size."
            )


def check_outputs(F: Array) -> Array:
    """F, the outputs for new rows; refused where they are not finite."""
    if not _finite(F):
        xp = namespace(F)
        row = int(xp.argmax(xp.astype(xp.any(~xp.isfinite(F), axis=1), xp.int64)))
        raise InvalidInputError(
            f"The outputs of row {row} (counted from 0) are not finite: its values are too large "
            "beside those that the model was fitted to."
        )
    return F


def finite_outputs(method: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Array]:
    """A method whose outputs are checked, so that overflow on the way needs no warning."""

    @wraps(method)
    def checked(self: Any, X: Any) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return check_outputs(method(self, X))

    return checked


def _numbers(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Fitted attributes by name; of dicts and fitted parts, what they hold."""
    for name, value in vars(estimator).items():
        if name in _PARTS:
            yield from ((f"{name}.{inner}", number) for inner, number in _numbers(value))
        elif name[0] != "_" and (name.endswith("_") or name in _SCALE):
            inside = value.items() if isinstance(value, dict) else ()
            yield from ((f"{name}[{key!r}]", each) for key, each in inside)
            yield name, value


def _finite(value: Any) -> bool:
    """Whether a number or an array of floats is finite; anything else counts as such."""
    if is_array_api_obj(value):
        floats = namespace(value).isdtype(value.dtype, "real floating")
        return not floats or all_finite(value)
    return not isinstance(value, float) or math.isfinite(value)


# ---------------------------------------------------------------- progress
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
    """A pass over the rows; yields a function that is called with the rows done and their total."""
    heard = getattr(estimator, "_skl_callbacks", None)  # else subtasks would only cost time
    fit, task, parts = getattr(estimator, "_callback_fit_ctx", None) if heard else None, None, 0
    with Bar(title, words=words, lines=True) if estimator.verbose else nullcontext() as bar:

        def update(done: float, total: float | None) -> None:
            nonlocal task, parts
            if bar is not None:
                bar.update(done, total)
            if fit is None:
                return
            if task is None:
                task = fit.subcontext(task_name=title, max_subtasks=_SUBTASKS if total else None)
                task.call_on_fit_task_begin(estimator=estimator)
            ended = int(_SUBTASKS * done / total) if total else parts + 1
            for _ in range(parts, ended):
                part = task.subcontext(task_name="part")
                part.call_on_fit_task_begin(estimator=estimator)
                part.call_on_fit_task_end(estimator=estimator)
            parts = max(parts, ended)

        yield update
    if task is not None:
        task.call_on_fit_task_end(estimator=estimator)


def log_facts(model: Any) -> None:
    """Log the results of a fit in one line, at INFO, in the log of the model's module."""
    logger = logging.getLogger(type(model).__module__)
    if logger.isEnabledFor(logging.INFO):
        words = "; ".join(f"{name}: {words}" for name, words in facts(model))
        logger.info("%s fitted. %s", type(model).__name__, words)
