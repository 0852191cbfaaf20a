"""The hinge loss on a kernel, a block of rows at a time.

    min ½αᵀ(YKY)α − 1ᵀα,   0 ≤ α ≤ c

K is computed by rows, of which as many are cached as fit the memory budget. A round takes the rows
that are free or that violate the optimality conditions most, solves the box problem over them, and
updates the gradient of all rows by one product. The cache drops the least recently used rows; the
one-vs-rest problems share it.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ulmus.backends.linalg import low_rank_factor, matmul
from ulmus.backends.namespace import eps
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import most_rows
from ulmus.methods.box import Box, DenseCurvature, RowCurvature, interior, pull, violation
from ulmus.methods.hinge import Hinge, HingeSolution, loops
from ulmus.typing import Array

KernelRows = Callable[[Array], Array]

# Smallest and largest block; it grows where rounds make little progress.
_SMALLEST_BLOCK, _LARGEST_BLOCK = 256, 4096
# Rows on which K is checked to be a kernel before the first round.
_SAMPLE = 512
# Greedy coordinate steps per variable, before an interior point method takes over.
_GREEDY = 5
# Relative to the largest entry: asymmetry and negative eigenvalues up to the first are treated as
# rounding, pivots below the second as zero.
_ROUNDING, _NEGLIGIBLE = 1e-5, 1e-12


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
