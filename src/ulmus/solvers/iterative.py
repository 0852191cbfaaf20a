"""Conjugate gradients on (I + HᵀCH + λHᵀΛH) β = R, whose matrix is never formed.

Each step is two products with H and one with Λ. A Nyström approximation of the
matrix, from products with a few random vectors, serves as preconditioner: it takes
out the large eigenvalues, and the ridge takes care of the small ones.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ulmus.backends.linalg import eigh, matmul
from ulmus.backends.random import normal_rows
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, fits
from ulmus.typing import Array

__all__ = ["Iterated", "conjugate_gradients", "manifold_operator", "nystrom_preconditioner"]

Operator = Callable[[Array], Array]


@dataclass(frozen=True)
class Iterated:
    """β, how many steps it took, and the relative residual it ended with."""

    coef: Array
    steps: int
    residual: float


def manifold_operator(H: Hidden, laplacian: Laplacian, weight: Array, lam: float) -> Operator:
    """β ↦ HᵀCHβ + λHᵀΛHβ; H is kept where it fits, and made again where it does not."""
    kept = np.asarray(H.all()) if fits(len(H), H.width, H.itemsize) else None

    def blocks():  # type: ignore[no-untyped-def]
        if kept is not None:
            yield slice(0, len(kept)), kept, 0.0
        else:
            for rows, block in H.blocks():
                yield rows, block, H.offset

    def apply(beta: Array) -> Array:
        F = np.empty((len(H), beta.shape[1]))
        narrow = beta.astype(H.layer.dtype)
        for rows, h, offset in blocks():
            F[rows] = matmul(h, narrow) + offset * beta.sum(axis=0)
        F = weight[:, None] * F + lam * (laplacian @ F)
        total = np.zeros_like(beta)
        for rows, h, offset in blocks():
            total += matmul(h.T, F[rows].astype(h.dtype)) + offset * F[rows].sum(axis=0)
        return total

    return apply


def nystrom_preconditioner(apply: Operator, width: int, rank: int, seed: int = 0) -> Operator:
    """An approximate inverse of I + A, A positive semi-definite, from A times ``rank`` vectors."""
    basis, _ = np.linalg.qr(normal_rows(seed, width, rank))
    Y = apply(basis)
    core = matmul(basis.T, Y)
    # A ≈ Y core⁻¹ Yᵀ = BBᵀ, over the directions of the core that stand above rounding.
    values, V = eigh(np.asfortranarray((core + core.T) / 2))
    sound = values > np.sqrt(np.finfo(float).eps) * values[-1]
    B = matmul(Y, V[:, sound]) / np.sqrt(values[sound])
    squares, V = eigh(np.asfortranarray(matmul(B.T, B)))
    sound = squares > np.sqrt(np.finfo(float).eps) * squares[-1]
    U = matmul(B, V[:, sound]) / np.sqrt(squares[sound])
    gain = (squares[sound][0] + 1.0) / (squares[sound] + 1.0) - 1.0

    def solve(R: Array) -> Array:
        return R + matmul(U, gain[:, None] * matmul(U.T, R))

    return solve


def conjugate_gradients(
    apply: Operator, R: Array, precondition: Operator, tol: float, max_iter: int
) -> Iterated:
    """Solve (I + A) β = R, every column at its own pace, until all residuals are below ``tol``.

    A residual r is measured by √(rᵀz), z the preconditioned r, relative to its start. That is close
    to the error in the norm the problem itself minimises; ‖r‖ would be small long before.
    """
    beta, residual = np.zeros_like(R), R.copy()
    z = precondition(residual)
    direction, energy = z.copy(), np.sum(residual * z, axis=0)
    size = np.maximum(energy, np.finfo(float).tiny)
    steps, worst = 0, 1.0
    while steps < max_iter and worst > tol:
        moved = direction + apply(direction)
        curvature = np.sum(direction * moved, axis=0)
        step = np.divide(energy, curvature, out=np.zeros_like(energy), where=curvature > 0)
        beta += step * direction
        residual -= step * moved
        z = precondition(residual)
        fresh = np.sum(residual * z, axis=0)
        ratio = np.divide(fresh, energy, out=np.zeros_like(fresh), where=energy > 0)
        direction, energy = z + ratio * direction, fresh
        steps += 1
        worst = float(np.sqrt(np.max(np.maximum(energy, 0.0) / size)))
    if worst > tol:
        warnings.warn(
            f"Conjugate gradients stopped after {steps} steps with a relative residual of "
            f"{worst:.1e}, above tol={tol:g}; raise max_iter or tol, or lower C or lam.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Iterated(beta, steps, worst)
