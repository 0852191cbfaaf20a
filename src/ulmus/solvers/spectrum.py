"""A ridge problem in its eigenbasis, where every C costs one division.

With G = V diag(w) Vᵀ and Z = VᵀR, β(C) = V (w + 1/C)⁻¹ Z.
"""

from dataclasses import dataclass

import numpy as np

from ulmus.backends.linalg import eigh, matmul
from ulmus.problem import Moments, Path, Problem, Solution
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["Spectrum", "left_out", "ridge", "spectral", "spectrum"]


@dataclass(frozen=True)
class Spectrum:
    """w ascending, V (h × h) and Z (h × m); ``rounding`` is G's relative precision."""

    values: Array
    basis: Array
    cross: Array
    rounding: float

    def coef(self, C: float) -> Array:
        """β for this C."""
        return matmul(self.basis, self.cross * self.inverse(C)[:, None])

    def inverse(self, C: float) -> Array:
        """1/(w + 1/C) for every eigenvalue."""
        return 1.0 / (np.maximum(self.values, 0.0) + ridge(self.values, C, self.rounding))


def spectrum(moments: Moments, coding: Array) -> Spectrum:
    """The eigenbasis of G and the targets in it."""
    w, V = eigh(moments.gram)
    cross = matmul(V.T, matmul(moments.cross, coding))
    return Spectrum(w, V, cross, moments.rounding)


def ridge(w: Array, C: float, rounding: float) -> float:
    """1/C, or the rounding in the eigenvalues w where that is more.

    Rounding errors of the entries are independent, so they move an
    eigenvalue by about 1/√h of what the largest one would suggest; the
    eigendecomposition itself works in float64.
    """
    relative = max(rounding / np.sqrt(len(w)), float(np.finfo(float).eps))
    return max(1.0 / C, relative * float(w[-1]))


def spectral(
    moments: Moments,
    basis: Spectrum,
    problem: Problem,
    C: float,
    calibration: np.ndarray,
    path: Path | None = None,
) -> Solution:
    """β at one C, and the ``calibration`` rows left out one at a time."""
    coef = basis.coef(C)
    H = np.asarray(problem.H.take(calibration).all(), dtype=float)
    p = matmul(H, basis.basis)
    leverage = matmul(p**2, basis.inverse(C)[:, None])[:, 0]
    F = matmul(p, basis.cross * basis.inverse(C)[:, None])
    loo = left_out(problem, calibration, F, leverage)
    return Solution(coef, C, "spectral", calibration, loo, path, moments)


def left_out(problem: Problem, rows: np.ndarray, F: Array, leverage: Array) -> np.ndarray:
    """Decision values of ``rows``, each as if it had not been fitted: t − (t − f)/(1 − uℓ)."""
    T = coded(problem.targets, rows, float)
    rest = np.maximum(1.0 - problem.unit_weight(rows) * leverage, np.finfo(float).eps)
    return np.asarray(T - (T - F) / rest[:, None])
