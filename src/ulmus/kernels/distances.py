"""Kernels that are functions of the distance between two rows."""

from dataclasses import dataclass

from ulmus.backends.elementwise import decay
from ulmus.kernels.base import Kernel
from ulmus.pairs import Shifted, at_most_zero, city_blocks, into, ones, scaled_squares
from ulmus.typing import Array, Rows

__all__ = ["RBF", "Laplacian"]


@dataclass(frozen=True)
class RBF(Kernel):
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

    gamma: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        # Only distances count, so what both are short of does not.
        X, Z = (A.rows if isinstance(A, Shifted) else A for A in (X, Z))
        P = scaled_squares(X, Z, -self.gamma, out)
        P = at_most_zero(P)  # the expanded square may round to just below it
        return into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        """One for every row."""
        return ones(X)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(−γ‖x − z‖₁).

    Parameters
    ----------
    gamma : float, default=1.0
        γ.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Laplacian
    >>> Laplacian(0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(3)
    array([[0.368]])
    """

    gamma: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        P = city_blocks(*(A.rows if isinstance(A, Shifted) else A for A in (X, Z)))
        P *= -self.gamma
        return into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        """One for every row."""
        return ones(X)
