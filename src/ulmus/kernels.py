"""Kernels k(x, z): inner products of hidden layers that are never written out.

Every kernel turns two sets of rows into a block of K, on the rows' own library and
device. All but the Laplacian one need only the products xᵀz and the squared lengths, so
a block is one matrix product and one elementwise function in place.

Two of them are networks with infinitely many hidden units: k = E[g(x) g(z)] over the
weights' distribution, so that (1/h) HHᵀ of a wide random layer tends to it. The constants
printed in the paper on low-rank ELM spaces do not pass that test. For six normal rows in two
dimensions, 4·10⁶ Gaussian units with σ_g = 1 and σ_v = 1.5 agree with

    σ_s² = 2σ_g² + σ_g⁴/σ_v²    and    1/σ_e² = 2/σ_g² + 1/σ_v²

to 0.2 % of the largest entry; the printed σ_s² = 2σ_v² + σ_g⁴/σ_v² and
σ_e² = (σ_v² + σ_g²)/(σ_v²σ_g²) are off by 250 % of it. The printed arcsine lacks two factors 2
and is the kernel of erf(z/√2): for erf units it is off by 0.13 where the largest entry is
0.62, against 0.0002 here. ``python -m benchmarks kernel_readings`` prints these figures.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.linalg import decay, elementwise
from ulmus.backends.namespace import is_numpy, is_sparse, namespace, take
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.pairs import (
    Shifted,
    affine,
    at_most_zero,
    city_blocks,
    few,
    into,
    ones,
    products,
    some_rows,
    squares,
)
from ulmus.typing import Array, Rows

__all__ = [
    "RBF",
    "Arcsine",
    "InfiniteRBF",
    "Kernel",
    "Laplacian",
    "Linear",
    "Pairwise",
    "Polynomial",
    "Precomputed",
]


class Kernel(ABC):
    """k(x, z) for blocks of rows; derive from it to add a kernel.

    Examples
    --------
    >>> from ulmus import KernelELMRegressor
    >>> from ulmus.kernels import Kernel
    >>> class Smallest(Kernel):
    ...     def __call__(self, X, Z, out=None):
    ...         return np.minimum(X, Z.T)
    ...
    ...     def diagonal(self, X):
    ...         return X[:, 0]
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> model = KernelELMRegressor(Smallest()).fit(X, np.sqrt(X[:, 0]))
    >>> round(model.score(X, np.sqrt(X[:, 0])), 2)
    1.0
    """

    @abstractmethod
    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ), written into ``out`` when one is given."""

    @abstractmethod
    def diagonal(self, X: Rows) -> Array:
        """k(xᵢ, xᵢ)."""


@dataclass(frozen=True)
class Linear(Kernel):
    """xᵀz.

    Examples
    --------
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
class RBF(Kernel):
    """exp(−γ‖x − z‖²).

    Parameters
    ----------
    gamma : float, default=1.0
        γ; 1/2σ² for a width σ.

    Examples
    --------
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
        P = affine(X, Z, 2.0 * self.gamma, -self.gamma, 0.0, out)
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


@dataclass(frozen=True)
class InfiniteRBF(Kernel):
    """E[g(x) g(z)] of Gaussian units g(x) = exp(−γ‖x − v‖²), v ~ N(0, s² I), s the ``spread``.

    It is divided by its value at the origin unless ``normalized`` is False: that constant,
    (σ_e/σ_v)^d, vanishes in high dimension, and C takes it in anyway.

    Parameters
    ----------
    gamma : float, default=0.5
        γ of the units.
    spread : float, default=1.0
        s, how far the units' centres are spread.
    normalized : bool, default=True
        Whether k(0, 0) is one.

    Examples
    --------
    >>> from ulmus.kernels import InfiniteRBF
    >>> InfiniteRBF()(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.717]])
    """

    gamma: float = 0.5
    spread: float = 1.0
    normalized: bool = True

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        near, far, level = self._exponent(X.shape[1])
        return into(out, decay(affine(X, Z, near, -(near / 2 + far), level, out)))

    def diagonal(self, X: Rows) -> Array:
        """k(x, x)."""
        _, far, level = self._exponent(X.shape[1])
        P = squares(X)
        P *= -2.0 * far
        P += level
        return elementwise("exp", P)

    def _exponent(self, d: int) -> tuple[float, float, float]:
        """1/σ_s², 1/2σ_m² and the logarithm of the constant."""
        node, center = 0.5 / self.gamma, self.spread**2  # σ_g² and σ_v²
        near = 1.0 / (2.0 * node + node**2 / center)
        far = 0.5 / (2.0 * center + node)
        level = 0.0 if self.normalized else -0.5 * d * np.log1p(2.0 * center / node)
        return near, far, float(level)


