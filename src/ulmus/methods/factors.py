"""A non-negative factorisation H ≈ BW of hidden rows, and k-means on the rows of B."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn import config_context
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from ulmus.exceptions import InvalidInputError
from ulmus.hidden import Hidden
from ulmus.methods.clusters import Clusters, Means
from ulmus.typing import Array


@dataclass(frozen=True)
class Factors:
    """scikit-learn's factorisation, and what errors call the map that the hidden rows are of."""

    nmf: NMF
    origin: str

    def rows(self, h: Array) -> Array:
        """The rows of B for these hidden rows."""
        # Its rows must be in the precision of W.
        h = self.checked(h).astype(self.nmf.components_.dtype, copy=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.asarray(self.nmf.transform(h))

    def checked(self, h: Array) -> Array:
        """The hidden rows, or an error where some are negative."""
        if h.min() < 0:
            raise InvalidInputError(
                f"{self.origin} gave negative values, and a non-negative factorisation cannot have "
                "them; use RandomFeatures with activation='sigmoid' or 'relu', or RBFFeatures."
            )
        return h


@dataclass(frozen=True)
class FactorClusters(Clusters):
    """The clusters among the rows of B."""

    factors: Factors

    def coordinates(self, h: Array) -> Array:
        """The rows of B."""
        return self.factors.rows(h)

    def transformed(self, H: Hidden) -> np.ndarray:
        """The rows of B."""
        return self._by_blocks(H, self.coordinates)


@dataclass(frozen=True)
class Factorisation(Means):
    """As many components as clusters, found by scikit-learn's NMF with these parameters."""

    origin: str
    solver: str
    init: str | None
    max_iter: int
    tol: float

    def started(self, h: Array, seed: int) -> FactorClusters:
        """On hidden rows that are written out."""
        names = ("solver", "init", "max_iter", "tol")
        options = {name: getattr(self, name) for name in names}
        factors = Factors(NMF(self.n_clusters, random_state=seed, **options), self.origin)
        # Its start warns where arrays are dispatched, and these are NumPy's in any case.
        with warnings.catch_warnings(), config_context(array_api_dispatch=False):
            # A factorisation that is cut short groups rows as well; n_iter_ tells.
            warnings.simplefilter("ignore", ConvergenceWarning)
            factors.nmf.fit(factors.checked(h))
        # On rows as `transform` gives them: a training row is predicted as it is labelled.
        return FactorClusters(self.means(seed).fit(factors.rows(h)), factors)
