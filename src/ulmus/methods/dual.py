"""Solve in row space: one n × n factorisation. Best when units outnumber rows.

With B = √c H, S = √c T and K = BBᵀ: α = (K + I/C)⁻¹ S and β = Bᵀα, the same β as the
primal's. With r = 1/C and dᵢ = [(K + rI)⁻¹]ᵢᵢ, a row's residual is rαᵢ/√cᵢ and its leverage
1 − r dᵢ, so a row that is left out has residual αᵢ/(√cᵢ dᵢ): free of cancellation even
where the fit passes through every row. None of it needs H itself, so a problem over a kernel
is solved by the same lines.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.gram import Gram
from ulmus.backends.linalg import eigh, matmul
from ulmus.backends.namespace import (
    doubles,
    eps,
    from_numpy,
    namespace,
    take,
    zeros,
)
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import block_rows, row_blocks, rows_at_once
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.methods.leave_one_out import Tally, grid_parts
from ulmus.methods.leaving_rows import Decomposed, Factored, all_reweighted, reweighted
from ulmus.methods.ridge_eigenbasis import ridge, sound, sound_factor, warn_of_rounding
from ulmus.problem import Path, Problem, Solution
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["dual", "dual_path"]

_ROUNDING = float(np.finfo(float).eps)
# An eigenvalue this far below zero, beside the largest one, cannot be rounding.
_INDEFINITE = 1e-4


@dataclass(frozen=True)
class RowSpace(ABC):
    """A problem seen from its rows.

    ``root`` is √c, ``part`` the part of c a row loses when it is left out, T the targets and ``Y``
    their basis; ``level`` is the mean of t where there is an intercept, and zero otherwise.
    """

    root: Array
    part: Array
    T: Array
    Y: Array
    level: Array
    intercept: bool

    @abstractmethod
    def products(self) -> Array:
        """K = BBᵀ in float64, about the means where there is an intercept."""

    @abstractmethod
    def coef(self, alpha: Array) -> Array:
        """β = Bᵀα, or what stands for it."""

    @abstractmethod
    def center(self, coef: Array) -> Array:
        """What the mean row maps to."""

    @property
    def rounding(self) -> float:
        """How far the eigenvalues of K may be off before it is factored."""
        return 0.0

    @property
    def definite(self) -> bool:
        """Whether a negative eigenvalue of K is an error; else its direction is left out."""
        return True

    @property
    def S(self) -> Array:
        """√c (T − level)."""
        return self.root * (self.T - self.level)

    @property
    def share(self) -> Array:
        """cᵢ/Σc: the leverage that the intercept alone gives a row."""
        root = self.root[:, 0]
        return float(self.intercept) * root**2 / float(root @ root)

    def kernel(self) -> tuple[Array, float]:
        """K, and what was added to it along √c.

        About the means, K√c = 0: the intercept has taken that direction. Lifting it to K's
        own size keeps it out of the inverse, where 1/C would make it large.
        """
        K = self.products()
        lift = float(namespace(K).linalg.trace(K)) * self.intercept
        if lift:
            root = self.root[:, 0]
            K += lift * (self.root @ self.root.T) / float(root @ root)
        return K, lift

    def left_out(
        self, alpha: Array, diagonal: Array, ridge: Array, lift: float, rows: Any = None
    ) -> Array:
        """Residuals (rows × … × m) of rows (None: all) that lose ``part`` of their weight."""
        xp, column = namespace(alpha), (-1, *[1] * (diagonal.ndim - 1))
        every = slice(None) if rows is None else rows
        part = xp.reshape(take(self.part, every), column)
        share = xp.reshape(take(self.share, every), column)
        own = diagonal - share / (lift + ridge)
        # Part of a row stays: its leverage shrinks by the part that leaves.
        rest = (1.0 - part) / ridge + part * own
        # Nothing is left of a row that no other row says anything about.
        rest = xp.maximum(rest, _ROUNDING * diagonal)
        root = xp.reshape(take(self.root[:, 0], every), (-1, *[1] * (alpha.ndim - 1)))
        return alpha / rest[..., None] / root


@dataclass(frozen=True)
class HiddenRows(RowSpace):
    """Fewer rows than units: the hidden rows whole, and their mean."""

    H: Array
    mean: Array

    def products(self) -> Array:
        """BBᵀ, some units at a time."""
        products = Gram(self.H.shape[0], self.H)
        for _, B in self._columns():
            products.add(B.T)
        return products.total()

    def coef(self, alpha: Array) -> Array:
        """β = Bᵀα."""
        parts = [matmul(B.T, alpha) for _, B in self._columns()]
        return namespace(alpha).concat(parts)

    def center(self, coef: Array) -> Array:
        """The mean hidden row times β."""
        return self.mean @ coef

    def _columns(self) -> Iterator[tuple[slice, Array]]:
        """B = √c (H − mean) in float64, some units at a time."""
        n, h = self.H.shape
        for units in row_blocks(h, block_rows(n, 8)):
            yield units, (self.H[:, units] - self.mean[units]) * self.root


@dataclass(frozen=True)
class KernelRows(RowSpace):
    """Rows known by their kernel alone; β is stated by its dual coefficients √c α."""

    K: Array
    mean: Array
    entry: float
    inner: bool = True

    @property
    def definite(self) -> bool:
        """Whether the kernel is an inner product."""
        return self.inner

    @property
    def rounding(self) -> float:
        """√n times how far an entry may be off, which is ``entry``."""
        return self.entry * float(np.sqrt(self.root.shape[0]))

    def products(self) -> Array:
        """√c K √c. Takes K's memory."""
        K = self.K
        if self.intercept:
            share = self.share
            K -= self.mean
            K -= self.mean[:, None] - float(share @ self.mean)
        K *= self.root
        K *= self.root.T
        return K

    def coef(self, alpha: Array) -> Array:
        """√c α: about the means they sum to zero, so they serve the rows as they are."""
        return self.root * alpha

    def center(self, coef: Array) -> Array:
        """The mean row's kernel with every row, times the coefficients."""
        return self.mean @ coef


