"""Solve in the eigenbasis of G, where every C costs one division."""

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles
from ulmus.problem import Moments, Path, Problem, Solution
from ulmus.solvers.balanced import ClassSums, left_out_at
from ulmus.solvers.spectrum import Spectrum, left_out

__all__ = ["spectral"]


def spectral(
    basis: Spectrum,
    moments: Moments,
    problem: Problem,
    C: float,
    calibration: np.ndarray,
    path: Path | None = None,
    sums: ClassSums | None = None,
) -> Solution:
    """β at one C, and the ``calibration`` rows left out one at a time."""
    frame, shrink = basis.frame, basis.inverse(C)[:, None]
    weights = basis.cross * shrink
    coef = matmul(basis.basis, weights)
    if problem.reweighs:
        loo = left_out_at(problem, moments, C, calibration, sums)
    else:
        H = doubles(problem.H.take(calibration).all()) - frame.center
        p = matmul(H, basis.basis)
        leverage = frame.share + matmul(p**2, shrink)[:, 0]
        loo = left_out(problem, calibration, frame.level + matmul(p, weights), leverage)
    return Solution(coef, frame.intercept(coef), C, "spectral", calibration, loo, path, moments)
