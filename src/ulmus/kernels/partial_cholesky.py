"""Partial Cholesky factorisation of a kernel matrix with random pivots.

It needs only the columns of K at the pivots. Pivots drawn in proportion to the residual of each
row's k(x, x) (randomly pivoted Cholesky) are within a small factor of the best k columns; drawn
uniformly they are the classical Nyström method. Blocks of pivots are drawn at once and thinned by
rejection, which gives the same distribution as drawing them one by one. They are drawn on the host;
all other work is done on the device of K.
"""

from collections.abc import Callable

import numpy as np

from ulmus.backends.linalg import lower_inverse, matmul, subtract_product
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
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import Stored, row_blocks
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.typing import Array, DType

Rng = np.random.RandomState
Watch = Callable[[float, float | None], None] | None
# H as `Stored`, the pivots' rows, W and the path of a factor.
Found = tuple[Stored, np.ndarray, Array, np.ndarray]
# Pivots proposed together: enough for a fast matrix product, few beside the rank.
_SMALLEST_BLOCK, LARGEST_BLOCK = 16, 256
# Rows of F that are processed together, on the host (to fit its cache) and on a device.
_TILE, _DEVICE_TILE = 4096, 65536
# Directions below this size, relative to the largest k(x, x), in units of rounding, are noise.
_NOISE = 1000.0
_LEAST_NOISE = 1e-12
# Smallest pivot relative to the largest residual, in units of √rounding: smaller ones magnify
# rounding.
_SMALLEST_PIVOT = 100.0
# A residual below minus this, relative to the largest k(x, x), is not rounding.
INDEFINITE = 1e-3


def _by_residual(missing: Array, size: int, rng: Rng) -> np.ndarray:
    """Rows drawn in proportion to their residuals, with repetition."""
    edges = np.cumsum(missing)
    return np.searchsorted(edges, edges[-1] * rng.random_sample(size), side="right")


def partial_cholesky(
    K: KernelMatrix, rank: int, tol: float, rng: Rng, uniform: bool, watch: Watch
) -> Found:
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
    return found.result()


class _PartialCholesky:
    """F while it grows: for each part of the rows, a tile of Fᵀ with room for more columns of F.

    The filled part of a tile is contiguous, and small enough for the cache. ``missing`` is the
    residual of each row's k(x, x).
    """

    def __init__(self, K: KernelMatrix, rank: int, tol: float) -> None:
        self.K, self.rank, self.whole = K, rank, sound_diagonal(K)
        self.missing, self.noise = self.whole.copy(), noise(K.dtype) * float(self.whole.max())
        self.limit = max(tol, eps(K.dtype)) * float(self.whole.sum())
        self.block = int(np.clip(rank // 8, _SMALLEST_BLOCK, LARGEST_BLOCK))
        self.pivots: list[int] = []
        self.path: list[float] = []
        self.parts = list(row_blocks(len(K), _TILE if is_numpy(K.array) else _DEVICE_TILE))
        room = rank if tol <= 0 else min(rank, 4 * self.block)
        self.tiles = [self._empty(room, part.stop - part.start) for part in self.parts]

    def add(self, proposed: np.ndarray, rng: Rng | None) -> bool:
        """Add those of the proposed pivots that `_thinned_cholesky` accepts; False if none is."""
        known = self._gather(proposed)
        inner = to_numpy(self.K.among(proposed) - matmul(known.T, known))
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

    def result(self) -> Found:
        """H, the pivots' rows, W and the path."""
        rows = np.array(self.pivots, dtype=np.intp)
        # The pivots' own rows of F are K's Cholesky factor among them.
        W = lower_inverse(doubles(self._gather(rows).T)).T
        H = Stored([tile[: len(rows), :] for tile in self.tiles])
        return H, rows, W, shares(np.array(self.path), self.whole.sum())

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
        if missing.min() < -INDEFINITE * largest:
            raise indefinite("what is left of it after some columns has a negative diagonal")
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


def sound_diagonal(K: KernelMatrix) -> np.ndarray:
    """k(x, x) of every row, on the host."""
    diagonal = to_numpy(K.diagonal())
    if diagonal.min() < 0:
        raise indefinite(f"k(x, x) is {diagonal.min():.2g} for a row")
    return diagonal


def _check_diagonal(stated: np.ndarray, found: np.ndarray, largest: float) -> None:
    """Refuse a kernel whose ``diagonal`` is not its value at two equal rows."""
    apart = np.abs(stated - found).max()
    if apart > INDEFINITE * largest:
        raise InvalidInputError(
            f"The kernel's diagonal is off by {apart:.2g} from its own value at (x, x), beside a "
            f"largest one of {largest:.2g}. Correct `diagonal`, scale rows that are far away, or "
            "use a smaller gamma, which multiplies the rounding of distances."
        )


def noise(dtype: DType) -> float:
    """The relative size below which a direction is noise."""
    return max(_NOISE * eps(dtype), _LEAST_NOISE)


def shares(parts: np.ndarray, whole: float) -> np.ndarray:
    """The missing parts of a trace."""
    return np.maximum(parts, 0.0) / whole


def indefinite(why: str) -> InvalidInputError:
    """The error for a kernel that is not positive semi-definite."""
    return InvalidInputError(
        f"The kernel is not positive semi-definite: {why}. Use a kernel that is, or clip the "
        "negative eigenvalues of a precomputed one."
    )
