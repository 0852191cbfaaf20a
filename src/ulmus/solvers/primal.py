"""Solve in feature space: one h × h factorisation. Best when rows outnumber units."""

import numpy as np

from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles
from ulmus.problem import Moments, Problem, Solution
from ulmus.solvers.balanced import ClassSums, left_out_at
from ulmus.solvers.spectral import spectral
from ulmus.solvers.spectrum import left_out, sound_factor, spectrum, warn_of_rounding
from ulmus.typing import Array

__all__ = ["manifold_primal", "primal", "solve_moments"]


def primal(problem: Problem, C: float, calibration: np.ndarray) -> Solution:
    """β = (HᵀCH + I/C)⁻¹ HᵀCT, and the ``calibration`` rows left out one at a time."""
    moments = problem.moments()
    return solve_moments(moments, problem, C, calibration)


def solve_moments(
    moments: Moments,
    problem: Problem,
    C: float,
    calibration: np.ndarray,
    sums: ClassSums | None = None,
    asked: bool = True,
) -> Solution:
    """β from moments that may hold more rows than ``problem``, whose rows they must include.

    ``sums`` are those of every class, as ``moments`` are of all. ``asked`` says whether to warn
    where the precision of the features does not hold C.
    """
    frame = problem.frame(moments)
    factor = sound_factor(frame.gram, C)
    if factor is None:
        if asked:
            warn_of_rounding(C)
        basis = spectrum(moments, problem)
        return spectral(basis, moments, problem, C, calibration, sums=sums)
    coef = factor.solve(frame.cross)
    if problem.reweighs:
        loo = left_out_at(problem, moments, C, calibration, sums)
    else:
        H = doubles(problem.H.take(calibration).all()) - frame.center
        leverage = frame.share + factor.leverage(H)
        loo = left_out(problem, calibration, frame.level + matmul(H, coef), leverage)
    return Solution(coef, frame.intercept(coef), C, "primal", calibration, loo, moments=moments)


def manifold_primal(problem: Problem, M: Array, C: float, lam: float) -> Solution:
    """β = (G + I/C + λM/C)⁻¹ R from labelled rows and M = HᵀΛH of all rows, each left out once."""

    def root(moments: Moments, problem: Problem, C: float) -> Cholesky:
        return Cholesky(add_to_diagonal(moments.gram + (lam / C) * M, 1.0 / C), overwrite=True)

    moments, every = problem.moments(), np.arange(len(problem.H))
    frame, factor = problem.frame(moments), root(moments, problem, C)
    coef = factor.solve(frame.cross)
    if problem.reweighs:
        loo = left_out_at(problem, moments, C, every, root=root)
    else:
        H = doubles(problem.H.all())
        loo = left_out(problem, every, matmul(H, coef), factor.leverage(H))
    return Solution(coef, frame.intercept(coef), C, "direct", every, loo)
