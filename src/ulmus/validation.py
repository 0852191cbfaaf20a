"""Rows and targets as they come from a user, checked."""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn import get_config
from sklearn.utils.validation import _check_n_features, check_consistent_length, validate_data

from ulmus.backends.namespace import is_numpy, is_streamed, place
from ulmus.exceptions import InvalidInputError
from ulmus.typing import Rows

__all__ = ["on_host_alone", "valid_rows", "valid_rows_and_target"]

_ROWS = {"accept_sparse": "csr", "dtype": "numeric"}


def valid_rows(estimator: Any, X: Rows, reset: bool, **rules: Any) -> Rows:
    """X by scikit-learn's rules; rows that a device works on are checked when they get there."""
    if not is_streamed(X):
        return validate_data(estimator, X, reset=reset, **_ROWS, **rules)
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


def on_host_alone(estimator: Any, X: Rows) -> None:
    """Refuse rows on a device, for an estimator that has no way to work there.

    Without scikit-learn's ``array_api_dispatch`` every array is turned into NumPy's, as always.
    """
    if is_array_api_obj(X) and not is_numpy(X) and get_config()["array_api_dispatch"]:
        raise InvalidInputError(
            f"{type(estimator).__name__} works in host memory alone, and X is {place(X)}; give it "
            "ulmus.to_numpy(X)."
        )
