"""The within-class scatter as a penalty: every λ and C for little more than plain ridge.

(G + λS + I/C) β = R, where S = Σ c(h − μ)(h − μ)ᵀ and μ is the mean of the row's class. Let N, a
diagonal, hold the classes' weights and M = HᵀCY N^(−½), so that S = G − MMᵀ: the moments are all it
needs. With ρ = λ/(1 + λ) and K = G + I/C(1 + λ) the matrix A is (1 + λ)(K − ρMMᵀ), plain ridge less
a matrix of rank m, and R = M N^½E lies in the span of M. With Θ = MᵀK⁻¹M, m × m, that leaves

    β = K⁻¹M (I − ρΘ)⁻¹ N^½E / (1 + λ):

the outputs are those of plain ridge on one-hot targets, recoded. A row that is left out leaves its
class mean too. A then loses u hhᵀ + v ddᵀ, d = h − μ, v = λuN/(N − u), and the row's residual is

    [(1 − v dᵀA⁻¹d)(t − f) − v hᵀA⁻¹d βᵀd] / [(1 − u hᵀA⁻¹h)(1 − v dᵀA⁻¹d) − uv (hᵀA⁻¹d)²].
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import (
    column_major,
    eigh,
    matmul,
)
from ulmus.backends.namespace import cast, doubles, from_numpy, namespace, take, zeros
from ulmus.hidden import row_blocks
from ulmus.problem import Moments, Path, Problem, Solution
from ulmus.solvers.auto import calibration_rows, left_out_rows
from ulmus.solvers.dual import row_space
from ulmus.solvers.path import Tally
from ulmus.solvers.spectrum import ridge, rounding_of, sound, sound_factor, warn_of_rounding
from ulmus.targets import ClassTargets, coded
from ulmus.typing import Array

__all__ = ["Points", "within", "within_sums"]

_EPS, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
# Residuals held at once, rows × λ × outputs: few enough to stay in the cache.
_RESIDUALS = 2**18


@dataclass(frozen=True)
class Points:
    """Pairs of λ and C to choose from; one pair is taken as it is unless ``chosen``."""

    lam: np.ndarray
    C: np.ndarray
    chosen: bool = True

    def shared(self) -> list[tuple[float, np.ndarray]]:
        """Each value of C(1 + λ), which is all that K depends on, and the points that have it."""
        values = self.C * (1.0 + self.lam)
        _, first, where = np.unique(np.log(values).round(9), return_index=True, return_inverse=True)
        return [(float(values[i]), np.flatnonzero(where == k)) for k, i in enumerate(first)]

    def at(self, k: int) -> tuple[float, np.ndarray]:
        """C(1 + λ) and λ of one point."""
        return float(self.C[k] * (1.0 + self.lam[k])), self.lam[[k]]


@dataclass(frozen=True)
class _Classes:
    """M in some basis (q × m), N, and the coding E."""

    M: Array
    totals: Array
    coding: Array

    @classmethod
    def of(cls, cross: Array, energy: Array, coding: np.ndarray) -> "_Classes":
        """From HᵀCY and YᵀCY; a class without rows has a column of zeros."""
        xp = namespace(energy)
        totals = xp.linalg.diagonal(energy)
        # What forgetting leaves of a class is rounding.
        totals = xp.where(totals > _EPS * xp.sum(totals), totals, 0.0 * totals)
        return cls(cross * _inverse(xp.sqrt(totals)), totals, from_numpy(coding, cross))


@dataclass(frozen=True)
class _Recoding:
    """Θ = O diag(θ) Oᵀ: all that λ needs of K.

    ``weights`` is K⁻¹M O, so that a row has the coordinates φ = h·weights.
    """

    weights: Array
    theta: Array
    O: Array
    classes: _Classes

    @classmethod
    def of(cls, solved: Array, classes: _Classes) -> "_Recoding":
        """From K⁻¹M."""
        theta, O = eigh(column_major(matmul(classes.M.T, solved)))
        # Θ is at most the identity, but for rounding.
        return cls(matmul(solved, O), namespace(O).clip(theta, 0.0, 1.0), O, classes)

    @property
    def targets(self) -> Array:
        """OᵀN^½E."""
        root = namespace(self.O).sqrt(self.classes.totals)
        return matmul(self.O.T, root[:, None] * self.classes.coding)

    def gain(self, lam: np.ndarray) -> Array:
        """1/(1 + λ)(1 − ρθ) = 1/(1 + λ − λθ), classes by λ."""
        return 1.0 / (1.0 + from_numpy(lam, self.theta) * (1.0 - self.theta[:, None]))

    def coef(self, lam: float) -> Array:
        """β in the basis of ``weights``."""
        return matmul(self.weights * self.gain(np.array([lam]))[:, 0], self.targets)

    def left_out(
        self, phi: Array, kappa: Array, codes: Array, unit: Array, strengths: np.ndarray
    ) -> Array:
        """Residuals (rows × λ × m) of rows with coordinates φ and κ = hᵀK⁻¹h, each left out."""
        xp, lam = namespace(phi), from_numpy(strengths, phi)
        gain, own, N = self.gain(strengths), take(self.O, codes), self.classes.totals
        Nt = take(N, codes)[:, None]
        root = xp.sqrt(Nt)
        # hᵀA⁻¹h, hᵀA⁻¹μ and μᵀA⁻¹μ, then the same with d = h − μ.
        hh = (kappa[:, None] + matmul(phi**2, gain * lam)) / (1.0 + lam)
        hm = matmul(phi * own, gain) / root
        mm = matmul(own**2 * self.theta, gain) / Nt
        hd, dd = hh - hm, hh - 2.0 * hm + mm
        u = unit[:, None]
        # A class of one row has no scatter, and none to lose.
        alone = Nt - u <= _EPS * Nt
        share = xp.where(alone, 0.0 * Nt, u * Nt) / xp.where(alone, 0.0 * Nt + 1.0, Nt - u)
        v = lam * share
        rest = 1.0 - v * dd
        whole = xp.clip((1.0 - u * hh) * rest - u * v * hd**2, min=_EPS)
        Z, T = self.targets, take(self.classes.coding, codes)
        flat = (-1, Z.shape[0])
        F = matmul(xp.reshape(phi[:, None, :] * gain.T, flat), Z)
        F = xp.reshape(F, (*hh.shape, Z.shape[1]))
        means = matmul(xp.reshape(self.O[:, None, :] * (self.theta * gain.T), flat), Z)
        means = xp.reshape(means, (N.shape[0], len(strengths), -1))
        means *= _inverse(xp.sqrt(N))[:, None, None]
        rest, loose = (rest / whole)[:, :, None], (v * hd / whole)[:, :, None]
        return rest * (T[:, None, :] - F) - loose * (F - take(means, codes))


@dataclass(frozen=True)
class _Spectrum:
    """w, M in the eigenbasis of G, and how far each of w may be off."""

    values: Array
    classes: _Classes
    rounding: float | Array

    def inverse(self, shared: float) -> Array:
        """1/(w + 1/C(1 + λ))."""
        least = ridge(self.values, shared, self.rounding)
        return 1.0 / (namespace(self.values).clip(self.values, min=0.0) + least)

    def recoding(self, shared: float) -> _Recoding:
        """Θ at one C(1 + λ)."""
        return _Recoding.of(self.inverse(shared)[:, None] * self.classes.M, self.classes)

    def left_out(
        self, p: Array, codes: Array, unit: Array, shared: float, lam: np.ndarray
    ) -> Array:
        """Residuals (rows × λ × m) of rows p in the eigenbasis, at one C(1 + λ)."""
        at = self.recoding(shared)
        kappa = matmul(p**2, self.inverse(shared)[:, None])[:, 0]
        return at.left_out(matmul(p, at.weights), kappa, codes, unit, lam)


def within(problem: Problem, points: Points, seed: int) -> Solution:
    """β at the best of the points by leave-one-out, or at the only one."""
    n = len(problem.H)
    if n < problem.H.width:
        return _few(problem, points)
    moments, calibration = problem.moments(), calibration_rows(n, seed)
    return within_sums(moments, problem, points, left_out_rows(n, seed), calibration)


def within_sums(
    moments: Moments,
    problem: Problem,
    points: Points,
    rows: np.ndarray | None,
    calibration: np.ndarray,
) -> Solution:
    """The same from moments that may hold more rows than ``problem``, whose rows they include.

    ``rows`` of the problem are left out one at a time; None is all of them.
    """
    if not points.chosen:
        return _one(moments, problem, points, calibration)
    spectrum, V = _spectrum(moments, problem)
    path = _path(spectrum, V, problem, points, rows)
    return _spectral(spectrum, V, moments, problem, points, calibration, path)


def _one(moments: Moments, problem: Problem, points: Points, calibration: np.ndarray) -> Solution:
    """β at one point from one Cholesky factorisation of K."""
    lam, C = float(points.lam[0]), float(points.C[0])
    classes = _Classes.of(moments.cross, moments.energy, problem.targets.coding)
    factor = sound_factor(moments.gram, C * (1.0 + lam))
    if factor is None:
        warn_of_rounding(C)
        spectrum, V = _spectrum(moments, problem)
        return _spectral(spectrum, V, moments, problem, points, calibration, None)
    at = _Recoding.of(factor.solve(classes.M), classes)
    H = doubles(problem.H.take(calibration).all())
    kappa = factor.leverage(H)
    codes, unit = _codes(problem, calibration), problem.unit_weight(calibration)
    residual = at.left_out(matmul(H, at.weights), kappa, codes, unit, points.lam)[:, 0, :]
    return _solution(
        at.coef(lam), "primal", problem, points, 0, calibration, residual, None, moments
    )


def _few(problem: Problem, points: Points) -> Solution:
    """With fewer rows than units, in the span of the rows: √cH = U diag(√w) Vᵀ."""
    rows, every = row_space(problem), np.arange(len(problem.H))
    w, U = eigh(rows.kernel()[0], overwrite=True)
    # Rounding may leave some at zero or below; a length that is divided by later is neither.
    w = namespace(w).clip(w, min=max(_EPS**2 * float(w[-1]), _TINY))
    Y, lengths = rows.root * rows.Y, namespace(w).sqrt(w)
    cross = matmul((U * lengths).T, Y)
    classes = _Classes.of(cross, matmul(Y.T, Y), problem.targets.coding)
    spectrum = _Spectrum(w, classes, 0.0)
    p = U * lengths / rows.root
    codes, unit = _codes(problem, every), problem.unit_weight(every)
    path, best = None, 0
    if points.chosen:
        tally = _Tally(spectrum, problem, points)
        tally.add(every, p)
        path = tally.path()
        best = path.best
    shared, lam = points.at(best)
    residual = spectrum.left_out(p, codes, unit, shared, lam)[:, 0, :]
    at = spectrum.recoding(shared)
    kept = sound(w, ridge(w, shared, 0.0)) / lengths
    coef = rows.coef(matmul(U, at.coef(float(lam[0])) * kept[:, None]))
    return _solution(coef, "spectral", problem, points, best, every, residual, path, None)


def _spectrum(moments: Moments, problem: Problem) -> tuple[_Spectrum, Array]:
    """G in its eigenbasis V."""
    w, V = eigh(moments.gram)
    cross = matmul(V.T, moments.cross)
    classes = _Classes.of(cross, moments.energy, problem.targets.coding)
    return _Spectrum(w, classes, rounding_of(moments, V)), V


def _path(
    spectrum: _Spectrum, V: Array, problem: Problem, points: Points, rows: np.ndarray | None
) -> Path:
    """The leave-one-out error of every point on ``rows`` (None: all)."""
    H = problem.H if rows is None else problem.H.take(rows)
    narrow, shift = cast(V, H.dtype), H.offset * namespace(V).sum(V, axis=0)
    tally = _Tally(spectrum, problem, points)
    for block, h in H.blocks():
        here = np.arange(block.start, block.stop) if rows is None else rows[block]
        tally.add(here, matmul(h, narrow) + shift)
    return tally.path()


class _Tally:
    """The errors of all points over rows left out, one C(1 + λ) after the other."""

    def __init__(self, spectrum: _Spectrum, problem: Problem, points: Points) -> None:
        self._problem, self._points = problem, points
        self._groups = [
            (where, spectrum.recoding(shared), spectrum.inverse(shared)[:, None])
            for shared, where in points.shared()
        ]
        self._tallies = [Tally(problem, points.C[where]) for where, _, _ in self._groups]

    def add(self, rows: np.ndarray, p: Array) -> None:
        """Count rows that are p in the eigenbasis."""
        codes, unit = _codes(self._problem, rows), self._problem.unit_weight(rows)
        p = doubles(p)
        T = coded(self._problem.targets, rows, p.dtype)[:, None, :]
        squares = p**2
        for (where, at, inverse), tally in zip(self._groups, self._tallies, strict=True):
            phi, kappa = matmul(p, at.weights), matmul(squares, inverse)[:, 0]
            lam = self._points.lam[where]
            for part in row_blocks(len(rows), max(1, _RESIDUALS // (len(lam) * T.shape[2]))):
                residual = at.left_out(phi[part, :], kappa[part], codes[part], unit[part], lam)
                tally.add_residuals(rows[part], T[part, ...], residual)

    def path(self) -> Path:
        """The mean errors."""
        squared, rate = np.empty_like(self._points.C), np.empty_like(self._points.C)
        for (where, _, _), tally in zip(self._groups, self._tallies, strict=True):
            part = tally.path()
            squared[where], rate[where] = part.squared_error, part.error_rate
        return replace(
            part, C=self._points.C, squared_error=squared, error_rate=rate, lam=self._points.lam
        )


def _spectral(
    spectrum: _Spectrum,
    V: Array,
    moments: Moments,
    problem: Problem,
    points: Points,
    calibration: np.ndarray,
    path: Path | None,
) -> Solution:
    """β at the best point of the path."""
    best = 0 if path is None else path.best
    shared, lam = points.at(best)
    p = matmul(doubles(problem.H.take(calibration).all()), V)
    codes, unit = _codes(problem, calibration), problem.unit_weight(calibration)
    residual = spectrum.left_out(p, codes, unit, shared, lam)[:, 0, :]
    coef = matmul(V, spectrum.recoding(shared).coef(float(lam[0])))
    return _solution(coef, "spectral", problem, points, best, calibration, residual, path, moments)


def _solution(
    coef: Array,
    method: str,
    problem: Problem,
    points: Points,
    best: int,
    rows: np.ndarray,
    residual: Array,
    path: Path | None,
    moments: Moments | None,
) -> Solution:
    loo = coded(problem.targets, rows, residual.dtype) - residual
    C, lam = float(points.C[best]), float(points.lam[best])
    zero = zeros(coef.shape[1], coef)
    return Solution(coef, zero, C, method, rows, loo, path, moments, lam)


def _codes(problem: Problem, rows: Any) -> Array:
    """The class of each row."""
    assert isinstance(problem.targets, ClassTargets)
    return take(problem.targets.codes, rows)


def _inverse(x: Array) -> Array:
    """1/x, and zero where x is zero."""
    xp = namespace(x)
    return xp.where(x > 0, 1.0 + 0.0 * x, 0.0 * x) / xp.where(x > 0, x, 0.0 * x + 1.0)
