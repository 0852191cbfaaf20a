"""The operations the array standard lacks, one function each.

NumPy's and SciPy's wheels each carry their own OpenBLAS with its own threads, and calling them in
turn makes two thread pools spin against each other: a loop of GEMM + SYRK (50 000 × 100, 2000
units) took 3.7 CPU seconds mixed and 2.3 with one alone. So every product of a hot loop goes
through this module or ``gram``, and there through SciPy's BLAS, which alone has SYRK with
accumulation in place.
"""

import numpy as np
import scipy.linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ulmus.backends.namespace import (
    cast,
    from_numpy,
    is_cupy,
    is_numpy,
    is_sparse,
    is_torch,
    namespace,
)
from ulmus.backends.threads import sharing
from ulmus.typing import Array, Rows

# Rows of the largest matrix for LAPACK's own Cholesky, and of blocks of larger ones.
_LARGEST_FACTOR, _BLOCK = 10_000, 2048
# Columns of a triangular matrix whose squares are added at a time.
_FEW = 128
# Up to so many columns are multiplied one at a time: two of 10 000 rows take 14 ms against 26.
_FEW_COLUMNS = 6
# Steps of inverse iteration; four find the least eigenvalue to a factor of two.
_INVERSE_STEPS = 4


class NotPositiveDefinite(Exception):
    """A Cholesky factorisation met a pivot that is not positive."""


def matmul(A: Rows, B: Array, out: Array | None = None) -> Array:
    """A B, written into ``out`` when one is given. A sparse A stays sparse."""
    if is_sparse(A) or not is_numpy(A):
        product = np.asarray(A @ B) if is_sparse(A) else A @ B
        if out is None:
            return product
        out[...] = product
        return out
    C = np.empty((A.shape[0], B.shape[1]), A.dtype) if out is None else out
    if 0 in (*C.shape, A.shape[1]):
        C[...] = 0
        return C
    # SciPy's products hold Python's lock, NumPy's do not.
    return np.matmul(A, B, out=C) if sharing.get() else _gemm(1.0, A, B, 0.0, C)


def _gemm(alpha: float, A: np.ndarray, B: np.ndarray, beta: float, C: np.ndarray) -> np.ndarray:
    """C = alpha A B + beta C, in place."""
    # BLAS is column-major: (A B)ᵀ = Bᵀ Aᵀ on the transposed views, no copies.
    (gemm,) = get_blas_funcs(("gemm",), (C,))
    a, trans_a = blas_view(B.T)
    b, trans_b = blas_view(A.T)
    found = gemm(alpha, a, b, beta, c=C.T, overwrite_c=1, trans_a=trans_a, trans_b=trans_b)
    if not np.shares_memory(found, C):
        C[...] = found.T
    return C


def symmetric_product(panels: list[np.ndarray], B: np.ndarray) -> np.ndarray:
    """A B of a symmetric A, of which each panel has some rows from their diagonal on.

    A panel is read once from memory for both of its places.
    """
    product, last = np.zeros(B.shape, B.dtype, order="F"), 0
    for panel in panels:
        first, last = last, last + len(panel)
        beyond = panel[:, len(panel) :].T
        if B.shape[1] > _FEW_COLUMNS:
            product[first:last] += panel @ B[first:]
            product[last:] += beyond @ B[first:last]
            continue
        for b, into in zip(B.T, product.T, strict=True):
            into[first:last] += panel @ b[first:]
            into[last:] += beyond @ b[first:last]
    return product


def subtract_product(C: Array, A: Array, B: Array) -> None:
    """C −= A B, in place."""
    if not is_numpy(C) or 0 in (*C.shape, A.shape[1]):
        C -= A @ B
    else:
        _gemm(-1.0, A, B, 1.0, C)


