"""Rows that are much farther from their neighbours than the rows of their cluster are.

The spacing of a row is its mean distance to the ten nearest of some rows. In a cluster its
logarithm spreads about as far above the median as below, but for stray rows. So a row is far if it
is above the median by three deviations, which the lower decile gives: strays have no part in it.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ulmus.backends.namespace import take
from ulmus.typing import Rows

__all__ = ["far_rows"]

_NEIGHBORS = 10
# Deviations above the median, and by what factor of the median spacing at least.
_DEVIATIONS, _LEAST = 3.0, 1.5
# How many deviations below its median the lower decile of a normal distribution lies.
_DECILE = 1.2816


def far_rows(X: Rows, some: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which rows are far from their neighbours, beside those of the same cluster.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features)
        The rows, on the host.
    some : ndarray of shape (m,)
        Numbers of the rows whose clusters are known.
    labels : ndarray of shape (m,)
        Their clusters; −1 for none.

    Returns
    -------
    far : ndarray of bool of shape (n,)
        True for far rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.methods.far_rows import far_rows
    >>> angle = 2.0 * np.pi * np.arange(30) / 30
    >>> X = np.vstack([np.column_stack([np.cos(angle), np.sin(angle)]), [[4, 4], [-5, 3]]])
    >>> np.flatnonzero(far_rows(X, np.arange(32), np.zeros(32)))
    array([30, 31])
    """
    known = labels >= 0
    spacing, nearest = _spacing(X, some[known])
    cluster, far = labels[known][nearest], np.zeros(X.shape[0], dtype=bool)
    # The spacing of rows among copies of them is zero, and is no measure for other rows.
    apart = spacing > 0
    for each in np.unique(cluster[apart]):
        own = apart & (cluster == each)
        logs = np.log(spacing[own])
        decile, median = np.quantile(logs, (0.1, 0.5))
        room = max(_DEVIATIONS * (median - decile) / _DECILE, np.log(_LEAST))
        far[own] = logs > median + room
    return far


def _spacing(X: Rows, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean distance of each row to the nearest of some rows but itself, and the nearest."""
    k = min(_NEIGHBORS, len(some) - 1)
    search = NearestNeighbors(n_neighbors=k + 1).fit(take(X, some))
    distances, nearest = search.kneighbors(X)
    own = np.isin(np.arange(X.shape[0]), some)
    # A row that is among them finds itself first, or a copy.
    sums = distances.sum(axis=1) - np.where(own, distances[:, 0], distances[:, -1])
    return sums / max(k, 1), nearest[:, 0]
