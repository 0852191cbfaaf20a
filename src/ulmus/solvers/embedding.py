"""Smooth directions of the hidden layer: (I + λHᵀΛH) v = γ HᵀH v, smallest γ.

A = I + λHᵀΛH is positive definite always, and HᵀH often is not, so the problem is turned
round: HᵀH v = μ A v for the largest μ = 1/γ. With A = LLᵀ that is an ordinary eigenproblem of
L⁻¹HᵀHL⁻ᵀ, whose few largest vectors block Lanczos finds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ulmus.backends.linalg import Cholesky, Gram, add_to_diagonal, matmul
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.solvers.manifold import manifold_gram, reduced_basis
from ulmus.typing import Array

__all__ = ["Embedding", "embedding", "embedding_of", "hidden_gram", "largest", "smoothest"]

# Fewest vectors in a block, and the residual, relative to the eigenvalue, that is small enough.
_SMALLEST_BLOCK, _TOLERANCE = 8, 1e-8


@dataclass(frozen=True)
class Embedding:
    """β (h × k) with ‖Hβⱼ‖ = 1, and γ of each column, ascending."""

    coef: Array
    values: Array


def embedding(H: Hidden, laplacian: Laplacian, lam: float, n_components: int) -> Embedding:
    """The second to (k + 1)-th smoothest directions; the first is all but constant.

    With fewer rows than units the work is done in the span of the rows.
    """
    if len(H) >= H.width:
        return embedding_of(manifold_gram(H, laplacian), hidden_gram(H), lam, n_components)
    span, rows = reduced_basis(H)
    M, B = matmul(rows.T, laplacian @ rows), matmul(rows.T, rows)
    return embedding_of(M, B, lam, n_components, span)


def embedding_of(
    M: Array, B: Array, lam: float, n_components: int, span: Array | None = None
) -> Embedding:
    """The same from M = HᵀΛH and B = HᵀH; ``span`` is what their coordinates stand for."""
    values, V = smoothest(add_to_diagonal(lam * (M + M.T) / 2, 1.0), B, n_components + 1)
    values, V = values[1:], V[:, 1:]
    # vᵀHᵀHv = 1 is what the constraint asks for.
    V = V / np.sqrt(np.sum(V * matmul(B, V), axis=0))
    coef = V if span is None else matmul(span, V)
    peak = np.argmax(np.abs(coef), axis=0)
    return Embedding(coef * np.sign(coef[peak, np.arange(coef.shape[1])]), values)


def smoothest(A: Array, B: Array, k: int) -> tuple[Array, Array]:
    """The k smallest γ of A v = γ B v with A positive definite, ascending, and their v."""
    U = Cholesky(np.asfortranarray(A), overwrite=True).factor  # A = UᵀU

    def apply(Y: Array) -> Array:
        back = scipy.linalg.solve_triangular(U, Y.T, check_finite=False)
        product = matmul(back.T, B).T
        return scipy.linalg.solve_triangular(U, product, trans="T", check_finite=False).T

    mu, Y = largest(apply, len(B), k)
    V = scipy.linalg.solve_triangular(U, Y.T, check_finite=False)
    return 1.0 / np.maximum(mu, np.finfo(float).tiny), V


def largest(apply: Callable[[Array], Array], n: int, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a positive semi-definite operator, descending, and vectors.

    Vectors are rows here, for ``apply`` and in the result. Block Lanczos with full
    reorthogonalisation: a product with a block of vectors costs little more than with one, and
    the start is the same every time. Where the spectrum does not decay, so that the subspace
    would grow to half of all directions, the operator is written out.
    """
    block = max(_SMALLEST_BLOCK, 6 * (k // 10))
    room = n // 2
    K, SK = np.empty((room, n)), np.empty((room, n))
    Q = np.random.RandomState(0).standard_normal((block, n))
    size, check = 0, 6 * k
    while size + block <= room:
        for _ in range(2 if size else 0):  # twice is enough
            Q = Q - matmul(matmul(Q, K[:size].T), K[:size])
        Q = scipy.linalg.qr(Q.T, mode="economic", check_finite=False)[0].T
        K[size : size + block], SK[size : size + block] = Q, apply(Q)
        size += block
        if size >= check:
            mu, Y = _ritz(K[:size], SK[:size], k)
            residual = matmul(Y, SK[:size]) - mu[:, None] * matmul(Y, K[:size])
            if (np.linalg.norm(residual, axis=1) <= _TOLERANCE * mu).all():
                return mu, matmul(Y, K[:size])
            check = size + max(block, size // 8)
        Q = SK[size - block : size]
    whole = np.eye(n)
    return _ritz(whole, apply(whole), k)


def _ritz(K: Array, SK: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of K S Kᵀ, descending, and their vectors as rows."""
    T, size = matmul(K, SK.T), len(K)
    mu, Y = scipy.linalg.eigh(
        (T + T.T) / 2, subset_by_index=(size - k, size - 1), check_finite=False
    )
    return mu[::-1], np.ascontiguousarray(Y.T[::-1])


def hidden_gram(H: Hidden) -> Array:
    """HᵀH with the offset given back."""
    products, sums = Gram(H.width, H.X), np.zeros((H.width, 1))
    for _, block in H.blocks():
        products.add(block)
        sums += matmul(block.T, np.ones((len(block), 1), block.dtype))
    o = H.offset
    return products.total() + o * (sums + sums.T) + o**2 * len(H)
