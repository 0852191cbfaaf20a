"""What becomes of a file when it is read and what is in it is used."""

import traceback
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from attack.outcomes import Outcome
from ulmus.exceptions import UlmusError
from ulmus.tables import Table

__all__ = ["called", "error_outcome", "used"]

_METHODS = ("predict", "predict_proba", "decision_function", "transform")
# What scikit-learn says where rows are text and those that it was fitted to were numbers, or so.
_OTHER_ROWS = (
    "could not convert string to float", "ufunc '", "loop of ufunc does not support argument 0 of",
)  # fmt: skip
# These give whatever their function gives, which of a logarithm of −1 is not a number.
_ANY_NUMBER = ("FunctionTransformer", "FeatureUnion", "ColumnTransformer", "Pipeline")


def used(model: Any, rows: Any) -> tuple[Outcome, str, list[Any]]:
    """The outcome of every method on the rows, and the answers; each is asked twice."""
    answers: list[Any] = []
    # A file may hold another kind of model than it did.
    fitting = isinstance(rows, Table) == (type(model).__name__ in ("TableModel", "TableEncoder"))
    for name in _METHODS if rows is not None and fitting else ():
        method, error = called(lambda name=name: getattr(model, name, None))
        if error is None and method is None:
            continue
        if error is None:
            # A scaler with copy=False writes into its rows.
            first, error = called(lambda method=method: method(deepcopy(rows)))
        if error is not None:
            outcome, detail = error_outcome(error)
            if outcome != Outcome.REFUSED:
                return outcome, f"{type(model).__name__}.{name}: {detail}", answers
            answers.append(type(error))
            continue
        _ = np.full(10_000, np.pi)  # what the memory held before is another thing now
        second, _ = called(lambda method=method: method(deepcopy(rows)))
        outcome, detail = _judged(plain(first), plain(second), rows, model)
        if outcome != Outcome.RIGHT:
            return outcome, f"{type(model).__name__}.{name}: {detail}", answers
        answers.append(plain(first))
    return Outcome.RIGHT, "", answers


def _judged(first: np.ndarray, second: Any, rows: Any, model: Any) -> tuple[Outcome, str]:
    if not isinstance(second, np.ndarray) or first.tobytes() != second.tobytes():
        return Outcome.WRONG, "two calls give two answers"
    count = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if first.ndim == 0 or first.shape[0] != count:
        return Outcome.WRONG, f"the answer has shape {first.shape}"
    loose = type(model).__name__ in _ANY_NUMBER
    if first.dtype.kind in "fc" and not loose and not np.isfinite(first).all():
        return Outcome.WRONG, "the answer is not finite"
    return Outcome.RIGHT, ""


def plain(answer: Any) -> np.ndarray:
    """An answer as an array that can be compared."""
    if sp.issparse(answer):
        answer = answer.toarray()
    array = np.asarray(answer)
    return array.astype(str) if array.dtype == object else array


def called(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What a call gave, or its error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(), None
        except Exception as error:
            return None, error


def _innermost(error: BaseException) -> TracebackType:
    """Where an error was raised; to look up the lines of all frames would take longer than most."""
    place = error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    return place


def error_outcome(error: BaseException) -> tuple[Outcome, str]:
    """Whether an error was raised on purpose, by Ulmus or by scikit-learn's own checks."""
    (frame,) = traceback.extract_tb(_innermost(error))
    place = "/".join(Path(frame.filename).parts[-2:])
    detail = f"{type(error).__name__}: {str(error)[:200]} [{place}:{frame.lineno}]"
    checked = "/sklearn/" in frame.filename and (frame.line or "").startswith("raise")
    others = any(f"/{name}/" in frame.filename for name in ("sklearn", "pandas"))
    other = others and str(error).startswith(_OTHER_ROWS)
    # An ImportError says that a library is to be installed.
    meant = isinstance(error, UlmusError | NotFittedError) or (
        (checked or other) and isinstance(error, ValueError | TypeError | ImportError)
    )
    return (Outcome.REFUSED if meant else Outcome.RAW), detail
