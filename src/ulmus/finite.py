"""What a fit leaves behind is made of finite numbers, or the fit has failed."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from ulmus.backends.namespace import all_finite, is_array_api_obj, namespace
from ulmus.exceptions import InvalidInputError
from ulmus.typing import Array

__all__ = ["check_finite", "check_outputs", "finite_outputs"]

# Fitted parts that are objects of their own, and hold numbers.
_PARTS = ("features_", "scaling_")
_SCALE = ("center", "factor")


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
    """F, the outputs for new rows; refused where a row's values were too large for them."""
    if not _finite(F):
        xp = namespace(F)
        row = int(xp.argmax(xp.astype(xp.any(~xp.isfinite(F), axis=1), xp.int64)))
        raise InvalidInputError(
            f"The outputs of row {row} (counted from 0) are not finite: its values are too large "
            "beside those that the model was fitted to."
        )
    return F


def finite_outputs(method: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Array]:
    """A method whose outputs are checked, so that what overflows on the way needs no warning."""

    @wraps(method)
    def checked(self: Any, X: Any) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return check_outputs(method(self, X))

    return checked


def _numbers(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Fitted attributes by name; of dicts and fitted parts, what they hold."""
    for name, value in vars(estimator).items():
        if name[0] == "_" or not (name.endswith("_") or name in _SCALE):
            continue
        if name in _PARTS:
            yield from ((f"{name}.{inner}", number) for inner, number in _numbers(value))
        elif isinstance(value, dict):
            yield from ((f"{name}[{key!r}]", each) for key, each in value.items())
        else:
            yield name, value


def _finite(value: Any) -> bool:
    """Whether a number or an array of floats is finite; anything else counts as such."""
    if isinstance(value, float):
        return bool(np.isfinite(value))
    if not is_array_api_obj(value):
        return True
    floats = namespace(value).isdtype(value.dtype, "real floating")
    return not floats or all_finite(value)
