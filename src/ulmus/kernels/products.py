"""Kernels that are functions of xᵀz."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ulmus.backends.namespace import elementwise, namespace
from ulmus.kernels.definition import Kernel, parameter
from ulmus.kernels.pairs import mean_square, products, squares
from ulmus.typing import Array, Rows

__all__ = ["Cosine", "Linear", "Polynomial", "Sigmoid"]


@dataclass(frozen=True)
class Linear(Kernel, name="linear"):
    """xᵀz.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Linear
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        return products(X, Z, out)

    def diagonal(self, X: Rows) -> Array:
        """‖x‖²."""
        return squares(X)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, None]:
        """z."""
        return np.ones((X.shape[0], Z.shape[0])), None

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return x @ Z.T


class _OfProducts(Kernel):
    """A function of γ xᵀz + c."""

    gamma: float
    coef0: float

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        return self._of(self._affine(products(X, Z, out)))

    def diagonal(self, X: Rows) -> Array:
        return self._of(self._affine(squares(X)))

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        return 1.0 / mean_square(rows, weight)

    def _affine(self, P: Array) -> Array:
        P *= self.gamma
        P += self.coef0
        return P

    def _of(self, P: Array) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class Polynomial(_OfProducts, name="poly", alias="polynomial"):
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

    gamma: float = parameter(1.0, above=0)
    coef0: float = parameter(1.0, least=0)
    # The power is taken by as many products.
    degree: int = parameter(3, least=1, most=1000)

    def _of(self, P: Array) -> Array:
        base = P if self.degree == 1 else namespace(P).asarray(P, copy=True)
        for _ in range(self.degree - 1):
            P *= base
        return P

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, None]:
        """pγ (γ xᵀz + c)^(p−1) z."""
        inner = self._affine(products(X, Z, None))
        return self.degree * self.gamma * inner ** (self.degree - 1), None

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return (self.gamma * (x @ Z.T) + self.coef0).op("Pow", float(self.degree))


@dataclass(frozen=True)
class Sigmoid(_OfProducts, name="sigmoid"):
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
    gamma: float = parameter(1.0, above=0)
    coef0: float = parameter(1.0)

    def _of(self, P: Array) -> Array:
        return elementwise("tanh", P)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, None]:
        """γ (1 − k²) z."""
        return self.gamma * (1.0 - self(X, Z) ** 2), None

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return (self.gamma * (x @ Z.T) + self.coef0).op("Tanh")


@dataclass(frozen=True)
class Cosine(Kernel, name="cosine"):
    """xᵀz / (‖x‖ ‖z‖); zero where a row is.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Cosine
    >>> Cosine()(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])).round(3)
    array([[0.707]])
    """

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        P = products(X, Z, out)
        P /= _length(X)[:, None]
        P /= _length(Z)[None, :]
        return P

    def diagonal(self, X: Rows) -> Array:
        """One for every row that is not zero."""
        square = squares(X)
        return namespace(square).astype(square > 0, square.dtype)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        """z / (‖x‖ ‖z‖) − k x / ‖x‖²; the kernel jumps at a row of zeros, and has none there."""
        x = squares(X)
        inverse = np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
        p = np.sqrt(inverse)[:, None] / _length(Z)
        return p, -inverse[:, None] * self(X, Z)

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        # A row of zeros has products of zero, whatever they are divided by.
        tiny = np.finfo(float).tiny
        own = (x * x).sum().op("Sqrt").op("Max", tiny)
        return (x @ Z.T) / own / np.maximum(np.sqrt(np.sum(Z**2, axis=1)), tiny)


def _length(X: Rows) -> Array:
    """‖x‖, and one for a row of zeros, whose products are zero."""
    square = squares(X)
    xp = namespace(square)
    return xp.sqrt(xp.where(square > 0, square, xp.ones_like(square)))
