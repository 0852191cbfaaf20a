"""Smooth directions of the hidden layer: (I + λHᵀΛH) v = γ HᵀH v, smallest γ.

A = I + λHᵀΛH is positive definite always, and HᵀH often is not, so the problem is turned
round: HᵀH v = μ A v for the largest μ = 1/γ. With A = LLᵀ that is an ordinary eigenproblem of
L⁻¹HᵀHL⁻ᵀ, whose few largest vectors block Lanczos finds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ulmus.backends.gram import Gram
from ulmus.backends.linalg import (
    Cholesky,
    add_to_diagonal,
    column_major,
    largest_eigenpairs,
    matmul,
    orthonormal,
    signs,
)
from ulmus.backends.namespace import contiguous, from_numpy, namespace, to_numpy, zeros
from ulmus.exceptions import InvalidInputError
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.methods.manifold_basis import manifold_gram, reduced_basis
from ulmus.typing import Array

__all__ = ["Embedding", "embedding", "embedding_of", "hidden_gram", "largest", "smoothest"]

# Fewest vectors in a block, and the residual, relative to the eigenvalue, that is small enough.
_SMALLEST_BLOCK, _TOLERANCE = 8, 1e-8
# An entry of HᵀH is off by this part of its trace, times the units or this many.
_ROUNDING, _FEW = float(np.finfo(float).eps), 100


@dataclass(frozen=True)
class Embedding:
    """β (h × k) with ‖Hβⱼ‖ = 1, and γ of each column, ascending."""

    coef: Array
    values: Array


def embedding(
    H: Hidden, laplacian: Laplacian, lam: float, n_components: int, fewer: bool = False
) -> Embedding:
    """The second to (k + 1)-th smoothest directions; the first is all but constant.

    With fewer rows than units the work is done in the span of the rows. ``fewer`` is as in
    `embedding_of`.
    """
    if len(H) >= H.width:
        M, B = manifold_gram(H, laplacian), hidden_gram(H)
        return embedding_of(M, B, lam, n_components, fewer=fewer)
    span, rows = reduced_basis(H)
    smooth = laplacian.placed(rows, rows.dtype) @ rows
    M, B = matmul(rows.T, smooth), matmul(rows.T, rows)
    return embedding_of(M, B, lam, n_components, span, fewer)


def embedding_of(
    M: Array,
    B: Array,
    lam: float,
    n_components: int,
    span: Array | None = None,
    fewer: bool = False,
) -> Embedding:
    """The same from M = HᵀΛH and B = HᵀH; ``span`` is what their coordinates stand for.

    Where the rows differ in fewer components they are all that is given, if ``fewer`` allows it.
    """
    values, V = smoothest(add_to_diagonal(lam * (M + M.T) / 2, 1.0), B, n_components + 1)
    differing = _differing(values, B)
    if differing < (1 if fewer else n_components):
        raise InvalidInputError(
            f"n_components={n_components} is too many: the rows differ in {differing} components, "
            "and in all others by rounding alone. Ask for fewer, or give rows that differ."
        )
    last = 1 + min(n_components, differing)
    values, V = values[1:last], V[:, 1:last]
    # vᵀHᵀHv = 1 is what the constraint asks for.
    xp = namespace(V)
    V = V / xp.sqrt(xp.sum(V * matmul(B, V), axis=0))
    coef = V if span is None else matmul(span, V)
    return Embedding(coef * signs(coef), values)


def _differing(values: Array, B: Array) -> int:
    """In how many directions after the first rows differ by more than rounding: else γ = 1/0.

    A is at least the identity, so μ = 1/γ is off by no more than B is.
    """
    size = float(namespace(B).linalg.trace(B))
    least = _ROUNDING * max(B.shape[0], _FEW) * size
    return int(np.sum(1.0 / to_numpy(values) > least)) - 1


def smoothest(A: Array, B: Array, k: int) -> tuple[Array, Array]:
    """The k smallest γ of A v = γ B v with A positive definite, ascending, and their v."""
    factor = Cholesky(column_major(A), overwrite=True)

    def apply(Y: Array) -> Array:
        return factor.whiten(matmul(factor.colour(Y.T).T, B).T).T

    mu, Y = largest(apply, B, k)
    tiny = float(np.finfo(float).tiny)
    return 1.0 / namespace(mu).clip(mu, min=tiny), factor.colour(Y.T)


def largest(apply: Callable[[Array], Array], like: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a positive semi-definite operator, descending, and vectors.

    The operator is as large as ``like``, and works where that lives.
    Vectors are rows here, for ``apply`` and in the result. Block Lanczos with full
    reorthogonalisation: a product with a block of vectors costs little more than with one, and
    the start is the same every time. Where the spectrum does not decay, so that the subspace
    would grow to half of all directions, the operator is written out.
    """
    block = max(_SMALLEST_BLOCK, 6 * (k // 10))
    n, xp = like.shape[0], namespace(like)
    room = n // 2
    K, SK = (xp.empty((room, n), dtype=xp.float64, device=like.device) for _ in range(2))
    Q = from_numpy(np.random.RandomState(0).standard_normal((block, n)), like)
    size, check = 0, 6 * k
    while size + block <= room:
        for _ in range(2 if size else 0):  # twice is enough
            Q = Q - matmul(matmul(Q, K[:size, :].T), K[:size, :])
        Q = orthonormal(Q.T).T
        K[size : size + block, :], SK[size : size + block, :] = Q, apply(Q)
        size += block
        if size >= check:
            mu, Y = _ritz(K[:size, :], SK[:size, :], k)
            found = matmul(Y, K[:size, :])
            residual = matmul(Y, SK[:size, :]) - mu[:, None] * found
            if bool(xp.all(xp.linalg.vector_norm(residual, axis=1) <= _TOLERANCE * mu)):
                return mu, found
            check = size + max(block, size // 8)
        Q = SK[size - block : size, :]
    whole = xp.eye(n, dtype=xp.float64, device=like.device)
    return _ritz(whole, apply(whole), k)


def _ritz(K: Array, SK: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of K S Kᵀ, descending, and their vectors as rows."""
    T, xp = matmul(K, SK.T), namespace(K)
    mu, Y = largest_eigenpairs((T + T.T) / 2, k)
    return xp.flip(mu), contiguous(xp.flip(Y.T, axis=0))


def hidden_gram(H: Hidden) -> Array:
    """HᵀH with the offset given back."""
    products, sums, xp = Gram(H.width, H.X), zeros((H.width, 1), H.X), namespace(H.X)
    for _, block in H.blocks():
        products.add(block)
        ones = xp.ones((block.shape[0], 1), dtype=block.dtype, device=block.device)
        sums += matmul(block.T, ones)
    o = H.offset
    return products.total() + o * (sums + sums.T) + o**2 * len(H)
