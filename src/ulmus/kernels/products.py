"""Kernels that are functions of xᵀz."""

from dataclasses import dataclass
from typing import ClassVar

from ulmus.backends.elementwise import elementwise
from ulmus.backends.namespace import namespace
from ulmus.kernels.base import Kernel
from ulmus.pairs import products, squares
from ulmus.typing import Array, Rows

__all__ = ["Cosine", "Linear", "Polynomial", "Sigmoid"]


@dataclass(frozen=True)
class Linear(Kernel):
    """xᵀz.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Linear
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        return products(X, Z, out)

    def diagonal(self, X: Rows) -> Array:
        """‖x‖²."""
        return squares(X)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(γ xᵀz + c)^p.

    Parameters
    ----------
    gamma : float, default=1.0
        γ.
    coef0 : float, default=1.0
        c.
    degree : int, default=3
        p, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Polynomial
    >>> Polynomial(degree=2)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """

    gamma: float = 1.0
    coef0: float = 1.0
    degree: int = 3

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        return self._power(products(X, Z, out))

    def diagonal(self, X: Rows) -> Array:
        """(γ‖x‖² + c)^p."""
        return self._power(squares(X))

    def _power(self, P: Array) -> Array:
        P *= self.gamma
        P += self.coef0
        base = P if self.degree == 1 else namespace(P).asarray(P, copy=True)
        for _ in range(self.degree - 1):
            P *= base
        return P


@dataclass(frozen=True)
class Cosine(Kernel):
    """xᵀz / (‖x‖ ‖z‖); zero where a row is.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Cosine
    >>> Cosine()(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])).round(3)
    array([[0.707]])
    """

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        P = products(X, Z, out)
        P /= _length(X)[:, None]
        P /= _length(Z)[None, :]
        return P

    def diagonal(self, X: Rows) -> Array:
        """One for every row that is not zero."""
        square = squares(X)
        return namespace(square).astype(square > 0, square.dtype)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(γ xᵀz + c), which is the inner product of no hidden layer.

    Between most rows it has negative eigenvalues too. Solutions are found in the directions of the
    positive ones, as if the others were zero.

    Parameters
    ----------
    gamma : float, default=1.0
        γ.
    coef0 : float, default=1.0
        c.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Sigmoid
    >>> Sigmoid(0.1)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).round(3)
    array([[0.97]])
    """

    definite: ClassVar[bool] = False
    gamma: float = 1.0
    coef0: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        return self._tanh(products(X, Z, out))

    def diagonal(self, X: Rows) -> Array:
        """tanh(γ‖x‖² + c)."""
        return self._tanh(squares(X))

    def _tanh(self, P: Array) -> Array:
        P *= self.gamma
        P += self.coef0
        return elementwise("tanh", P)


def _length(X: Rows) -> Array:
    """‖x‖, and one for a row of zeros, whose products are zero."""
    square = squares(X)
    xp = namespace(square)
    return xp.sqrt(xp.where(square > 0, square, xp.ones_like(square)))
