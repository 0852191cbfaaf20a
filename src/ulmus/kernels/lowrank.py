"""K ≈ FFᵀ with few columns, and the map of new rows to the same columns.

Every method gives F (n × k) and W such that F = K[:, rows] W, so that a new row maps to
k(x, rows) W. The search ends at ``rank`` columns, or when at most the part ``tol`` of K's trace is
missing.

The partial Cholesky factorisation needs only the columns of K at its pivots. Pivots drawn in
proportion to the residual of each row's k(x, x) (randomly pivoted Cholesky) are within a small
factor of the best k columns; drawn uniformly they are the classical Nyström method. Blocks of
pivots are drawn at once and thinned by rejection, which gives the same distribution as drawing them
one by one. They are drawn on the host; all other work is done on the device of K.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ulmus.backends.linalg import (
    column_major,
    eigh,
    lower_inverse,
    matmul,
    qr,
    signs,
    subtract_product,
)
from ulmus.backends.namespace import (
    contiguous,
    doubles,
    eps,
    from_numpy,
    is_numpy,
    namespace,
    take,
    to_numpy,
    zeros,
)
from ulmus.exceptions import InvalidInputError, LowRankWarning
from ulmus.hidden import Stored, row_blocks
from ulmus.kernels.kernel_matrix import DEFAULT_TOL, KernelMatrix, LowRank, Randomized
from ulmus.typing import Array, DType

_LOG = logging.getLogger(__name__)
Rng = np.random.RandomState
Watch = Callable[[float, float | None], None] | None
# Pivots proposed together: enough for a fast matrix product, few beside the rank.
_SMALLEST_BLOCK, _LARGEST_BLOCK = 16, 256
# Rows of F that are processed together, on the host (to fit its cache) and on a device.
_TILE, _DEVICE_TILE = 4096, 65536
# Directions below this size, relative to the largest k(x, x), in units of rounding, are noise.
_NOISE = 1000.0
_LEAST_NOISE = 1e-12
# Smallest pivot relative to the largest residual, in units of √rounding: smaller ones magnify
# rounding.
_SMALLEST_PIVOT = 100.0
# A residual below minus this, relative to the largest k(x, x), is not rounding.
_INDEFINITE = 1e-3


@dataclass(frozen=True)
class Factor:
    """F as hidden rows, the rows that span it and W.

    ``path`` is the part of the trace that is missing after each column; ``dtype`` is the precision
    of K, in which new rows should be mapped too.
    """

    H: Stored
    rows: np.ndarray | slice
    W: Array
    path: np.ndarray
    dtype: DType

    @property
    def error(self) -> float:
        """The part of the trace that is missing."""
        return float(self.path[-1]) if len(self.path) else 0.0

    @property
    def rank(self) -> int:
        """Columns of F."""
        return self.H.width


def factor_of(
    K: KernelMatrix, how: LowRank | Randomized, n: int, default: int, rng: Rng, watch: Watch = None
) -> Factor:
    """K ≈ FFᵀ, with the number of columns asked for n rows; K may be of some of them.

    Warns where there are fewer columns, unless ``tol`` is reached.
    """
    tol, rank = how.tol, min(most_columns(how.rank, how.tol, n, default), len(K))
    least = (DEFAULT_TOL if how.rank is None else 0.0) if tol is None else float(tol)
    more = int(how.oversampling), int(how.power_steps)
    found = low_rank(K, how.method, rank, least, rng, *more, watch=watch)
    if found.rank == 0:
        raise InvalidInputError(
            "The kernel is zero for every pair of rows, so it has no features; check its "
            "parameters and the rows."
        )
    enough = tol is not None and found.error <= tol
    wanted = int(how.rank) if isinstance(how.rank, Integral) else rank
    if how.rank is not None and found.rank < wanted and not enough:
        warnings.warn(
            f"The kernel matrix has the numerical rank {found.rank}, so its factor has "
            f"{found.rank} columns and not {wanted}. A smaller rank, or tol=, avoids this.",
            LowRankWarning,
            stacklevel=2,
        )
    return found


def low_rank(
    K: KernelMatrix,
    method: str,
    rank: int,
    tol: float,
    rng: Rng,
    oversampling: int = 10,
    power: int = 0,
    literal: bool = False,
    watch: Watch = None,
) -> Factor:
    """K ≈ FFᵀ by one of the methods; ``literal`` is for `_halko`.

    ``watch`` is called with the number of landmarks so far and their limit. If K has a smaller rank
    in float32, it is computed in float64.
    """
    if method == "randomized":
        found = _halko(K, rank, tol, rng, oversampling, power, literal)
    elif method == "eig":
        found = _eig(K, rank, tol)
    else:
        found = partial_cholesky(K, rank, tol, rng, method == "nystrom", watch)
    precise = K.precise()
    if precise is not K and found.rank < rank and found.error > tol:
        _LOG.info(
            "In float32 this kernel matrix has the rank %d, less than needed; float64 is used.",
            found.rank,
        )
        return low_rank(precise, method, rank, tol, rng, oversampling, power, literal, watch)
    return found


def _halko(
    K: KernelMatrix, rank: int, tol: float, rng: Rng, oversampling: int, power: int, literal: bool
) -> Factor:
    """A random sketch KΩ, its orthonormal basis Q, and K projected onto it.

    With ``literal`` it is Algorithm 3 of the randomized ELM paper: F = QUD^½ where QᵀKQ = UDUᵀ,
    including the columns of the oversampling. Otherwise F = KQUD^(−½), at no further cost: it is
    never farther from K, and new rows map to it by the same formula. Each pass computes the n²
    entries of K again, by blocks.
    """
    n, trace = len(K), float(_sound_diagonal(K).sum())
    width = min(rank + oversampling, n)
    block = width if tol <= 0 else int(np.clip(width // 8, 32, _LARGEST_BLOCK))
    xp, captured = namespace(K.array), 0.0
    Q, KQ = zeros((n, 0), K.array), zeros((n, 0), K.array)
    while Q.shape[1] < width and trace - captured > max(tol, 0.0) * trace:
        drawn = rng.standard_normal((n, min(block, width - Q.shape[1])))
        Y = K.times(from_numpy(drawn, K.array))
        for _ in range(power):
            Y = K.times(_orthonormal(Y, Q))
        fresh = _orthonormal(Y, Q)
        applied = K.times(fresh)
        captured += float(xp.sum(fresh * applied))
        Q, KQ = xp.concat([Q, fresh], axis=1), xp.concat([KQ, applied], axis=1)
    T = matmul(contiguous(Q.T), KQ)
    most = width if literal else rank
    d, U = _leading(*eigh(column_major((T + T.T) / 2)), most, tol, trace, K)
    W = matmul(Q, U / xp.sqrt(d))
    F = matmul(Q, U * xp.sqrt(d)) if literal else matmul(KQ, U / xp.sqrt(d))
    return _spanned_by_all(K, F, W, trace)


def _orthonormal(Y: Array, Q: Array) -> Array:
    """An orthonormal basis of what Y adds to Q."""
    for _ in range(2):  # once leaves rounding behind
        Y = Y - matmul(Q, matmul(contiguous(Q.T), Y))
    return qr(Y)[0]


def _eig(K: KernelMatrix, rank: int, tol: float) -> Factor:
    """The best F of its rank. Needs all of K in memory."""
    whole = K.all()
    xp = namespace(whole)
    trace = float(xp.linalg.trace(whole))
    d, U = _leading(*eigh(whole, overwrite=True), rank, tol, trace, K)
    return _spanned_by_all(K, U * xp.sqrt(d), U / xp.sqrt(d), trace)


def _spanned_by_all(K: KernelMatrix, F: Array, W: Array, trace: float) -> Factor:
    """F = K W; the trace of FFᵀ is what its columns take of that of K."""
    missing = trace - np.cumsum(to_numpy(namespace(F).sum(F**2, axis=0)))
    return Factor(Stored([F.T]), slice(None), W, np.maximum(missing, 0.0) / trace, K.dtype)


def _leading(
    w: Array, U: Array, rank: int, tol: float, trace: float, K: KernelMatrix
) -> tuple[Array, Array]:
    """The largest eigenvalues for ``rank`` and ``tol``, descending, and above rounding."""
    values = to_numpy(w)[::-1]
    if K.definite and len(values) and values[-1] < -_INDEFINITE * max(float(values[0]), 0.0):
        raise _indefinite(f"its eigenvalues go from {values[-1]:.2g} to {values[0]:.2g}")
    k = min(rank, int(np.sum(values > _noise(K.dtype) * values.max(initial=0.0))))
    enough = np.flatnonzero(trace - np.cumsum(values[:k]) <= tol * trace)
    k = int(enough[0]) + 1 if tol > 0 and len(enough) else k
    U = contiguous(namespace(U).flip(U[:, U.shape[1] - k :], axis=1))
    return from_numpy(values[:k].copy(), U), U * signs(U) if k else U


def most_columns(rank: Any, tol: Any, n: int, default: int) -> int:
    """``rank`` as a number of columns."""
    if rank is None:
        return n if tol is not None else min(default, n)
    if isinstance(rank, Integral):
        return min(int(rank), n)
    return max(1, min(round(float(rank) * n), n))


# ---------------------------------------------------------------- partial Cholesky
def _by_residual(missing: Array, size: int, rng: Rng) -> np.ndarray:
    """Rows drawn in proportion to their residuals, with repetition."""
    edges = np.cumsum(missing)
    return np.searchsorted(edges, edges[-1] * rng.random_sample(size), side="right")


def partial_cholesky(
    K: KernelMatrix, rank: int, tol: float, rng: Rng, uniform: bool, watch: Watch
) -> Factor:
    """Blocks of pivots, until the rank or the tolerance is reached."""
    found = _PartialCholesky(K, rank, tol)
    order = rng.permutation(len(K)) if uniform else None  # each row once
    while len(found.pivots) < rank and found.missing.sum() > found.limit:
        size = min(found.block, rank - len(found.pivots))
        if order is None:
            proposed = _by_residual(found.missing, size, rng)
        else:
            proposed, order = order[:size], order[size:]
        if len(proposed) == 0 or found.missing.max() <= found.noise:
            break
        if found.add(proposed, None if uniform else rng) and watch is not None:
            watch(len(found.pivots), rank)
    return found.factor()


class _PartialCholesky:
    """F while it grows: for each part of the rows, a tile of Fᵀ with room for more columns of F.

    The filled part of a tile is contiguous, and small enough for the cache. ``missing`` is the
    residual of each row's k(x, x).
    """

    def __init__(self, K: KernelMatrix, rank: int, tol: float) -> None:
        self.K, self.rank, self.whole = K, rank, _sound_diagonal(K)
        self.missing, self.noise = self.whole.copy(), _noise(K.dtype) * float(self.whole.max())
        self.limit = max(tol, eps(K.dtype)) * float(self.whole.sum())
        self.block = int(np.clip(rank // 8, _SMALLEST_BLOCK, _LARGEST_BLOCK))
        self.pivots: list[int] = []
        self.path: list[float] = []
        self.parts = list(row_blocks(len(K), _TILE if is_numpy(K.array) else _DEVICE_TILE))
        room = rank if tol <= 0 else min(rank, 4 * self.block)
        self.tiles = [self._empty(room, part.stop - part.start) for part in self.parts]

    def add(self, proposed: np.ndarray, rng: Rng | None) -> bool:
        """Add those of the proposed pivots that `_thinned_cholesky` accepts; False if none is."""
        known = self._gather(proposed)
        inner = doubles(self.K.block(proposed, proposed)) - matmul(known.T, known)
        inner = to_numpy(inner)
        _check_diagonal(self.missing[proposed], np.diagonal(inner), self.whole.max())
        smallest = _SMALLEST_PIVOT * eps(self.K.dtype) ** 0.5
        least = max(self.noise, smallest * float(self.missing.max()))
        accepted, L = _thinned_cholesky(inner, least, rng)
        if len(accepted) == 0:
            # Their residuals were rounding; without this they could be proposed for ever.
            half = self.missing[proposed] / 2
            self.missing[proposed] = np.clip(np.diagonal(inner), 0.0, half)
            return False
        chosen = proposed[accepted]
        self._keep(chosen, *self._columns(chosen, contiguous(take(known, accepted, axis=1)), L))
        return True

    def factor(self) -> Factor:
        """F as it is now."""
        rows = np.array(self.pivots, dtype=np.intp)
        # The pivots' own rows of F are K's Cholesky factor among them.
        W = lower_inverse(doubles(self._gather(rows).T)).T
        H = Stored([tile[: len(rows), :] for tile in self.tiles])
        return Factor(H, rows, W, np.array(self.path) / self.whole.sum(), self.K.dtype)

    def _columns(self, chosen: np.ndarray, known: Array, L: Array) -> tuple[Array, np.ndarray]:
        """Make the columns of F; give their squares (chosen × n), and the sum of each."""
        K, k, xp = self.K, len(self.pivots), namespace(self.K.array)
        inverse = from_numpy(lower_inverse(L), K.array, K.dtype)
        self._grow(k + len(chosen))
        explained, squares = np.zeros(len(chosen)), self._empty(len(chosen), len(K))
        for part, tile in zip(self.parts, self.tiles, strict=True):
            fresh = K.block(part, chosen)
            subtract_product(fresh, tile[:k, :].T, known)
            new = matmul(inverse, fresh.T, tile[k : k + len(chosen), :])
            squares[:, part] = new
            squares[:, part] *= new
            explained += to_numpy(xp.sum(squares[:, part], axis=1, dtype=xp.float64))
        return squares, explained

    def _keep(self, chosen: np.ndarray, squares: Array, explained: np.ndarray) -> None:
        """Keep as many of the new columns as are needed."""
        xp, missing, largest = namespace(squares), self.missing, self.whole.max()
        left = missing.sum() - np.cumsum(explained)
        short = np.flatnonzero(left <= self.limit)
        kept = len(chosen) if not len(short) else int(short[0]) + 1
        missing -= to_numpy(xp.sum(squares[:kept, :], axis=0, dtype=xp.float64))
        if missing.min() < -_INDEFINITE * largest:
            raise _indefinite("what is left of it after some columns has a negative diagonal")
        # The columns are computed separately from K among the pivots, and must agree with it.
        _check_diagonal(missing[chosen[:kept]], np.zeros(kept), largest)
        missing[chosen[:kept]] = 0.0
        np.maximum(missing, 0.0, out=missing)
        self.pivots += chosen[:kept].tolist()
        self.path += [*left[: kept - 1], missing.sum()]

    def _gather(self, rows: np.ndarray) -> Array:
        """F so far for some rows, as a k × b array."""
        k = len(self.pivots)
        return Stored([tile[:k, :] for tile in self.tiles]).take(rows).tiles[0]

    def _grow(self, height: int) -> None:
        """Make room for ``height`` columns of F, doubling what there is."""
        room = self.tiles[0].shape[0]
        if height > room:
            room = min(max(height, 2 * room), max(self.rank, height))
            for i, tile in enumerate(self.tiles):
                self.tiles[i] = self._empty(room, tile.shape[1])
                self.tiles[i][: tile.shape[0], :] = tile

    def _empty(self, height: int, width: int) -> Array:
        """Memory on the device of K, in its precision."""
        like = zeros(0, self.K.array)
        return namespace(like).empty((height, width), dtype=self.K.dtype, device=like.device)


def _thinned_cholesky(A: Array, least: float, rng: Rng | None) -> tuple[np.ndarray, Array]:
    """The accepted pivots, and the Cholesky factor of A among them.

    A pivot is accepted with the probability of its residual after the earlier ones, relative to
    that when it was drawn. Without ``rng`` all are accepted whose residual is above ``least``.
    """
    b = len(A)
    drawn = np.diagonal(A).copy()
    L = np.zeros((b, b))
    accepted: list[int] = []
    for i in range(b):
        k = len(accepted)
        left = A[i:, i] - L[i:, :k] @ L[i, :k]
        chance = 0.0 if rng is None else rng.random_sample()
        if left[0] <= least or left[0] < chance * drawn[i]:
            continue
        L[i:, k] = left / np.sqrt(left[0])
        accepted.append(i)
    kept = np.array(accepted, dtype=np.intp)
    return kept, L[kept, : len(kept)]


def _sound_diagonal(K: KernelMatrix) -> np.ndarray:
    """k(x, x) of every row, on the host."""
    diagonal = to_numpy(K.diagonal())
    if diagonal.min() < 0:
        raise _indefinite(f"k(x, x) is {diagonal.min():.2g} for a row")
    return diagonal


def _check_diagonal(stated: np.ndarray, found: np.ndarray, largest: float) -> None:
    """Refuse a kernel whose ``diagonal`` is not its value at two equal rows."""
    apart = np.abs(stated - found).max()
    if apart > _INDEFINITE * largest:
        raise InvalidInputError(
            f"The kernel's diagonal is off by {apart:.2g} from its own value at (x, x), beside a "
            f"largest one of {largest:.2g}. Correct `diagonal`, scale rows that are far away, or "
            "use a smaller gamma, which multiplies the rounding of distances."
        )


def _noise(dtype: DType) -> float:
    """The relative size below which a direction is noise."""
    return max(_NOISE * eps(dtype), _LEAST_NOISE)


def _indefinite(why: str) -> InvalidInputError:
    """The error for a kernel that is not positive semi-definite."""
    return InvalidInputError(
        f"The kernel is not positive semi-definite: {why}. Use a kernel that is, or clip the "
        "negative eigenvalues of a precomputed one."
    )