def lower_inverse(L: Array) -> Array:
    """L⁻¹ of a lower triangular L; its upper part is not read."""
    if not L.shape[0]:
        return L
    if is_numpy(L):
        (trtri,) = get_lapack_funcs(("trtri",), (L,))
        inverse, info = trtri(np.asfortranarray(L), lower=1)
        if info:
            raise NotPositiveDefinite
        return np.tril(inverse)
    return _solve_lower(namespace(L).tril(L), _eye(L), transposed=False)


def blas_view(A: np.ndarray) -> tuple[np.ndarray, int]:
    """A view BLAS can read without a copy, and whether it is transposed."""
    return (A.T, 1) if A.flags.c_contiguous and not A.flags.f_contiguous else (A, 0)


def add_to_diagonal(A: Array, value: float | Array, overwrite: bool = False) -> Array:
    """A with ``value`` added to its diagonal; with ``overwrite``, in A's memory where possible."""
    if is_numpy(A):
        A = A if overwrite else np.array(A, order="F")
        A.flat[:: len(A) + 1] += value
        return A
    return A + value * _eye(A)


def _eye(A: Array) -> Array:
    """The identity matrix of A's size, on its device."""
    return namespace(A).eye(A.shape[0], dtype=A.dtype, device=A.device)


def column_products(A: Array, B: Array) -> Array:
    """Σᵢ aᵢⱼbᵢⱼ for every column j."""
    if is_numpy(A):
        return np.einsum("ij,ij->j", A, B)
    return namespace(A).sum(A * B, axis=0)


class Cholesky:
    """A = LLᵀ of a symmetric positive definite A, kept to solve with.

    ``overwrite`` lets the factor take A's memory, where that is column-major.
    """

    def __init__(self, A: Array, overwrite: bool = False) -> None:
        self._numpy = is_numpy(A)
        if self._numpy:
            self.factor = _upper_factor(A if overwrite else np.array(A, order="F"))
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

    def colour(self, B: Array) -> Array:
        """L⁻ᵀ B, so that ‖b‖² = (L⁻ᵀ b)ᵀ A (L⁻ᵀ b)."""
        if self._numpy:
            return scipy.linalg.solve_triangular(self.factor, B, lower=False, check_finite=False)
        return _solve_lower(self.factor, B, transposed=True)

    def leverage(self, H: Array) -> Array:
        """hᵀA⁻¹h for every row h of H."""
        B = np.asfortranarray(H.T) if self._numpy else H.T
        return namespace(H).sum(self.whiten(B) ** 2, axis=0)

    def inverse(self) -> Array:
        """A⁻¹."""
        if not self._numpy:
            return self.solve(_eye(self.factor))
        (potri,) = get_lapack_funcs(("potri",), (self.factor,))
        upper = np.triu(potri(self.factor, lower=0)[0])
        return upper + np.triu(upper, 1).T

    def inverse_diagonal(self, overwrite: bool = False, last: int | None = None) -> Array:
        """The diagonal of A⁻¹, or its ``last`` entries; ``overwrite`` destroys U."""
        # A⁻¹ = U⁻¹U⁻ᵀ, so the last rows of U are enough for its last entries.
        part = self.factor if last is None else self.factor[-last:, -last:]
        if not self._numpy:
            return namespace(part).sum(lower_inverse(part) ** 2, axis=0)
        (trtri,) = get_lapack_funcs(("trtri",), (part,))
        U = trtri(part, lower=0, overwrite_c=overwrite)[0]
        diagonal = np.zeros(len(U))
        for j in range(0, len(U), _FEW):  # what is below the diagonal is not read
            above, own = U[:j, j : j + _FEW], np.triu(U[j : j + _FEW, j : j + _FEW])
            diagonal[:j] += np.einsum("ij,ij->i", above, above)
            diagonal[j : j + _FEW] += np.einsum("ij,ij->i", own, own)
        return diagonal

    def least_eigenvalue(self) -> float:
        """An upper estimate of A's least eigenvalue, by a few steps of inverse iteration."""
        start = np.random.default_rng(0).standard_normal((self.factor.shape[0], 1))
        x = cast(from_numpy(start, self.factor), self.factor.dtype)
        norm, size = namespace(x).linalg.vector_norm, np.inf
        for _ in range(_INVERSE_STEPS):
            x = self.solve(x / norm(x))
            size = float(norm(x))
        return 1.0 / size if np.isfinite(size) and size > 0 else 0.0


