"""Rows and targets as they come from a user, checked."""

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_n_features, check_consistent_length, validate_data

from ulmus.backends.namespace import is_streamed
from ulmus.backends.pages import forget_pages, is_mapped
from ulmus.typing import Rows

__all__ = ["valid_rows", "valid_rows_and_target"]

_ROWS = {"accept_sparse": "csr", "dtype": "numeric"}
# Bytes of a memory map that are looked at together.
_STEP = 32 * 2**20


def valid_rows(estimator: Any, X: Rows, reset: bool) -> Rows:
    """X by scikit-learn's rules; rows that a device works on are checked when they get there."""
    if not is_streamed(X):
        return _finite(validate_data(estimator, X, reset=reset, **_rules(X)))
    _check_n_features(estimator, X, reset=reset)
    return X


def valid_rows_and_target(
    estimator: Any, X: Rows, y: Any, reset: bool, **target: Any
) -> tuple[Rows, np.ndarray]:
    """X and y by scikit-learn's rules; ``target`` is what it should know of y."""
    if not is_streamed(X):
        X, y = validate_data(estimator, X, y, reset=reset, **_rules(X), **target)
        return _finite(X), y
    check_consistent_length(X.host, y)
    # One row of zeros for each of y stands for X, whose own rows are checked on the device.
    stand_in = np.broadcast_to(np.zeros(1), (len(X), 1))
    _, y = validate_data(type(estimator)(), stand_in, y, **target)
    return valid_rows(estimator, X, reset), y


def _rules(X: Rows) -> dict[str, Any]:
    return _ROWS | {"ensure_all_finite": False} if is_mapped(X) else _ROWS


def _finite(X: Rows) -> Rows:
    """X; the rows of a memory map are checked some at a time, so that it is never all in memory."""
    if is_mapped(X):
        step = max(1, _STEP // max(1, X[:1].nbytes))
        for start in range(0, len(X), step):
            block = X[start : start + step]
            assert_all_finite(block, input_name="X")
            forget_pages(block)
    return X
