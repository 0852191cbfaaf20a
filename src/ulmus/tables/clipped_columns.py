"""An encoded matrix clipped to the range of its training rows, and quantile indicators of it."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ulmus.typing import Rows
from ulmus.validation import valid_rows

# A column of numbers is cut into so many bins of equally many rows.
_BINS = 20
# More columns of indicators than these would be most of the work of a fit.
_MOST_COLUMNS = 2000


class ClippedBins(TransformerMixin, BaseEstimator):
    """Columns clipped to the range seen in `fit`, and steps: indicators of their quantile bins.

    A random unit sees a weighted sum over all columns, which can hardly express "from 5000 on". A
    step is 1 where a number is above one of its column's twentieths, and expresses just that.
    Clipping keeps one stray value from taking a prediction anywhere. A sparse matrix stays as it
    is.

    Parameters
    ----------
    steps : bool, default=False
        Whether quantile indicators are added.

    Attributes
    ----------
    low_, high_ : ndarray of shape (n_features,)
        The range of each column.
    column_ : ndarray of int of shape (n_steps,)
        The column of each step.
    edge_ : ndarray of shape (n_steps,)
        What it must exceed.
    """

    def __init__(self, steps: bool = False) -> None:
        self.steps = steps

    def fit(self, X: Rows, y: Any = None) -> "ClippedBins":
        """Learn the range and, where they are wanted, the steps."""
        self.n_features_in_ = X.shape[1]
        self.low_ = self.high_ = self.edge_ = np.zeros(0, np.float32)
        self.column_ = np.zeros(0, np.int64)
        if sparse.issparse(X):
            return self
        self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        if self.steps:
            self.column_, self.edge_ = _steps(X)
        return self

    def transform(self, X: Rows) -> Rows:
        """The clipped columns, and then the steps."""
        check_is_fitted(self)
        X = valid_rows(self, X, reset=False)
        if sparse.issparse(X) or not len(self.low_):
            return X
        X = np.clip(X, self.low_, self.high_)
        if not len(self.edge_):
            return X
        return np.hstack([X, X[:, self.column_] > self.edge_], dtype=X.dtype)


def has_steps(X: Rows) -> bool:
    """Whether there are columns that could have steps, and not too many."""
    if sparse.issparse(X):
        return False
    wanted = int(np.sum([not _two_values(column) for column in X.T])) * (_BINS - 1)
    return 0 < wanted <= _MOST_COLUMNS


def _steps(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns and edges, without those that are 1 in the same rows as an earlier one."""
    columns, edges, met = [], [], set()
    for j, x in enumerate(X.T):
        for edge in _edges(x):
            pattern = np.packbits(x > edge).tobytes()
            if pattern not in met:
                met.add(pattern)
                columns.append(j)
                edges.append(edge)
    return np.array(columns, dtype=np.int64), np.array(edges, dtype=X.dtype)


def _edges(x: np.ndarray) -> np.ndarray:
    """Between the bins; none of a column with two values, which is an indicator already."""
    if _two_values(x):
        return np.zeros(0)
    cuts: np.ndarray = np.quantile(x, np.arange(1, _BINS) / _BINS, method="lower")
    return np.unique(cuts[cuts < x.max()])


def _two_values(x: np.ndarray) -> bool:
    return bool(((x == x.min()) | (x == x.max())).all())
