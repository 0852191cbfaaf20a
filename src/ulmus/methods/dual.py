"""Solve in row space: one n × n factorisation. Best when units outnumber rows.

With B = √c H, S = √c T and K = BBᵀ: α = (K + I/C)⁻¹ S and β = Bᵀα, the same β as the
primal's. With r = 1/C and dᵢ = [(K + rI)⁻¹]ᵢᵢ, a row's residual is rαᵢ/√cᵢ and its leverage
1 − r dᵢ, so a row that is left out has residual αᵢ/(√cᵢ dᵢ): free of cancellation even
where the fit passes through every row. None of it needs H itself, so a problem over a kernel
is solved by the same lines.

Where weights balance the classes (see ``balance``), a class that weighs b times as much is one
whose ridge falls from r to r/b. With Q its block of (K + rI)⁻¹ and θ = r(1 − 1/b), the block
becomes Q(I − θQ)⁻¹ and its part of α (I − θQ)⁻¹α.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ulmus.backends.gram import Gram, self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, eigh, matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    eps,
    from_numpy,
    namespace,
    put_rows,
    take,
    to_numpy,
    zeros,
)
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import block_rows, row_blocks, rows_at_once
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.methods.quadratic_penalty import (
    Eigenbasis,
    grid_parts,
    sound,
    sound_factor,
    warn_of_rounding,
)
from ulmus.problem import ErrorPath, Problem, Solution, Tally
from ulmus.targets import coded
from ulmus.typing import Array

# An eigenvalue below minus this, relative to the largest one, is not rounding.
_INDEFINITE = 1e-4
_ROUNDING = float(np.finfo(float).eps)
# Columns of K that are changed at a time, as many as a cache holds.
_FEW_COLUMNS = 32


@dataclass(frozen=True)
class RowSpace(ABC):
    """A problem's rows, of which the dual needs only the products.

    ``root`` is √c, ``part`` the part of c a row loses when it is left out, and T the targets.
    Where there is an intercept, ``level`` is their mean and ``mean`` that of ``whole``; zero
    otherwise. ``whole`` is H or the kernel matrix. ``rounding`` is how far the eigenvalues of K
    may be off before it is factored; without ``definite`` its negative ones are set to zero
    instead of refused.
    """

    root: Array
    part: Array
    T: Array
    level: Array
    intercept: bool
    mean: Array
    whole: Array
    rounding: float = 0.0
    definite: bool = True

    @abstractmethod
    def kernel(self) -> tuple[Array, float]:
        """K = BBᵀ in float64, about the means where there is an intercept, and its lift.

        About the means K√c = 0. The lift is what was added along √c: an eigenvalue of K's own size
        there keeps it out of the inverse, where C would make it large.
        """

    @abstractmethod
    def coef(self, alpha: Array) -> Array:
        """β = Bᵀα, or the dual coefficients where rows are known by their kernel alone."""

    @property
    def S(self) -> Array:
        """√c (T − level)."""
        return self.root * (self.T - self.level)

    @property
    def share(self) -> Array:
        """cᵢ/Σc: the leverage that the intercept alone gives a row."""
        root = self.root[:, 0]
        return float(self.intercept) * root**2 / float(root @ root)

    def left_out(
        self, alpha: Array, diagonal: Array, ridge: Any, lift: float, rows: Any = None
    ) -> Array:
        """Residuals (rows × … × m) of rows (None: all) that lose ``part`` of their weight."""
        xp, column = namespace(alpha), (-1, *[1] * (diagonal.ndim - 1))
        every = slice(None) if rows is None else rows
        part, own = xp.reshape(take(self.part, every), column), diagonal
        if self.intercept:
            own = own - xp.reshape(take(self.share, every), column) / (lift + ridge)
        # Part of a row stays: its leverage shrinks by the part that leaves. For a row that no
        # other resembles the difference is rounding.
        rest = xp.maximum((1.0 - part) / ridge + part * own, _ROUNDING * diagonal)
        root = xp.reshape(take(self.root[:, 0], every), (-1, *[1] * (alpha.ndim - 1)))
        return alpha / rest[..., None] / root


class HiddenRows(RowSpace):
    """Fewer rows than units: all hidden rows."""

    def kernel(self) -> tuple[Array, float]:
        products = Gram(self.whole.shape[0], self.whole)
        for B in self._columns():  # some units at a time
            products.add(B.T)
        K, root = products.total(), self.root[:, 0]
        lift = float(namespace(K).linalg.trace(K)) * self.intercept
        return _with_rank_two(K, root, 0.5 * lift / float(root @ root) * root, self.intercept), lift

    def coef(self, alpha: Array) -> Array:
        return namespace(alpha).concat([matmul(B.T, alpha) for B in self._columns()])

    def _columns(self) -> Iterator[Array]:
        """B = √c (H − mean) in float64, some units at a time."""
        n, h = self.whole.shape
        for units in row_blocks(h, block_rows(n, 8)):
            H = self.whole[:, units]
            yield (H - self.mean[units] if self.intercept else H) * self.root


class KernelRows(RowSpace):
    """Rows known by their kernel alone; β is stated by its dual coefficients √c α."""

    def kernel(self) -> tuple[Array, float]:
        """In the memory of the kernel matrix."""
        K, root, xp = self.whole, self.root[:, 0], namespace(self.root)
        total, level = float(root @ root), float(self.share @ self.mean)
        lift = float(root**2 @ (xp.linalg.diagonal(K) - 2.0 * self.mean + level)) * self.intercept
        if bool(xp.any(root != 1.0)):
            K *= self.root
            K *= self.root.T
        # √c (K − mean 1ᵀ − 1 meanᵀ + level) √c, and the lift.
        other = root * (0.5 * (level + lift / total) - self.mean)
        return _with_rank_two(K, root, other, self.intercept), lift

    def coef(self, alpha: Array) -> Array:
        """√c α: about the means they sum to zero, so they serve the rows as they are."""
        return self.root * alpha


def _with_rank_two(K: Array, a: Array, b: Array, asked: bool) -> Array:
    """K + abᵀ + baᵀ where that is asked for, some columns at a time in K's memory."""
    a, b = cast(a, K.dtype), cast(b, K.dtype)
    for part in row_blocks(K.shape[0], _FEW_COLUMNS) if asked else ():
        K[:, part] += a[:, None] * b[part] + b[:, None] * a[part]
    return K


