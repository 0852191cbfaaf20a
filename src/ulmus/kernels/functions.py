"""Kernels of products, of distances and of angles.

The Laplacian and the exponential kernel are not differentiable at x = z, so they fit sharper edges
than the Gaussian kernel, whose exponent is a squared distance.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ulmus.backends.namespace import clipped, decay, elementwise, namespace
from ulmus.kernels.definition import Kernel, parameter
from ulmus.kernels.pairs import (
    affine,
    city_blocks,
    distances,
    into,
    mean_of_pairs,
    mean_square,
    products,
    squared_distances,
    squares,
)
from ulmus.typing import Array, Rows


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
        return squares(X)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, None]:
        return np.ones((X.shape[0], Z.shape[0])), None

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return x @ Z.T


class OfAffine(Kernel):
    """f(a xᵀz + b(‖x‖² + ‖z‖²) + c): a subclass has a, b, c, f, its derivative and ONNX node."""

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        return into(out, self._f(self._inner(X, Z, out)))

    def diagonal(self, X: Rows) -> Array:
        a, b, c = self._form(X.shape[1])
        return self._f((a + 2.0 * b) * squares(X) + c)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array | None]:
        a, b, _ = self._form(X.shape[1])
        slope = self._slope(self._inner(X, Z))
        return a * slope, 2.0 * b * slope if b else None

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        a, b, c = self._form(Z.shape[1])
        value = x @ (a * Z.T) + (b * np.sum(Z**2, axis=1) + c)
        return self._node(value + b * (x * x).sum() if b else value)

    def _form(self, d: int) -> tuple[float, float, float]:
        raise NotImplementedError

    def _inner(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        a, b, c = self._form(X.shape[1])
        if b:  # −b is at least a/2, so that no value is above c, except by rounding
            return clipped(affine(X, Z, a, b, c, out), most=c)
        P = products(X, Z, out)
        P *= a
        P += c
        return P

    def _f(self, P: Array) -> Array:
        return decay(P)

    _slope = _f

    def _node(self, value: Any) -> Any:
        return value.op("Exp")


class _OfProducts(OfAffine):
    """f(γ xᵀz + c)."""

    gamma: float
    coef0: float

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        return 1.0 / mean_square(rows, weight)

    def _form(self, d: int) -> tuple[float, float, float]:
        return float(self.gamma), 0.0, float(self.coef0)


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
    degree: int = parameter(3, least=1, most=1000)

    def _f(self, P: Array) -> Array:
        # By products, which are faster than a power.
        base = P if self.degree == 1 else namespace(P).asarray(P, copy=True)
        for _ in range(self.degree - 1):
            P *= base
        return P

    def _slope(self, P: Array) -> Array:
        return self.degree * P ** (self.degree - 1)

    def _node(self, value: Any) -> Any:
        return value.op("Pow", float(self.degree))


@dataclass(frozen=True)
class Sigmoid(_OfProducts, name="sigmoid"):
    """tanh(γ xᵀz + c), which is not positive semi-definite.

    Negative eigenvalues of its matrices are treated as zero.

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

    def _f(self, P: Array) -> Array:
        return elementwise("tanh", P)

    def _slope(self, P: Array) -> Array:
        return 1.0 - np.tanh(P) ** 2

    def _node(self, value: Any) -> Any:
        return value.op("Tanh")


@dataclass(frozen=True)
class RBF(OfAffine, name="rbf"):
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

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return (-x.squared_distances(Z, self.gamma)).op("Exp")

    @classmethod
    def gamma_of(cls, D: Array, weight: np.ndarray | None) -> float:
        """1/2σ², σ² the square of the mean distance between the rows."""
        return 0.5 / mean_of_pairs(np.sqrt(D), weight) ** 2

    def _form(self, d: int) -> tuple[float, float, float]:
        return 2.0 * self.gamma, -self.gamma, 0.0

    def _inner(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        return squared_distances(X, Z, -float(self.gamma), out)

    distances = staticmethod(squared_distances)


@dataclass(frozen=True)
class _OfDistance(Kernel):
    """exp(−γ d(x, z)): a subclass states d."""

    gamma: float = parameter(1.0, above=0)

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        P = self.distances(X, Z)
        P *= -self.gamma
        return into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        return decay(0.0 * squares(X))

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        return cls.gamma_of(cls.distances(rows, rows), weight)

    @classmethod
    def gamma_of(cls, D: Array, weight: np.ndarray | None) -> float:
        """1/σ, σ the mean distance between the rows."""
        return 1.0 / mean_of_pairs(D, weight)

    @staticmethod
    def distances(X: Rows, Z: Rows) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class LaplacianKernel(_OfDistance, name="laplacian"):
    """exp(−γ‖x − z‖₁), with the city-block distance.

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
    distances = staticmethod(city_blocks)

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

    distances = staticmethod(distances)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        D = distances(X, Z)
        # At x = z the kernel has a peak, and the mean slope around it is zero.
        p = self.gamma * np.exp(-self.gamma * D) / np.where(D > 0.0, D, np.inf)
        return p, -p

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        return (-self.gamma * x.squared_distances(Z).op("Sqrt")).op("Exp")


class OfAngle(Kernel):
    """f(u), u = (xᵀz + c) / (l(x) l(z)) with l(x)² = ‖x‖² + m: `_form` is c and m. 0/0 is 0."""

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        return into(out, self._f(self._angle(X, Z, out)))

    def diagonal(self, X: Rows) -> Array:
        return self._f((squares(X) + self._form()[0]) * self._inverse_length(X) ** 2)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        u, x = self._angle(X, Z), self._inverse_length(X)[:, None]
        slope = self._slope(u)
        return slope * x * self._inverse_length(Z), -slope * u * x**2

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        c, m = self._form()
        own = ((x * x).sum() + m).op("Sqrt").op("Max", np.finfo(float).tiny)
        return self._node((x @ Z.T + c) / own * self._inverse_length(Z))

    def _angle(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        P, c = products(X, Z, out), self._form()[0]
        if c:
            P += c
        P *= self._inverse_length(X)[:, None]
        P *= self._inverse_length(Z)[None, :]
        return P

    def _inverse_length(self, X: Rows) -> Array:
        square = squares(X) + self._form()[1]
        xp = namespace(square)
        length = xp.sqrt(xp.where(square > 0, square, xp.ones_like(square)))
        return xp.astype(square > 0, square.dtype) / length

    def _form(self) -> tuple[float, float]:
        return 0.0, 0.0

    def _f(self, u: Array) -> Array:
        return u

    def _slope(self, u: Array) -> Array:
        return np.ones_like(u)

    def _node(self, u: Any) -> Any:
        return u


@dataclass(frozen=True)
class Cosine(OfAngle, name="cosine"):
    """xᵀz / (‖x‖ ‖z‖); zero if x or z is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.kernels import Cosine
    >>> Cosine()(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])).round(3)
    array([[0.707]])
    """
