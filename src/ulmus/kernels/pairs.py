"""Products and distances of all pairs of rows, from which kernels are computed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from ulmus.backends.gram import tall_product
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    all_finite,
    cast,
    clipped,
    doubles,
    elementwise,
    from_numpy,
    is_numpy,
    is_sparse,
    namespace,
    placed,
    take,
)
from ulmus.hidden import row_blocks
from ulmus.typing import Array, DType, Rows

# From so many columns of two values on they are taken apart: dummies of categories, mostly.
_FEW_COLUMNS = 8
# Rows at a time where a pair needs more memory than one number.
FEW_ROWS = 64
# Pairs at a time on the host, where distances take several passes: 4 MB, which a cache holds.
_PAIRS = 2**19
# Rounding of an expanded square, relative to the squares that it is the difference of.
_ROUNDING = 16.0 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Shifted:
    """Sparse rows minus a constant row, which is not subtracted but included in products."""

    rows: Rows
    shift: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, d = self.rows.shape
        return int(n), int(d)

    @property
    def dtype(self) -> Any:
        """Precision of the rows."""
        return self.rows.dtype

    def astype(self, dtype: Any) -> "Shifted":
        """The same rows in another precision."""
        return Shifted(self.rows.astype(dtype), self.shift.astype(dtype))

    def __getitem__(self, rows: Any) -> "Shifted":
        return Shifted(self.rows[rows], self.shift)


def some_rows(X: Rows, rows: Any) -> Rows:
    """Rows of X, of any kind, by a slice or by their numbers."""
    return X[rows] if isinstance(X, Shifted) else take(X, rows)


def weighed_columns(X: Rows, weights: np.ndarray) -> Rows:
    """Rows on the host with each column multiplied by its weight."""
    if isinstance(X, Shifted):
        shift = (X.shift * weights).astype(X.shift.dtype)
        return Shifted(weighed_columns(X.rows, weights), shift)
    if is_sparse(X):
        return (X @ sp.diags_array(weights)).tocsr().astype(X.dtype)
    return (X * weights).astype(X.dtype)


def mean_distance(X: Rows, weight: np.ndarray | None = None) -> float:
    """The mean distance between two rows; 1 where all are equal."""
    return mean_of_pairs(elementwise("sqrt", squared_distances(X, X)), weight)


def mean_of_pairs(D: Array, weight: np.ndarray | None = None) -> float:
    """The mean of distances between rows; 1 where all are zero."""
    D = doubles(D)
    share = from_numpy(_share(D.shape[0], weight), D)
    # A row's distance to itself is rounding.
    own = share**2 @ namespace(D).linalg.diagonal(D)
    mean = float(share @ D @ share - own)
    return mean if mean > 0 else 1.0


def mean_square(X: Rows, weight: np.ndarray | None = None) -> float:
    """The mean squared length of the rows; 1 where all are zero."""
    lengths = doubles(squares(X))
    mean = float(from_numpy(_share(X.shape[0], weight), lengths) @ lengths)
    return mean if mean > 0 else 1.0


def _share(n: int, weight: np.ndarray | None) -> np.ndarray:
    return np.full(n, 1.0 / n) if weight is None else weight / weight.sum()


def products(X: Rows, Z: Rows, out: Array | None = None) -> Array:
    """xᵀz for every pair."""
    if isinstance(X, Shifted) and isinstance(Z, Shifted):
        P = products(X.rows, Z.rows, out)
        P -= np.asarray(X.rows @ X.shift)[:, None]
        P -= np.asarray(Z.rows @ Z.shift)[None, :] - float(X.shift @ X.shift)
        return P
    if is_sparse(X) or is_sparse(Z):
        return into(out, np.asarray(safe_sparse_dot(X, Z.T, dense_output=True)))
    return matmul(X, Z.T, out)


def squares(X: Rows) -> Array:
    """‖x‖² of every row."""
    if isinstance(X, Shifted):
        cross = np.asarray(X.rows @ X.shift)
        return squares(X.rows) - 2.0 * cross + float(X.shift @ X.shift)
    if is_numpy(X):
        return row_norms(X, squared=True)
    return namespace(X).sum(X * X, axis=1)


def affine(
    X: Rows, Z: Rows, product: Any, square: Any, level: float = 0.0, out: Array | None = None
) -> Array:
    """product · xᵀz + square · (‖x‖² + ‖z‖²) + level, for every pair.

    ``product`` and ``square`` are numbers, or have one for each z.
    """
    if isinstance(X, Shifted) or is_sparse(X) or is_sparse(Z):
        P = products(X, Z, out)
        P *= product
        P += square * squares(X)[:, None]
        P += (square * squares(Z) + level)[None, :]
        return P
    left, right = _expanded(X, Z, product, square, level)
    return tall_product(left, right.T, out)


def _expanded(
    X: Array, Z: Array, product: Any, square: Any, level: float = 0.0
) -> tuple[Array, Array]:
    """Dense rows whose products are `affine`: it takes no further pass.

    They are [x, ‖x‖², 1] and [product · z, square, square · ‖z‖² + level].
    """
    xp, (n, d), m = namespace(X), X.shape, Z.shape[0]
    left = xp.ones((n, d + 2), dtype=X.dtype, device=X.device)
    left[:, :d], left[:, d] = X, squares(X)
    right = xp.empty((m, d + 2), dtype=X.dtype, device=X.device)
    right[:, :d], right[:, d], right[:, d + 1] = (
        (product * Z.T).T,
        square,
        square * squares(Z) + level,
    )
    return left, right


def squared_distances(X: Rows, Z: Rows, factor: Any = 1.0, out: Array | None = None) -> Array:
    """factor · ‖x − z‖² for every pair; ``factor`` may be an array of one for each z, all positive.

    The squares are expanded, so distances between rows far from the origin would be lost to
    rounding (years in float32). The mean of Z is therefore subtracted from dense rows, which does
    not change distances. Sparse rows are used as they are.
    """
    X, Z = _about_mean(_unshifted(X), _unshifted(Z))
    P = affine(X, Z, -2.0 * factor, factor, out=out)
    # The expanded square may round to just beyond zero.
    negative = isinstance(factor, float) and factor < 0
    return clipped(P, most=0.0) if negative else clipped(P, least=0.0)


def distances(X: Rows, Z: Rows) -> Array:
    """‖x − z‖ for every pair, from squares in float64.

    The root magnifies rounding, so squares that are no more than it are zero.
    """
    host = isinstance(X, Shifted) or is_numpy(X)
    double = np.float64 if host else namespace(X).float64
    left, right = _about_mean(*(cast(_unshifted(rows), double) for rows in (X, Z)))
    xp, x, z = namespace(right), squares(left), squares(right)

    def root(D: Array, x: Array) -> Array:
        lost = _ROUNDING * (x[:, None] + z[None, :])
        return elementwise("sqrt", xp.where(lost < D, D, xp.zeros_like(D)))

    if not host or is_sparse(left) or is_sparse(right):
        return cast(root(affine(left, right, -2.0, 1.0), x), X.dtype)
    one, other = _expanded(left, right, -2.0, 1.0)
    return _in_parts(lambda rows: root(matmul(one[rows], other.T), x[rows]), X, Z)


def city_blocks(X: Rows, Z: Rows) -> Array:
    """‖x − z‖₁ for every pair."""
    X, Z = _unshifted(X), _unshifted(Z)
    if is_sparse(X) or is_sparse(Z):
        X, Z = _short_indices(X), _short_indices(Z)
        return manhattan_distances(X, Z).astype(X.dtype, copy=False)
    if is_numpy(X):
        return _dense_blocks(X, Z)
    xp = namespace(X)
    parts = [
        xp.sum(xp.abs(X[rows, None, :] - Z[None, :, :]), axis=2)
        for rows in row_blocks(X.shape[0], FEW_ROWS)
    ]
    return xp.concat(parts)


def _in_parts(block: Callable[[slice], np.ndarray], X: Rows, Z: Rows) -> np.ndarray:
    """What ``block`` gives for some rows of X and all of Z, for all rows, in their precision."""
    D = np.empty((X.shape[0], Z.shape[0]), X.dtype)
    for rows in row_blocks(D.shape[0], max(1, _PAIRS // max(1, D.shape[1]))):
        D[rows] = block(rows)
    return D


def two_valued(X: Rows, Z: Rows) -> np.ndarray:
    """Which columns have at most two values, the same ones in both; none where that is no gain."""
    few = np.zeros(X.shape[1], bool)
    dense = not any(isinstance(rows, Shifted) or is_sparse(rows) for rows in (X, Z))
    if not dense or min(X.shape[0], Z.shape[0]) < FEW_ROWS:
        return few
    low, high = _ends(X, Z)
    some = np.arange(len(few))
    for rows in (X[:FEW_ROWS], X, Z):  # few rows first: most columns of numbers end there
        part = rows[:, some]
        some = some[((part == low[some]) | (part == high[some])).all(axis=0)]
    few[some] = True
    return few


def zeros_and_ones(X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of two values written as 0 and 1, and how far these are apart."""
    low, high = _ends(X, Z)
    return (low < X).astype(X.dtype), (low < Z).astype(Z.dtype), high - low


