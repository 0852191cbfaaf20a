"""K ≈ FFᵀ with few columns, and the map that takes new rows to the same columns.

Every method gives F (n × k) and W such that F = K[:, rows] W, so that a new row maps to
k(x, rows) W. ``rank`` is the most columns, ``tol`` the part of K's trace that may be missing;
whichever comes first ends the search, so with ``tol`` the rank is found, not guessed.

Partial Cholesky needs the chosen columns of K alone. Pivots drawn in proportion to what is
missing of each row's k(x, x) (randomly pivoted Cholesky) come within a small factor of the
best k columns there are; drawn uniformly they are the classical Nyström method. Blocks of
pivots are drawn at once and thinned by rejection, which leaves their distribution as if they
had been drawn one by one. They are drawn on the host, from n numbers; all that is made of them is
made where K lives.
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
# Rows of F that are worked on together, on the host and on a device, which has no cache to stay in.
_TILE, _DEVICE_TILE = 4096, 65536
# A direction this small beside the largest k(x, x), in units of rounding, is noise.
_NOISE = 1000.0
_LEAST_NOISE = 1e-12
# A pivot smaller than this beside the largest one there is, in units of √rounding, would magnify
# rounding in the rest.
_SMALLEST_PIVOT = 100.0
# A residual this far below zero cannot be rounding.
_INDEFINITE = 1e-3


@dataclass(frozen=True)
class Factor:
    """F as hidden rows, the rows that span it (None: all) and W.

    ``path`` is the part of the trace that is missing after each column; ``dtype`` the precision K
    was made in, in which new rows should be taken too.
    """

    H: Stored
    rows: np.ndarray | None
    W: Array
    path: np.ndarray
    dtype: DType

    @property
    def F(self) -> Array:
        """F (n × k) in one piece."""
        return self.H.all()

    @property
    def error(self) -> float:
        """The part of the trace that is missing."""
        return float(self.path[-1]) if len(self.path) else 0.0

    @property
    def rank(self) -> int:
        """Columns of F."""
        return self.H.width


def factor_of(
    K: KernelMatrix,
    how: LowRank | Randomized,
    n: int,
    default: int,
    rng: Rng,
    watch: Watch = None,
) -> Factor:
    """K ≈ FFᵀ, with as many columns as are asked for of n rows; K may be some of them.

    Warns where there are fewer columns, and ``tol`` is not the reason.
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
            f"The kernel has {found.rank} directions between these rows, to rounding, so there are "
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

    ``watch`` is called with the number of landmarks so far, and the most there can be.
    Where float32 runs out of directions before the rank is reached, K is taken in float64.
    """
    if method == "randomized":
        found = _halko(K, rank, tol, rng, oversampling, power, literal)
    elif method == "eig":
        found = _eig(K, rank, tol)
    else:
        found = _partial_cholesky(K, rank, tol, rng, method == "nystrom", watch)
    precise = K.precise()
    if precise is not K and found.rank < rank and found.error > tol:
        _LOG.info(
            "float32 has %d directions of this kernel, fewer than are wanted; float64 is used.",
            found.rank,
        )
        return low_rank(precise, method, rank, tol, rng, oversampling, power, literal, watch)
    return found


def _by_residual(missing: Array, size: int, rng: Rng) -> np.ndarray:
    """Rows in proportion to what is missing of them; the same one may come twice."""
    edges = np.cumsum(missing)
    return np.searchsorted(edges, edges[-1] * rng.random_sample(size), side="right")


def _partial_cholesky(
    K: KernelMatrix, rank: int, tol: float, rng: Rng, uniform: bool, watch: Watch
) -> Factor:
    n, dtype, whole = len(K), K.dtype, _sound_diagonal(K)
    missing, xp = whole.copy(), namespace(K.array)
    noise = _noise(dtype) * float(whole.max())
    smallest = _SMALLEST_PIVOT * eps(dtype) ** 0.5
    limit = max(tol, eps(dtype)) * float(whole.sum())
    order = rng.permutation(n) if uniform else None  # each row once
    block = int(np.clip(rank // 8, _SMALLEST_BLOCK, _LARGEST_BLOCK))
    parts = list(row_blocks(n, _TILE if is_numpy(K.array) else _DEVICE_TILE))
    F = _Tiles(parts, rank if tol <= 0 else min(rank, 4 * block), K)
    pivots: list[int] = []
    path: list[float] = []
    while len(pivots) < rank and missing.sum() > limit:
        size = min(block, rank - len(pivots))
        if order is None:
            proposed = _by_residual(missing, size, rng)
        else:
            proposed, order = order[:size], order[size:]
        if len(proposed) == 0 or missing.max() <= noise:
            break
        k = len(pivots)
        known = F.gather(k, proposed)
        inner = to_numpy(K.among(proposed) - matmul(known.T, known))
        _check_diagonal(missing[proposed], np.diagonal(inner), whole.max())
        least = max(noise, smallest * float(missing.max()))
        accepted, L = _thinned_cholesky(inner, least, None if uniform else rng)
        if len(accepted) == 0:
            # Rounding had left too much of them; without this they might be proposed for ever.
            missing[proposed] = np.clip(np.diagonal(inner), 0.0, missing[proposed] / 2)
            continue
        chosen, known = proposed[accepted], contiguous(take(known, accepted, axis=1))
        inverse = from_numpy(lower_inverse(L), K.array, dtype)
        F.grow(k + len(chosen), rank)
        explained = np.zeros(len(chosen))
        squares = xp.empty((len(chosen), n), dtype=dtype, device=F.tiles[0].device)
        for part, tile in zip(parts, F.tiles, strict=True):
            fresh = K.block(part, chosen)
            subtract_product(fresh, tile[:k, :].T, known)
            new = matmul(inverse, fresh.T, tile[k : k + len(chosen), :])
            squares[:, part] = new
            squares[:, part] *= new
            explained += to_numpy(xp.sum(squares[:, part], axis=1, dtype=xp.float64))
        left = missing.sum() - np.cumsum(explained)
        short = np.flatnonzero(left <= limit)
        kept = len(chosen) if not len(short) else int(short[0]) + 1
        missing -= to_numpy(xp.sum(squares[:kept, :], axis=0, dtype=xp.float64))
        if missing.min() < -_INDEFINITE * whole.max():
            raise _indefinite("what is left of it after some columns has a negative diagonal")
        # Columns may round otherwise than K among the pivots did, and must explain them as well.
        _check_diagonal(missing[chosen[:kept]], np.zeros(kept), whole.max())
        missing[chosen[:kept]] = 0.0
        np.maximum(missing, 0.0, out=missing)
        pivots += chosen[:kept].tolist()
        path += [*left[: kept - 1], missing.sum()]
        if watch is not None:
            watch(len(pivots), rank)
    rows = np.array(pivots, dtype=np.intp)
    # The pivots' own rows of F are K's Cholesky factor among them.
    W = lower_inverse(doubles(F.gather(len(rows), rows).T)).T
    H = Stored([tile[: len(rows), :] for tile in F.tiles])
    return Factor(H, rows, W, _shares(np.array(path), whole.sum()), dtype)


class _Tiles:
    """F while it grows: for each part of the rows, Fᵀ with room for more columns of F.

    A tile's filled part is one piece of memory whatever the number of columns, and small
    enough for what is made of it to stay in the cache.
    """

    def __init__(self, parts: list[slice], room: int, K: KernelMatrix) -> None:
        like = zeros(0, K.array)
        self.tiles = [
            namespace(like).empty((room, p.stop - p.start), dtype=K.dtype, device=like.device)
            for p in parts
        ]

    def gather(self, k: int, rows: np.ndarray) -> Array:
        """The first k columns of F for some rows, as a k × b array."""
        return Stored([tile[:k, :] for tile in self.tiles]).take(rows).tiles[0]

    def grow(self, height: int, most: int) -> None:
        """Make room for ``height`` columns of F, doubling what there is."""
        room = self.tiles[0].shape[0]
        if height <= room:
            return
        room = min(max(height, 2 * room), max(most, height))
        for i, tile in enumerate(self.tiles):
            shape = (room, tile.shape[1])
            self.tiles[i] = namespace(tile).empty(shape, dtype=tile.dtype, device=tile.device)
            self.tiles[i][: tile.shape[0], :] = tile


def _thinned_cholesky(A: Array, least: float, rng: Rng | None) -> tuple[np.ndarray, Array]:
    """Which of the proposed pivots stand, and the Cholesky factor of A among them.

    A pivot is kept with the chance that what the earlier ones have left of it gives. Without
    ``rng`` all are kept but those of which nothing is left.
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


