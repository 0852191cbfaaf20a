"""k-means on hidden rows, or on the rows of B in a non-negative factorisation H ≈ BW of them.

It starts on rows in this process. Where these are a sample of the rows of a Dask collection, each
further step is one pass, in which every block gives the sums of the rows nearest to each centre.
"""

import logging
import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from ulmus.exceptions import InvalidInputError
from ulmus.fitted import check_outputs
from ulmus.hidden import Hidden, most_rows
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.typing import Array

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Clusters:
    """scikit-learn's k-means, and the factorisation before it, if any.

    ``origin`` is what errors call the map that the hidden rows are of.
    """

    kmeans: KMeans
    nmf: NMF | None
    origin: str

    def fit(self, h: Array) -> "Clusters":
        """Fitted to hidden rows that are written out."""
        if self.nmf is not None:
            # Its start warns where arrays are dispatched, and these are NumPy's in any case.
            with warnings.catch_warnings(), config_context(array_api_dispatch=False):
                # A factorisation that is cut short groups rows as well; n_iter_ tells.
                warnings.simplefilter("ignore", ConvergenceWarning)
                self.nmf.fit(self._checked(h))
        # On rows as `transform` gives them: a training row is predicted as it is labelled.
        self.kmeans.fit(self.coordinates(h))
        return self

    def coordinates(self, h: Array) -> Array:
        """Hidden rows as k-means sees them: as they are, or rows of B."""
        if self.nmf is None:
            return h
        # They must be in the precision of W.
        h = self._checked(h).astype(self.nmf.components_.dtype, copy=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.asarray(self.nmf.transform(h))

    def transformed(self, H: Hidden) -> np.ndarray:
        """The distance of each row to every centre, or its row of B."""
        D = np.empty((len(H), self.kmeans.n_clusters), H.dtype)
        for rows, h in whole_blocks(H):
            D[rows] = self.kmeans.transform(h) if self.nmf is None else self.coordinates(h)
        return D

    def assigned(self, H: Hidden) -> tuple[np.ndarray, float]:
        """The nearest cluster of every row, and the sum of squared distances."""
        labels, inertia = np.empty(len(H), dtype=np.int32), 0.0
        for rows, h in whole_blocks(H):
            _, labels[rows], squares = self.nearest(h)
            inertia += float(squares.sum())
        return labels, inertia

    def nearest(self, h: Array) -> tuple[Array, np.ndarray, np.ndarray]:
        """Coordinates of hidden rows, their nearest clusters, and squared distances to these."""
        centers = self.kmeans.cluster_centers_
        # k-means takes rows in the precision of its centres alone.
        E = self.coordinates(h).astype(centers.dtype, copy=False)
        labels = self.kmeans.predict(E)
        return E, labels, np.sum((E - centers[labels]) ** 2, axis=1, dtype=float)

    def sums(self, H: Hidden) -> np.ndarray:
        """A row for every cluster: the sum of its rows, their number, their squared distances."""
        return np.sum([self._sums(h) for _, h in whole_blocks(H)], axis=0)

    def settled(self, H: HiddenBlocks, tolerance: float) -> "Clusters":
        """Lloyd's steps over all rows, until the centres stay."""
        kmeans = copy(self.kmeans)
        found = replace(self, kmeans=kmeans)
        for step in range(1, kmeans.max_iter + 1):
            before, sums = kmeans.cluster_centers_, H.total(found.sums)
            count = sums[:, -2:-1]
            # A cluster without rows stays where it was.
            centers = np.where(count > 0, sums[:, :-2] / np.maximum(count, 1), before)
            kmeans.cluster_centers_, kmeans.n_iter_ = centers.astype(before.dtype), step
            if np.sum((kmeans.cluster_centers_ - before) ** 2, dtype=float) <= tolerance:
                break
        return found

    def _sums(self, h: Array) -> np.ndarray:
        E, labels, squares = self.nearest(h)
        n = len(E)
        own = sp.csr_array((np.ones(n), (labels, np.arange(n))), (self.kmeans.n_clusters, n))
        return np.asarray(own @ np.column_stack([E, np.ones(n), squares]))

    def _checked(self, h: Array) -> Array:
        if h.min() < 0:
            raise InvalidInputError(
                f"{self.origin} gave negative values, and a non-negative factorisation cannot have "
                "them; use RandomFeatures with activation='sigmoid' or 'relu', or RBFFeatures."
            )
        return h


@dataclass(frozen=True)
class Means:
    """How many clusters, and how often k-means starts; the tightest clustering is kept.

    ``nmf`` are parameters of the factorisation, if any, and ``origin`` is what errors call the map.
    """

    n_clusters: int
    n_init: int
    nmf: dict[str, Any] | None = None
    origin: str = ""

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
        return found.settled(H, found.kmeans.tol * float(np.mean(variance)))

    def started(self, h: Array, seed: int) -> Clusters:
        """The clusters of hidden rows that are written out."""
        kmeans = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed)
        nmf = None if self.nmf is None else NMF(self.n_clusters, random_state=seed, **self.nmf)
        return Clusters(kmeans, nmf, self.origin).fit(h)

    def _fitting(self, H: Hidden, seed: int) -> Hidden:
        """The rows, or a sample of as many as fit in memory."""
        most = max(self.n_clusters, most_rows(H.width, H.itemsize))
        if len(H) <= most:
            return H
        _LOG.info("Clusters are found on %d of %d rows, as many as fit.", most, len(H))
        return H.take(np.sort(np.random.RandomState(seed).permutation(len(H))[:most]))


def whole_blocks(H: Hidden) -> Iterator[tuple[slice, Array]]:
    """Rows, and the hidden rows with nothing left out."""
    for rows, h in H.blocks():
        h += H.offset
        yield rows, check_outputs(h)
