"""An encoded matrix as the hidden layer sees it: within the known range, and with steps."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ulmus.validation import valid_rows

__all__ = ["View", "has_steps"]

# A column of numbers becomes so many parts of equally many rows.
_PARTS = 20
# With more columns than these, steps would be most of the work.
_MOST_COLUMNS = 2000


class View(TransformerMixin, BaseEstimator):
    """Columns held within the range they were learnt on, and steps up their numbers.

    A random unit sees a sum over all columns, which is a poor way to say "from 5000 on". A step is
    1 where a number is above one of its column's twentieths, and says just that. Numbers beyond
    the range that was seen count as its end, so that one stray value cannot send a model anywhere.
    A sparse matrix stays as it is.

    Parameters
    ----------
    steps : bool, default=False
        Whether there are steps.

    Attributes
    ----------
    low_, high_ : ndarray of shape (n_features,)
        The range of each column.
    column_ : ndarray of int of shape (n_steps,)
        The column of each step.
    edge_ : ndarray of shape (n_steps,)
        What it must exceed.
    """

    def __init__(self, steps=False):
        self.steps = steps

    def fit(self, X, y=None):
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

    def transform(self, X):
        """The columns, and then the steps."""
        check_is_fitted(self)
        X = valid_rows(self, X, reset=False)
        if sparse.issparse(X) or not len(self.low_):
            return X
        X = np.clip(X, self.low_, self.high_)
        if not len(self.edge_):
            return X
        return np.hstack([X, X[:, self.column_] > self.edge_], dtype=X.dtype)


def has_steps(X):
    """Whether there are numbers that could have steps, and not too many."""
    if sparse.issparse(X):
        return False
    wanted = int(np.sum([not _two_values(column) for column in X.T])) * (_PARTS - 1)
    return 0 < wanted <= _MOST_COLUMNS


def _steps(X):
    """Columns and edges, without those that say what an earlier one says of these rows."""
    columns, edges, met = [], [], set()
    for j, x in enumerate(X.T):
        for edge in _edges(x):
            said = np.packbits(x > edge).tobytes()
            if said not in met:
                met.add(said)
                columns.append(j)
                edges.append(edge)
    return np.array(columns, dtype=np.int64), np.array(edges, dtype=X.dtype)


def _edges(x):
    """Between the parts; none where there are but two values, which are a step already."""
    if _two_values(x):
        return np.zeros(0)
    cuts = np.unique(np.quantile(x, np.arange(1, _PARTS) / _PARTS, method="lower"))
    return cuts[cuts < x.max()]


def _two_values(x):
    return bool(((x == x.min()) | (x == x.max())).all())
