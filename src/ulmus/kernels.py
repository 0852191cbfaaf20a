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
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from ulmus.backends.linalg import decay, elementwise, matmul, zero_diagonal
from ulmus.backends.namespace import doubles, from_numpy, is_numpy, is_sparse, namespace, take
from ulmus.exceptions import InvalidInputError
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
    "Shifted",
    "mean_distance",
    "mean_square",
    "some_rows",
]

# Rows at a time where more of each pair is made than one number.
_FEW_ROWS = 64


@dataclass(frozen=True)
class Shifted:
    """Sparse rows less a constant row, which is never subtracted: the products take it in."""

    rows: Rows
    shift: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, d = self.rows.shape
        return int(n), int(d)

    @property
    def dtype(self) -> Any:
        """Precision of the rows."""
        return self.rows.dtype

    def astype(self, dtype: Any) -> "Shifted":
        """The same rows in another precision."""
        return Shifted(self.rows.astype(dtype), self.shift.astype(dtype))

    def __getitem__(self, rows: Any) -> "Shifted":
        return Shifted(self.rows[rows], self.shift)


class Kernel(ABC):
    """k(x, z) for blocks of rows."""

    @abstractmethod
    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ), written into ``out`` when one is given."""

    @abstractmethod
    def diagonal(self, X: Rows) -> Array:
        """k(xᵢ, xᵢ)."""


@dataclass(frozen=True)
class Linear(Kernel):
    """xᵀz."""

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        return _products(X, Z, out)

    def diagonal(self, X: Rows) -> Array:
        """‖x‖²."""
        return _squares(X)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(γ xᵀz + c)^p."""

    gamma: float = 1.0
    coef0: float = 1.0
    degree: int = 3

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        return self._power(_products(X, Z, out))

    def diagonal(self, X: Rows) -> Array:
        """(γ‖x‖² + c)^p."""
        return self._power(_squares(X))

    def _power(self, P: Array) -> Array:
        P *= self.gamma
        P += self.coef0
        base = P if self.degree == 1 else namespace(P).asarray(P, copy=True)
        for _ in range(self.degree - 1):
            P *= base
        return P


