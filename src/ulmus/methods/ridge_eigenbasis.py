"""A ridge problem in its eigenbasis, where every C costs one division.

With G = V diag(w) Vᵀ and Z = VᵀR, β(C) = V (w + 1/C)⁻¹ Z.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.linalg import (
    Cholesky,
    NotPositiveDefinite,
    add_to_diagonal,
    eigh,
    matmul,
)
from ulmus.backends.namespace import namespace
from ulmus.exceptions import IllConditionedWarning
from ulmus.problem import Frame, Moments, Problem
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = [
    "SpectralRoot",
    "Spectrum",
    "left_out",
    "ridge",
    "rounding_of",
    "sound",
    "sound_factor",
    "spectrum",
    "warn_of_rounding",
]


@dataclass(frozen=True)
class Spectrum:
    """w ascending, V (h × h), Z (h × m), and the frame they were found in.

    ``rounding`` is how far each of w may be off.
    """

    values: Array
    basis: Array
    cross: Array
    frame: Frame
    rounding: Array

    def inverse(self, C: float) -> Array:
        """1/(w + 1/C) for every eigenvalue."""
        xp = namespace(self.values)
        return 1.0 / (xp.clip(self.values, min=0.0) + ridge(self.values, C, self.rounding))

    def root(self, C: float) -> "SpectralRoot":
        """(G + I/C)^(−½)."""
        return SpectralRoot(self.basis, namespace(self.values).sqrt(self.inverse(C)))


@dataclass(frozen=True)
class SpectralRoot:
    """diag(scales) Vᵀ, which stands for a Cholesky factor's inverse."""

    basis: Array
    scales: Array

    def whiten(self, B: Array) -> Array:
        """A^(−½)B."""
        return self.scales[:, None] * matmul(self.basis.T, B)

    def solve(self, B: Array) -> Array:
        """A⁻¹B."""
        return matmul(self.basis, self.scales[:, None] ** 2 * matmul(self.basis.T, B))


def spectrum(moments: Moments, problem: Problem) -> Spectrum:
    """The eigenbasis of G and the targets in it."""
    frame = problem.frame(moments)
    w, V = eigh(frame.gram)
    return Spectrum(w, V, matmul(V.T, frame.cross), frame, rounding_of(moments, V))


def rounding_of(moments: Moments, V: Array) -> Array:
    """How far the eigenvalue of each column of V may be off.

    An entry of G is off by a part of √(gᵢᵢgⱼⱼ), so a direction made of small columns, as are the
    later ones of a low-rank factor, is off by little.
    """
    xp = namespace(V)
    size = xp.linalg.diagonal(moments.gram)
    share = size / max(float(xp.max(size)), float(np.finfo(float).tiny))
    return moments.rounding * matmul((V**2).T, share[:, None])[:, 0]


def ridge(w: Array, C: float, rounding: float | Array) -> Any:
    """1/C, or the rounding in the eigenvalues w where that is more; one number if that is one."""
    least = max(1.0 / C, float(np.finfo(float).eps) * float(w[-1]))
    if isinstance(rounding, float):
        return max(least, rounding)
    return namespace(rounding).clip(rounding, min=least)


def sound_factor(gram: Array, C: float) -> Cholesky | None:
    """The factor of G + I/C, or None where rounding in G is as large as 1/C.

    G is positive semi-definite but for its rounding, so no eigenvalue of G + I/C is below 1/C.
    One below half of that is rounding, and a solution would magnify it, however smoothly the
    factorisation went.
    """
    try:
        factor = Cholesky(add_to_diagonal(gram, 1.0 / C), overwrite=True)
    except NotPositiveDefinite:
        return None
    return factor if factor.least_eigenvalue() >= 0.5 / C else None


def sound(w: Array, least: Any) -> Array:
    """1 for every eigenvalue of BBᵀ that is more than rounding once the ridge is added, else 0.

    Where w is zero Bᵀu is too; only its rounding, divided by the ridge, would reach β. A ridge
    above the rounding keeps that small, and then small w count: they stand for √w in B.
    """
    xp, n = namespace(w), w.shape[0]
    return xp.astype(w + least > float(np.finfo(float).eps) * n * w[-1], w.dtype)


def warn_of_rounding(C: float) -> None:
    """Say that the ridge is not 1/C but the rounding in the eigenvalues."""
    warnings.warn(
        f"C={C:g} asks for more than the precision of the features holds, so the ridge was "
        "raised to their rounding. A smaller C, or float64 input, avoids this.",
        IllConditionedWarning,
        stacklevel=3,
    )


def left_out(problem: Problem, rows: np.ndarray, F: Array, leverage: Array) -> Array:
    """Decision values of ``rows``, each as if it had not been fitted: t − (t − f)/(1 − uℓ)."""
    T, xp = coded(problem.targets, rows, F.dtype), namespace(F)
    least = float(np.finfo(float).eps)
    rest = xp.clip(1.0 - problem.unit_weight(rows) * leverage, min=least)
    return T - (T - F) / rest[:, None]
