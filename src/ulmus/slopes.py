"""Gradients of outputs with respect to inputs, from the formulas of hidden units and kernels.

A hidden unit is a function of the product of its row s with a point z and of the row's length. So
its gradient is ∂h/∂s = p z + q s, with two numbers for each pair of row and unit. Kernels have the
same form, except for the Laplacian kernel: p · sign(z − s). Where a coordinate of s equals that of
z it is not differentiable, and this is the mean of the slopes on both sides.

Columns are weighed by the root of the mean squared gradient of the fitted outputs, the diagonal of
the average gradient outer product (Radhakrishnan et al., 2024), and all is solved again. The least
error over left-out rows decides how often. Weights follow from the same rows, so the errors that
are left out with them are too small: they are multiplied by 1 + 2d/n, as a prediction error is for
d fitted parameters (Akaike, 1969). All rules were fixed on half of the visible tables and confirmed
on the others; `docs/benchmarks` says which, and what they reached.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol, TypeVar

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import is_sparse
from ulmus.hidden import most_rows, row_blocks, sample_rows
from ulmus.kernels import Kernel
from ulmus.kernels.pairs import Shifted, two_valued, zeros_and_ones
from ulmus.typing import Rows

# Rows that everything is chosen on. An eigendecomposition of 2000 rows takes 1.2 s of one core.
CHOICE_ROWS = 2000
# Rows that columns are weighed by, where there are more: at least so many, and so many a column.
_SOME_ROWS, _ROWS_PER_COLUMN = 1000, 4
# How often columns are weighed; a third time gained nothing on the mean. Where the error still
# falls by five per cent, as it does where nearly all columns are noise, they are weighed again.
_ROUNDS, _MOST_ROUNDS, _FALLS = 2, 6, 0.95
# Pairs of a row and a unit whose signs are held at a time: 1 MB.
_CACHED = 2**17
# No column has a smaller weight than this part of the largest.
_LEAST_WEIGHT = 1e-3
# Rows over which gradients are averaged, and the most values of units or kernels times columns for
# that: about a second.
_GRADIENT_ROWS, _GRADIENT_WORK = 600, 1e9


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
        """The same, one column after the other, of as many rows as a cache holds."""
        total = np.zeros(self.rows.shape[1])
        n, size = len(self.p), max(1, _CACHED // len(self.coef))
        for columns in row_blocks(len(total), max(1, most_rows(sum(self.p.shape), 8))):
            rows, points = (_dense(part, columns).T for part in (self.rows, self.points))
            for some, k in product(row_blocks(n, size), range(len(rows))):
                signs = np.sign(points[k] - rows[k, some, None])
                signs *= self.p[some]
                change = matmul(signs, self.coef)
                total[columns.start + k] += weight[some] @ np.sum(change**2, axis=1)
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


# ---------------------------------------------------------------- weights of columns
class Candidate(Protocol):
    """Something fitted on weighed columns."""

    @property
    def squared(self) -> float:
        """The least squared error over left-out rows."""

    def next_weights(self, count: np.ndarray | None, seed: int) -> np.ndarray | None:
        """Weights from its gradients; None where nothing varies."""


Kind = TypeVar("Kind", bound=Candidate)


def correction(columns: int, total: float) -> float:
    """What left-out errors are multiplied by where as many columns have been weighed."""
    return 1.0 + 2.0 * columns / total


def weighing_rows(columns: int) -> int:
    """The rows that weights of so many columns are found on at most."""
    return max(_SOME_ROWS, _ROWS_PER_COLUMN * columns)


def gradient_rows(n: int, units: int, columns: int, seed: int) -> np.ndarray:
    """The rows that gradients of so many units are averaged over."""
    most = int(np.clip(_GRADIENT_WORK // (units * columns), 1, _GRADIENT_ROWS))
    return np.arange(n) if n <= most else np.sort(sample_rows(seed, most, n))


def weights_of(slopes: Slopes, share: np.ndarray) -> np.ndarray | None:
    """√(mean squared gradient) by column, of mean square one; None where nothing varies."""
    size = np.sqrt(slopes.squares(share / share.sum()))
    if not size.max() > 0:
        return None
    weights = np.maximum(size / size.max(), _LEAST_WEIGHT)
    weights /= np.sqrt(np.mean(weights**2))
    return np.asarray(weights)


def weighings(
    start: Kind, again: Callable[[np.ndarray, int], Kind], count: np.ndarray | None, seed: int
) -> Iterator[Kind]:
    """The same with columns weighed once, twice and so on, while the error falls."""
    last = start
    for number in range(1, _MOST_ROUNDS + 1):
        weights = last.next_weights(count, seed)
        if weights is None:
            return
        found = again(weights, number)
        yield found
        if found.squared > (1.0 if number < _ROUNDS else _FALLS) * last.squared:
            return
        last = found
