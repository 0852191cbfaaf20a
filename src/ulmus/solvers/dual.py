"""Solve in row space: one n × n factorisation. Best when units outnumber rows.

With B = √c H, S = √c T and K = BBᵀ: α = (K + I/C)⁻¹ S and β = Bᵀα, the same β as the
primal's. With r = 1/C and dᵢ = [(K + rI)⁻¹]ᵢᵢ, a row's residual is rαᵢ/√cᵢ and its leverage
1 − r dᵢ, so a row that is left out has residual αᵢ/(√cᵢ dᵢ): free of cancellation even
where the fit passes through every row.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import (
    Cholesky,
    Gram,
    NotPositiveDefinite,
    add_to_diagonal,
    eigh,
    matmul,
)
from ulmus.hidden import block_rows, row_blocks
from ulmus.problem import Path, Problem, RowMoments, Solution
from ulmus.solvers.path import Tally
from ulmus.solvers.spectrum import ridge
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["dual", "dual_path"]

_ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class RowSpace:
    """A problem with fewer rows than units, its rows whole.

    ``root`` is √c, ``part`` the part of c a row loses when it is left out, T the
    targets and ``Y`` their basis; ``center`` and ``level`` are the means of h and t
    where there is an intercept, and zero otherwise.
    """

    H: Array
    root: Array
    part: Array
    T: Array
    Y: Array
    center: Array
    level: Array
    intercept: bool

    @classmethod
    def of(cls, problem: Problem) -> "RowSpace":
        """The rows of a problem."""
        every, H = slice(0, len(problem.H)), problem.H.all()
        weight = np.ones(len(H)) if problem.weight is None else problem.weight
        T = coded(problem.targets, every, float)
        center, level = np.zeros(H.shape[1]), np.zeros(T.shape[1])
        if problem.intercept:
            center, level = (np.average(A, axis=0, weights=weight) for A in (H, T))
        return cls(
            H,
            np.sqrt(weight)[:, None],
            problem.unit_weight(every) / weight,
            T,
            problem.targets.block(every, float),
            center,
            level,
            problem.intercept,
        )

    @property
    def S(self) -> Array:
        """√c (T − level)."""
        return self.root * (self.T - self.level)

    @property
    def share(self) -> Array:
        """cᵢ/Σc: the leverage that the intercept alone gives a row."""
        return self.intercept * self.root[:, 0] ** 2 / float(np.sum(self.root**2))

    def kernel(self) -> tuple[Array, float]:
        """K = BBᵀ in float64, and what was added to it along √c.

        About the means, K√c = 0: the intercept has taken that direction. Lifting it to K's
        own size keeps it out of the inverse, where 1/C would make it large.
        """
        products = Gram(len(self.H), self.H)
        for _, B in self._columns():
            products.add(B.T)
        K = products.total()
        lift = float(np.trace(K)) * self.intercept
        if lift:
            K += lift * (self.root @ self.root.T) / float(np.sum(self.root**2))
        return K, lift

    def coef(self, alpha: Array) -> Array:
        """β = Bᵀα."""
        beta = np.empty((self.H.shape[1], alpha.shape[1]))
        for units, B in self._columns():
            beta[units] = matmul(B.T, alpha)
        return beta

    def left_out(
        self, alpha: Array, diagonal: Array, ridge: Array, lift: float, block: Any = ...
    ) -> Array:
        """Residuals (rows × … × m) of rows that lose ``part`` of their weight."""
        column = (-1, *[1] * (diagonal.ndim - 1))
        part, share = self.part[block].reshape(column), self.share[block].reshape(column)
        own = diagonal - share / (lift + ridge)
        # Part of a row stays: its leverage shrinks by the part that leaves.
        rest = (1.0 - part) / ridge + part * own
        # Nothing is left of a row that no other row says anything about.
        rest = np.maximum(rest, _ROUNDING * diagonal)
        return alpha / rest[..., None] / self.root[block].reshape(-1, *[1] * (alpha.ndim - 1))

    def moments(self) -> RowMoments:
        """What to add further rows to."""
        B = np.multiply(self.H, self.root, dtype=self.H.dtype)
        return RowMoments(B, self.root * self.Y, self.root)

    def _columns(self) -> Iterator[tuple[slice, Array]]:
        """B = √c (H − center) in float64, some units at a time."""
        n, h = self.H.shape
        for units in row_blocks(h, block_rows(n, 8)):
            yield units, (self.H[:, units] - self.center[units]) * self.root


def dual(problem: Problem, C: float) -> Solution:
    """β = Bᵀ(K + I/C)⁻¹ S, and every row left out once."""
    rows = RowSpace.of(problem)
    K, lift = rows.kernel()
    try:
        factor = Cholesky(add_to_diagonal(K, 1.0 / C), overwrite=True)
    except NotPositiveDefinite:
        # 1/C is below K's rounding; the eigenbasis holds it there.
        return replace(_spectral(rows, K, lift, problem, np.array([C])), path=None)
    alpha = factor.solve(rows.S)
    residual = rows.left_out(alpha, factor.inverse_diagonal(), 1.0 / C, lift)
    return _solution(rows, rows.coef(alpha), C, "dual", residual)


def dual_path(problem: Problem, grid: np.ndarray) -> Solution:
    """The best C of the grid by leaving out every row once, from one eigendecomposition."""
    rows = RowSpace.of(problem)
    return _spectral(rows, *rows.kernel(), problem, grid)


def _spectral(
    rows: RowSpace, K: Array, lift: float, problem: Problem, grid: np.ndarray
) -> Solution:
    w, U = eigh(K, overwrite=True)
    Z = matmul(U.T, rows.S)
    ridges = np.array([ridge(w, C, 0.0) for C in grid])
    shrink = 1.0 / (np.maximum(w, 0.0)[:, None] + ridges)
    weights = (shrink[:, :, None] * Z[:, None, :]).reshape(len(w), -1)
    tally = Tally(problem, grid)
    for block in row_blocks(len(w), block_rows(len(w), 8)):
        alpha = matmul(U[block], weights).reshape(-1, len(grid), Z.shape[1])
        diagonal = matmul(U[block] ** 2, shrink)
        residual = rows.left_out(alpha, diagonal, ridges, lift, block)
        tally.add_residuals(block, rows.T[block, None, :], residual)
    path = tally.path()
    best = path.best
    alpha = matmul(U, Z * shrink[:, [best]])
    diagonal = matmul(U**2, shrink[:, [best]])[:, 0]
    residual = rows.left_out(alpha, diagonal, ridges[best], lift)
    # Where w is zero Bᵀu is too; only its rounding, magnified by C, would reach β.
    sound = w > _ROUNDING * len(w) * w[-1]
    coef = rows.coef(matmul(U, Z * (shrink[:, best] * sound)[:, None]))
    return _solution(rows, coef, float(grid[best]), "spectral", residual, path)


def _solution(
    rows: RowSpace,
    coef: Array,
    C: float,
    method: str,
    residual: Array,
    path: Path | None = None,
) -> Solution:
    every = np.arange(len(residual))
    intercept = rows.level - rows.center @ coef
    return Solution(coef, intercept, C, method, every, rows.T - residual, path, rows.moments())
