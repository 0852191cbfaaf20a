"""Rows and targets as they come from a user, checked."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_n_features, check_consistent_length, validate_data

from ulmus.backends.namespace import is_streamed
from ulmus.typing import Rows

__all__ = ["valid_rows", "valid_rows_and_target"]

_ROWS = {"accept_sparse": "csr", "dtype": "numeric"}


def valid_rows(estimator: Any, X: Rows, reset: bool) -> Rows:
    """X by scikit-learn's rules; rows that a device works on are checked when they get there."""
    if not is_streamed(X):
        return validate_data(estimator, X, reset=reset, **_ROWS)
    _check_n_features(estimator, X, reset=reset)
    return X


def valid_rows_and_target(
    estimator: Any, X: Rows, y: Any, reset: bool, **target: Any
) -> tuple[Rows, np.ndarray]:
    """X and y by scikit-learn's rules; ``target`` is what it should know of y."""
    if not is_streamed(X):
        X, y = validate_data(estimator, X, y, reset=reset, **_ROWS, **target)
        return X, y
    check_consistent_length(X.host, y)
    # One row of zeros for each of y stands for X, whose own rows are checked on the device.
    stand_in = np.broadcast_to(np.zeros(1), (len(X), 1))
    _, y = validate_data(type(estimator)(), stand_in, y, **target)
    return valid_rows(estimator, X, reset), y
