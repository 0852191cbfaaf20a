"""How outputs change with their inputs, from the formulas of the hidden units and kernels.

A unit knows its row s by the product with a point z and by the row's own length. Its gradient is
then ∂h/∂s = p z + q s with two numbers for each pair of row and unit. So is that of every kernel
here but the Laplacian, which has a kink at each coordinate of each of its rows.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import is_sparse
from ulmus.hidden import most_rows, row_blocks
from ulmus.kernels import (
    RBF,
    Arcsine,
    Cosine,
    InfiniteRBF,
    Kernel,
    Linear,
    Polynomial,
    Sigmoid,
)
from ulmus.pairs import Shifted, products, squares
from ulmus.typing import Array, Rows

__all__ = ["Slopes", "kernel_gradients", "kernel_slopes"]


@dataclass(frozen=True)
class Slopes:
    """The gradients of the outputs f = Σᵤ hᵤ(s) βᵤ at some rows, all in NumPy.

    ``rows`` are the s (n × d), ``points`` the units' z (h × d), ``p`` and ``q`` (n × h) as above, q
    None for zeros, ``coef`` β (h × m), and ``factor`` what turned each column into that of s.
    """

    rows: Rows
    points: Rows
    p: np.ndarray
    q: np.ndarray | None
    coef: np.ndarray
    factor: np.ndarray

    def squares(self, weight: np.ndarray, unit: np.ndarray | float = 1.0) -> np.ndarray:
        """Σᵢ weightᵢ ‖∂f/∂xⱼ‖² for every column j in its ``unit``, summed over the outputs."""
        n, d = self.rows.shape
        total = np.zeros(d)
        width = max(1, most_rows(2 * n + len(self.coef), 8))
        for beta in self.coef.T:
            scaled = self.p * beta
            own = None if self.q is None else matmul(self.q, beta[:, None])
            for columns in row_blocks(d, width):
                G = matmul(scaled, _dense(self.points, columns))
                if own is not None:
                    G += own * _dense(self.rows, columns)
                total[columns] += weight @ G**2
        return total * (unit * self.factor) ** 2


def _dense(X: Rows, columns: slice) -> np.ndarray:
    """Some columns of X, written out."""
    if isinstance(X, Shifted):
        return _dense(X.rows, columns) - X.shift[columns]
    block = X[:, columns]
    return np.asarray(block.toarray() if is_sparse(X) else block, dtype=float)


def kernel_gradients(
    kernel: Kernel, rows: Rows, points: Rows, coef: np.ndarray, factor: np.ndarray
) -> Slopes | None:
    """The gradients of Σⱼ k(s, zⱼ) coefⱼ; None where nobody has said how the kernel changes."""
    found = kernel_slopes(kernel, rows, points)
    return None if found is None else Slopes(rows, points, *found, coef, factor)


@singledispatch
def kernel_slopes(kernel: Kernel, X: Rows, Z: Rows) -> tuple[Array, Array | None] | None:
    """p and q of a kernel between rows X and points Z; None where it has no such gradient."""
    return None


@kernel_slopes.register
def _(kernel: Linear, X: Rows, Z: Rows) -> Any:
    return np.ones((X.shape[0], Z.shape[0])), None


@kernel_slopes.register
def _(kernel: Polynomial, X: Rows, Z: Rows) -> Any:
    inner = kernel.gamma * products(X, Z, None) + kernel.coef0
    return kernel.degree * kernel.gamma * inner ** (kernel.degree - 1), None


@kernel_slopes.register
def _(kernel: Sigmoid, X: Rows, Z: Rows) -> Any:
    return kernel.gamma * (1.0 - kernel(X, Z) ** 2), None


@kernel_slopes.register
def _(kernel: Cosine, X: Rows, Z: Rows) -> Any:
    x, z = squares(X), squares(Z)
    # A row of zeros has no direction: the kernel jumps there and has no gradient.
    inverse = np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
    p = np.sqrt(inverse)[:, None] / np.sqrt(np.where(z > 0, z, 1.0))
    return p, -inverse[:, None] * kernel(X, Z)


@kernel_slopes.register
def _(kernel: RBF, X: Rows, Z: Rows) -> Any:
    p = 2.0 * kernel.gamma * kernel(X, Z)
    return p, -p


@kernel_slopes.register
def _(kernel: InfiniteRBF, X: Rows, Z: Rows) -> Any:
    near, far, _ = kernel._exponent(X.shape[1])
    K = kernel(X, Z)
    return near * K, -(near + 2.0 * far) * K


@kernel_slopes.register
def _(kernel: Arcsine, X: Rows, Z: Rows) -> Any:
    # k = 2/π asin u, u = 2(c + γ xᵀz) / (l(x) l(z)), l(x)² = 1 + 2(c + γ‖x‖²).
    x, z = (1.0 + 2.0 * (kernel.coef0 + kernel.gamma * squares(A)) for A in (X, Z))
    u = 2.0 * (kernel.coef0 + kernel.gamma * products(X, Z, None)) / np.sqrt(x[:, None] * z)
    steep = 4.0 / np.pi * kernel.gamma / np.sqrt(1.0 - u**2)
    return steep / np.sqrt(x[:, None] * z), -steep * u / x[:, None]
