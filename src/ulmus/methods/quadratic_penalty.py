"""A quadratic penalty Q: a root of A = G + Q at one point, an eigenbasis of G for a grid of points.

With G = V diag(w) Vᵀ and Z = VᵀR, a ridge 1/C costs one division for every C:
β(C) = V (w + 1/C)⁻¹ Z. With ℓ = hᵀA⁻¹h and u the weight that a row loses when it is left out, its
residual without it is (t − f)/(1 − uℓ).
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ulmus.backends.linalg import (
    Cholesky,
    NotPositiveDefinite,
    add_to_diagonal,
    column_major,
    eigh,
    matmul,
)
from ulmus.backends.namespace import cast, doubles, eps, from_numpy, namespace, zeros
from ulmus.exceptions import IllConditionedWarning
from ulmus.hidden import row_blocks, rows_at_once
from ulmus.problem import Centred, Moments, Problem, Tally
from ulmus.targets import coded
from ulmus.typing import Array

# C of an unregularised fit: the pseudo-inverse, directions within rounding of zero left out.
NO_RIDGE = 1e100
_EPS = float(np.finfo(float).eps)
# Columns of a product over outputs and C: more of them make it no faster.
_COLUMNS = 4096

# Residuals (rows × points × m) of a part of a block; its rows' numbers in the problem come second.
Residuals = Callable[[slice, Any], Array]


@dataclass(frozen=True)
class Eigenbasis:
    """w ascending, V, and ``rounding``: how far each of w may be off."""

    values: Array
    basis: Array
    rounding: float | Array

    def ridge(self, C: float) -> Any:
        """1/C, or the rounding in w where that is more; one number if the rounding is one."""
        least = max(1.0 / C, _EPS * float(self.values[-1]))
        if isinstance(self.rounding, float):
            return max(least, self.rounding)
        return namespace(self.rounding).clip(self.rounding, min=least)

    def ridges(self, grid: np.ndarray) -> Array:
        """The same for every C, one a column; a single row if the rounding is one number."""
        least = np.maximum(1.0 / grid, _EPS * float(self.values[-1]))
        if isinstance(self.rounding, float):
            return from_numpy(np.maximum(least, self.rounding), self.values)
        added = from_numpy(least, self.values)[None, :]
        return namespace(added).maximum(added, self.rounding[:, None])

    def inverse(self, C: float) -> Array:
        """1/(w + 1/C) for every eigenvalue; without a ridge none for those that are rounding."""
        ridge = self.ridge(C)
        found = 1.0 / (namespace(self.values).clip(self.values, min=0.0) + ridge)
        return found * sound(self.values - ridge, ridge) if C >= NO_RIDGE else found

    def inverses(self, grid: np.ndarray) -> Array:
        """The same for every C, one a column."""
        values = namespace(self.values).clip(self.values, min=0.0)[:, None]
        return 1.0 / (values + self.ridges(grid))

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
    """A⁻¹ = V diag(inverse) Vᵀ, with the methods of a Cholesky factor."""

    basis: Array
    inverse: Array

    def whiten(self, B: Array) -> Array:
        """A^(−½)B."""
        return namespace(B).sqrt(self.inverse) * matmul(self.basis.T, B)

    def solve(self, B: Array) -> Array:
        """A⁻¹B."""
        return matmul(self.basis, self.inverse * matmul(self.basis.T, B))


@dataclass(frozen=True)
class WoodburyRoot:
    """A⁻¹ = CI + U(1/(D + 1/C) − C)Uᵀ, by k columns in place of h, and a root of it."""

    U: Array
    D: Array
    C: float

    def whiten(self, B: Array) -> Array:
        """A^(−½)B."""
        return self._times(B, 0.5)

    def solve(self, B: Array) -> Array:
        """A⁻¹B."""
        return self._times(B, 1.0)

    def _times(self, B: Array, power: float) -> Array:
        outside = self.C**power
        inside = (self.D + 1.0 / self.C) ** -power
        return outside * B + matmul(self.U, (inside - outside) * matmul(self.U.T, B))


# Some A^(−½): ‖whiten(b)‖² = bᵀA⁻¹b.
Root = Cholesky | SpectralRoot | WoodburyRoot


def spectrum(moments: Moments, problem: Problem) -> Spectrum:
    """The eigenbasis of G and the targets in it."""
    frame = problem.frame(moments)
    w, V = eigh(frame.gram)
    return Spectrum(w, V, rounding_of(moments, V), matmul(V.T, frame.cross), frame)


def rounding_of(moments: Moments, V: Array) -> Array:
    """The rounding of the eigenvalue of each column of V.

    The rounding of an entry of G is proportional to √(gᵢᵢgⱼⱼ), so that of a direction of small
    columns, such as the later ones of a low-rank factor, is small.
    """
    xp = namespace(V)
    size = xp.linalg.diagonal(moments.gram)
    share = size / max(float(xp.max(size)), float(np.finfo(float).tiny))
    return moments.rounding * matmul((V**2).T, share[:, None])[:, 0]


def sound_factor(
    gram: Array, C: float, overwrite: bool = False, rounding: float = np.inf
) -> Cholesky | None:
    """The factor of G + I/C, or None where rounding in G is as large as 1/C.

    G is positive semi-definite up to rounding, so no eigenvalue of G + I/C is below 1/C. One below
    half of that is rounding, which a solution would magnify even if the factorisation succeeds.
    Without a ridge the least must be above the rounding of G itself. Where ``rounding``, a bound of
    that of G's eigenvalues, and that of the factor are far below 1/C, no eigenvalue is looked for.
    ``overwrite`` lets the factor take G's memory, also where None is returned.
    """
    size = eps(gram.dtype) * float(namespace(gram).linalg.trace(gram))
    least = size if C >= NO_RIDGE else 0.5 / C
    known = least >= max(4.0 * rounding, gram.shape[0] * size)
    try:
        factor = Cholesky(add_to_diagonal(gram, 1.0 / C, overwrite), overwrite=True)
    except NotPositiveDefinite:
        return None
    return factor if known or factor.least_eigenvalue() >= least else None


def sound(w: Array, least: Any) -> Array:
    """1 for every eigenvalue of BBᵀ that exceeds rounding once the ridge is added, else 0.

    Where w is zero, Bᵀu is too, and only its rounding, divided by the ridge, would reach β. A ridge
    above the rounding keeps that small, so that small w can be used: their size in B is √w.
    """
    xp, n = namespace(w), w.shape[0]
    return xp.astype(w + least > _EPS * n * w[-1], w.dtype)


def warn_of_rounding(C: float) -> None:
    """Warn that the ridge is not 1/C but the rounding of the eigenvalues; no ridge, no warning."""
    if C >= NO_RIDGE:
        return
    warnings.warn(
        f"1/C for C={C:g} is below the rounding of the features, so the ridge was raised to that "
        "rounding. A smaller C, or float64 input, avoids this.",
        IllConditionedWarning,
        stacklevel=3,
    )


@dataclass(frozen=True)
class System(ABC):
    """An eigenbasis at many points, from which rows are left out.

    They lose b times their unit, and ``share`` counts of each (None: all).
    """

    spectrum: Any
    problem: Problem
    b: float
    share: np.ndarray | None

    @property
    def basis(self) -> Array:
        """V."""
        return self.spectrum.basis

    @property
    def center(self) -> Array:
        """What is taken off a hidden row before it is taken to the eigenbasis."""
        return zeros(self.basis.shape[0], self.basis)

    @abstractmethod
    def rows(self, p: Array, numbers: Any, block: slice) -> Callable[[Any], Residuals]:
        """From points to residuals, for rows that are p in the eigenbasis."""


@dataclass(frozen=True)
class QuadraticPenalty:
    """‖β‖²/2C for every C of a grid.

    Other penalties have another root or eigenbasis. A penalty that depends on the rows, so that it
    is not ``fixed`` when one is left out, has its own residuals.
    """

    C: np.ndarray
    fixed: ClassVar[bool] = True

    def point(self, k: int) -> tuple[float, float | None]:
        """C and λ of one point; None where there is no λ."""
        return float(self.C[k]), None

    def strength(self, k: int) -> float:
        """One over the ridge at one point."""
        return float(self.C[k])

    def only(self, k: int) -> Self:
        """At one point alone."""
        return replace(self, C=self.C[[k]])

    def coef(self, moments: Moments, problem: Problem, root: Root) -> tuple[Array, Array]:
        """β and b at the only point, from A^(−½)."""
        frame = problem.frame(moments)
        coef = root.solve(frame.cross)
        return coef, frame.intercept(coef)

    def factor(self, moments: Moments, problem: Problem, C: float) -> "Root | None":
        """A^(−½) at one C without an eigenbasis; None where rounding is as large as 1/C."""
        return sound_factor(problem.frame(moments).gram, C, rounding=moments.rounding)

    def root(self, moments: Moments, problem: Problem, C: float) -> Root:
        """A^(−½) at one C, by the eigenbasis where there is no factor."""
        found = self.factor(moments, problem, C)
        return spectrum(moments, problem).root(C) if found is None else found

    def residuals(
        self, moments: Moments, problem: Problem, rows: np.ndarray, root: Root, b: float
    ) -> Array:
        """Residuals of ``rows`` that lose b times their unit, each left out of these moments."""
        frame = problem.frame(moments)
        H = doubles(problem.H.take(rows).all()) - frame.center
        W = root.whiten(column_major(H.T))
        F = frame.level + matmul(W.T, root.whiten(frame.cross))
        leverage = frame.share + namespace(W).sum(W**2, axis=0)
        T = coded(problem.targets, rows, F.dtype)
        return (T - F) / remainder(b * problem.unit_weight(rows), leverage)[:, None]

    def tally(self, problem: Problem) -> Tally:
        """To count the errors of every point."""
        return Tally(problem, self.C)

    def eigenbasis(self, moments: Moments, problem: Problem) -> Any:
        """That of G, for all points."""
        return spectrum(moments, problem)

    def system(
        self,
        basis: Any,
        problem: Problem,
        a: float = 1.0,
        b: float = 1.0,
        share: np.ndarray | None = None,
    ) -> System:
        """C is a times as large, rows lose b times their unit, and ``share`` counts of each."""
        shrink, cross, level = (
            cast(each, problem.H.dtype)
            for each in (basis.inverses(a * self.C), basis.cross, basis.frame.level)
        )
        return _RidgeSystem(basis, problem, b, share, shrink, cross, level)

    def parts(self, problem: Problem) -> Iterator[tuple[Any, int]]:
        """Points that are evaluated together, and the number of rows at once."""
        m = problem.targets.outputs
        for where in grid_parts(self.C, problem.H.width, m):
            yield where, rows_at_once(m * (where.stop - where.start))


@dataclass(frozen=True)
class _RidgeSystem(System):
    shrink: Array
    cross: Array
    level: Array

    @property
    def center(self) -> Array:
        return self.spectrum.frame.center

    def rows(self, p: Array, numbers: Any, block: slice) -> Callable[[Any], Residuals]:
        unit = cast(self.problem.unit_weight(numbers), p.dtype)[:, None]
        leverage = self.spectrum.frame.share + matmul(p**2, self.shrink)
        factor = 1.0 / remainder(self.b * unit, leverage)
        if self.share is not None:
            factor *= cast(from_numpy(self.share[block], factor), factor.dtype)[:, None]
        return lambda where: self._at(p, factor, where)

    def _at(self, p: Array, factor: Array, where: slice) -> Residuals:
        xp, (h, m) = namespace(p), self.cross.shape
        weights = xp.reshape(self.shrink[:, where, None] * self.cross[:, None, :], (h, -1))

        def residuals(part: slice, numbers: Any) -> Array:
            T = coded(self.problem.targets, numbers, p.dtype)
            F = xp.reshape(matmul(p[part, :], weights), (T.shape[0], -1, m))
            return ((T - self.level)[:, None, :] - F) * factor[part, where, None]

        return residuals


def grid_parts(grid: np.ndarray, height: int, outputs: int) -> Iterator[slice]:
    """Slices of the C whose β, each height × outputs, are computed together."""
    most = min(_COLUMNS // outputs, rows_at_once(height * outputs))
    return row_blocks(len(grid), max(1, most))


def remainder(unit: Array, leverage: Array) -> Array:
    """1 − uℓ, at least the rounding: for a row that no other resembles it may be zero or less."""
    return namespace(leverage).clip(1.0 - unit * leverage, min=eps(leverage.dtype))