def _dense_blocks(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """‖x − z‖₁ of dense rows; where many columns have two values, products do for those.

    With a column's values written as 0 and 1, |x − z| is their distance times x + z − 2xz.
    """
    two = two_valued(X, Z)
    if np.count_nonzero(two) < _FEW_COLUMNS:
        two[:] = False
    x, z = (np.ascontiguousarray(rows[:, ~two], dtype=float) for rows in (X, Z))
    if not two.any():
        return _in_parts(lambda rows: cdist(x[rows], z, "cityblock"), X, Z)
    ones, others, gap = zeros_and_ones(X[:, two], Z[:, two])
    one = X.dtype.type(1.0)
    left = np.column_stack([-2.0 * gap * ones, ones @ gap, np.full(len(X), one)])
    right = np.vstack([others.T, np.full(len(Z), one), others @ gap])

    def block(rows: slice) -> np.ndarray:
        # Equal rows are at no distance but for rounding.
        D = np.maximum(matmul(left[rows], right), 0.0)
        return D if two.all() else D + cdist(x[rows], z, "cityblock")

    return _in_parts(block, X, Z)


def _ends(X: np.ndarray, Z: np.ndarray) -> list[np.ndarray]:
    """The least and the greatest value of each column."""
    return [end([end(X, axis=0), end(Z, axis=0)], axis=0) for end in (np.min, np.max)]


def _about_mean(X: Rows, Z: Rows) -> tuple[Rows, Rows]:
    """Dense rows about the mean of Z; sparse ones as they are."""
    if is_sparse(X) or is_sparse(Z):
        return X, Z
    xp = namespace(Z)
    center = xp.astype(xp.mean(doubles(Z), axis=0), Z.dtype)
    return (X - center, Z - center) if all_finite(center) else (X, Z)


def _unshifted(X: Rows) -> Rows:
    """The rows without the shift, which does not change distances."""
    return X.rows if isinstance(X, Shifted) else X


def _short_indices(X: Rows) -> Rows:
    """Sparse rows with indices of 32 bits, which scikit-learn's distances require."""
    if not is_sparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    # The entries are copied too: scikit-learn sorts them in place, and these indices with them.
    parts = X.data.copy(), X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)(parts, shape=X.shape)


def into(out: Array | None, block: Array) -> Array:
    """The block, written into ``out`` where one is given."""
    if out is None or block is out:
        return block
    out[...] = block
    return out


def landmarks_like(landmarks: Any, like: Rows, dtype: DType, shift: np.ndarray) -> Any:
    """Landmarks on the device of ``like``, dense and centred or sparse and shifted as its rows."""
    if not is_sparse(like):
        if isinstance(landmarks, Shifted):
            landmarks = landmarks.rows.toarray() - landmarks.shift
        if is_sparse(landmarks):
            landmarks = landmarks.toarray()
        return cast(placed(landmarks, like), dtype)
    if not isinstance(landmarks, Shifted) and not is_sparse(landmarks):
        landmarks = placed(landmarks, like)
        if shift.any():
            landmarks = Shifted(landmarks + shift, shift)
    return landmarks.astype(dtype)