def row_space(problem: Problem, dtype: Any = None) -> RowSpace:
    """The rows of a problem; of a kernel on the host K may have another type than float64."""
    every = slice(0, len(problem.H))
    whole = problem.H.all() if dtype is None else problem.H.all(dtype)
    xp = namespace(whole)
    weight = zeros(len(problem.H), whole) + 1.0 if problem.weight is None else problem.weight
    T = coded(problem.targets, every, xp.float64)
    share = weight / float(xp.sum(weight)) * float(problem.intercept)
    mean = zeros(whole.shape[1], whole)
    if problem.intercept:
        mean = share @ doubles(whole) if dtype is None else doubles(cast(share, dtype) @ whole)
    rows = (
        xp.sqrt(weight)[:, None],
        problem.unit_weight(every) / weight,
        T,
        share @ T,
        problem.intercept,
        mean,
        whole,
    )
    if isinstance(problem.H, KernelMatrix):
        size = float(xp.max(xp.abs(weight * xp.linalg.diagonal(whole))))
        coarse = max(eps(problem.H.dtype), eps(whole.dtype))
        rounding = coarse * size * float(np.sqrt(whole.shape[0]))
        return KernelRows(*rows, rounding, problem.H.definite)
    return HiddenRows(*rows)


def dual(
    problem: Problem, C: float, asked: bool = True, last: int | None = None, single: bool = False
) -> Solution:
    """β = Bᵀ(K + I/C)⁻¹ S, and every row left out once, or so many of the last ones.

    ``asked`` says whether the user gave C, and is warned where 1/C is below K's rounding. With
    ``single`` a kernel on the host is factored in single precision, if that is enough.
    """
    K, lift = (rows := row_space(problem, np.float32 if single else None)).kernel()
    rounding = np.inf if asked else rows.rounding
    found = at_one(problem, rows, K, lift, C, rounding, last, overwrite=not problem.reweighs)
    if found is not None or single:
        return found or dual(problem, C, asked, last)
    # The eigenbasis raises 1/C to K's rounding.
    rows = row_space(problem)
    if asked and rows.rounding > 1.0 / C:
        warn_of_rounding(C)
    return RowSpectrum.of(problem, rows, *rows.kernel()).solution(C)


