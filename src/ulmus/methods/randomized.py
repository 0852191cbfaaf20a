"""The randomized ELM: a sketch of HHᵀ in place of it, and the inverse by Woodbury's formula."""

from dataclasses import dataclass, field, replace

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, namespace, zeros
from ulmus.kernels.kernel_matrix import HiddenKernel, Randomized
from ulmus.kernels.lowrank import low_rank, most_columns
from ulmus.methods.ridge import Ridge, solve
from ulmus.problem import Problem, Solution
from ulmus.sources.source import Source
from ulmus.targets import coded
from ulmus.typing import Array


@dataclass(frozen=True)
class RandomizedRidge(Ridge):
    """β = Hᵀ(FFᵀ + I/C)⁻¹T with HHᵀ ≈ FFᵀ from the randomized ELM paper's Algorithm 3.

    C is chosen, and rows are left out, in the space of F. Where no rank is given, F has as many
    columns as there are units.
    """

    sketch: Randomized = field(default_factory=Randomized)
    seed: int = 0

    @property
    def needs_rows(self) -> bool:
        return True

    def fit(self, source: Source) -> Solution:
        problem = source.rows()
        sketch, rng = self.sketch, np.random.RandomState(self.seed)
        rank = most_columns(sketch.rank, sketch.tol, len(problem.H), problem.H.width)
        more = int(sketch.oversampling), int(sketch.power_steps)
        K = HiddenKernel(problem.H)
        found = low_rank(K, "randomized", rank, sketch.tol or 0.0, rng, *more, literal=True)
        part = replace(problem, H=found.H)
        solution = solve(part, self.C, self.seed)
        alpha = residual_coef(part, solution)
        coef = zeros((problem.H.width, alpha.shape[1]), alpha)
        for rows, h in problem.H.blocks():
            coef += matmul(doubles(h).T, alpha[rows, :])
        coef += problem.H.offset * namespace(alpha).sum(alpha, axis=0)
        return replace(solution, coef=coef, method="randomized", moments=None)


def residual_coef(problem: Problem, solution: Solution) -> Array:
    """α = Cc(t − f), which is (FFᵀ + I/Cc)⁻¹ applied to the targets: Woodbury's formula."""
    F = doubles(problem.H.all())
    T = coded(problem.targets, slice(0, len(problem.H)), F.dtype)
    residual = T - matmul(F, solution.coef) - solution.intercept
    weight = 1.0 if problem.weight is None else problem.weight[:, None]
    return solution.C * weight * residual
