"""A matrix in its eigenbasis, V diag(w) Vᵀ, where a ridge 1/C costs one division for every C.

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
from ulmus.backends.namespace import from_numpy, namespace
from ulmus.exceptions import IllConditionedWarning
from ulmus.problem import Centred, Moments, Problem
from ulmus.typing import Array


@dataclass(frozen=True)
class Eigenbasis:
    """w ascending, V, and ``rounding``: how far each of w may be off."""

    values: Array
    basis: Array
    rounding: float | Array

    def ridge(self, C: float) -> Any:
        """1/C, or the rounding in w where that is more; one number if the rounding is one."""
        least = max(1.0 / C, float(np.finfo(float).eps) * float(self.values[-1]))
        if isinstance(self.rounding, float):
            return max(least, self.rounding)
        return namespace(self.rounding).clip(self.rounding, min=least)

    def inverse(self, C: float) -> Array:
        """1/(w + 1/C) for every eigenvalue."""
        return 1.0 / (namespace(self.values).clip(self.values, min=0.0) + self.ridge(C))

    def inverses(self, grid: np.ndarray) -> Array:
        """The same for every C, one a column."""
        ridges, xp = [self.ridge(C) for C in grid.tolist()], namespace(self.values)
        one = isinstance(self.rounding, float)
        added = from_numpy(np.array(ridges), self.values) if one else xp.stack(ridges, axis=1)
        return 1.0 / (xp.clip(self.values, min=0.0)[:, None] + added)

    def root(self, C: float) -> "SpectralRoot":
        """(G + I/C)^(−½)."""
        return SpectralRoot(self.basis, self.inverse(C)[:, None])


@dataclass(frozen=True)
class Spectrum(Eigenbasis):
    """The eigenbasis of G, the targets in it (h × m), and the frame they were found in."""

    cross: Array
    frame: Centred


@dataclass(frozen=True)
class SpectralRoot:
    """A⁻¹ = V diag(inverse) Vᵀ, whose root stands for a Cholesky factor's inverse."""

    basis: Array
    inverse: Array

    def whiten(self, B: Array) -> Array:
        """A^(−½)B."""
        return namespace(B).sqrt(self.inverse) * matmul(self.basis.T, B)

    def solve(self, B: Array) -> Array:
        """A⁻¹B."""
        return matmul(self.basis, self.inverse * matmul(self.basis.T, B))


# Some A^(−½): ‖whiten(b)‖² = bᵀA⁻¹b.
Root = Cholesky | SpectralRoot


def spectrum(moments: Moments, problem: Problem) -> Spectrum:
    """The eigenbasis of G and the targets in it."""
    frame = problem.frame(moments)
    w, V = eigh(frame.gram)
    return Spectrum(w, V, rounding_of(moments, V), matmul(V.T, frame.cross), frame)


def rounding_of(moments: Moments, V: Array) -> Array:
    """How far the eigenvalue of each column of V may be off.

    An entry of G is off by a part of √(gᵢᵢgⱼⱼ), so a direction made of small columns, as are the
    later ones of a low-rank factor, is off by little.
    """
    xp = namespace(V)
    size = xp.linalg.diagonal(moments.gram)
    share = size / max(float(xp.max(size)), float(np.finfo(float).tiny))
    return moments.rounding * matmul((V**2).T, share[:, None])[:, 0]


def ridge_root(moments: Moments, problem: Problem, C: float) -> Root:
    """(G + I/C)^(−½), by the eigenbasis where rounding is as large as 1/C."""
    factor = sound_factor(problem.frame(moments).gram, C)
    return spectrum(moments, problem).root(C) if factor is None else factor


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
