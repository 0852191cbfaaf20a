"""Outputs F on the given rows that are tied to Hβ by a spring of strength μ.

minimise ½‖β‖² + ½ Σ cᵢ‖tᵢ − fᵢ‖² + (λ/2) tr FᵀΛF + (μ/2)‖F − Hβ‖² over F and β. As μ grows this
becomes SS-ELM as published; as μ falls, F is what the graph alone says. For given F, β is its
ridge fit, β = (HᵀH + I/μ)⁻¹HᵀF; put in, it leaves (C + λΛ + μ(I − S)) F = CT with the ridge's
smoother S = H(HᵀH + I/μ)⁻¹Hᵀ, which conjugate gradients solve: each step is two products with H
and one with Λ.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles, from_numpy, zeros
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.problem import Problem
from ulmus.solvers.iterative import conjugate_gradients
from ulmus.targets import ValueTargets
from ulmus.typing import Array

__all__ = ["Coupled", "coupled"]


@dataclass(frozen=True)
class Coupled:
    """F on the given rows, β, and how many steps it took."""

    outputs: Array
    coef: Array
    steps: int


def coupled(
    H: Hidden,
    laplacian: Laplacian,
    weight: Array,
    T: Array,
    lam: float,
    mu: float,
    tol: float,
    max_iter: int,
) -> Coupled:
    """F and β for one C (in ``weight``, zero where there is no label), λ and μ."""
    H = H.kept()
    gram = Problem(H, ValueTargets(T)).moments().gram
    factor = Cholesky(add_to_diagonal(gram, 1.0 / mu), overwrite=True)
    operator = laplacian.placed(weight, weight.dtype)
    # Every row is scaled by the root of its own share: what is left is better conditioned.
    spring = from_numpy(laplacian.diagonal(), weight)
    root = (weight + lam * spring + mu)[:, None] ** 0.5

    def ridge(F: Array) -> Array:
        cross = zeros((H.width, F.shape[1]), F)
        for rows, block in _rows(H):
            cross += matmul(block.T, F[rows, :])
        return factor.solve(cross)

    def apply(G: Array) -> Array:
        F = G / root
        beta = ridge(F)
        moved = (weight[:, None] + mu) * F + lam * (operator @ F)
        for rows, block in _rows(H):
            moved[rows, :] -= mu * matmul(block, beta)
        return moved / root - G

    found = conjugate_gradients(apply, weight[:, None] * T / root, _as_it_is, tol, max_iter)
    F = found.coef / root
    return Coupled(F, ridge(F), found.steps)


def _rows(H: Hidden) -> Iterator[tuple[Any, Array]]:
    for rows, block in H.blocks():
        yield rows, doubles(block) + H.offset


def _as_it_is(R: Array) -> Array:
    return R
