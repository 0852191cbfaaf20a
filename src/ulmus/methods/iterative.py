"""Conjugate gradients on (I + HᵀCH + λHᵀΛH) β = R, whose matrix is never formed.

Each step is two products with H and one with Λ. The preconditioner is a Nyström approximation of
the matrix, from products with a few random vectors: it removes the large eigenvalues, and the ridge
bounds the small ones.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ulmus.backends.linalg import column_major, column_products, eigh, matmul
from ulmus.backends.namespace import cast, doubles, from_numpy, namespace, ratio, to_numpy, zeros
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, fits
from ulmus.typing import Array

Operator = Callable[[Array], Array]


@dataclass(frozen=True)
class ConjugateGradients:
    """Stopping rule of conjugate gradients.

    Parameters
    ----------
    tol : float, default=1e-2
        The relative residual to reach.
    max_iter : int, default=200
        Largest number of steps; a `ConvergenceWarning` is raised if they do not suffice.

    Examples
    --------
    >>> from ulmus import ConjugateGradients, SemiSupervisedELMClassifier
    >>> model = SemiSupervisedELMClassifier(solver=ConjugateGradients(tol=1e-3), C=10.0, lam=0.1)
    """

    tol: float = 1e-2
    max_iter: int = 200


@dataclass(frozen=True)
class Iterated:
    """The solution, how many steps it took, and the relative residual it ended with."""

    values: Array
    steps: int
    residual: float


def manifold_operator(H: Hidden, laplacian: Laplacian, weight: Array, lam: float) -> Operator:
    """β ↦ HᵀCHβ + λHᵀΛHβ; H is kept if it fits in memory, else computed again for each product."""
    kept = H.all() if fits(len(H), H.width, H.itemsize) else None
    xp, operator = namespace(weight), laplacian.placed(weight, weight.dtype)

    def blocks():  # type: ignore[no-untyped-def]
        if kept is not None:
            yield slice(0, len(H)), kept, 0.0
        else:
            for rows, block in H.blocks():
                yield rows, block, H.offset

    def apply(beta: Array) -> Array:
        F = zeros((len(H), beta.shape[1]), beta)
        narrow = cast(beta, H.layer.dtype)
        for rows, h, offset in blocks():
            F[rows, :] = doubles(matmul(h, narrow)) + offset * xp.sum(beta, axis=0)
        F = weight[:, None] * F + lam * (operator @ F)
        total = zeros(beta.shape, beta)
        for rows, h, offset in blocks():
            part = F[rows, :]
            total += doubles(matmul(h.T, cast(part, h.dtype))) + offset * xp.sum(part, axis=0)
        return total

    return apply


def nystrom_preconditioner(apply: Operator, like: Array, width: int, rank: int) -> Operator:
    """An approximate inverse of I + A, A positive semi-definite, from A times ``rank`` vectors."""
    draw = np.random.RandomState(0).standard_normal((width, rank))
    basis = from_numpy(np.linalg.qr(draw)[0], like)
    Y = apply(basis)
    core = matmul(basis.T, Y)
    # A ≈ Y core⁻¹ Yᵀ = BBᵀ, over the directions of the core that stand above rounding.
    B, _ = _sound((core + core.T) / 2, Y)
    U, squares = _sound(matmul(B.T, B), B)
    gain = (squares[0] + 1.0) / (squares + 1.0) - 1.0

    def solve(R: Array) -> Array:
        return R + matmul(U, gain[:, None] * matmul(U.T, R))

    return solve


def _sound(A: Array, Y: Array) -> tuple[Array, Array]:
    """Y V/√w over the eigenvalues w of A that stand above rounding, and w."""
    w, V = eigh(column_major(A))
    # They ascend, so that those below come first.
    first = int(np.sum(to_numpy(w) <= np.sqrt(np.finfo(float).eps) * float(w[-1])))
    w, V = w[first:], V[:, first:]
    return matmul(Y, V) / namespace(w).sqrt(w), w


def conjugate_gradients(
    apply: Operator, R: Array, precondition: Operator, tol: float, max_iter: int
) -> Iterated:
    """`gradient_steps`, and a warning where they do not suffice."""
    found = gradient_steps(apply, R, precondition, tol, max_iter)
    if found.residual > tol:
        warn_of_steps(found.steps, found.residual, tol)
    return found


def gradient_steps(
    apply: Operator, R: Array, precondition: Operator, tol: float, max_iter: int
) -> Iterated:
    """Solve (I + A) β = R, with a step size for every column, until residuals are below ``tol``.

    A residual r is measured by √(rᵀz), z the preconditioned r, relative to that of β = 0. That is
    close to the error in the norm that the problem minimises; ‖r‖ is small much earlier.
    """
    xp, tiny = namespace(R), float(np.finfo(float).tiny)
    beta, residual = xp.zeros_like(R), xp.asarray(R, copy=True)
    z = precondition(residual)
    size = xp.clip(doubles(column_products(residual, z)), min=tiny)
    direction = xp.asarray(z, copy=True)
    energy, steps = column_products(residual, z), 0
    worst = _relative(energy, size)
    while steps < max_iter and worst > tol:
        moved = direction + apply(direction)
        step = ratio(energy, column_products(direction, moved))
        beta += step * direction
        residual -= step * moved
        z = precondition(residual)
        fresh = column_products(residual, z)
        direction *= ratio(fresh, energy)
        direction += z
        energy = fresh
        steps += 1
        worst = _relative(energy, size)
    return Iterated(beta, steps, worst)


def _relative(energy: Array, size: Array) -> float:
    """The largest relative residual."""
    xp = namespace(size)
    return float(xp.max(xp.clip(doubles(energy), min=0.0) / size)) ** 0.5


def warn_of_steps(steps: int, worst: float, tol: float) -> None:
    """Warn that conjugate gradients stopped before convergence."""
    warnings.warn(
        f"Conjugate gradients stopped after {steps} steps with a relative residual of "
        f"{worst:.1e}, above tol={tol:g}; raise max_iter or tol, or lower C or lam.",
        ConvergenceWarning,
        stacklevel=3,
    )
