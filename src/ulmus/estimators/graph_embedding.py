"""An embedding that is free of the hidden layer: the graph's own, which the ELM extends.

With many more rows than units Hβ cannot hold what the graph knows. So the rows are placed by the
smoothest functions on the graph, as spectral clustering does, and β is fitted to their places.
"""

import warnings
from typing import Any

import numpy as np

from ulmus.arguments import check_known
from ulmus.backends.namespace import from_numpy, is_numpy, namespace, placed, take, to_numpy
from ulmus.backends.neighbors import mean_of_copies
from ulmus.exceptions import GraphError, UnreachedRowsWarning
from ulmus.fitted import OfRows, OnDevice
from ulmus.hidden import Hidden
from ulmus.methods.coupling import COUPLINGS, coupling_for
from ulmus.methods.laplacian_eigenmaps import graph_spectrum
from ulmus.methods.ridge import DEFAULT_GRID, solve
from ulmus.problem import Problem
from ulmus.targets import ValueTargets
from ulmus.typing import Array

__all__ = ["GraphEmbedding", "of_unit_length"]


class GraphEmbedding:
    """The free coupling, for an estimator with a graph, a hidden layer and no labels."""

    coupling_: str
    coupling_reason_: str
    C_: float
    selection_: str
    loo_score_: float
    eigenvalues_: OnDevice[Array]
    _places: OfRows[OnDevice[Array]]

    @property
    def embedding_(self: Any) -> Array:
        """The places of the training rows on the graph."""
        if not hasattr(self, "_places"):
            raise AttributeError(
                "Only a fit with the free coupling places its training rows on the graph; use "
                "transform."
            )
        return self._places

    def _coupled(self: Any, H: Hidden) -> tuple[str, str]:
        """Which coupling the shape asks for, and why."""
        check_known("coupling", self.coupling, COUPLINGS)
        if self.coupling != "auto":
            return self.coupling, "asked for"
        return coupling_for(H)

    def _fit_free(self: Any, H: Hidden, laplacian: Any, n_components: int) -> bool:
        """Place the rows on the graph, and fit β to that; whether the graph allowed it."""
        try:
            found = graph_spectrum(laplacian, n_components)
        except GraphError as error:
            if self.coupling == "free":
                raise
            self.coupling_, self.coupling_reason_ = "tight", str(error)
            return False
        self._say(found, n_components)
        # Edges between rows that are the same are chance where neighbours are fewer.
        E = mean_of_copies(found.coordinates, H.X if is_numpy(H.X) else to_numpy(H.X))
        E = of_unit_length(E) if self.row_normalize else E
        rows = np.flatnonzero(found.reached)
        part = H if len(rows) == len(H) else H.take(rows)
        problem = Problem(part, ValueTargets(E[rows]).placed(H.X), intercept=True)
        solution = solve(problem, DEFAULT_GRID, seed=0)
        self.beta_, self.intercept_, self.C_ = solution.coef, solution.intercept, solution.C
        self.eigenvalues_ = placed(found.values, H.X)
        self.n_hidden_ = int(solution.coef.shape[0])
        self._record(solution.path, E[rows])
        self._places = self._placed_all(E, found.reached, H)
        return True

    def _record(self: Any, path: Any, E: Array) -> None:
        """How C was chosen, and how much of the graph's embedding Hβ + b can tell."""
        self.selection_ = "loo" if path.rows == len(E) else "loo-sample"
        spread = float(((E - E.mean(axis=0)) ** 2).sum(axis=1).mean())
        self.loo_score_ = 1.0 - path.score[1] / spread if spread else 1.0

    def _placed_all(self: Any, E: Array, reached: np.ndarray, H: Hidden) -> Array:
        """The embedding of all rows: the graph's, or the model's where the graph has none."""
        unreached = np.flatnonzero(~reached)
        if len(unreached):
            E[unreached] = to_numpy(self._embedded(take(H.X, unreached)))
        return from_numpy(E, H.X, H.dtype)

    def _say(self: Any, found: Any, n_components: int) -> None:
        """Warn of rows and of parts that the graph tells too little about."""
        unreached = int(np.count_nonzero(~found.reached))
        if unreached:
            warnings.warn(
                f"{unreached} of {len(found.reached)} rows lie in small parts of the graph that no "
                "edge joins to the rest; the model alone places them. More neighbours would help.",
                UnreachedRowsWarning,
                stacklevel=2,
            )
        if found.parts > n_components:
            warnings.warn(
                f"The graph falls into {found.parts} large parts, and {n_components} columns tell "
                "no more than some of them apart. More neighbours would join them; more "
                "n_components would show their insides.",
                UnreachedRowsWarning,
                stacklevel=2,
            )


def of_unit_length(E: Array) -> Array:
    """Every row divided by its length; rows of zeros stay."""
    xp = namespace(E)
    lengths = xp.linalg.vector_norm(E, axis=1, keepdims=True)
    return E / xp.where(lengths > 0, lengths, 0.0 * lengths + 1.0)
