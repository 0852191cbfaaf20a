"""The hinge loss on hidden rows: min ½‖β‖² + Σ cᵢ max(0, 1 − yᵢ hᵢβ), by its dual.

    min ½‖Σ αᵢ yᵢ hᵢ‖² − Σ αᵢ,   0 ≤ α ≤ c,   β = Σ αᵢ yᵢ hᵢ

There is no bias, so there is no equality constraint. Each column of signs y is a separate problem.
It starts with coordinate descent. Where that converges slowly, the box problem over the rows that
are not clearly at a bound is solved by ``box.interior``.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import extra
from ulmus.hidden import fits
from ulmus.methods.box import (
    Box,
    Curvature,
    DenseCurvature,
    RowCurvature,
    interior,
    polish,
    pull,
    signed_rows,
)
from ulmus.typing import Array

# Speed of matrix products relative to coordinate descent, which reads rows from memory and not from
# the cache.
_PRODUCT_SPEED = 16
# Usual number of factorisations of the interior point method, to estimate its cost.
_USUAL_STEPS = 25
_FIRST_EPOCHS = 10
# Solutions with at most so many free rows are refined by Newton steps, to this residual.
_MOST_SHARPENED, _DIGITS = 1000, 1e-12


def loops() -> ModuleType:
    """The module ``backends.compiled``, for which Numba is needed."""
    extra("numba", "sparse", "SparseELMClassifier")
    found: ModuleType = extra("ulmus.backends.compiled", "sparse", "SparseELMClassifier")
    return found


@dataclass(frozen=True)
class Hinge:
    """The problems: signs ±1 (n × m), one column for each, and c, the upper bound of α."""

    sign: Array
    upper: Array


@dataclass(frozen=True)
class HingeSolution:
    """α (n × m), β (h × m) for explicit rows, and steps and residual for each column.

    A step is an epoch of coordinate descent or a factorisation; the residual is the largest
    violation of the optimality conditions.
    """

    alpha: Array
    coef: Array | None
    steps: Array
    residual: Array


@dataclass
class _Column:
    """The state of one of the problems."""

    loops: ModuleType
    H: Array
    square: Array
    sign: Array
    upper: Array
    alpha: Array
    tol: float
    w: Array
    steps: int = 0
    settled: bool = False

    def gradient(self) -> Array:
        """The gradient of the dual at every row."""
        every = np.arange(len(self.alpha))
        return self.sign * self.loops.margins(self.H, every, self.w) - 1.0

    def residual(self, gradient: Array) -> float:
        """The largest violation of the optimality conditions."""
        return float(np.max(np.abs(pull(self.alpha, self.upper, gradient)), initial=0.0))

    def refresh(self) -> None:
        """Compute β from α again, without the rounding of many updates."""
        every = np.arange(len(self.alpha))
        self.w = self.loops.combined(self.H, every, self.sign * self.alpha)

    def descend(self, epochs: int, visits: int, seed: int, shrinking: bool) -> int:
        """Coordinate descent for at most so many epochs and visits of rows; returns the visits."""
        state = self.H, self.sign, self.upper, self.square, self.alpha, self.w
        how = seed + self.steps, epochs, visits, 0.5 * self.tol, shrinking
        taken, visited = self.loops.descend(*state, *how)
        self.steps += taken
        return int(visited)

    def undecided(self, gradient: Array, band: float) -> Array:
        """Rows that are not at a bound with a gradient of more than ``band``."""
        low, high = self.alpha <= 0.0, self.alpha >= self.upper
        return ~((low & (gradient > band)) | (high & (gradient < -band)))


def hinge(
    problem: Hinge,
    H: Array,
    alpha: Array | None = None,
    *,
    tol: float = 1e-3,
    max_iter: int = 2000,
    seed: int = 0,
    shrinking: bool = True,
) -> HingeSolution:
    """α for the rows H (n × h, float32 or float64), starting from ``alpha`` where it is given."""
    compiled = loops()
    H = np.ascontiguousarray(H)
    n, m = problem.sign.shape
    start = np.zeros((n, m)) if alpha is None else np.clip(alpha, 0.0, problem.upper[:, None])
    square = compiled.squares(H)
    signs = np.array(problem.sign.T, dtype=float, order="C")
    columns = [
        _Column(compiled, H, square, sign, problem.upper, alpha.copy(), tol, np.empty(0))
        for sign, alpha in zip(signs, start.T, strict=True)
    ]

    def descend(j: int) -> None:
        columns[j].refresh()
        _descend(columns[j], max_iter, seed + j, shrinking)

    # Compiled loops run in threads; matrix products have threads of their own.
    threads = min(m, compiled.threads())
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(descend, range(m)))
    else:  # two hundred rows take less time than starting a thread
        for j in range(m):
            descend(j)
    for column in columns:
        if not column.settled:
            _settle(column, max_iter, seed, shrinking)
        column.refresh()
        _sharpen(column)
    return HingeSolution(
        np.column_stack([column.alpha for column in columns]),
        np.column_stack([column.w for column in columns]),
        np.array([column.steps for column in columns]),
        np.array([column.residual(column.gradient()) for column in columns]),
    )


def _descend(column: _Column, max_iter: int, seed: int, shrinking: bool) -> None:
    """Coordinate descent, as long as it is estimated to be faster."""
    n, h = column.H.shape
    spent, chunk, before = 0, _FIRST_EPOCHS * n, np.inf
    # Epochs over few rows add up quickly, so half of the steps are kept for `_settle`.
    limit = max(1, max_iter // 2) if np.isfinite(_interior_cost(n, h)) else max_iter
    while column.steps < limit:
        visits = column.descend(limit - column.steps, chunk, seed, shrinking)
        spent += visits
        gradient = column.gradient()
        residual = column.residual(gradient)
        if residual <= column.tol:
            column.settled = True
            return
        other = _interior_cost(int(column.undecided(gradient, residual).sum()), h) / (4 * h)
        ahead = np.inf
        if residual < before:
            ahead = visits * np.log(residual / column.tol) / np.log(before / residual)
        if spent > other / 4 and ahead > other:
            return
        before, chunk = residual, 2 * chunk


def _interior_cost(rows: int, h: int) -> float:
    """The cost of `interior` on that many rows, in operations of coordinate descent."""
    k = min(rows, h)
    if not fits(k, k, 24):
        return np.inf
    per_step = k**3 / 3 if rows <= h else rows * h**2 + h**3 / 3
    return (_USUAL_STEPS * per_step + rows * k * h) / _PRODUCT_SPEED


def _settle(column: _Column, max_iter: int, seed: int, shrinking: bool) -> None:
    """Interior point steps over the undecided rows, until no other row violates the conditions."""
    chosen = np.zeros(len(column.alpha), dtype=bool)
    while column.steps < max_iter:
        gradient = column.gradient()
        residual = column.residual(gradient)
        if residual <= column.tol:
            column.settled = True
            return
        chosen |= column.undecided(gradient, residual)
        rows = np.flatnonzero(chosen)
        Q = _curvature(column, rows)
        start, upper = column.alpha[rows], column.upper[rows]
        box = Box(Q, gradient[rows] - Q.apply(start), upper)
        found, steps = interior(box, start, 0.5 * column.tol, max_iter - column.steps)
        column.steps += max(steps, 1)
        if not box.value(found) < box.value(start):
            break  # rounding allows no more
        column.alpha[rows] = found
        column.refresh()
    # The rest of max_iter goes to coordinate descent, which always converges but may be slow.
    every = np.iinfo(np.int64).max
    column.descend(max(0, max_iter - column.steps), every, seed, shrinking)


def _sharpen(column: _Column) -> None:
    """Newton steps on the rows that are free: all digits for little, where they are few."""
    rows = np.flatnonzero((column.alpha > 0.0) & (column.alpha < column.upper))
    if not 0 < len(rows) <= min(column.H.shape[1], _MOST_SHARPENED):
        return
    gradient, Q = column.gradient(), _curvature(column, rows)
    before, start = column.residual(gradient), column.alpha
    box = Box(Q, gradient[rows] - Q.apply(start[rows]), column.upper[rows])
    column.alpha = start.copy()
    column.alpha[rows] = polish(box, start[rows], _DIGITS, 3)[0]
    column.refresh()
    if column.residual(column.gradient()) > before:
        column.alpha = start
        column.refresh()


def _curvature(column: _Column, rows: Array) -> Curvature:
    """Q over these rows, as a matrix where they are fewer than the units."""
    if len(rows) > column.H.shape[1]:
        return RowCurvature(column.loops, column.H, rows, column.sign[rows])
    A = signed_rows(column.H, rows, column.sign[rows])
    return DenseCurvature(matmul(A, A.T))
