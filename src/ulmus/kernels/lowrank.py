"""K ≈ FFᵀ with few columns, and the map of new rows to the same columns.

Every method gives F (n × k) and W such that F = K[:, rows] W, so that a new row maps to
k(x, rows) W. The search ends at ``rank`` columns, or when at most the part ``tol`` of K's trace is
missing.
"""

import logging
import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ulmus.backends.linalg import column_major, eigh, matmul, qr, signs
from ulmus.backends.namespace import contiguous, from_numpy, namespace, to_numpy, zeros
from ulmus.exceptions import InvalidInputError, LowRankWarning
from ulmus.hidden import Stored
from ulmus.kernels.kernel_matrix import DEFAULT_TOL, KernelMatrix, LowRank, Randomized
from ulmus.kernels.partial_cholesky import (
    INDEFINITE,
    LARGEST_BLOCK,
    Rng,
    Watch,
    indefinite,
    noise,
    partial_cholesky,
    shares,
    sound_diagonal,
)
from ulmus.typing import Array, DType

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Factor:
    """F as hidden rows, the rows that span it (None: all) and W.

    ``path`` is the part of the trace that is missing after each column; ``dtype`` is the precision
    of K, in which new rows should be mapped too.
    """

    H: Stored
    rows: np.ndarray | None
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

    ``watch`` is called with the number of landmarks so far and their limit. If K has a smaller rank
    in float32, it is computed in float64.
    """
    if method == "randomized":
        found = _halko(K, rank, tol, rng, oversampling, power, literal)
    elif method == "eig":
        found = _eig(K, rank, tol)
    else:
        parts = partial_cholesky(K, rank, tol, rng, method == "nystrom", watch)
        found = Factor(*parts, K.dtype)
    precise = K.precise()
    if precise is not K and found.rank < rank and found.error > tol:
        _LOG.info(
            "float32 has %d directions of this kernel, fewer than are wanted; float64 is used.",
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
    n, trace = len(K), float(sound_diagonal(K).sum())
    width = min(rank + oversampling, n)
    block = width if tol <= 0 else int(np.clip(width // 8, 32, LARGEST_BLOCK))
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
    path = shares(trace - np.cumsum(to_numpy(xp.sum(F**2, axis=0))), trace)
    return Factor(Stored([F.T]), None, W, path, K.dtype)


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
    F = U * xp.sqrt(d)
    path = shares(trace - np.cumsum(to_numpy(d)), trace)
    return Factor(Stored([F.T]), None, U / xp.sqrt(d), path, K.dtype)


def _leading(
    w: Array, U: Array, rank: int, tol: float, trace: float, K: KernelMatrix
) -> tuple[Array, Array]:
    """The largest eigenvalues for ``rank`` and ``tol``, descending, and above rounding."""
    values = to_numpy(w)[::-1]
    if K.definite and len(values) and values[-1] < -INDEFINITE * max(float(values[0]), 0.0):
        raise indefinite(f"its eigenvalues go from {values[-1]:.2g} to {values[0]:.2g}")
    k = min(rank, int(np.sum(values > noise(K.dtype) * values.max(initial=0.0))))
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