@dataclass(frozen=True)
class RBF(Kernel):
    """exp(−γ‖x − z‖²)."""

    gamma: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        # Only distances count, so what both are short of does not.
        X, Z = (A.rows if isinstance(A, Shifted) else A for A in (X, Z))
        P = _affine(X, Z, 2.0 * self.gamma, -self.gamma, 0.0, out)
        P = _at_most_zero(P)  # the expanded square may round to just below it
        return _into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        """One for every row."""
        return _ones(X)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(−γ‖x − z‖₁)."""

    gamma: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        P = _city_blocks(*(A.rows if isinstance(A, Shifted) else A for A in (X, Z)))
        P *= -self.gamma
        return _into(out, decay(P))

    def diagonal(self, X: Rows) -> Array:
        """One for every row."""
        return _ones(X)


@dataclass(frozen=True)
class InfiniteRBF(Kernel):
    """E[g(x) g(z)] of Gaussian units g(x) = exp(−γ‖x − v‖²), v ~ N(0, s² I), s the ``spread``.

    It is divided by its value at the origin unless ``normalized`` is False: that constant,
    (σ_e/σ_v)^d, vanishes in high dimension, and C takes it in anyway.
    """

    gamma: float = 0.5
    spread: float = 1.0
    normalized: bool = True

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        near, far, level = self._exponent(X.shape[1])
        return _into(out, decay(_affine(X, Z, near, -(near / 2 + far), level, out)))

    def diagonal(self, X: Rows) -> Array:
        """k(x, x)."""
        _, far, level = self._exponent(X.shape[1])
        P = _squares(X)
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
    """E[g(x) g(z)] of units g(x) = erf(b + vᵀx), b ~ N(0, c), v ~ N(0, γ I), c being ``coef0``."""

    gamma: float = 1.0
    coef0: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        P = _products(X, Z, out)
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
        P = _squares(X)
        P *= 2.0 * self.gamma
        P += 1.0 + 2.0 * self.coef0
        return elementwise("sqrt", P)


@dataclass(frozen=True)
class Pairwise(Kernel):
    """Any function of two sets of rows that gives the block between them."""

    function: Callable[..., Any]

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ), checked."""
        name = getattr(self.function, "__name__", repr(self.function))
        block = self.function(X, Z)
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
        return _into(out, block)

    def diagonal(self, X: Rows) -> Array:
        """k(x, x), a few rows at a time."""
        parts = []
        for rows in _few(X.shape[0]):
            few = some_rows(X, rows)
            block = self(few, few)
            parts.append(namespace(block).linalg.diagonal(block))
        return namespace(parts[0]).concat(parts)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Rows of a kernel matrix in place of rows; the other set is named by its columns."""

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """X[:, Z]."""
        if is_sparse(X):
            raise InvalidInputError("A precomputed kernel must be dense; use X.toarray().")
        return _into(out, take(X, Z, axis=1))

    def diagonal(self, X: Rows) -> Array:
        """The diagonal of the matrix between rows of one set."""
        return namespace(X).linalg.diagonal(X)


def mean_distance(X: Rows, weight: np.ndarray | None = None, city: bool = False) -> float:
    """The mean distance, or city-block distance, between two rows drawn; 1 where all are equal."""
    X = X.rows if isinstance(X, Shifted) else X
    n = X.shape[0]
    if city:
        D = _city_blocks(X, X)
    else:
        D = _affine(X, X, 2.0, -1.0, 0.0, None)
        D = elementwise("sqrt", -_at_most_zero(D))
        D = zero_diagonal(D)  # but for rounding it was
    share = from_numpy(_share(n, weight), D)
    mean = float(share @ doubles(D) @ share)
    return mean if mean > 0 else 1.0


def mean_square(X: Rows, weight: np.ndarray | None = None) -> float:
    """The mean squared length of the rows; 1 where all are zero."""
    squares = doubles(_squares(X))
    mean = float(from_numpy(_share(X.shape[0], weight), squares) @ squares)
    return mean if mean > 0 else 1.0


def some_rows(X: Rows, rows: Any) -> Rows:
    """Rows of X, whatever kind they are of, by a slice or by their numbers."""
    return X[rows] if isinstance(X, Shifted) else take(X, rows)


def _share(n: int, weight: np.ndarray | None) -> np.ndarray:
    return np.full(n, 1.0 / n) if weight is None else weight / weight.sum()


def _products(X: Rows, Z: Rows, out: Array | None) -> Array:
    """xᵀz for every pair."""
    if isinstance(X, Shifted) and isinstance(Z, Shifted):
        P = _products(X.rows, Z.rows, out)
        P -= np.asarray(X.rows @ X.shift)[:, None]
        P -= np.asarray(Z.rows @ Z.shift)[None, :] - float(X.shift @ X.shift)
        return P
    if is_sparse(X) or is_sparse(Z):
        return _into(out, np.asarray(safe_sparse_dot(X, Z.T, dense_output=True)))
    return matmul(X, Z.T, out)


def _squares(X: Rows) -> Array:
    """‖x‖² of every row."""
    if isinstance(X, Shifted):
        cross = np.asarray(X.rows @ X.shift)
        return _squares(X.rows) - 2.0 * cross + float(X.shift @ X.shift)
    if is_numpy(X):
        return row_norms(X, squared=True)
    xp = namespace(X)
    return xp.sum(X * X, axis=1)


def _affine(
    X: Rows, Z: Rows, product: float, square: float, level: float, out: Array | None
) -> Array:
    """product · xᵀz + square · (‖x‖² + ‖z‖²) + level, for every pair."""
    x, z = _squares(X), _squares(Z)
    if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
        # [x, ‖x‖², 1] [product · z, square, square · ‖z‖² + level]ᵀ: one product, no further pass.
        left = np.ones((X.shape[0], X.shape[1] + 2), X.dtype)
        left[:, :-2], left[:, -2] = X, x
        right = np.empty((Z.shape[0], Z.shape[1] + 2), X.dtype)
        right[:, :-2], right[:, -2], right[:, -1] = product * Z, square, square * z + level
        return matmul(left, right.T, out)
    P = _products(X, Z, out)
    P *= product
    P += square * x[:, None]
    P += (square * z + level)[None, :]
    return P


def _city_blocks(X: Rows, Z: Rows) -> Array:
    """‖x − z‖₁ for every pair."""
    if is_numpy(X):
        X, Z = (_short_indices(A) for A in (X, Z))
        return manhattan_distances(X, Z).astype(X.dtype, copy=False)
    xp = namespace(X)
    parts = [xp.sum(xp.abs(X[rows, None, :] - Z[None, :, :]), axis=2) for rows in _few(X.shape[0])]
    return xp.concat(parts)


def _few(n: int) -> list[slice]:
    return [slice(i, min(i + _FEW_ROWS, n)) for i in range(0, n, _FEW_ROWS)]


def _at_most_zero(P: Array) -> Array:
    if isinstance(P, np.ndarray):
        return np.minimum(P, 0, out=P)
    return namespace(P).clip(P, max=0.0)


def _short_indices(X: Rows) -> Rows:
    """Sparse rows whose indices have 32 bits, which is all that scikit-learn reads here."""
    if not is_sparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)(parts, shape=X.shape)


def _ones(X: Rows) -> Array:
    if isinstance(X, Shifted) or is_numpy(X):
        return np.ones(X.shape[0], X.dtype)
    return namespace(X).ones(X.shape[0], dtype=X.dtype, device=X.device)


def _into(out: Array | None, block: Array) -> Array:
    if out is None or block is out:
        return block
    out[...] = block
    return out
