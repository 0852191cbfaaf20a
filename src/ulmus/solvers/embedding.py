"""Smooth directions of the hidden layer: (I + λHᵀΛH) v = γ HᵀH v, smallest γ.

A = I + λHᵀΛH is positive definite always, and HᵀH often is not, so the problem is turned
round: HᵀH v = μ A v for the largest μ = 1/γ. With A = LLᵀ that is an ordinary eigenproblem of
L⁻¹HᵀHL⁻ᵀ, whose few largest vectors Lanczos finds.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from ulmus.backends.linalg import Cholesky, Gram, add_to_diagonal, eigh, matmul
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.solvers.manifold import manifold_gram, reduced_basis
from ulmus.typing import Array

__all__ = ["Embedding", "embedding", "smoothest"]


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
        span, M, B = None, manifold_gram(H, laplacian), _gram(H)
    else:
        span, rows = reduced_basis(H)
        M, B = matmul(rows.T, laplacian @ rows), matmul(rows.T, rows)
    values, V = smoothest(add_to_diagonal(lam * (M + M.T) / 2, 1.0), B, n_components + 1)
    values, V = values[1:], V[:, 1:]
    # vᵀHᵀHv = 1 is what the constraint asks for.
    V = V / np.sqrt(np.sum(V * matmul(B, V), axis=0))
    coef = V if span is None else matmul(span, V)
    peak = np.argmax(np.abs(coef), axis=0)
    return Embedding(coef * np.sign(coef[peak, np.arange(coef.shape[1])]), values)


def smoothest(A: Array, B: Array, k: int) -> tuple[Array, Array]:
    """The k smallest γ of A v = γ B v with A positive definite, ascending, and their v."""
    factor = Cholesky(np.asfortranarray(A), overwrite=True)
    L = np.asfortranarray(factor.factor)  # upper, A = LᵀL

    def apply(v: Array) -> Array:
        back = scipy.linalg.solve_triangular(L, v, check_finite=False)
        return scipy.linalg.solve_triangular(L, B @ back, trans="T", check_finite=False)

    n = len(B)
    if k < n // 4:
        # A start that is the same every time, and not orthogonal to anything by design.
        start = np.random.RandomState(0).standard_normal(n)
        operator = LinearOperator((n, n), matvec=apply, dtype=float)
        mu, Y = eigsh(operator, k=k, which="LA", v0=start, ncv=min(n, max(3 * k, 40)))
    else:
        whole = apply(np.eye(n))
        mu, Y = eigh(np.asfortranarray((whole + whole.T) / 2))
        mu, Y = mu[-k:], Y[:, -k:]
    order = np.argsort(mu)[::-1]
    V = scipy.linalg.solve_triangular(L, Y[:, order], check_finite=False)
    return 1.0 / np.maximum(mu[order], np.finfo(float).tiny), V


def _gram(H: Hidden) -> Array:
    """HᵀH with the offset given back."""
    products, sums = Gram(H.width, H.X), np.zeros((H.width, 1))
    for _, block in H.blocks():
        products.add(block)
        sums += matmul(block.T, np.ones((len(block), 1), block.dtype))
    o = H.offset
    return products.total() + o * (sums + sums.T) + o**2 * len(H)