def _halko(
    K: KernelMatrix, rank: int, tol: float, rng: Rng, oversampling: int, power: int, literal: bool
) -> Factor:
    """A random sketch KΩ, its orthonormal basis Q, and K seen through it.

    The randomized ELM paper's Algorithm 3 takes F = QUD^½ where QᵀKQ = UDUᵀ, and keeps the columns
    of the oversampling: ``literal``. The same Q gives F = KQUD^(−½) for nothing more, which is
    never farther from K, and to which new rows map as the old ones do. K is applied by blocks:
    each pass makes its n² entries anew.
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
    path = _shares(trace - np.cumsum(to_numpy(xp.sum(F**2, axis=0))), trace)
    return Factor(Stored([F.T]), None, W, path, K.dtype)


def _orthonormal(Y: Array, Q: Array) -> Array:
    """An orthonormal basis of what Y adds to Q."""
    for _ in range(2):  # once leaves rounding behind
        Y = Y - matmul(Q, matmul(contiguous(Q.T), Y))
    return qr(Y)[0]


def _eig(K: KernelMatrix, rank: int, tol: float) -> Factor:
    """The best F of its rank there is. Holds all of K."""
    whole = K.all()
    xp = namespace(whole)
    trace = float(xp.linalg.trace(whole))
    d, U = _leading(*eigh(whole, overwrite=True), rank, tol, trace, K)
    F = U * xp.sqrt(d)
    path = _shares(trace - np.cumsum(to_numpy(d)), trace)
    return Factor(Stored([F.T]), None, U / xp.sqrt(d), path, K.dtype)


def _leading(
    w: Array, U: Array, rank: int, tol: float, trace: float, K: KernelMatrix
) -> tuple[Array, Array]:
    """The largest eigenvalues that ``rank`` and ``tol`` ask for, descending; none is noise."""
    values = to_numpy(w)[::-1]
    if K.definite and len(values) and values[-1] < -_INDEFINITE * max(float(values[0]), 0.0):
        raise _indefinite(f"its eigenvalues go from {values[-1]:.2g} to {values[0]:.2g}")
    k = min(rank, int(np.sum(values > _noise(K.dtype) * values.max(initial=0.0))))
    enough = np.flatnonzero(trace - np.cumsum(values[:k]) <= tol * trace)
    k = int(enough[0]) + 1 if tol > 0 and len(enough) else k
    U = contiguous(namespace(U).flip(U[:, U.shape[1] - k :], axis=1))
    return from_numpy(values[:k].copy(), U), U * signs(U) if k else U


def _sound_diagonal(K: KernelMatrix) -> np.ndarray:
    """k(x, x) of every row, on the host."""
    diagonal = to_numpy(K.diagonal())
    if diagonal.min() < 0:
        raise _indefinite(f"k(x, x) is {diagonal.min():.2g} for a row")
    return diagonal


def _check_diagonal(said: np.ndarray, found: np.ndarray, largest: float) -> None:
    """Refuse a kernel whose ``diagonal`` is not its value at two equal rows."""
    apart = np.abs(said - found).max()
    if apart > _INDEFINITE * largest:
        raise InvalidInputError(
            f"The kernel's diagonal is off by {apart:.2g} from its own value at (x, x), beside a "
            f"largest one of {largest:.2g}. Correct `diagonal`, scale rows that are far away, or "
            "use a smaller gamma, which multiplies the rounding of distances."
        )


def _noise(dtype: DType) -> float:
    return max(_NOISE * eps(dtype), _LEAST_NOISE)


def _shares(parts: np.ndarray, whole: float) -> np.ndarray:
    return np.maximum(parts, 0.0) / whole


def _indefinite(why: str) -> InvalidInputError:
    return InvalidInputError(
        f"The kernel is not positive semi-definite: {why}. Use a kernel that is, or clip the "
        "negative eigenvalues of a precomputed one."
    )


def most_columns(rank: Any, tol: Any, n: int, default: int) -> int:
    """``rank`` as a number of columns."""
    if rank is None:
        return n if tol is not None else min(default, n)
    if isinstance(rank, Integral):
        return min(int(rank), n)
    return max(1, min(round(float(rank) * n), n))
