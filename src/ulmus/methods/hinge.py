"""The hinge loss on hidden rows: min ½‖β‖² + Σ cᵢ max(0, 1 − yᵢ hᵢβ), by its dual.

    min ½‖Σ αᵢ yᵢ hᵢ‖² − Σ αᵢ,   0 ≤ α ≤ c,   β = Σ αᵢ yᵢ hᵢ

There is no bias, so there is no equality constraint. Each column of signs y is a separate problem.
It starts with coordinate descent. Where that converges slowly, the box problem over the rows that
are not clearly at a bound is solved by ``box.interior``.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import extra
from ulmus.hidden import fits
from ulmus.methods.box import Box, DenseCurvature, RowCurvature, interior, polish, violation
from ulmus.typing import Array

# Epochs of coordinate descent before the interior point method, on a mixture of 6000 rows and on
# digits: with 100 the fits take up to seven times as long, with 600 a third longer.
_EPOCHS = 300
# Solutions with at most so many free rows are refined to this residual, by so many Newton steps
# at most: one mostly, more where rows leave a bound or come to it.
_MOST_SHARPENED, _DIGITS, _NEWTON_STEPS = 1000, 1e-12, 10


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

    def columns(self, alpha: Array | None) -> Iterator[tuple[Array, Array]]:
        """Signs and start of each problem: ``alpha`` within the bounds, or zero."""
        start = np.zeros(self.sign.shape) if alpha is None else alpha
        start = np.clip(start, 0.0, self.upper[:, None])
        for sign, own in zip(self.sign.T, start.T, strict=True):
            yield np.array(sign, dtype=float), own.copy()


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
    sign: Array
    upper: Array
    alpha: Array
    tol: float
    steps: int = 0

    def weights(self) -> Array:
        """β."""
        return self.loops.combined(self.H, np.arange(len(self.H)), self.sign * self.alpha)

    def gradient(self) -> Array:
        """The gradient of the dual at every row."""
        every = np.arange(len(self.H))
        return self.sign * self.loops.margins(self.H, every, self.weights()) - 1.0

    def residual(self) -> float:
        """The largest violation of the optimality conditions."""
        return violation(self.alpha, self.upper, self.gradient())

    def descend(self, epochs: int, seed: int) -> None:
        """Coordinate descent for at most so many epochs."""
        state = self.H, self.sign, self.upper, self.alpha, self.weights()
        self.steps += self.loops.descend(*state, seed + self.steps, epochs, 0.5 * self.tol)

    def undecided(self, gradient: Array, band: float) -> Array:
        """Rows that are not at a bound with a gradient of more than ``band``."""
        low, high = self.alpha <= 0.0, self.alpha >= self.upper
        return ~((low & (gradient > band)) | (high & (gradient < -band)))

    def box(self, rows: Array, gradient: Array) -> Box:
        """The problem over these rows; Q is written out where they are fewer than the units."""
        A = self.H[rows].astype(float, copy=False) * self.sign[rows, None]
        few = len(rows) <= A.shape[1]
        Q = DenseCurvature(matmul(A, A.T)) if few else RowCurvature(A)
        return Box(Q, gradient[rows] - Q.apply(self.alpha[rows]), self.upper[rows])


def hinge(
    problem: Hinge,
    H: Array,
    alpha: Array | None = None,
    *,
    tol: float = 1e-3,
    max_iter: int = 2000,
    seed: int = 0,
) -> HingeSolution:
    """α for the rows H (n × h, float32 or float64), starting from ``alpha`` where it is given."""
    compiled, H = loops(), np.ascontiguousarray(H)
    columns = [
        _Column(compiled, H, sign, problem.upper, start, tol)
        for sign, start in problem.columns(alpha)
    ]
    side = min(H.shape)
    # Half of the steps are kept for `_settle`, where its matrices fit.
    epochs = min(_EPOCHS, max(1, max_iter // 2)) if fits(side, side, 24) else max_iter

    def descend(j: int) -> None:
        columns[j].descend(epochs, seed + j)

    # Compiled loops run in threads; matrix products have threads of their own.
    threads = min(len(columns), compiled.threads())
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(descend, range(len(columns))))
    else:  # two hundred rows take less time than starting a thread
        for j in range(len(columns)):
            descend(j)
    for column in columns:
        _settle(column, max_iter, seed)
        _sharpen(column)
    return HingeSolution(
        np.column_stack([column.alpha for column in columns]),
        np.column_stack([column.weights() for column in columns]),
        np.array([column.steps for column in columns]),
        np.array([column.residual() for column in columns]),
    )


def _settle(column: _Column, max_iter: int, seed: int) -> None:
    """Interior point steps over the undecided rows, until no other row violates the conditions."""
    chosen = np.zeros(len(column.alpha), dtype=bool)
    while column.steps < max_iter:
        gradient = column.gradient()
        residual = violation(column.alpha, column.upper, gradient)
        if residual <= column.tol:
            return
        chosen |= column.undecided(gradient, residual)
        rows = np.flatnonzero(chosen)
        box, start = column.box(rows, gradient), column.alpha[rows]
        found, steps = interior(box, start, 0.5 * column.tol, max_iter - column.steps)
        column.steps += max(steps, 1)
        if not box.value(found) < box.value(start):
            break  # rounding allows no more
        column.alpha[rows] = found
    # The rest of max_iter goes to coordinate descent, which always converges but may be slow.
    column.descend(max(0, max_iter - column.steps), seed)


def _sharpen(column: _Column) -> None:
    """Newton steps on the rows that are free or nearly so: all digits for little, for few rows."""
    start, gradient, before = column.alpha, column.gradient(), column.residual()
    rows = np.flatnonzero(column.undecided(gradient, before))
    if not 0 < len(rows) <= min(column.H.shape[1], _MOST_SHARPENED):
        return
    found = polish(column.box(rows, gradient), start[rows], _DIGITS, _NEWTON_STEPS)[0]
    column.alpha = start.copy()
    column.alpha[rows] = found
    if column.residual() > before:
        column.alpha = start