def row_space(problem: Problem) -> RowSpace:
    """The rows of a problem."""
    every = slice(0, len(problem.H))
    whole = problem.H.all()
    xp = namespace(whole)
    weight = zeros(len(problem.H), whole) + 1.0 if problem.weight is None else problem.weight
    T = coded(problem.targets, every, xp.float64)
    share = weight / float(xp.sum(weight)) * float(problem.intercept)
    rows = (
        xp.sqrt(weight)[:, None],
        problem.unit_weight(every) / weight,
        T,
        problem.targets.block(every, xp.float64),
        share @ T,
        problem.intercept,
    )
    # A product in float64 needs a copy of the rows, which only an intercept is worth.
    mean = share @ doubles(whole) if problem.intercept else zeros(whole.shape[1], whole)
    if isinstance(problem.H, KernelMatrix):
        size = float(xp.max(xp.abs(weight * xp.linalg.diagonal(whole))))
        return KernelRows(*rows, whole, mean, eps(problem.H.dtype) * size, problem.H.definite)
    return HiddenRows(*rows, whole, mean)


def dual(problem: Problem, C: float) -> Solution:
    """β = Bᵀ(K + I/C)⁻¹ S, and every row left out once."""
    rows = row_space(problem)
    K, lift = rows.kernel()
    factor = sound_factor(K, C)
    if factor is None:
        # 1/C is below K's rounding; the eigenbasis holds it there.
        if rows.rounding > 1.0 / C:
            warn_of_rounding(C)
        return replace(_spectral(rows, K, lift, problem, np.array([C])), path=None)
    alpha = factor.solve(rows.S)
    if problem.reweighs:
        residual = all_reweighted(problem, Factored(K, rows.S), rows.root, C)
    else:
        residual = rows.left_out(alpha, factor.inverse_diagonal(), 1.0 / C, lift)
    return _solution(rows, rows.coef(alpha), C, "dual", residual)


def dual_path(problem: Problem, grid: np.ndarray) -> Solution:
    """The best C of the grid by leaving out every row once, from one eigendecomposition."""
    rows = row_space(problem)
    return _spectral(rows, *rows.kernel(), problem, grid)


def _spectral(
    rows: RowSpace, K: Array, lift: float, problem: Problem, grid: np.ndarray
) -> Solution:
    w, U = eigh(K, overwrite=True)
    # About its mean a constant kernel is nothing but rounding, and that adds up over the rows.
    lost = 4.0 * np.sqrt(w.shape[0]) * rows.rounding
    if rows.definite and w[0] < -max(_INDEFINITE * float(w[-1]), lost):
        raise InvalidInputError(
            f"The kernel is not positive semi-definite: its eigenvalues go from {w[0]:.2g} to "
            f"{w[-1]:.2g}. Use a kernel that is, or clip the negative eigenvalues of a precomputed "
            "one."
        )
    xp, n = namespace(w), w.shape[0]
    Z = matmul(U.T, rows.S)
    ridges = from_numpy(np.array([ridge(w, float(C), rows.rounding) for C in grid]), w)
    shrink = 1.0 / (xp.clip(w, min=0.0)[:, None] + ridges)
    tally = Tally(problem, grid)
    if problem.reweighs:
        inverse = Decomposed(w, U, Z, rows.rounding)
        for own, k, residual in reweighted(problem, inverse, rows.root, grid):
            tally.add(own, slice(k, k + 1), residual[:, None, :])
    for where in () if problem.reweighs else grid_parts(grid, *Z.shape):
        some, at = shrink[:, where], ridges[where]
        weights = xp.reshape(some[:, :, None] * Z[:, None, :], (n, -1))
        size = min(block_rows(n, 8), rows_at_once(weights.shape[1]))
        for block in row_blocks(n, size):
            alpha = xp.reshape(matmul(U[block, :], weights), (-1, some.shape[1], Z.shape[1]))
            diagonal = matmul(U[block, :] ** 2, some)
            tally.add(block, where, rows.left_out(alpha, diagonal, at, lift, block))
    path = tally.path()
    best = path.best
    alpha = matmul(U, Z * shrink[:, best, None])
    if problem.reweighs:
        residual = all_reweighted(problem, inverse, rows.root, float(grid[best]))
    else:
        diagonal = matmul(U**2, shrink[:, best, None])[:, 0]
        residual = rows.left_out(alpha, diagonal, ridges[best], lift)
    kept = shrink[:, best] * sound(w, ridges[best])
    if not rows.definite:
        kept = kept * xp.astype(w > 0.0, w.dtype)
    coef = rows.coef(matmul(U, Z * kept[:, None]))
    return _solution(rows, coef, float(grid[best]), "spectral", residual, path)


def _solution(
    rows: RowSpace,
    coef: Array,
    C: float,
    method: str,
    residual: Array,
    path: Path | None = None,
) -> Solution:
    every = np.arange(residual.shape[0])
    intercept = rows.level - rows.center(coef)
    return Solution(coef, intercept, C, method, every, rows.T - residual, path)
