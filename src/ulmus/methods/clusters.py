"""k-means on hidden rows H, or on their non-negative factorisation BW ≈ H or the factor B alone.

Distances between the rows of BW are those between the rows of B (WWᵀ)^½, which are much shorter.
They do not depend on how BW is divided between B and W, as those between the rows of B do.

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

    ``origin`` is what errors call the map that the hidden rows are of, and ``compared`` is "BW" or
    "B".
    """

    kmeans: KMeans
    nmf: NMF | None
    origin: str
    compared: str = "BW"

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
        """Hidden rows as k-means sees them: as they are, or by their rows of B."""
        return h if self.nmf is None else self.factor_rows(h) @ self.metric_root()

    def metric_root(self) -> np.ndarray:
        """What the rows of B are multiplied by to be as far apart as what is compared."""
        assert self.nmf is not None
        W = self.nmf.components_
        if self.compared == "B":
            return np.eye(len(W), dtype=W.dtype)
        values, vectors = np.linalg.eigh(W @ W.T)
        root: np.ndarray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return root

    def factor_rows(self, h: Array) -> np.ndarray:
        """The rows of B."""
        assert self.nmf is not None
        # They must be in the precision of W.
        h = self._checked(h).astype(self.nmf.components_.dtype, copy=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.asarray(self.nmf.transform(h))

    def transformed(self, H: Hidden) -> np.ndarray:
        """The distance of each row to every centre, or its row of B."""
        width = self.kmeans.n_clusters if self.nmf is None else len(self.nmf.components_)
        D = np.empty((len(H), width), H.dtype)
        for rows, h in whole_blocks(H):
            D[rows] = self.kmeans.transform(h) if self.nmf is None else self.factor_rows(h)
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

    ``nmf`` are parameters of the factorisation, if any, and ``origin`` and ``compared`` are those
    of `Clusters`.
    """

    n_clusters: int
    n_init: int
    nmf: dict[str, Any] | None = None
    origin: str = ""
    compared: str = "BW"

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
        nmf = None if self.nmf is None else factorisation(self.nmf, h, seed)
        return Clusters(kmeans, nmf, self.origin, self.compared).fit(h)

    def _fitting(self, H: Hidden, seed: int) -> Hidden:
        """The rows, or a sample of as many as fit in memory."""
        most = max(self.n_clusters, most_rows(H.width, H.itemsize))
        if len(H) <= most:
            return H
        _LOG.info("Clusters are found on %d of %d rows, as many as fit.", most, len(H))
        return H.take(np.sort(np.random.RandomState(seed).permutation(len(H))[:most]))


def factorisation(parameters: dict[str, Any], h: Array, seed: int) -> NMF:
    """One that is not fitted, with a start that these rows allow."""
    nmf = NMF(random_state=seed, **parameters)
    # Singular vectors of zero would be divided by their length.
    if nmf.init is None and not rank_reaches(h, nmf.n_components, seed):
        nmf.set_params(init="random")
    return nmf


def rank_reaches(h: Array, rank: int, seed: int) -> bool:
    """Whether so many rows, and columns, are linearly independent.

    That is so if as many random mixtures of the columns are.
    """
    if min(h.shape) < rank:
        return False
    mixtures = np.random.RandomState(seed).standard_normal((h.shape[1], rank))
    return bool(np.linalg.matrix_rank(h @ mixtures) == rank)


def whole_blocks(H: Hidden) -> Iterator[tuple[slice, Array]]:
    """Rows, and the hidden rows with nothing left out."""
    for rows, h in H.blocks():
        h += H.offset
        yield rows, check_outputs(h)
