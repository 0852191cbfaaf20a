"""The randomized ELM: a sketch of HHᵀ or HᵀH for itself, and the inverse by Woodbury's formula."""

from dataclasses import dataclass, field, replace

import numpy as np

from ulmus.arguments import check_known
from ulmus.backends.linalg import eigh, matmul
from ulmus.backends.namespace import doubles, namespace, zeros
from ulmus.exceptions import InvalidParameterError
from ulmus.kernels.kernel_matrix import GivenKernel, HiddenKernel, KernelMatrix, Randomized
from ulmus.kernels.lowrank import Factor, low_rank, most_columns
from ulmus.methods.quadratic_penalty import (
    NO_RIDGE,
    QuadraticPenalty,
    Spectrum,
    WoodburyRoot,
    rounding_of,
)
from ulmus.methods.ridge import Ridge, solve, solved
from ulmus.problem import Moments, Problem, Solution
from ulmus.sources.source import Source
from ulmus.targets import coded
from ulmus.typing import Array


@dataclass(frozen=True)
class RandomizedRidge(Ridge):
    """β = Hᵀ(FFᵀ + I/C)⁻¹T with HHᵀ ≈ FFᵀ from the randomized ELM paper's Algorithm 3.

    C is chosen, and rows are left out, in the space of F. Where no rank is given, F has as many
    columns as there are units. Of units it is β = (FFᵀ + I/C)⁻¹HᵀT with HᵀH ≈ FFᵀ.
    """

    sketch: Randomized = field(default_factory=Randomized)
    seed: int = 0

    def __post_init__(self) -> None:
        check_known("solver.of", self.sketch.of, ("rows", "units"))
        if np.max(self.C) >= NO_RIDGE:
            raise InvalidParameterError("C=inf has no Woodbury inverse; a sketch needs a finite C.")

    @property
    def needs_rows(self) -> bool:
        """A sketch is of HHᵀ, or of HᵀH, which sums give."""
        return self.sketch.of == "rows"

    def fit(self, source: Source) -> Solution:
        """β at the one C, or at the best by leave-one-out."""
        if self.needs_rows:
            return self._of_rows(source)
        penalty = SketchedGram(np.atleast_1d(self.C), self.sketch, self.seed)
        found = solved(penalty, source, self.chooses, self.asked)
        return replace(found, method="randomized", moments=None)

    def _of_rows(self, source: Source) -> Solution:
        problem = source.rows()
        K, n, h = HiddenKernel(problem.H), len(problem.H), problem.H.width
        part = replace(problem, H=_sketched(K, self.sketch, n, h, self.seed).H)
        solution = solve(part, self.C, self.seed)
        alpha = residual_coef(part, solution)
        coef = zeros((problem.H.width, alpha.shape[1]), alpha)
        for rows, h in problem.H.blocks():
            coef += matmul(doubles(h).T, alpha[rows, :])
        coef += problem.H.offset * namespace(alpha).sum(alpha, axis=0)
        return replace(solution, coef=coef, method="randomized", moments=None)


@dataclass(frozen=True)
class SketchedGram(QuadraticPenalty):
    """‖β‖²/2C, and a sketch UDUᵀ for HᵀH, about the means where there is an intercept."""

    sketch: Randomized
    seed: int

    def factor(self, moments: Moments, problem: Problem, C: float) -> WoodburyRoot:
        """(UDUᵀ + I/C)^(−½)."""
        F = self._factor(problem.frame(moments).gram)
        size = namespace(F).sum(F**2, axis=0)  # D: the columns of F are orthogonal
        U = F / namespace(F).sqrt(size)
        return WoodburyRoot(U, size[:, None], C)

    def eigenbasis(self, moments: Moments, problem: Problem) -> Spectrum:
        """That of UDUᵀ, for all points."""
        frame = problem.frame(moments)
        F = self._factor(frame.gram)
        w, V = eigh(matmul(F, F.T))
        return Spectrum(w, V, rounding_of(moments, V), matmul(V.T, frame.cross), frame)

    def _factor(self, gram: Array) -> Array:
        h = gram.shape[0]
        return _sketched(GivenKernel(gram), self.sketch, h, h, self.seed).H.all()


def _sketched(K: KernelMatrix, sketch: Randomized, n: int, default: int, seed: int) -> Factor:
    """The paper's factor of an n × n matrix, with so many columns where no rank is given."""
    rank = most_columns(sketch.rank, sketch.tol, n, default)
    more = int(sketch.oversampling), int(sketch.power_steps)
    rng = np.random.RandomState(seed)
    return low_rank(K, "randomized", rank, sketch.tol or 0.0, rng, *more, literal=True)


def residual_coef(problem: Problem, solution: Solution) -> Array:
    """α = Cc(t − f), which is (FFᵀ + I/Cc)⁻¹ applied to the targets: Woodbury's formula."""
    F = doubles(problem.H.all())
    T = coded(problem.targets, slice(0, len(problem.H)), F.dtype)
    residual = T - matmul(F, solution.coef) - solution.intercept
    weight = 1.0 if problem.weight is None else problem.weight[:, None]
    return solution.C * weight * residual
