"""k-means over the blocks of a Dask collection.

It starts on a sample in this process; each further step is one pass, in which every block gives the
sums of the rows that are nearest to each centre.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ulmus.distributed.rows import BlockRows
from ulmus.features.base import column_statistics, merged
from ulmus.features.hidden_layer import layer_of, map_over_blocks
from ulmus.hidden import Hidden, sample_rows
from ulmus.typing import Rows

# The rows that k-means starts on; a tighter start on more would be undone by the steps after it.
_SAMPLE = 20_000


@dataclass(frozen=True)
class ClusterSums:
    """For every cluster its rows' sum and number, and all rows' squared distances together."""

    total: np.ndarray
    count: np.ndarray
    inertia: float

    def __add__(self, other: "ClusterSums") -> "ClusterSums":
        return ClusterSums(
            self.total + other.total, self.count + other.count, self.inertia + other.inertia
        )

    def means(self, otherwise: np.ndarray) -> np.ndarray:
        """The clusters' centres; one without rows stays where it was."""
        count = np.maximum(self.count, 1)[:, None]
        means = np.where(self.count[:, None] > 0, self.total / count, otherwise)
        return means.astype(otherwise.dtype)


def fit_blocks(estimator: Any, X: Rows, client: Any) -> Any:
    """Fit a `HiddenClustering`."""
    rows = BlockRows(estimator, X, client=client)
    columns = merged(rows.survey(column_statistics))
    n = len(rows)
    estimator._check_parameters(n)
    default = estimator._default(rows)
    estimator.features_ = map_over_blocks(estimator, rows, columns, default=default)
    seed = check_random_state(estimator.random_state).randint(2**31 - 1)
    most = max(_SAMPLE, estimator.n_clusters)
    sample = rows[slice(None) if n <= most else np.sort(sample_rows(seed, most, n))]
    H = Hidden(layer_of(estimator.features_, sample, estimator.dtype), sample)
    estimator.n_hidden_ = H.width
    estimator._learn(H.all(), seed)
    if n > most:
        _move_centers(estimator, rows, _tolerance(estimator, H))
    (sums,) = rows.compute(rows.total(_sums))
    estimator.inertia_ = estimator.kmeans_.inertia_ = sums.inertia
    estimator.labels_ = estimator.predict(X)
    return estimator


def _move_centers(estimator: Any, rows: Any, tolerance: float) -> None:
    """Lloyd's steps over all rows, until the centres stay."""
    kmeans = estimator.kmeans_
    for step in range(1, kmeans.max_iter + 1):
        (sums,) = rows.compute(rows.total(_sums))
        centers = sums.means(kmeans.cluster_centers_)
        shift = float(np.sum((centers - kmeans.cluster_centers_) ** 2, dtype=float))
        kmeans.cluster_centers_ = estimator.cluster_centers_ = centers
        kmeans.n_iter_ = step
        if shift <= tolerance:
            return


def _tolerance(estimator: Any, H: Hidden) -> float:
    """scikit-learn's: what the centres may still move, beside the variance of the rows."""
    variance = np.var(estimator._coordinates(H.all()), axis=0, dtype=float)
    return estimator.kmeans_.tol * float(np.mean(variance))


def _sums(X: Rows, y: Any, weight: np.ndarray | None, estimator: Any) -> ClusterSums | None:
    """A block's part of a step."""
    kmeans, found = estimator.kmeans_, None
    for _, h in estimator._blocks(Hidden(layer_of(estimator.features_, X, estimator.dtype), X)):
        E = estimator._coordinates(h)
        labels = kmeans.predict(E)
        own = sp.csr_array(
            (np.ones(len(E)), (labels, np.arange(len(E)))), (estimator.n_clusters, len(E))
        )
        inertia = float(np.sum((E - kmeans.cluster_centers_[labels]) ** 2, dtype=float))
        part = ClusterSums(own @ E, own.sum(axis=1), inertia)
        found = part if found is None else found + part
    return found