@dataclass(frozen=True)
class Arcsine(Kernel):
    """E[g(x) g(z)] of units g(x) = erf(b + vᵀx), b ~ N(0, c), v ~ N(0, γ I), c being ``coef0``.

    Parameters
    ----------
    gamma : float, default=1.0
        Variance of the units' weights.
    coef0 : float, default=1.0
        Variance of their biases.

    Examples
    --------
    >>> from ulmus.kernels import Arcsine
    >>> Arcsine()(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[0.465],
           [0.345]])
    """

    gamma: float = 1.0
    coef0: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        P = products(X, Z, out)
        P *= 2.0 * self.gamma
        P += 2.0 * self.coef0
        P /= self._length(X)[:, None]
        P /= self._length(Z)[None, :]
        P = elementwise("asin" if not is_numpy(P) else "arcsin", P)
        P *= 2.0 / np.pi
        return P

    def diagonal(self, X: Rows) -> Array:
        """k(x, x)."""
        square = self._length(X) ** 2
        P = (square - 1.0) / square
        P = elementwise("asin" if not is_numpy(P) else "arcsin", P)
        P *= 2.0 / np.pi
        return P

    def _length(self, X: Rows) -> Array:
        """√(1 + 2(c + γ‖x‖²))."""
        P = squares(X)
        P *= 2.0 * self.gamma
        P += 1.0 + 2.0 * self.coef0
        return elementwise("sqrt", P)


@dataclass(frozen=True)
class Pairwise(Kernel):
    """Any function of two sets of rows that gives the block between them.

    Parameters
    ----------
    function : callable
        Of two arrays of rows; it gives one number for each pair.

    Examples
    --------
    >>> from sklearn.metrics.pairwise import cosine_similarity
    >>> from ulmus.kernels import Pairwise
    >>> Pairwise(cosine_similarity)(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])).round(3)
    array([[0.707]])
    """

    function: Callable[..., Any]

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ), checked."""
        name = getattr(self.function, "__name__", repr(self.function))
        try:
            block = self.function(X, Z)
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"kernel={name} failed on {X.shape[0]} and {Z.shape[0]} rows, with "
                f"{type(error).__name__}: {error}"
            ) from error
        block = block.toarray() if is_sparse(block) else block
        if is_numpy(X):
            block = np.asarray(block)
        shape = (X.shape[0], Z.shape[0])
        if getattr(block, "shape", None) != shape:
            raise InvalidInputError(
                f"The kernel {name} gave an array of shape {getattr(block, 'shape', None)} for "
                f"{shape[0]} and {shape[1]} rows; it must give one number for each pair, {shape}."
            )
        xp = namespace(block)
        if not bool(xp.all(xp.isfinite(block))):
            raise InvalidInputError(f"The kernel {name} gave values that are not finite.")
        return into(out, block)

    def diagonal(self, X: Rows) -> Array:
        """k(x, x), a few rows at a time."""
        parts = []
        for rows in few(X.shape[0]):
            part = some_rows(X, rows)
            block = self(part, part)
            parts.append(namespace(block).linalg.diagonal(block))
        return namespace(parts[0]).concat(parts)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Rows of a kernel matrix in place of rows; the other set is named by its columns.

    Examples
    --------
    >>> from ulmus.kernels import Precomputed
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> Precomputed()(K, np.array([1]))
    array([[1.],
           [3.]])
    """

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """X[:, Z]."""
        if is_sparse(X):
            raise InvalidInputError("A precomputed kernel must be dense; use X.toarray().")
        return into(out, take(X, Z, axis=1))

    def diagonal(self, X: Rows) -> Array:
        """The diagonal of the matrix between rows of one set."""
        return namespace(X).linalg.diagonal(X)
