"""Which columns depend on others, and may therefore tell groups of rows apart.

Groups that show in several columns make these depend on each other; a column of noise depends on
none. Two columns are related if the ranks of one, or their distances from the middle rank, go with
those of the other more than chance explains: |r| √n beyond the normal quantile of 5 % over all
pairs. Distances from the middle show what has no direction, such as rings. A column with two peaks
is kept whatever it is related to: its kurtosis is below that of a uniform column, 1.8.
"""

import numpy as np
from scipy.stats import norm, rankdata

__all__ = ["related_columns"]

# The chance that any of the pairs of unrelated columns counts as related.
_LEVEL = 0.05
# Kurtosis below which a column has two peaks: that of a uniform column is 1.8, and 1 is the least.
_TWO_PEAKS = 1.7
# Columns whose correlations are in memory at once.
_AT_ONCE = 500


def related_columns(X: np.ndarray) -> np.ndarray:
    """Which columns of X depend on another one, or have two peaks; constant ones do not.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        The rows.

    Returns
    -------
    related : ndarray of bool of shape (n_features,)
        True for each of these columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.methods.related_columns import related_columns
    >>> rng = np.random.RandomState(0)
    >>> angle = rng.uniform(0, 6.28, 300)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> related_columns(np.hstack([ring, rng.standard_normal((300, 3))]))
    array([ True,  True, False, False, False])
    """
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    related = np.zeros(X.shape[1], dtype=bool)
    if len(varying) == 0:
        return related
    Z = np.asarray(X[:, varying], dtype=float)
    strongest = _strongest(Z)
    pairs = 4 * max(len(varying) * (len(varying) - 1) // 2, 1)
    chance = norm.isf(_LEVEL / (2 * pairs)) / np.sqrt(len(Z))
    related[varying] = (strongest > chance) | (_kurtosis(Z) < _TWO_PEAKS)
    return related


def _strongest(Z: np.ndarray) -> np.ndarray:
    """The largest |r| of each column with any other, by ranks and distances from the middle."""
    ranks = rankdata(Z, axis=0)
    parts = [_unit_columns(part) for part in (ranks, np.abs(ranks - ranks.mean(axis=0)))]
    found = np.zeros(Z.shape[1])
    for start in range(0, Z.shape[1], _AT_ONCE):
        here = np.arange(start, min(start + _AT_ONCE, Z.shape[1]))
        for one in parts:
            for other in parts:
                r = np.abs(one[:, here].T @ other)
                r[np.arange(len(here)), here] = 0.0  # a column and itself
                found[here] = np.maximum(found[here], r.max(axis=1))
    return found


def _unit_columns(Z: np.ndarray) -> np.ndarray:
    """Columns without their mean, of unit length; zeros where they are constant."""
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    return np.divide(Z, length, out=np.zeros_like(Z), where=length > 1e-9 * len(Z))


def _kurtosis(Z: np.ndarray) -> np.ndarray:
    U = _unit_columns(Z / np.maximum(np.abs(Z).max(axis=0), np.finfo(float).tiny))
    fourth: np.ndarray = len(Z) * np.sum(U**4, axis=0)
    return np.where(fourth > 0, fourth, np.inf)
