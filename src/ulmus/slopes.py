"""Gradients of outputs with respect to inputs, from the formulas of hidden units and kernels.

A hidden unit is a function of the product of its row s with a point z and of the row's length. So
its gradient is ∂h/∂s = p z + q s, with two numbers for each pair of row and unit. Kernels have the
same form, except for the Laplacian kernel: p · sign(z − s). Where a coordinate of s equals that of
z it is not differentiable, and this is the mean of the slopes on both sides.
"""

from dataclasses import dataclass, replace

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import is_sparse
from ulmus.hidden import most_rows, row_blocks
from ulmus.kernels import Kernel
from ulmus.kernels.pairs import Shifted, two_valued, zeros_and_ones
from ulmus.typing import Rows


@dataclass(frozen=True)
class Slopes:
    """The gradients of the outputs f = Σᵤ hᵤ(s) βᵤ at some rows, all in NumPy.

    ``rows`` are the s (n × d), ``points`` the units' z (h × d), ``p`` and ``q`` (n × h) as above, q
    None for zeros, ``coef`` β (h × m), and ``factor`` the scale of each column of s. With
    ``by_signs`` the gradient is p · sign(z − s).
    """

    rows: Rows
    points: Rows
    p: np.ndarray
    q: np.ndarray | None
    coef: np.ndarray
    factor: np.ndarray
    by_signs: bool = False

    def squares(self, weight: np.ndarray, unit: np.ndarray | float = 1.0) -> np.ndarray:
        """Σᵢ weightᵢ ‖∂f/∂xⱼ‖² for every column j in its ``unit``, summed over the outputs."""
        total = self._of_signs(weight) if self.by_signs else self._of_rows(weight)
        return total * (unit * self.factor) ** 2

    def _of_signs(self, weight: np.ndarray) -> np.ndarray:
        """The sums where the gradient is p · sign(z − s)."""
        two = two_valued(self.rows, self.points)
        if not two.any():
            return self._by_columns(weight)
        total = np.empty(len(two))
        # Written as 0 and 1, two values have sign(z − s) = z − s.
        rows, points, _ = zeros_and_ones(self.rows[:, two], self.points[:, two])
        total[two] = replace(self, rows=rows, points=points, q=-self.p)._of_rows(weight)
        rest = replace(self, rows=self.rows[:, ~two], points=self.points[:, ~two])
        total[~two] = rest._by_columns(weight)
        return total

    def _by_columns(self, weight: np.ndarray) -> np.ndarray:
        """The same, one column after the other."""
        total = np.zeros(self.rows.shape[1])
        for columns in row_blocks(len(total), max(1, most_rows(sum(self.p.shape), 8))):
            rows, points = (_dense(part, columns).T for part in (self.rows, self.points))
            for j, s, z in zip(range(columns.start, columns.stop), rows, points, strict=True):
                signs = np.sign(z[None, :] - s[:, None])
                signs *= self.p
                total[j] = weight @ np.sum(matmul(signs, self.coef) ** 2, axis=1)
        return total

    def _of_rows(self, weight: np.ndarray) -> np.ndarray:
        """The sums where the gradient is p z + q s."""
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
        return total


def joined(one: Slopes, other: Slopes) -> Slopes:
    """The gradients of two sets of units together, at the same rows; ``one`` has no q."""
    every = slice(None)
    points = np.concatenate([_dense(one.points, every), _dense(other.points, every)])
    q = None if other.q is None else np.concatenate([0.0 * one.p, other.q], axis=1)
    p, coef = np.concatenate([one.p, other.p], axis=1), np.concatenate([one.coef, other.coef])
    return replace(other, points=points, p=p, q=q, coef=coef)


def _dense(X: Rows, columns: slice) -> np.ndarray:
    """Some columns of X, written out."""
    if isinstance(X, Shifted):
        return _dense(X.rows, columns) - X.shift[columns]
    block = X[:, columns]
    return np.asarray(block.toarray() if is_sparse(X) else block, dtype=float)


def kernel_gradients(
    kernel: Kernel, rows: Rows, points: Rows, coef: np.ndarray, factor: np.ndarray
) -> Slopes | None:
    """The gradients of Σⱼ k(s, zⱼ) coefⱼ; None where the kernel states none."""
    found = kernel.slopes(rows, points)
    return None if found is None else Slopes(rows, points, *found, coef, factor, kernel.by_signs)
