"""The operations the array standard lacks, one function each.

NumPy's and SciPy's wheels each carry their own OpenBLAS with its own threads.
Calling them in turn makes two thread pools spin against each other: measured
at 50 000 × 100, 2000 units, the same GEMM + SYRK loop took 3.7 CPU seconds
mixed and 2.3 with one alone. So every product of a hot loop goes
through this module, and here through SciPy's BLAS, which alone has SYRK with
accumulation in place.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ulmus.backends.namespace import (
    eps,
    is_cupy,
    is_numpy,
    is_sparse,
    is_torch,
    namespace,
    zeros,
)
from ulmus.typing import Array, Rows

__all__ = [
    "Cholesky",
    "Gram",
    "NotPositiveDefinite",
    "add_to_diagonal",
    "decay",
    "eigh",
    "elementwise",
    "has_matrix_units",
    "low_rank_factor",
    "lower_inverse",
    "matmul",
    "positive_part",
    "short_products",
    "subtract_product",
    "tall_product",
]

# Columns of a symmetric matrix that are handled together when only half of it is wanted.
_PANEL = 256
# How many parts a device's product is cut into: eight leave 9/16 of the work.
_DEVICE_PANELS = 8
# Rows whose products a device sums before the sum moves to float64; matrix units cut a sum off
# where others round it, so it should be shorter.
_DEVICE_ROWS = 4096
# Rows whose products are summed in float32 before the sum moves to float64.
_FLOAT32_ROWS = 16384


class NotPositiveDefinite(Exception):
    """A Cholesky factorisation met a pivot that is not positive."""


def matmul(A: Rows, B: Array, out: Array | None = None) -> Array:
    """A B, written into ``out`` when one is given. A sparse A stays sparse."""
    if is_sparse(A):
        product = A @ B
        if out is None:
            return np.asarray(product)
        out[...] = product
        return out
    if not is_numpy(A):
        if out is None:
            return A @ B
        out[...] = A @ B
        return out
    # BLAS is column-major: (A B)ᵀ = Bᵀ Aᵀ on the transposed views, no copies.
    C = np.empty((A.shape[0], B.shape[1]), A.dtype) if out is None else out
    if 0 in (*C.shape, A.shape[1]):
        C[...] = 0
        return C
    (gemm,) = get_blas_funcs(("gemm",), (C,))
    a, trans_a = _column_major(B.T)
    b, trans_b = _column_major(A.T)
    product = gemm(1.0, a, b, c=C.T, overwrite_c=1, trans_a=trans_a, trans_b=trans_b)
    if not np.shares_memory(product, C):
        C[...] = product.T
    return C


def tall_product(A: Rows, B: Array, out: Array | None = None) -> Array:
    """A B as rows of a hidden layer.

    On a device it is the transposed view of (A B)ᵀ: sums over rows then run along its memory, as
    a GPU's matrix units need it.
    """
    if is_numpy(A):
        return matmul(A, B, out)
    return (B.T @ A.T).T


def subtract_product(C: Array, A: Array, B: Array) -> None:
    """C −= A B, in place."""
    if not is_numpy(C) or 0 in (*C.shape, A.shape[1]):
        C -= A @ B
        return
    (gemm,) = get_blas_funcs(("gemm",), (C,))
    a, trans_a = _column_major(B.T)
    b, trans_b = _column_major(A.T)
    rest = gemm(-1.0, a, b, beta=1.0, c=C.T, overwrite_c=1, trans_a=trans_a, trans_b=trans_b)
    if not np.shares_memory(rest, C):
        C[...] = rest.T


def lower_inverse(L: Array) -> Array:
    """L⁻¹ of a lower triangular L, whose upper part is not looked at."""
    if not len(L):
        return L
    if is_numpy(L):
        (trtri,) = get_lapack_funcs(("trtri",), (L,))
        inverse, info = trtri(np.asfortranarray(L), lower=1)
        if info:
            raise NotPositiveDefinite
        return np.tril(inverse)
    xp = namespace(L)
    eye = xp.eye(L.shape[0], dtype=L.dtype, device=L.device)
    return _solve_lower(xp.tril(L), eye, transposed=False)


def _column_major(A: np.ndarray) -> tuple[np.ndarray, int]:
    """A view BLAS can read without a copy, and whether it is transposed."""
    return (A.T, 1) if A.flags.c_contiguous and not A.flags.f_contiguous else (A, 0)


class Gram:
    """BᵀB summed over blocks of rows, in float64.

    A float32 block is multiplied in float32 and added in float64 after a few
    thousand rows: short sums keep their precision in float32, long ones do not.
    ``short`` allows a GPU's matrix units, which keep ten bits of a factor; blocks should then
    be about their means.
    """

    def __init__(self, width: int, like: Array, short: bool = False) -> None:
        self._numpy = is_numpy(like)
        if self._numpy:
            self._sum = np.zeros((width, width), order="F")
            self._part: np.ndarray | None = None
            self._rows = 0
        else:
            self._sum = zeros((width, width), like)
        self._short = short

    def add(self, B: Array) -> None:
        """Add BᵀB."""
        if not self._numpy:
            self._add_panels(B)
            return
        (syrk,) = get_blas_funcs(("syrk",), (B,))
        a, trans = _column_major(B.T)
        if B.dtype == np.float64:
            syrk(1.0, a, beta=1.0, c=self._sum, trans=trans, overwrite_c=1)
            return
        if self._part is None:
            self._part = np.zeros(self._sum.shape, B.dtype, order="F")
        syrk(1.0, a, beta=float(self._rows > 0), c=self._part, trans=trans, overwrite_c=1)
        self._rows += len(B)
        if self._rows >= _FLOAT32_ROWS:
            self._flush()

    def total(self) -> Array:
        """The sum, both triangles of it. Nothing can be added after."""
        if not self._numpy:
            xp = namespace(self._sum)
            return xp.triu(self._sum) + xp.triu(self._sum, k=1).T
        self._flush()
        self._part = None
        _mirror(self._sum)
        return self._sum

    def _add_panels(self, B: Array) -> None:
        """Upper triangle alone, some columns at a time; short float32 sums, added in float64."""
        # Whole multiples of a panel: matrix units want their columns aligned.
        step = _PANEL * max(1, -(-B.shape[1] // (_PANEL * _DEVICE_PANELS)))
        with short_products(B) if self._short else nullcontext():
            for first in range(0, B.shape[0], _DEVICE_ROWS):
                rows = B[first : min(first + _DEVICE_ROWS, B.shape[0]), :]
                for j in range(0, B.shape[1], step):
                    stop = min(j + step, B.shape[1])
                    self._sum[:stop, j:stop] += rows[:, :stop].T @ rows[:, j:stop]

    def _flush(self) -> None:
        if self._part is not None and self._rows:
            for columns in _panels(len(self._sum)):
                upper = slice(0, columns.stop)
                self._sum[upper, columns] += self._part[upper, columns]
            self._rows = 0


def _panels(width: int) -> list[slice]:
    return [slice(j, min(j + _PANEL, width)) for j in range(0, width, _PANEL)]


def _mirror(G: np.ndarray) -> None:
    """Copy the upper triangle of G onto the lower one, in place."""
    for columns in _panels(len(G)):
        G[columns, : columns.start] = G[: columns.start, columns].T
        corner = np.triu(G[columns, columns])
        G[columns, columns] = corner + np.triu(corner, 1).T


def add_to_diagonal(A: Array, value: float) -> Array:
    """A copy of A with ``value`` added along its diagonal."""
    if is_numpy(A):
        A = np.array(A, order="F")
        A.flat[:: len(A) + 1] += value
        return A
    xp = namespace(A)
    return A + value * xp.eye(A.shape[0], dtype=A.dtype, device=A.device)


class Cholesky:
    """A = LLᵀ of a symmetric positive definite A, kept to solve with.

    ``overwrite`` lets the factor take A's memory.
    """

    def __init__(self, A: Array, overwrite: bool = False) -> None:
        self._numpy = is_numpy(A)
        if self._numpy:
            # The upper factor of a column-major A is found in place.
            (potrf,) = get_lapack_funcs(("potrf",), (A,))
            self.factor, info = potrf(A, lower=0, overwrite_a=overwrite, clean=0)
            if info:
                raise NotPositiveDefinite
        else:
            self.factor = _device_cholesky(A)

    def solve(self, B: Array) -> Array:
        """A⁻¹ B."""
        if self._numpy:
            return scipy.linalg.cho_solve((self.factor, False), B, check_finite=False)
        half = _solve_lower(self.factor, B, transposed=False)
        return _solve_lower(self.factor, half, transposed=True)

    def whiten(self, B: Array) -> Array:
        """L⁻¹ B, so that ‖L⁻¹ b‖² = bᵀ A⁻¹ b."""
        if self._numpy:
            return scipy.linalg.solve_triangular(
                self.factor, B, trans="T", lower=False, check_finite=False
            )
        return _solve_lower(self.factor, B, transposed=False)

    def leverage(self, H: Array) -> Array:
        """hᵀA⁻¹h for every row h of H."""
        B = np.asfortranarray(H.T) if self._numpy else H.T
        return namespace(H).sum(self.whiten(B) ** 2, axis=0)

    def inverse_diagonal(self) -> Array:
        """The diagonal of A⁻¹."""
        if self._numpy:
            (potri,) = get_lapack_funcs(("potri",), (self.factor,))
            return np.diagonal(potri(self.factor, lower=0)[0]).copy()
        xp = namespace(self.factor)
        eye = xp.eye(self.factor.shape[0], dtype=self.factor.dtype, device=self.factor.device)
        return xp.sum(self.whiten(eye) ** 2, axis=0)


def _device_cholesky(A: Array) -> Array:
    """The lower factor, by the library that owns A."""
    xp = namespace(A)
    if is_torch(A):
        factor, info = xp.linalg.cholesky_ex(A)
        if int(info):
            raise NotPositiveDefinite
        return factor
    try:
        factor = xp.linalg.cholesky(A)
    except np.linalg.LinAlgError as error:
        raise NotPositiveDefinite from error
    if not bool(xp.isfinite(factor[-1, -1])):  # CuPy does not raise
        raise NotPositiveDefinite
    return factor


def _solve_lower(L: Array, B: Array, transposed: bool) -> Array:
    """L⁻¹ B, or L⁻ᵀ B; the array standard has no triangular solve."""
    if is_torch(L):
        solve = namespace(L).linalg.solve_triangular
        return solve(L.T if transposed else L, B, upper=transposed)
    if is_cupy(L):
        from cupyx.scipy.linalg import solve_triangular

        return solve_triangular(L, B, trans="T" if transposed else "N", lower=True)
    return namespace(L).linalg.solve(L.T if transposed else L, B)


def has_matrix_units(like: Array) -> bool:
    """Whether float32 products of such arrays may go to a GPU's matrix units."""
    return is_torch(like) and like.is_cuda and like.dtype == namespace(like).float32


