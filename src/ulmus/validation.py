"""Rows and targets as they come from a user, checked."""

from typing import Any

import numpy as np
from array_api_compat import is_dask_array
from sklearn import get_config
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_n_features, check_consistent_length, validate_data

from ulmus.backends.namespace import is_array_api_obj, is_numpy, is_streamed, place
from ulmus.backends.pages import forget_pages, is_mapped
from ulmus.exceptions import InvalidInputError
from ulmus.fitted import Mark, marked
from ulmus.rows import ROWS, readable, real, sound
from ulmus.typing import Rows

__all__ = ["check_place", "on_host_alone", "valid_rows", "valid_rows_and_target"]

# Bytes of a memory map that are looked at together.
_STEP = 32 * 2**20


def valid_rows(estimator: Any, X: Rows, reset: bool, **rules: Any) -> Rows:
    """X by scikit-learn's rules; rows that a device works on are checked when they get there."""
    if not is_streamed(X):
        sound(X)
        with readable():
            X = validate_data(estimator, X, reset=reset, **_rules(X), **rules)
        return _finite(real(X))
    _check_n_features(estimator, X, reset=reset)
    return X


def valid_rows_and_target(
    estimator: Any, X: Rows, y: Any, reset: bool, **target: Any
) -> tuple[Rows, np.ndarray]:
    """X and y by scikit-learn's rules; ``target`` is what it should know of y."""
    if not is_streamed(X):
        sound(X)
        with readable():
            X, y = validate_data(estimator, X, y, reset=reset, **_rules(X), **target)
        return _finite(real(X)), y
    check_consistent_length(X.host, y)
    # One row of zeros for each of y stands for X, whose own rows are checked on the device.
    stand_in = np.broadcast_to(np.zeros(1), (len(X), 1))
    _, y = validate_data(type(estimator)(), stand_in, y, **target)
    return valid_rows(estimator, X, reset), y


def on_host_alone(estimator: Any, X: Rows) -> None:
    """Refuse rows on a device, for an estimator that has no way to work there.

    Without scikit-learn's ``array_api_dispatch`` every array is turned into NumPy's, as always.
    """
    if is_array_api_obj(X) and not is_numpy(X) and get_config()["array_api_dispatch"]:
        raise InvalidInputError(
            f"{type(estimator).__name__} works in host memory alone, and X is {place(X)}; give it "
            "ulmus.to_numpy(X)."
        )


def check_place(estimator: Any, method: str, X: Rows) -> None:
    """Refuse rows that are not where the fitted arrays are.

    This is scikit-learn's rule where it dispatches arrays: weights that follow the rows would be
    copied at every call, and nobody would know.
    """
    if not get_config()["array_api_dispatch"]:
        return
    names = marked(type(estimator), Mark.DEVICE)
    fitted = next((x for n in names if is_array_api_obj(x := getattr(estimator, n, None))), None)
    if fitted is not None and _home(X) != _home(fitted):
        raise InvalidInputError(
            f"Arrays are not in one place: X is {_home(X)}, the model {_home(fitted)}. Inputs of "
            f"{type(estimator).__name__}.{method}() must use the same namespace and device as "
            "those of fit(); move the model with ulmus.to_device or ulmus.to_numpy, or move X."
        )


def _home(x: Any) -> str:
    """Where x is; all that is neither on a device nor of another library is the host's."""
    away = (is_array_api_obj(x) or is_streamed(x)) and not is_numpy(x) and not is_dask_array(x)
    return place(x) if away else "numpy on cpu"


def _rules(X: Rows) -> dict[str, Any]:
    return ROWS | {"ensure_all_finite": False} if is_mapped(X) else ROWS


def _finite(X: Rows) -> Rows:
    """X; the rows of a memory map are checked some at a time, so that it is never all in memory."""
    if is_mapped(X):
        step = max(1, _STEP // max(1, X[:1].nbytes))
        for start in range(0, len(X), step):
            block = X[start : start + step]
            assert_all_finite(block, input_name="X")
            forget_pages(block)
    return X
