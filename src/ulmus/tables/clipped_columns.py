"""An encoded matrix clipped to the range of its training rows."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ulmus.typing import Rows
from ulmus.validation import valid_rows


class ClippedColumns(TransformerMixin, BaseEstimator):
    """Columns clipped to the range seen in `fit`; a sparse matrix stays as it is.

    Clipping keeps one stray value from taking a prediction anywhere.

    Attributes
    ----------
    low_, high_ : ndarray of shape (n_features,)
        The range of each column; empty where the matrix was sparse.
    """

    def fit(self, X: Rows, y: Any = None) -> "ClippedColumns":
        """Learn the range."""
        self.n_features_in_ = X.shape[1]
        self.low_ = self.high_ = np.zeros(0, np.float32)
        if not sparse.issparse(X):
            self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        return self

    def transform(self, X: Rows) -> Rows:
        """The clipped columns."""
        check_is_fitted(self)
        return self.clipped(valid_rows(self, X, reset=False))

    def clipped(self, X: Rows) -> Rows:
        """The same of rows that are known to be a matrix of as many finite columns."""
        if sparse.issparse(X) or not len(self.low_):
            return X
        return np.clip(X, self.low_, self.high_)
