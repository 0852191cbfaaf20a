"""Rows and columns of noise.

Rows of noise are much farther from their neighbours than the rows of their cluster are. The spacing
of a row is its mean distance to the ten nearest of some rows. In a cluster its logarithm spreads
about as far above the median as below, but for stray rows. So a row is far if it is above the
median by three deviations, which the lower decile gives: strays have no part in it.

Groups that show in several columns make these depend on each other; a column of noise depends on
none. Two columns are related if the ranks of one, or their distances from the middle rank, go with
those of the other more than chance explains: |r| √n beyond the normal quantile of 5 % over all
pairs. Distances from the middle show what has no direction, such as rings. A column with several
peaks is kept whatever it is related to, for many clusters of which each shows in a column of its
own make columns that are hardly related. Two peaks of like height have a kurtosis below that of a
uniform column, 1.8. Peaks apart leave a hole: a gap between two values that is wider than the span
of as many values on either side as are a small cluster. With one peak, the side towards it is
denser than the hole, but the other side is not.
"""

from itertools import product

import numpy as np
from scipy.stats import norm, rankdata

from ulmus.backends.namespace import take
from ulmus.backends.neighbors import nearest_points
from ulmus.typing import Rows

_NEIGHBORS = 10
# Deviations above the median, and by what factor of the median spacing at least.
_DEVIATIONS, _LEAST = 3.0, 1.5
# How many deviations below its median the lower decile of a normal distribution lies.
_DECILE = 1.2816
# The chance that any of the pairs of unrelated columns counts as related.
_LEVEL = 0.05
# Kurtosis below which a column has two peaks: that of a uniform column is 1.8, and 1 is the least.
_TWO_PEAKS = 1.7
# Rows on either side of a hole: this part of all, and at least so many. It is wider than each of
# their spans by the third number, with which 1 of 10 000 columns of 180 rows and one peak seems to
# have a hole, and than most gaps by the fourth: those between whole numbers are all alike.
_SIDE, _LEAST_SIDE, _WIDER, _WIDE = 0.05, 15, 1.25, 5.0


def far_rows(X: Rows, some: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which rows are far from their neighbours, beside those of the same cluster.

    ``some`` are the numbers of rows with known clusters, which are ``labels``, −1 for none.
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
    distances, nearest = nearest_points(X, take(X, some), k + 1)
    own = np.isin(np.arange(X.shape[0]), some)
    # A row that is among them finds itself first, or a copy.
    sums = distances.sum(axis=1) - np.where(own, distances[:, 0], distances[:, -1])
    return sums / max(k, 1), nearest[:, 0]


def related_columns(X: np.ndarray) -> np.ndarray:
    """Which columns of X depend on another one, or have several peaks; constant ones do not."""
    X = np.asarray(X, dtype=float)
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    related = np.zeros(X.shape[1], dtype=bool)
    if len(varying) == 0:
        return related
    Z = X[:, varying]
    pairs = 4 * max(len(varying) * (len(varying) - 1) // 2, 1)
    chance = norm.isf(_LEVEL / (2 * pairs)) / np.sqrt(len(Z))
    Z /= np.maximum(np.abs(Z).max(axis=0), np.finfo(float).tiny)  # gaps may not overflow
    U = _unit_columns(Z)
    kurtosis = len(Z) * np.sum(U**4, axis=0)
    two_peaks = (kurtosis > 0) & (kurtosis < _TWO_PEAKS)
    related[varying] = (_strongest(Z) > chance) | two_peaks | _holes(Z)
    return related


def _holes(Z: np.ndarray) -> np.ndarray:
    """Which columns, that vary, have a hole."""
    n = len(Z)
    m = max(_LEAST_SIDE, int(np.ceil(_SIDE * n)))
    if n < 2 * m:
        return np.zeros(Z.shape[1], dtype=bool)
    Z = np.sort(Z, axis=0)
    gaps = np.diff(Z, axis=0)
    usual = np.array([np.median(gap[gap > 0]) for gap in gaps.T])
    spans = Z[m - 1 :] - Z[: n - m + 1]
    # A gap has m values or more below and above it.
    sides = np.maximum(spans[: n - 2 * m + 1], spans[m:])
    wide = np.maximum(_WIDER * sides, _WIDE * usual)
    found: np.ndarray = (gaps[m - 1 : n - m] > wide).any(axis=0)
    return found


def _strongest(Z: np.ndarray) -> np.ndarray:
    """The largest |r| of each column with any other, by ranks and distances from the middle."""
    ranks = rankdata(Z, axis=0)
    parts = [_unit_columns(part) for part in (ranks, np.abs(ranks - ranks.mean(axis=0)))]
    found = np.zeros(Z.shape[1])
    for one, other in product(parts, parts):
        r = np.abs(one.T @ other)
        np.fill_diagonal(r, 0.0)  # a column and itself
        found = np.maximum(found, r.max(axis=1))
    return found


def _unit_columns(Z: np.ndarray) -> np.ndarray:
    """Columns without their mean, of unit length; zeros where they are constant."""
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    return np.divide(Z, length, out=np.zeros_like(Z), where=length > 1e-9 * len(Z))
