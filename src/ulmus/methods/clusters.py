"""k-means on hidden rows.

It starts on rows in this process. Where these are a sample of the rows of a Dask collection, each
further step is one pass, in which every block gives the sums of the rows nearest to each centre.
"""

import logging
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from ulmus.fitted import check_outputs
from ulmus.hidden import Hidden, most_rows
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.typing import Array

_LOG = logging.getLogger(__name__)


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


@dataclass(frozen=True)
class Clusters:
    """scikit-learn's k-means, fitted to hidden rows."""

    kmeans: KMeans

    @property
    def centers(self) -> np.ndarray:
        """The clusters' means, where `coordinates` lead."""
        found: np.ndarray = self.kmeans.cluster_centers_
        return found

    def coordinates(self, h: Array) -> Array:
        """Hidden rows as k-means sees them."""
        return h

    def transformed(self, H: Hidden) -> np.ndarray:
        """The distance of each row to every centre."""
        return self._by_blocks(H, self.kmeans.transform)

    def assigned(self, H: Hidden) -> tuple[np.ndarray, float]:
        """The nearest cluster of every row, and the sum of squared distances."""
        labels, inertia = np.empty(len(H), dtype=np.int32), 0.0
        for rows, h in whole_blocks(H):
            _, labels[rows], distance = self._nearest(h)
            inertia += distance
        return labels, inertia

    def nearest(self, h: Array) -> np.ndarray:
        """The nearest cluster of hidden rows that are written out."""
        return self._nearest(h)[1]

    def sums(self, H: Hidden) -> ClusterSums:
        """What a step of k-means needs of these rows."""
        return reduce(add, (self._sums(h) for _, h in whole_blocks(H)))

    def moved(self, centers: np.ndarray, step: int) -> Self:
        """With other centres, after so many steps."""
        kmeans = copy(self.kmeans)
        kmeans.cluster_centers_, kmeans.n_iter_ = centers, step
        return replace(self, kmeans=kmeans)

    def _sums(self, h: Array) -> ClusterSums:
        E, labels, inertia = self._nearest(h)
        own = sp.csr_array(
            (np.ones(len(E)), (labels, np.arange(len(E)))), (len(self.centers), len(E))
        )
        return ClusterSums(own @ E, own.sum(axis=1), inertia)

    def _nearest(self, h: Array) -> tuple[Array, np.ndarray, float]:
        """Coordinates, the nearest clusters, and the sum of squared distances."""
        # k-means takes rows in the precision of its centres alone.
        E = self.coordinates(h).astype(self.centers.dtype, copy=False)
        labels = self.kmeans.predict(E)
        return E, labels, float(np.sum((E - self.centers[labels]) ** 2, dtype=float))

    def _by_blocks(self, H: Hidden, function: Any) -> np.ndarray:
        """A function of hidden rows that gives a number for every cluster."""
        D = np.empty((len(H), len(self.centers)), H.dtype)
        for rows, h in whole_blocks(H):
            D[rows] = function(h)
        return D


@dataclass(frozen=True)
class Means:
    """How many clusters, and how often k-means starts; the tightest clustering is kept."""

    n_clusters: int
    n_init: int

    def fit(self, H: Hidden | HiddenBlocks, seed: int) -> Clusters:
        """The clusters, from all rows or from a sample that fits in memory."""
        if isinstance(H, Hidden):
            return self.started(self._fitting(H, seed).all(), seed)
        h = H.sample(self.n_clusters, seed).all()
        found = self.started(h, seed)
        if len(h) == len(H):
            return found
        # scikit-learn's: what the centres may still move, beside the variance of the rows.
        variance = np.var(found.coordinates(h), axis=0, dtype=float)
        return _settled(found, H, found.kmeans.tol * float(np.mean(variance)))

    def _fitting(self, H: Hidden, seed: int) -> Hidden:
        """The rows, or a sample of as many as fit in memory."""
        most = max(self.n_clusters, most_rows(H.width, H.itemsize))
        if len(H) <= most:
            return H
        _LOG.info("Clusters are found on %d of %d rows, as many as fit.", most, len(H))
        return H.take(np.sort(np.random.RandomState(seed).permutation(len(H))[:most]))

    def started(self, h: Array, seed: int) -> Clusters:
        """On hidden rows that are written out."""
        return Clusters(self.means(seed).fit(h))

    def means(self, seed: int) -> KMeans:
        """scikit-learn's k-means."""
        return KMeans(self.n_clusters, n_init=self.n_init, random_state=seed)


def _settled(found: Clusters, H: HiddenBlocks, tolerance: float) -> Clusters:
    """Lloyd's steps over all rows, until the centres stay."""
    for step in range(1, found.kmeans.max_iter + 1):
        before = found.centers
        found = found.moved(H.total(found.sums).means(before), step)
        if float(np.sum((found.centers - before) ** 2, dtype=float)) <= tolerance:
            break
    return found


def whole_blocks(H: Hidden) -> Iterator[tuple[slice, Array]]:
    """Rows, and the hidden rows with nothing left out."""
    for rows, h in H.blocks():
        h += H.offset
        yield rows, check_outputs(h)