def _upper_factor(A: np.ndarray) -> np.ndarray:
    """U with UᵀU = A in its upper triangle, in A's memory where that is column-major.

    OpenBLAS' threaded factorisation overruns its buffers on large matrices (seen at 20 000 rows),
    so those are factored by blocks here.
    """
    (potrf,) = get_lapack_funcs(("potrf",), (A,))
    if len(A) <= _LARGEST_FACTOR:
        factor, info = potrf(A, lower=0, overwrite_a=1, clean=0)
        if info:
            raise NotPositiveDefinite
        return factor
    (trsm,) = get_blas_funcs(("trsm",), (A,))
    blocks = [slice(j, min(j + _BLOCK, len(A))) for j in range(0, len(A), _BLOCK)]
    for number, own in enumerate(blocks):
        A[own, own], info = potrf(A[own, own], lower=0, clean=0)
        if info:
            raise NotPositiveDefinite
        for other in blocks[number + 1 :]:
            A[own, other] = trsm(1.0, A[own, own], A[own, other], lower=0, trans_a=1)
        for other in blocks[number + 1 :]:
            # All rows below this block's down to the other's end: its upper triangle is among them.
            below = slice(own.stop, other.stop)
            A[below, other] -= matmul(A[own, below].T, A[own, other])
    return A


def _device_cholesky(A: Array) -> Array:
    """The lower factor, by the library of A."""
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


def low_rank_factor(A: np.ndarray, tol: float) -> np.ndarray:
    """F (n × r) with A ≈ FFᵀ, by Cholesky with pivots until the next is at most ``tol``.

    Where A is positive semi-definite, no entry of A − FFᵀ exceeds ``tol``.
    """
    (pstrf,) = get_lapack_funcs(("pstrf",), (A,))
    factor, pivots, rank, _ = pstrf(A, tol=tol, lower=1)
    F = np.zeros((len(A), rank))
    F[pivots - 1] = np.tril(factor)[:, :rank]
    return F


def eigh(A: Array, overwrite: bool = False) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric A."""
    if is_numpy(A):
        # Divide and conquer: fastest for all eigenvectors, at the cost of memory.
        return scipy.linalg.eigh(
            A, lower=False, driver="evd", overwrite_a=overwrite, check_finite=False
        )
    return tuple(namespace(A).linalg.eigh(A))


def largest_eigenpairs(A: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric A, ascending, and their vectors as columns."""
    n = A.shape[0]
    if is_numpy(A):
        return scipy.linalg.eigh(A, subset_by_index=(n - k, n - 1), check_finite=False)
    values, V = eigh(A)
    return values[n - k :], V[:, n - k :]


def qr(A: Array) -> tuple[Array, Array]:
    """Q with orthonormal columns, as many as A has, and R, upper triangular, with A = QR."""
    if is_numpy(A):
        return scipy.linalg.qr(A, mode="economic", check_finite=False)
    return tuple(namespace(A).linalg.qr(A))


def column_major(A: Array) -> Array:
    """A in column-major order for LAPACK, where it is a NumPy array."""
    return np.asfortranarray(A) if is_numpy(A) else A


def signs(A: Array) -> Array:
    """1 or −1 for every column: the sign of its entry of largest size."""
    xp = namespace(A)
    peak = xp.argmax(xp.abs(A), axis=0)
    own = xp.arange(A.shape[0], dtype=peak.dtype, device=A.device)[:, None] == peak
    return xp.sign(xp.sum(xp.where(own, A, 0.0 * A), axis=0))
