"""Kernels exp(−γ d(x, z)) of a distance d, which are not differentiable at x = z.

They fit sharper edges than the Gaussian kernel, whose exponent is a squared distance.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ulmus.backends.namespace import decay
from ulmus.kernels.definition import Kernel, parameter
from ulmus.kernels.pairs import city_blocks, distances, into, mean_distance, ones
from ulmus.typing import Array, Rows


class _OfDistance(Kernel):
    """exp(−γ d(x, z)): a subclass states d."""

    gamma: float

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        P = self._distances(X, Z)
        P *= -self.gamma
        return into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        return ones(X)

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        """1/σ, σ the mean distance between the rows."""
        return 1.0 / mean_distance(rows, weight, city=cls.by_signs)

    def _distances(self, X: Rows, Z: Rows) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class LaplacianKernel(_OfDistance, name="laplacian"):
    """exp(−γ‖x − z‖₁), with the distances of all columns added up (city blocks).

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

    by_signs: ClassVar[bool] = True
    gamma: float = parameter(1.0, above=0)

    def _distances(self, X: Rows, Z: Rows) -> Array:
        return city_blocks(X, Z)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, None]:
        return self.gamma * self(X, Z), None

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        graph, first = x.graph, np.array([1])

        def add_column(j: Any, D: Any) -> tuple[bool, Any]:
            own = graph.op("Gather", x, j, axis=1).op("Unsqueeze", first)
            return True, D + (own - graph.op("Gather", Z.T, j)).op("Abs")

        # One column at a time: all columns of all pairs would be too much memory.
        D = graph.loop(Z.shape[1], add_column, x @ np.zeros(Z.T.shape))
        return (-self.gamma * D).op("Exp")


@dataclass(frozen=True)
class Exponential(_OfDistance, name="exponential"):
    """exp(−γ‖x − z‖₂): as rough as the Laplacian kernel, and the same in every direction.

    Parameters
    ----------
    gamma : float, default=1.0
        γ.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Exponential
    >>> Exponential(0.5)(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).round(3)
    array([[0.082]])
    """

    gamma: float = parameter(1.0, above=0)

    def _distances(self, X: Rows, Z: Rows) -> Array:
        return distances(X, Z)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        D = distances(X, Z)
        # At x = z the kernel has a peak, and the mean slope around it is zero.
        p = self.gamma * np.exp(-self.gamma * D) / np.where(D > 0.0, D, np.inf)
        return p, -p

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return (-self.gamma * x.squared_distances(Z).op("Sqrt")).op("Exp")
