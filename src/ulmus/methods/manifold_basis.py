"""The manifold penalty ½λ tr (Hβ)ᵀΛ(Hβ) in the coordinates where it is a sum of squares.

Let M = HᵀΛH = V diag(w) Vᵀ. With β = V γ/√(1 + λw) the penalised problem

    ½‖β‖² + ½ Σ cᵢ‖tᵢ − hᵢβ‖² + ½λ tr βᵀMβ

is a plain ridge in γ on the rows hᵢV/√(1 + λw). So one eigendecomposition serves every λ and
every C, and everything ridge can do (leave-one-out, the dual, weights) is there at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ulmus.backends.linalg import column_major, eigh, matmul, qr
from ulmus.backends.namespace import (
    doubles,
    from_numpy,
    gathered,
    is_numpy,
    namespace,
    zeros,
)
from ulmus.fitted import OnDevice
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, block_rows, fits, row_blocks
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.typing import Array

__all__ = ["ManifoldBasis", "basis_of", "manifold_basis", "manifold_gram", "reduced_basis"]

Watch = Callable[[float, float | None], None] | None
# Units handled together: their smoothed columns are the only n × … array besides H.
_UNITS = 256
# Rows whose products are summed in the input's precision before float64 takes over.
_ROWS = 16384


@dataclass(frozen=True)
class ManifoldBasis:
    """V (h × r), orthonormal, and w (r): VᵀHᵀΛHV = diag(w), and H V Vᵀ = H."""

    basis: OnDevice[Array]
    values: OnDevice[Array]

    def scales(self, lam: float) -> Array:
        """1/√(1 + λw)."""
        return 1.0 / namespace(self.values).sqrt(1.0 + lam * self.values)


def manifold_basis(
    H: Hidden | HiddenBlocks, laplacian: Laplacian, watch: Watch = None
) -> ManifoldBasis:
    """The coordinates described at the top of this file.

    With fewer rows than units the work is done in the span of the rows, if they are at hand.
    """
    if isinstance(H, HiddenBlocks):
        return basis_of(H.smoothed_gram(laplacian))
    if len(H) >= H.width:
        return basis_of(manifold_gram(H, laplacian, watch))
    span, rows = reduced_basis(H)
    smooth = laplacian.placed(rows, rows.dtype) @ rows
    w, V = eigh(_symmetric(matmul(rows.T, smooth)), overwrite=True)
    return ManifoldBasis(matmul(span, V), namespace(w).clip(w, min=0.0))


def basis_of(M: Array) -> ManifoldBasis:
    """The coordinates of M = HᵀΛH, which is overwritten."""
    w, V = eigh(M, overwrite=True)
    return ManifoldBasis(V, namespace(w).clip(w, min=0.0))


def reduced_basis(H: Hidden) -> tuple[Array, Array]:
    """An orthonormal basis W (h × n) of the rows of H, and the rows in it, H W (n × n).

    From HHᵀ they would cost no more, but rows that are all but dependent, by a part of 1e−7, could
    not be told from rounding there.
    """
    W, R = qr(doubles(H.all()).T)
    return W, column_major(R.T)


def manifold_gram(H: Hidden, laplacian: Laplacian, watch: Watch = None) -> Array:
    """M = HᵀΛH (h × h, float64), some units at a time; nothing is n × n.

    H is kept where it fits in scikit-learn's ``working_memory``, and made again for every
    group of units where it does not. ``watch`` is called with the units done and their total.
    """
    n, h, X = len(H), H.width, gathered(H.X)
    kept = H.layer(X) if fits(n, h, H.itemsize) else None
    operator = laplacian.placed(X, H.layer.dtype)
    M = np.zeros((h, h), order="F") if is_numpy(X) else zeros((h, h), X)
    # The layer leaves a constant out of H: M gets it back as in Problem.moments, with Λ for C.
    smoothed_ones = (laplacian @ np.ones(n))[:, None]
    slopes = zeros((h, 1), X)
    for group in row_blocks(h, _UNITS):
        columns = kept[:, group] if kept is not None else H.layer.units(group)(X)
        smooth = operator @ columns
        slopes[group, :] = _product(columns, from_numpy(smoothed_ones, columns, columns.dtype))
        for rows in row_blocks(n, _ROWS):
            if kept is not None:
                M[: group.stop, group] += matmul(kept[rows, : group.stop].T, smooth[rows, :])
            else:
                first = H.layer.units(slice(0, group.stop))
                for part in row_blocks(rows.stop - rows.start, block_rows(group.stop, H.itemsize)):
                    here = slice(rows.start + part.start, rows.start + part.stop)
                    M[: group.stop, group] += matmul(first(X[here, :]).T, smooth[here, :])
        if watch is not None:
            watch(group.stop, h)
    o = H.offset
    M += o * (slopes + slopes.T) + o**2 * float(smoothed_ones.sum())
    return _symmetric(M)


def _product(A: Array, v: Array) -> Array:
    """Aᵀv, summed over blocks in float64."""
    parts = row_blocks(A.shape[0], _ROWS)
    return sum(doubles(matmul(A[rows, :].T, v[rows, :])) for rows in parts)


def _symmetric(A: Array) -> Array:
    """A whose upper triangle is right, with the lower one to match."""
    xp = namespace(A)
    upper = xp.triu(A)
    return column_major(upper + xp.triu(upper, k=1).T)
