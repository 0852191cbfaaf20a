"""The products that take most of a fit's time: hidden rows, BᵀB summed over blocks, and graphs'."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from ulmus.backends.linalg import blas_view, matmul
from ulmus.backends.namespace import (
    cast,
    eps,
    from_numpy,
    is_cupy,
    is_numpy,
    is_torch,
    namespace,
    to_numpy,
    zeros,
)
from ulmus.backends.threads import PANEL, over_strips, sharing
from ulmus.exceptions import InvalidInputError
from ulmus.typing import Array, DType, Rows

# Parts of a device's product; with eight, half of the matrix takes 9/16 of the work.
_DEVICE_PANELS = 8
# Rows whose products a device sums before the sum is added in float64; fewer than on the host,
# because matrix units truncate sums.
_DEVICE_ROWS = 4096
# Rows whose products are summed in float32 before the sum is added in float64.
_FLOAT32_ROWS = 16384


class Gram:
    """BᵀB summed over blocks of rows, in float64.

    A float32 block is multiplied in float32 and added in float64 after a few thousand rows: long
    sums in float32 lose precision. ``short`` allows a GPU's matrix units, which keep ten bits of a
    factor; blocks should then have their means subtracted.
    """

    def __init__(self, width: int, like: Array, short: bool = False) -> None:
        self._numpy = is_numpy(like)
        if self._numpy:
            self._width, self._rows = width, 0
            self._sum: Any = None
            self._part: Any = None
        else:
            self._sum = zeros((width, width), like)
        self._short = short

    def add(self, B: Array) -> None:
        """Add BᵀB."""
        if not self._numpy:
            self._add_panels(B)
            return
        if sharing.get():
            self._add_product(np.matmul(B.T, B).T, len(B))
            return
        (syrk,) = get_blas_funcs(("syrk",), (B,))
        a, trans = blas_view(B.T)
        if B.dtype == np.float64:
            syrk(1.0, a, beta=1.0, c=self._whole(), trans=trans, overwrite_c=1)
            return
        if self._part is None:
            self._part = np.zeros((self._width, self._width), B.dtype, order="F")
        syrk(1.0, a, beta=float(self._rows > 0), c=self._part, trans=trans, overwrite_c=1)
        self._rows += len(B)
        if self._rows >= _FLOAT32_ROWS:
            self._flush()

    def _add_product(self, product: np.ndarray, rows: int) -> None:
        """Add BᵀB of some rows of a thread that works beside others."""
        if self._rows:
            self._part += product
        else:
            self._part = product
        self._rows += rows
        if product.dtype != np.float64 and self._rows >= _FLOAT32_ROWS:
            self._flush()

    def absorb(self, others: "list[Gram]") -> None:
        """Add what threads beside this one have summed."""
        if not others:
            return
        total, sums = self._whole(), [other._sum for other in others if other._sum is not None]
        parts = sums + [each._part for each in (self, *others) if each._rows]

        def add(columns: slice) -> None:
            for part in parts:
                total[: columns.stop, columns] += part[: columns.stop, columns]

        over_strips(add, self._width, PANEL, total.size)
        self._rows = 0

    def _whole(self) -> np.ndarray:
        """The sum in float64, whose memory is taken when it is first needed."""
        if self._sum is None:
            self._sum = np.zeros((self._width, self._width), order="F")
        return self._sum

    def total(self) -> Array:
        """The sum, both triangles of it. Nothing can be added after."""
        if not self._numpy:
            xp = namespace(self._sum)
            _refuse_overflow(self._sum)
            return xp.triu(self._sum) + xp.triu(self._sum, k=1).T
        self._flush()
        self._part, total = None, self._whole()
        _refuse_overflow(total)
        over_strips(self._mirror, len(total), PANEL, total.size)
        return total

    def _mirror(self, columns: slice) -> None:
        """Copy the upper triangle onto the lower one."""
        self._sum[columns, : columns.start] = self._sum[: columns.start, columns].T
        corner = np.triu(self._sum[columns, columns])
        self._sum[columns, columns] = corner + np.triu(corner, 1).T

    def _add_panels(self, B: Array) -> None:
        """Upper triangle alone, some columns at a time; short float32 sums, added in float64."""
        # Whole multiples of a panel: matrix units want their columns aligned.
        step = PANEL * max(1, -(-B.shape[1] // (PANEL * _DEVICE_PANELS)))
        with short_products(B) if self._short else nullcontext():
            for first in range(0, B.shape[0], _DEVICE_ROWS):
                rows = B[first : min(first + _DEVICE_ROWS, B.shape[0]), :]
                for j in range(0, B.shape[1], step):
                    stop = min(j + step, B.shape[1])
                    self._sum[:stop, j:stop] += rows[:, :stop].T @ rows[:, j:stop]

    def _flush(self) -> None:
        if not self._rows:
            return
        part, total = self._part, self._whole()

        def add(columns: slice) -> None:
            total[: columns.stop, columns] += part[: columns.stop, columns]

        over_strips(add, len(part), PANEL, part.size)
        self._rows = 0


def self_product(A: Array) -> Array:
    """AAᵀ in float64, for half the work of a product."""
    product = Gram(A.shape[0], A)
    product.add(A.T)
    return product.total()


def _refuse_overflow(G: Array) -> None:
    """Refuse overflow; the diagonal, sums of squares, has the largest entry."""
    xp = namespace(G)
    if not bool(xp.all(xp.isfinite(xp.linalg.diagonal(G)))):
        raise InvalidInputError(
            "Sums of squares of the hidden rows are not finite: the rows or their weights are too "
            "large. Scale the columns of X, or the output of the transformer, to values near one."
        )


def has_matrix_units(like: Array) -> bool:
    """Whether float32 products of such arrays may go to a GPU's matrix units."""
    return is_torch(like) and like.is_cuda and like.dtype == namespace(like).float32