def at_one(
    problem: Problem,
    rows: RowSpace,
    K: Array,
    lift: float,
    C: float,
    rounding: float,
    last: int | None = None,
    overwrite: bool = False,
) -> Solution | None:
    """The same from K as ``rows`` gives it; None where 1/C is below K's rounding.

    ``rounding`` is a bound of that of K's eigenvalues, infinite where some may be negative.
    """
    factor = sound_factor(K, C, overwrite, rounding)
    if factor is None:
        return None
    alpha = factor.solve(cast(rows.S, K.dtype))
    if problem.reweighs:
        residual = _all_reweighted(rows, problem, _factored(K, rows.S), C)
    else:
        diagonal = factor.inverse_diagonal(overwrite=True, last=last)
        own = slice(alpha.shape[0] - diagonal.shape[0], alpha.shape[0])
        residual = rows.left_out(alpha[own, :], diagonal, 1.0 / C, lift, own)
    return _solution(rows, rows.coef(alpha), C, "dual", residual)


def dual_path(problem: Problem, grid: np.ndarray, by_squares: bool = False) -> Solution:
    """The best C of the grid by leaving out every row once, from one eigendecomposition.

    With ``by_squares`` it is the one of least squared error, for classes too.
    """
    rows = row_space(problem)
    spectrum = RowSpectrum.of(problem, rows, *rows.kernel())
    path = spectrum.path(grid)
    best = int(np.argmin(path.squared_error)) if by_squares else path.best
    return spectrum.solution(float(grid[best]), path)


@dataclass(frozen=True)
class RowSpectrum(Eigenbasis):
    """K = U diag(w) Uᵀ, and Z = UᵀS: α is U(w + 1/C)⁻¹Z for every C."""

    cross: Array
    problem: Problem
    rows: RowSpace
    lift: float

    @classmethod
    def of(cls, problem: Problem, rows: RowSpace, K: Array, lift: float) -> "RowSpectrum":
        """From K, which is overwritten."""
        w, U = eigh(K, overwrite=True)
        # About its mean a constant kernel is rounding only, which adds up over the rows.
        lost = 32.0 * np.sqrt(w.shape[0]) * rows.rounding
        if rows.definite and w[0] < -max(_INDEFINITE * float(w[-1]), lost):
            raise InvalidInputError(
                f"The kernel is not positive semi-definite: its eigenvalues go from {w[0]:.2g} to "
                f"{w[-1]:.2g}. Use a kernel that is, or clip the negative eigenvalues of a "
                "precomputed one."
            )
        return cls(w, U, rows.rounding, matmul(U.T, rows.S), problem, rows, lift)

    def path(self, grid: np.ndarray) -> ErrorPath:
        """The error of leaving out every row at every C."""
        tally = Tally(self.problem, grid)
        if self.problem.reweighs:
            for left in _reweighted(self.rows, self.problem, self._among, grid):
                tally.add(*left)
            return tally.path()
        (n, m), U = self.cross.shape, self.basis
        ridges = self.ridges(grid)
        for where in grid_parts(grid, n, m):
            shrink, weights = self.inverses(grid[where]), self.weights(grid[where])
            size = min(block_rows(n, 8), rows_at_once(weights.shape[1]))
            for block in row_blocks(n, size):
                alpha = namespace(U).reshape(
                    matmul(U[block, :], weights), (-1, len(grid[where]), m)
                )
                diagonal = matmul(U[block, :] ** 2, shrink)
                residual = self.rows.left_out(alpha, diagonal, ridges[where], self.lift, block)
                tally.add(block, where, residual)
        return tally.path()

    def weights(self, grid: np.ndarray) -> Array:
        """Uᵀα of every C, side by side (n × C·m)."""
        weights = self.inverses(grid)[:, :, None] * self.cross[:, None, :]
        return namespace(weights).reshape(weights, (weights.shape[0], -1))

    def solution(self, C: float, path: ErrorPath | None = None) -> Solution:
        """β at one C, and every row left out once."""
        rows, U, ridge = self.rows, self.basis, self.ridge(C)
        shrink = self.inverse(C)[:, None]
        if self.problem.reweighs:
            residual = _all_reweighted(rows, self.problem, self._among, C)
        else:
            diagonal = matmul(U**2, shrink)[:, 0]
            residual = rows.left_out(matmul(U, self.cross * shrink), diagonal, ridge, self.lift)
        kept = shrink * sound(self.values, ridge)[:, None]
        if not rows.definite:
            kept = kept * namespace(kept).astype(self.values > 0.0, kept.dtype)[:, None]
        coef = rows.coef(matmul(U, self.cross * kept))
        return _solution(rows, coef, C, "spectral", residual, path)

    def _among(self, rows: np.ndarray) -> "Callable[[float], _Block]":
        """The block of some rows, as a function of C."""
        U = take(self.basis, rows)

        def block(C: float) -> _Block:
            shrink = self.inverse(C)
            Q = self_product(U * namespace(U).sqrt(shrink))
            return _Block(Q, matmul(U * shrink, self.cross), self.ridge(C))

        return block


