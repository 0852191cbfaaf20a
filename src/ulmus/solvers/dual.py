"""Solve in row space: one n × n factorisation. Best when units outnumber rows.

With B = √c H, S = √c T and K = BBᵀ: α = (K + I/C)⁻¹ S and β = Bᵀα, the same β as the
primal's. With r = 1/C and dᵢ = [(K + rI)⁻¹]ᵢᵢ, a row's residual is rαᵢ/√cᵢ and its leverage
1 − r dᵢ, so a row that is left out has residual αᵢ/(√cᵢ dᵢ): free of cancellation even
where the fit passes through every row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.linalg import (
    Cholesky,
    NotPositiveDefinite,
    accumulate_gram,
    add_to_diagonal,
    eigh,
    empty_gram,
    matmul,
    mirror,
)
from ulmus.backends.namespace import eps
from ulmus.hidden import block_rows, row_blocks
from ulmus.problem import Problem, RowMoments, Solution
from ulmus.solvers.path import Tally
from ulmus.solvers.spectrum import ridge
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["dual", "dual_path"]

_ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class RowSpace:
    """H whole (there are fewer rows than units), √c, T, the part of c left out, and Y."""

    H: Array
    root: Array
    T: Array
    part: Array
    Y: Array

    @classmethod
    def of(cls, problem: Problem) -> "RowSpace":
        """The rows of a problem."""
        every = slice(0, len(problem.H))
        weight = np.ones(len(problem.H)) if problem.weight is None else problem.weight
        part = problem.unit_weight(every) / weight
        T = coded(problem.targets, every, float)
        Y = problem.targets.block(every, float)
        return cls(problem.H.all(), np.sqrt(weight)[:, None], T, part, Y)

    def moments(self) -> RowMoments:
        """What to add further rows to."""
        B = np.multiply(self.H, self.root, dtype=self.H.dtype)
        return RowMoments(B, self.root * self.Y, float(np.sum(self.root**2)), eps(B.dtype))

    def kernel(self) -> Array:
        """K = BBᵀ in float64."""
        K = empty_gram(len(self.H), self.H)
        for _, B in self._columns():
            accumulate_gram(K, B.T, {})
        return mirror(K)

    def coef(self, alpha: Array) -> Array:
        """β = Bᵀα."""
        beta = np.empty((self.H.shape[1], alpha.shape[1]))
        for units, B in self._columns():
            beta[units] = matmul(B.T, alpha)
        return beta

    def left_out(self, alpha: Array, diagonal: Array, ridge: Array, block: Any = ...) -> Array:
        """Residuals (rows × … × m) of rows that lose ``unit`` of their weight."""
        part = self.part[block].reshape(-1, *[1] * (diagonal.ndim - 1))
        root = self.root[block].reshape(-1, *[1] * (alpha.ndim - 1))
        # Part of a row stays: its leverage shrinks by the part that leaves.
        rest = (1.0 - part) / ridge + part * diagonal
        return alpha / rest[..., None] / root

    def _columns(self) -> Iterator[tuple[slice, Array]]:
        """B in float64, some units at a time."""
        n, h = self.H.shape
        for units in row_blocks(h, block_rows(n, 8)):
            yield units, np.multiply(self.H[:, units], self.root, dtype=float)


def dual(problem: Problem, C: float) -> Solution:
    """β = Bᵀ(K + I/C)⁻¹ S, and every row left out once."""
    rows = RowSpace.of(problem)
    K = rows.kernel()
    try:
        factor = Cholesky(add_to_diagonal(K, 1.0 / C), overwrite=True)
    except NotPositiveDefinite:
        # 1/C is below K's rounding; the eigenbasis holds it there.
        return _spectral(rows, K, problem, np.array([C]))
    alpha = factor.solve(rows.root * rows.T)
    residual = rows.left_out(alpha, factor.inverse_diagonal(), 1.0 / C)
    return Solution(rows.coef(alpha), C, "dual", np.arange(len(alpha)), rows.T - residual, moments=rows.moments())


def dual_path(problem: Problem, grid: np.ndarray) -> Solution:
    """The best C of the grid by leaving out every row once, from one eigendecomposition."""
    rows = RowSpace.of(problem)
    return _spectral(rows, rows.kernel(), problem, grid)


def _spectral(rows: RowSpace, K: Array, problem: Problem, grid: np.ndarray) -> Solution:
    w, U = eigh(K, overwrite=True)
    Z = matmul(U.T, rows.root * rows.T)
    ridges = np.array([ridge(w, C, _ROUNDING) for C in grid])
    shrink = 1.0 / (np.maximum(w, 0.0)[:, None] + ridges)
    weights = (shrink[:, :, None] * Z[:, None, :]).reshape(len(w), -1)
    tally = Tally(problem, grid)
    for block in row_blocks(len(w), block_rows(len(w), 8)):
        alpha = matmul(U[block], weights).reshape(-1, len(grid), Z.shape[1])
        residual = rows.left_out(alpha, matmul(U[block] ** 2, shrink), ridges, block)
        tally.add_residuals(block, rows.T[block, None, :], residual)
    path = tally.path()
    best = path.best
    alpha = matmul(U, Z * shrink[:, [best]])
    diagonal = matmul(U**2, shrink[:, [best]])[:, 0]
    return Solution(
        rows.coef(alpha),
        float(grid[best]),
        "spectral",
        np.arange(len(w)),
        rows.T - rows.left_out(alpha, diagonal, ridges[best]),
        path if len(grid) > 1 else None,
        rows.moments(),
    )
