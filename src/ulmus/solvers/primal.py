"""Solve in feature space: one h × h factorisation. Best when rows outnumber units."""

import numpy as np

from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles
from ulmus.problem import Moments, Problem, Solution
from ulmus.solvers.spectrum import left_out, sound_factor, spectral, spectrum, warn_of_rounding
from ulmus.typing import Array

__all__ = ["manifold_primal", "primal", "solve_moments"]


def primal(problem: Problem, C: float, calibration: np.ndarray) -> Solution:
    """β = (HᵀCH + I/C)⁻¹ HᵀCT, and the ``calibration`` rows left out one at a time."""
    moments = problem.moments()
    return solve_moments(moments, problem, C, calibration)


def solve_moments(
    moments: Moments, problem: Problem, C: float, calibration: np.ndarray
) -> Solution:
    """β from moments that may hold more rows than ``problem``, whose rows they must include."""
    frame = problem.frame(moments)
    factor = sound_factor(frame.gram, C)
    if factor is None:
        warn_of_rounding(C)
        return spectral(spectrum(moments, problem), moments, problem, C, calibration)
    coef = factor.solve(frame.cross)
    H = doubles(problem.H.take(calibration).all()) - frame.center
    leverage = frame.share + factor.leverage(H)
    loo = left_out(problem, calibration, frame.level + matmul(H, coef), leverage)
    return Solution(coef, frame.intercept(coef), C, "primal", calibration, loo, moments=moments)


def manifold_primal(problem: Problem, M: Array, C: float, lam: float) -> Solution:
    """β = (G + I/C + λM/C)⁻¹ R from labelled rows and M = HᵀΛH of all rows, each left out once."""
    frame = problem.frame(problem.moments())
    factor = Cholesky(add_to_diagonal(frame.gram + (lam / C) * M, 1.0 / C), overwrite=True)
    coef = factor.solve(frame.cross)
    every = np.arange(len(problem.H))
    H = doubles(problem.H.all())
    leverage = factor.leverage(H)
    loo = left_out(problem, every, matmul(H, coef), leverage)
    return Solution(coef, frame.intercept(coef), C, "direct", every, loo)