@dataclass(frozen=True)
class _Block:
    """A class's block of (K + rI)⁻¹, and its part of α."""

    Q: Array
    alpha: Array
    r: float

    def heavier(self, b: float) -> tuple[Array, Array]:
        """α, and the diagonal of the inverse, once the class weighs b times as much."""
        xp, less = namespace(self.Q), self.r * (1.0 - 1.0 / b)
        diagonal = xp.linalg.diagonal(self.Q)
        if less == 0.0:
            return self.alpha, diagonal
        factor = Cholesky(add_to_diagonal(-less * self.Q, 1.0), overwrite=True)
        return factor.solve(self.alpha), diagonal + less * factor.leverage(self.Q)


# The rows of a class, then C, then their block.
_Among = Callable[[np.ndarray], Callable[[float], _Block]]


def _factored(K: Array, S: Array) -> _Among:
    """Blocks from a Cholesky factorisation for each C, of which the last is kept."""

    @lru_cache(maxsize=1)
    def whole(C: float) -> tuple[Array, Array]:
        factor = Cholesky(add_to_diagonal(K, 1.0 / C), overwrite=True)
        return factor.inverse(), factor.solve(S)

    def block(rows: np.ndarray, C: float) -> _Block:
        inverse, alpha = whole(C)
        return _Block(take(take(inverse, rows), rows, axis=1), take(alpha, rows), 1.0 / C)

    return lambda rows: lambda C: block(rows, C)


def _reweighted(
    rows: RowSpace, problem: Problem, among: _Among, grid: np.ndarray
) -> Iterator[tuple[np.ndarray, slice, Array]]:
    """Numbers of rows, some of the C, and residuals (rows × C × m), each row left out."""
    codes = to_numpy(problem.targets.array)
    for leaving in problem.leavings():
        own = np.flatnonzero(codes == leaving.code)
        place, block = np.searchsorted(own, leaving.rows), among(own)
        for where in grid_parts(grid, len(place), problem.targets.outputs):
            parts = []
            for C in grid[where].tolist():
                residual: Any = 0.0
                for a, b, share in leaving.each():
                    found = block(a * C)
                    alpha, diagonal = found.heavier(b)
                    left = take(rows.left_out(alpha, diagonal, found.r / b, 0.0, own), place)
                    residual = residual + from_numpy(share[:, None], left) * left
                parts.append(residual)
            yield leaving.rows, where, namespace(residual).stack(parts, axis=1)


def _all_reweighted(rows: RowSpace, problem: Problem, among: _Among, C: float) -> Array:
    """The residuals of all rows at one C."""
    residual = zeros((len(problem.targets), problem.targets.outputs), rows.root)
    for own, _, found in _reweighted(rows, problem, among, np.array([C])):
        put_rows(residual, own, found[:, 0, :])
    return residual


def _solution(
    rows: RowSpace, coef: Array, C: float, method: str, residual: Array, path: Any = None
) -> Solution:
    n, intercept = rows.T.shape[0], rows.level - rows.mean @ coef
    own = np.arange(n - residual.shape[0], n)
    return Solution(coef, intercept, C, method, own, take(rows.T, own) - residual, path)
