"""The hinge loss on hidden rows, or on a kernel: min ½‖β‖² + Σ cᵢ max(0, 1 − yᵢ hᵢβ), by its dual.

    min ½‖Σ αᵢ yᵢ hᵢ‖² − Σ αᵢ,   0 ≤ α ≤ c,   β = Σ αᵢ yᵢ hᵢ

There is no bias, so there is no equality constraint. Each column of signs y is a separate problem.
It starts with coordinate descent. Where that converges slowly, the box problem over the rows that
are not clearly at a bound is solved by ``box.interior``.

A kernel, min ½αᵀ(YKY)α − 1ᵀα, is computed by rows, of which as many are cached as fit the memory
budget. A round takes the rows that are free or that violate the optimality conditions most, solves
the box problem over them, and updates the gradient of all rows by one product. The cache drops the
least recently used rows; the one-vs-rest problems share it.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ulmus.backends.linalg import low_rank_factor, matmul
from ulmus.backends.namespace import eps, extra
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import fits, most_rows
from ulmus.methods.box import Box, DenseCurvature, RowCurvature, interior, polish, pull, violation
from ulmus.typing import Array

KernelRows = Callable[[Array], Array]

# Epochs of coordinate descent before the interior point method, on a mixture of 6000 rows and on
# digits: with 100 the fits take up to seven times as long, with 600 a third longer.
_EPOCHS = 300
# Solutions with at most so many free rows are refined to this residual, by so many Newton steps
# at most: one mostly, more where rows leave a bound or come to it.
_MOST_SHARPENED, _DIGITS, _NEWTON_STEPS = 1000, 1e-12, 10
# Smallest and largest block; it grows where rounds make little progress.
_SMALLEST_BLOCK, _LARGEST_BLOCK = 256, 4096
# Rows on which K is checked to be a kernel before the first round.
_SAMPLE = 512
# Greedy coordinate steps per variable, before an interior point method takes over.
_GREEDY = 5
# Relative to the largest entry: asymmetry and negative eigenvalues up to the first are treated as
# rounding, pivots below the second as zero.
_ROUNDING, _NEGLIGIBLE = 1e-5, 1e-12


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


# ---------------------------------------------------------------- on a kernel
class RowCache:
    """A cache of rows of K, as large as scikit-learn's ``working_memory``.

    Rounding to float32 may make K indefinite; its diagonal is raised by the size of the rounding.
    """

    def __init__(self, rows: KernelRows, diagonal: Array) -> None:
        self._make = rows
        self.n = n = len(diagonal)
        self._ridge = float(np.sqrt(n) * np.max(diagonal))
        self.capacity = max(2, min(n, most_rows(n, 8)))
        self._store = np.empty((self.capacity, n))
        self._slots: OrderedDict[int, int] = OrderedDict()

    def slots(self, indices: Array) -> tuple[Array, Array]:
        """The store, and where in it these rows are; no more than ``capacity`` of them."""
        wanted = indices.tolist()
        missing = [i for i in wanted if i not in self._slots]
        for i in wanted:
            if i in self._slots:
                self._slots.move_to_end(i)
        # Rows in use are last in the order, so the first ones can be dropped.
        places: list[int] = []
        for _ in missing:
            if len(self._slots) + len(places) < self.capacity:
                places.append(len(self._slots) + len(places))
            else:
                places.append(self._slots.popitem(last=False)[1])
        if missing:
            self._store[places] = self._checked(np.array(missing))
            self._slots.update(zip(missing, places, strict=True))
        return self._store, np.array([self._slots[i] for i in wanted], dtype=np.intp)

    def _checked(self, indices: Array) -> Array:
        block = np.asarray(self._make(indices))
        if block.shape != (len(indices), self.n):
            raise InvalidInputError(
                f"The kernel gave an array of shape {block.shape} for {len(indices)} rows against "
                f"{self.n}; it must be {(len(indices), self.n)}."
            )
        if not np.isfinite(block).all():
            raise InvalidInputError("The kernel gave values that are not finite.")
        if block.dtype == np.float32:
            ridge = eps(block.dtype) * self._ridge
            block = block.astype(float)
            block[np.arange(len(indices)), indices] += ridge
        return block


def hinge_kernel(
    problem: Hinge,
    rows: KernelRows,
    diagonal: Array,
    alpha: Array | None = None,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
) -> HingeSolution:
    """α for K, given as a function from row indices to a block of its rows, and its diagonal.

    A step is a block.
    """
    if not np.isfinite(diagonal).all():
        raise InvalidInputError("The kernel gave values that are not finite.")
    if (diagonal < 0).any():
        raise InvalidInputError(
            "The kernel is not positive semi-definite: it is negative between a row and itself."
        )
    cache, rng = RowCache(rows, diagonal), np.random.default_rng(seed)
    sample = rng.permutation(cache.n)[: min(_SAMPLE, _largest_block(cache.capacity))]
    store, slots = cache.slots(sample)
    _checked(store[slots[:, None], sample].astype(float))
    blocks = _Blocks(loops(), cache, problem.upper, tol, max_iter, rng)
    found = [blocks.solve(sign, start) for sign, start in problem.columns(alpha)]
    alphas, steps, residuals = zip(*found, strict=True)
    return HingeSolution(np.column_stack(alphas), None, np.array(steps), np.array(residuals))


@dataclass(frozen=True)
class _Blocks:
    """The problems of all classes, solved one after the other with a common cache."""

    compiled: ModuleType
    cache: RowCache
    upper: Array
    tol: float
    max_iter: int
    rng: np.random.Generator

    def solve(self, sign: Array, alpha: Array) -> tuple[Array, int, float]:
        """α, blocks and residual of one problem."""
        gradient = self._gradient(sign, alpha)
        largest = _largest_block(self.cache.capacity)
        size, lowest = _SMALLEST_BLOCK, np.inf
        for step in range(self.max_iter + 1):
            residual = violation(alpha, self.upper, gradient)
            if residual <= self.tol or step == self.max_iter:
                break
            if residual > 0.5 * lowest:
                size *= 2  # blocks of this size make little progress
            lowest = min(lowest, residual)
            size = min(largest, size)
            block = _block(gradient, alpha, self.upper, size, self.rng)
            store, slots = self.cache.slots(block)
            K, F = _checked(store[slots[:, None], block].astype(float))
            new = self._minimum(K, F, sign[block], gradient[block], block, alpha[block])
            change = sign[block] * (new - alpha[block])
            gradient += sign * self.compiled.combined(store, slots, change)
            alpha[block] = new
        return alpha, step, residual

    def _gradient(self, sign: Array, alpha: Array) -> Array:
        """The gradient at every row, from the rows with nonzero α."""
        gradient, support = np.full(len(alpha), -1.0), np.flatnonzero(alpha)
        largest = _largest_block(self.cache.capacity)
        for first in range(0, len(support), largest):
            part = support[first : first + largest]
            gradient += sign * self.compiled.combined(
                *self.cache.slots(part), sign[part] * alpha[part]
            )
        return gradient

    def _minimum(
        self, K: Array, F: Array, sign: Array, gradient: Array, block: Array, alpha: Array
    ) -> Array:
        """The box problem over a block."""
        Q, upper, tol = K * np.outer(sign, sign), self.upper[block], 0.5 * self.tol
        new, slope, limit = alpha.copy(), gradient.copy(), _GREEDY * len(alpha)
        if self.compiled.descend_gram(Q, slope, upper, new, limit, tol) < limit:
            return new
        # Kernels are often nearly singular, and few columns make the steps cheap.
        thin = F.shape[1] < len(F) / 2
        curvature = RowCurvature(F * sign[:, None]) if thin else DenseCurvature(Q)
        box = Box(curvature, gradient - Q @ alpha, upper)
        found, _ = interior(box, new, tol, 100)
        return found if box.value(found) < box.value(new) else new


def _largest_block(capacity: int) -> int:
    """The most rows whose block fits the cache, and three matrices of whose size fit the budget."""
    return min(capacity, _LARGEST_BLOCK, max(2, int(np.sqrt(most_rows(1, 24)))))


def _block(
    gradient: Array, alpha: Array, upper: Array, size: int, rng: np.random.Generator
) -> Array:
    """The rows to solve for: the largest violations, free rows, and rows with small gradients.

    Free rows let the violating ones move, and rows at a bound with small gradients may leave it
    then. At least half of the block are violating rows where there are so many.
    """
    order = rng.permutation(len(alpha))  # so that ties fall at random
    violation = np.abs(pull(alpha, upper, gradient))[order]
    free = (alpha[order] > 0.0) & (alpha[order] < upper[order])
    worst = np.flatnonzero(violation > 0.0)
    worst = worst[np.argsort(-violation[worst])][: max(size // 2, size - int(free.sum()))]
    rank = np.where(free, -1.0, np.abs(gradient[order]))
    rank[worst] = -2.0
    return np.sort(order[np.argsort(rank, kind="stable")[:size]])


def _checked(K: Array) -> tuple[Array, Array]:
    """K among the rows of a block, and F with K = FFᵀ; refuses what is not a kernel."""
    scale = float(np.abs(K).max(initial=0.0))
    if np.abs(K - K.T).max(initial=0.0) > _ROUNDING * scale:
        raise InvalidInputError(
            "The kernel is not symmetric: k(x, z) and k(z, x) differ. Give one that is, for "
            "example (K + K.T) / 2."
        )
    K = (K + K.T) / 2
    F = low_rank_factor(K, _NEGLIGIBLE * scale)
    if np.abs(K - matmul(F, F.T)).max(initial=0.0) > _ROUNDING * scale:
        raise InvalidInputError(
            "The kernel is not positive semi-definite: among some rows it has negative "
            "eigenvalues. Use another kernel, or clip its eigenvalues at zero."
        )
    return K, F
