"""What one call came to: an answer to compare, or an error that was meant for the caller or not."""

import traceback
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from attack.outcomes import Outcome
from attack.rows import EQUAL, REFUSED
from ulmus.exceptions import UlmusError
from ulmus.fitted import Mark, marked

__all__ = ["Demand", "error_outcome", "judged"]

# Where scikit-learn words errors for callers.
_VALIDATION = ("utils", "base.py", "metrics", "exceptions.py")
# What NumPy, SciPy and Python say of themselves, and not of the caller's data.
_RAW = tuple(
    """broadcast; out of bounds; inhomogeneous; setting an array element; ufunc; not understood;
    cannot cast; unsupported operand; no attribute; 'nonetype'; truth value; not iterable; unsized;
    not subscriptable; illegal value; leading minor; did not converge; zero-size; not aligned;
    negative dimensions; not supported between; array must not contain infs; arpack; unhashable;
    singular matrix; core dimension; cannot convert float; positional argument; cannot reshape;
    not callable; invalid type promotion; divide by zero; float() argument; int() argument;
    must be real number; cannot be interpreted as; exceeds the limit; encountered in;
    dimension mismatch; invalid literal""".replace("\n   ", "").split("; ")
)
_SHORTEST = 20


@dataclass(frozen=True)
class Demand:
    """What a call must come to, the answer of clean data, and which errors are meant."""

    must: str
    oracle: Any = None
    rtol: float = 1e-6
    meant: Callable[[BaseException], bool] = lambda error: True


def judged(fitted: Any, answered: Callable[[Any], Any], demand: Demand) -> tuple[Outcome, str]:
    """Call it on a copy of a fitted model; look at the answer, or at the error and the model."""
    model = deepcopy(fitted)
    answer, error = _called(lambda: answered(model))
    if error is not None:
        outcome, detail = error_outcome(error)
        if outcome == Outcome.REFUSED and not demand.meant(error):
            return Outcome.RAW, f"the argument is not named: {detail}"
        if outcome == Outcome.REFUSED and (lost := _lost(fitted, model)):
            return Outcome.CORRUPTED, f"{lost} after {detail}"
        return outcome, detail
    if demand.must == REFUSED:
        return Outcome.WRONG, "it was accepted"
    if not _finite(answer):
        return Outcome.WRONG, "the answer is not finite"
    if demand.must == EQUAL and (apart := _apart(answer, demand.oracle)) > demand.rtol:
        return Outcome.WRONG, f"{apart:.1e} from the answer of clean data"
    return Outcome.RIGHT, ""


def error_outcome(error: BaseException) -> tuple[Outcome, str]:
    """Whether an error was worded for the caller."""
    words = f"{type(error).__name__}: {error}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    detail = f"{words[:300]} [{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno}]"
    meant = isinstance(error, UlmusError | NotFittedError) or (
        isinstance(error, ValueError | TypeError) and _in_validation(frame.filename)
    )
    plain = not any(raw in words.lower() for raw in _RAW) and len(str(error)) >= _SHORTEST
    return (Outcome.REFUSED if meant and plain else Outcome.RAW), detail


def _called(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What a call gave, or its error; a warning of NumPy's about its arithmetic is one too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return call(), None
        except Exception as error:
            return None, error


def _in_validation(filename: str) -> bool:
    _, found, within = filename.partition("/sklearn/")
    return bool(found) and within.split("/")[0] in _VALIDATION


def _finite(answer: Any) -> bool:
    """Whether all of an answer is finite; words are."""
    answer = np.asarray(answer)
    return answer.dtype.kind not in "fc" or bool(np.isfinite(answer).all())


def _apart(answer: Any, oracle: Any) -> float:
    """How far an answer is from another, beside the largest entry of that."""
    answer, oracle = (np.asarray(each, dtype=float).squeeze() for each in (answer, oracle))
    if answer.shape != oracle.shape:
        return np.inf
    apart = np.abs(answer - oracle).max(initial=0.0)
    return float(apart / max(np.abs(oracle).max(initial=0.0), 1e-300))


def _lost(before: Any, after: Any) -> str:
    """What a failed call has changed of a model."""
    # A copy, as the model before is one, goes without what is made again when it is needed.
    for name in {*vars(before), *vars(after)}.difference(marked(type(after), Mark.AGAIN)):
        if name not in vars(after) or name not in vars(before):
            return f"{name} has come or gone"
        if not _same(vars(before)[name], vars(after)[name]):
            return f"{name} has changed"
    return ""


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, str | int | float | None):
        return a is b or a == b or a != a
    return type(a) is type(b)
