"""The randomized ELM: a sketch of HHᵀ in place of it, and the inverse by Woodbury's formula."""

from dataclasses import replace

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, namespace, zeros
from ulmus.kernels.kernel_matrix import HiddenKernel
from ulmus.kernels.lowrank import low_rank
from ulmus.problem import Problem, Solution
from ulmus.solvers.auto import solve
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["randomized", "residual_coef"]


def randomized(problem: Problem, C: float | np.ndarray, rank: int, seed: int) -> Solution:
    """β = Hᵀ(FFᵀ + I/C)⁻¹T with HHᵀ ≈ FFᵀ from the randomized ELM paper's Algorithm 3.

    C is chosen, and rows are left out, in the space of F.
    """
    K = HiddenKernel(problem.H)
    found = low_rank(K, "halko", rank, 0.0, np.random.RandomState(seed), literal=True)
    part = replace(problem, H=found.H)
    solution = solve(part, C, seed)
    alpha = residual_coef(part, solution)
    coef = zeros((problem.H.width, alpha.shape[1]), alpha)
    for rows, h in problem.H.blocks():
        coef += matmul(doubles(h).T, alpha[rows, :])
    coef += problem.H.offset * namespace(alpha).sum(alpha, axis=0)
    return replace(solution, coef=coef, method="halko", moments=None)


def residual_coef(problem: Problem, solution: Solution) -> Array:
    """α = Cc(t − f), which is (FFᵀ + I/Cc)⁻¹ applied to the targets: Woodbury's formula."""
    F = doubles(problem.H.all())
    T = coded(problem.targets, slice(0, len(problem.H)), F.dtype)
    residual = T - matmul(F, solution.coef) - solution.intercept
    weight = 1.0 if problem.weight is None else problem.weight[:, None]
    return solution.C * weight * residual