def product_eps(like: Array) -> float:
    """Relative spacing of the factors in products of such arrays, by the user's settings."""
    if not has_matrix_units(like):
        return eps(like.dtype)
    bits = {"highest": 23, "high": 10, "medium": 7}
    return 2.0 ** -bits[namespace(like).get_float32_matmul_precision()]


def tall_product(A: Rows, B: Array, out: Array | None = None, split: bool = False) -> Array:
    """A B as rows of a hidden layer.

    On a device it is the transposed view of (A B)ᵀ: sums over rows then run along its memory, as
    a GPU's matrix units need it. ``split`` lets these make the product, in three parts.
    """
    if is_numpy(A):
        return matmul(A, B, out)
    if not (split and has_matrix_units(A)):
        return (B.T @ A.T).T
    left, right = split_factors(A, B)
    with short_products(A):
        return (right.T @ left.T).T


def split_factors(A: Array, B: Array) -> tuple[Array, Array]:
    """L and R with LR = AB to float32, whose every entry has the bits that matrix units keep.

    A = A₁ + A₂ and B = B₁ + B₂ in eleven bits each, and AB = A₁B₁ + A₂B₁ + A₁B₂ but for 2⁻²²:
    three products of matrix units, which take less than half the time of one in float32.
    """
    xp, (a, b) = namespace(A), (_upper_bits(A), _upper_bits(B))
    return xp.concat([a, A - a, a], axis=1), xp.concat([b, b, B - b], axis=0)


def _upper_bits(x: Array) -> Array:
    """Float32 numbers rounded to their first eleven bits (Veltkamp's splitting)."""
    large = x * 8193.0
    return large - (large - x)


@contextmanager
def short_products(like: Array) -> Iterator[None]:
    """Let float32 products on a GPU round their factors to the matrix units' ten bits (TF32).

    Sums are in float32. For products over a few thousand rows of a hidden layer without its offset
    they agree with float32 to three digits, and are several times faster.
    """
    if not has_matrix_units(like):
        yield
        return
    matmul_settings = namespace(like).backends.cuda.matmul
    before = matmul_settings.allow_tf32
    matmul_settings.allow_tf32 = True
    try:
        yield
    finally:
        matmul_settings.allow_tf32 = before


def sparse_operator(A: Any, like: Rows, dtype: DType) -> Any:
    """A SciPy matrix as an operator A @ B on arrays of the library and device of ``like``."""
    if is_numpy(like):
        return A.astype(dtype)
    if is_torch(like) or is_cupy(like):
        A = A.tocoo()
        entries = cast(from_numpy(A.data, like), dtype)
        where = from_numpy(np.stack([A.row, A.col]).astype(np.int64), like)
        if is_torch(like):
            sparse_coo = namespace(like).sparse_coo_tensor
            found = sparse_coo(where, entries, A.shape, check_invariants=False).coalesce()
            return _by_rows(found) if found.is_cuda else found
        from cupyx.scipy.sparse import coo_matrix

        return coo_matrix((entries, (where[0], where[1])), shape=A.shape).tocsr()
    return _OnHost(A)


def _by_rows(A: Any) -> Any:
    """A sparse tensor of PyTorch in CSR format, which a GPU multiplies five times faster."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        return A.to_sparse_csr()


class _OnHost:
    """A sparse matrix for a library without sparse matrices: products are made on the host."""

    def __init__(self, A: Any) -> None:
        self._A = A

    def __matmul__(self, B: Array) -> Array:
        return from_numpy(self._A.astype(to_numpy(B).dtype) @ to_numpy(B), B)