@contextmanager
def short_products(like: Array) -> Iterator[None]:
    """Let float32 products on a GPU round their factors to the matrix units' ten bits (TF32).

    The sums stay in float32. For products over a few thousand rows of a hidden layer whose offset
    is left out, that is as good as float32 to three digits, and several times faster.
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


def low_rank_factor(A: np.ndarray, tol: float) -> np.ndarray:
    """F (n × r) with A ≈ FFᵀ, by Cholesky with pivots until the next is at most ``tol``.

    A symmetric NumPy array. Where A is positive semi-definite, no entry of A − FFᵀ exceeds
    ``tol``; where it is not, some may.
    """
    (pstrf,) = get_lapack_funcs(("pstrf",), (A,))
    factor, pivots, rank, _ = pstrf(A, tol=tol, lower=1)
    F = np.zeros((len(A), rank))
    F[pivots - 1] = np.tril(factor)[:, :rank]
    return F


def eigh(A: Array, overwrite: bool = False) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric A."""
    if is_numpy(A):
        # Divide and conquer: all vectors are wanted, so its speed is worth its memory.
        return scipy.linalg.eigh(
            A, lower=False, driver="evd", overwrite_a=overwrite, check_finite=False
        )
    result: tuple[Array, Array] = namespace(A).linalg.eigh(A)
    return result


