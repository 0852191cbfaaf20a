"""Kernels that are functions of the distance between two rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.namespace import decay
from ulmus.kernels.definition import Kernel, parameter
from ulmus.kernels.pairs import (
    at_most_zero,
    city_blocks,
    into,
    mean_distance,
    ones,
    scaled_squares,
)
from ulmus.typing import Array, Rows

__all__ = ["RBF", "LaplacianKernel"]


@dataclass(frozen=True)
class RBF(Kernel, name="rbf"):
    """exp(−γ‖x − z‖²).

    Parameters
    ----------
    gamma : float, default=1.0
        γ; 1/2σ² for a width σ.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus import KernelELMClassifier
    >>> from ulmus.kernels import RBF
    >>> RBF(0.5)(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.135]])
    >>> model = KernelELMClassifier(RBF(0.5))  # the width is used as it is, on inputs as they are
    """

    gamma: float = parameter(1.0, above=0)

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        P = scaled_squares(X, Z, -self.gamma, out)
        P = at_most_zero(P)  # the expanded square may round to just below it
        return into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        return ones(X)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        """2γk(z − x)."""
        p = 2.0 * self.gamma * self(X, Z)
        return p, -p

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return (-x.squared_distances(Z, self.gamma)).op("Exp")


@dataclass(frozen=True)
class LaplacianKernel(Kernel, name="laplacian"):
    """exp(−γ‖x − z‖₁).

    Parameters
    ----------
    gamma : float, default=1.0
        γ.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import LaplacianKernel
    >>> LaplacianKernel(0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(3)
    array([[0.368]])
    """

    gamma: float = parameter(1.0, above=0)

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        P = city_blocks(X, Z)
        P *= -self.gamma
        return into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        return ones(X)

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        """1/σ, σ the mean city-block distance between the rows."""
        return 1.0 / mean_distance(rows, weight, city=True)

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        graph, first = x.graph, np.array([1])

        def add_column(j: Any, D: Any) -> tuple[bool, Any]:
            own = graph.op("Gather", x, j, axis=1).op("Unsqueeze", first)
            return True, D + (own - graph.op("Gather", Z.T, j)).op("Abs")

        # One column at a time: all columns of all pairs would be too much memory.
        D = graph.loop(Z.shape[1], add_column, x @ np.zeros(Z.T.shape))
        return (-self.gamma * D).op("Exp")