def decay(Z: Array) -> Array:
    """exp(Z), in place where the library can, with what is below eps² zero.

    Beside values near one so small a number is lost in rounding, and products of such numbers
    fall below the smallest normal one, where arithmetic is many times slower. The price is paid
    where a row is far from all others: the nearest of them would still tell, and is lost. So it
    is on USPS, inputs as they are, with γ = 2: keeping every value gives the nearest neighbour's
    rate, 92 % in place of 46 from 2000 rows, and a fit takes 17 times as long, as ``python -m
    benchmarks kernel_readings`` prints. A smaller γ is the remedy.
    """
    xp = namespace(Z)
    least = 2.0 * float(np.log(eps(Z.dtype)))
    if 0 not in Z.shape and float(xp.min(Z)) < least:
        vanishing = least > Z
        if isinstance(Z, np.ndarray):
            Z[vanishing] = -np.inf
        else:
            Z = xp.where(vanishing, xp.asarray(-xp.inf, dtype=Z.dtype), Z)
    return elementwise("exp", Z)


def positive_part(Z: Array) -> Array:
    """max(Z, 0), in place where the library can."""
    if is_numpy(Z):
        return np.maximum(Z, 0.0, out=Z)
    return namespace(Z).clip(Z, min=0.0)


def elementwise(function: str, Z: Array) -> Array:
    """``function`` of the array standard applied to Z, in place where the library can."""
    xp = namespace(Z)
    f: Any = getattr(scipy.special if is_numpy(Z) and function == "erf" else xp, function)
    if xp.__name__.endswith("array_api_strict"):
        return f(Z)
    return f(Z, out=Z)
