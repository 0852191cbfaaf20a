"""The within-class scatter as a penalty, solved: every λ and C for little more than plain ridge.

``recoding`` has the formulas. Where weights balance the classes, rows of each class are left out of
a system of their own (see ``balance``).
"""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import column_major, eigh, matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    from_numpy,
    namespace,
    put_rows,
    take,
    zeros,
)
from ulmus.balance import Leaving
from ulmus.hidden import row_blocks, rows_at_once
from ulmus.problem import Moments, Path, Problem, Solution
from ulmus.solvers.auto import calibration_rows, left_out_rows
from ulmus.solvers.balanced import ClassSums, Root, ridge_root
from ulmus.solvers.dual import RowSpace, row_space
from ulmus.solvers.path import Tally
from ulmus.solvers.recoding import Classes, ClassSpectrum, Points, Recoding
from ulmus.solvers.spectrum import (
    SpectralRoot,
    ridge,
    rounding_of,
    sound,
    sound_factor,
    warn_of_rounding,
)
from ulmus.targets import ClassTargets, coded
from ulmus.typing import Array

__all__ = ["Points", "within", "within_sums"]

_EPS, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
# Residuals held at once, rows × λ × outputs: few enough to stay in the cache.
_RESIDUALS = 2**18


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
    sums: ClassSums | None = None,
    asked: bool = True,
) -> Solution:
    """The same from moments that may hold more rows than ``problem``, whose rows they include.

    ``rows`` of the problem are left out one at a time; None is all of them. ``sums`` are those of
    every class, as ``moments`` are of all, and ``asked`` is as in `solve_moments`.
    """
    if not points.chosen:
        return _one(moments, problem, points, calibration, sums, asked)
    spectrum, V = _spectrum(moments, problem)
    if problem.reweighs and sums is None:
        sums = ClassSums(problem)
    path = _path(spectrum, V, moments, problem, points, rows, sums)
    return _spectral(spectrum, V, moments, problem, points, calibration, path, sums)


def _one(
    moments: Moments,
    problem: Problem,
    points: Points,
    calibration: np.ndarray,
    sums: ClassSums | None,
    asked: bool,
) -> Solution:
    """β at one point from one Cholesky factorisation of K."""
    shared, lam = points.at(0)
    factor = sound_factor(moments.gram, shared)
    if factor is None:
        if asked:
            warn_of_rounding(float(points.C[0]))
        spectrum, V = _spectrum(moments, problem)
        return _spectral(spectrum, V, moments, problem, points, calibration, None, sums)
    at = _recoding(moments, problem, factor)
    residual = _left_out_at(moments, problem, shared, lam, calibration, factor, sums)
    return _solution(
        at.coef(float(lam[0])), "primal", problem, points, 0, calibration, residual, None, moments
    )


def _recoding(moments: Moments, problem: Problem, root: Root) -> Recoding:
    """Θ from some root of K⁻¹."""
    classes = Classes.of(moments.cross, moments.energy)
    return Recoding.of(root.solve(classes.M), classes)


def _left_out_at(
    moments: Moments,
    problem: Problem,
    shared: float,
    lam: np.ndarray,
    rows: np.ndarray,
    root: Root,
    sums: ClassSums | None = None,
) -> Array:
    """Residuals of ``rows``, in ascending order, at one point; ``root`` is that of K."""
    if not problem.reweighs:
        return _residual(moments, problem, lam, rows, root, 1.0)
    sums = ClassSums(problem) if sums is None else sums
    residual = zeros((len(rows), problem.targets.outputs), moments.gram)
    for leaving in problem.leavings(rows):
        total: Any = 0.0
        for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
            heavier = sums.heavier(moments, leaving.code, b)
            own = ridge_root(heavier, problem, a * shared)
            found = _residual(heavier, problem, lam, leaving.rows, own, b)
            total = total + from_numpy(share[:, None], found) * found
        put_rows(residual, np.searchsorted(rows, leaving.rows), total)
    return residual


def _residual(
    moments: Moments, problem: Problem, lam: np.ndarray, rows: np.ndarray, root: Root, b: float
) -> Array:
    """Residuals of ``rows`` that lose b times their unit, each left out of these moments."""
    at, H = _recoding(moments, problem, root), doubles(problem.H.take(rows).all())
    kappa = namespace(H).sum(root.whiten(column_major(H.T)) ** 2, axis=0)
    codes, unit = _codes(problem, rows), b * problem.unit_weight(rows)
    return at.left_out(matmul(H, at.weights), kappa, codes, unit, lam)[:, 0, :]


@dataclass(frozen=True)
class _RowSpectrum:
    """√cH = U diag(√w) Vᵀ with fewer rows than units; p are the rows in the basis V."""

    spectrum: ClassSpectrum
    U: Array
    lengths: Array
    rows: RowSpace

    @classmethod
    def of(cls, problem: Problem) -> "_RowSpectrum":
        """In the span of the rows."""
        rows = row_space(problem)
        w, U = eigh(rows.kernel()[0], overwrite=True)
        # Rounding may leave some at zero or below; a length that is divided by later is neither.
        w = namespace(w).clip(w, min=max(_EPS**2 * float(w[-1]), _TINY))
        Y, lengths = rows.root * rows.Y, namespace(w).sqrt(w)
        cross = matmul((U * lengths).T, Y)
        classes = Classes.of(cross, namespace(Y).sum(Y**2, axis=0))
        return cls(ClassSpectrum(w, classes, 0.0), U, lengths, rows)

    @property
    def p(self) -> Array:
        """The rows in the basis."""
        return self.U * self.lengths / self.rows.root


def _few(problem: Problem, points: Points) -> Solution:
    """With fewer rows than units, in the span of the rows."""
    whole, every = _RowSpectrum.of(problem), np.arange(len(problem.H))
    if problem.reweighs:
        views = [(_row_views(problem, each, points), each.rows) for each in problem.leavings()]
    else:
        views = [([_View(whole.spectrum, points, whole.p)], every)]
    path, best = None, 0
    if points.chosen:
        tally = _Tally(problem, points)
        for parts, rows in views:
            tally.add(rows, parts)
        path = tally.path()
        best = path.best
    residual = zeros((len(every), problem.targets.outputs), whole.U)
    for parts, rows in views:
        put_rows(residual, rows, _view_residual(problem, points, best, rows, parts))
    shared, lam = points.at(best)
    w = whole.spectrum.values
    kept = sound(w, ridge(w, shared, 0.0)) / whole.lengths
    coef = whole.spectrum.recoding(shared).coef(float(lam[0])) * kept[:, None]
    coef = whole.rows.coef(matmul(whole.U, coef))
    return _solution(coef, "spectral", problem, points, best, every, residual, path, None)


def _row_views(problem: Problem, leaving: Leaving, points: Points) -> list["_View"]:
    """Every node of a class, seen from its rows: an n × n eigendecomposition for each."""
    found = []
    for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
        own = _RowSpectrum.of(problem.heavier(leaving.code, b))
        found.append(_View(own.spectrum, points, take(own.p, leaving.rows), a, b, share))
    return found


def _view_residual(
    problem: Problem, points: Points, k: int, rows: np.ndarray, views: list["_View"]
) -> Array:
    """Residuals at one point."""
    group = next(g for g, (_, where) in enumerate(points.shared()) if k in where)
    codes, unit = _codes(problem, rows), problem.unit_weight(rows)
    return _combined(views, group, codes, unit, points.lam[[k]], slice(0, len(rows)))[:, 0, :]


def _spectrum(moments: Moments, problem: Problem) -> tuple[ClassSpectrum, Array]:
    """G in its eigenbasis V."""
    w, V = eigh(moments.gram)
    cross = matmul(V.T, moments.cross)
    classes = Classes.of(cross, moments.energy)
    return ClassSpectrum(w, classes, rounding_of(moments, V)), V


def _path(
    spectrum: ClassSpectrum,
    V: Array,
    moments: Moments,
    problem: Problem,
    points: Points,
    rows: np.ndarray | None,
    sums: ClassSums | None,
) -> Path:
    """The leave-one-out error of every point on ``rows`` (None: all)."""
    tally = _Tally(problem, points)
    if sums is None:
        _add_rows(tally, problem, rows, [_View(spectrum, points)], [V])
        return tally.path()
    for leaving in problem.leavings(rows):
        views, bases = [], []
        for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
            heavier = sums.heavier(moments, leaving.code, b)
            own, basis = (spectrum, V) if heavier is moments else _spectrum(heavier, problem)
            views.append(_View(own, points, None, a, b, share))
            bases.append(basis)
        _add_rows(tally, problem, leaving.rows, views, bases)
    return tally.path()


def _add_rows(
    tally: "_Tally",
    problem: Problem,
    rows: np.ndarray | None,
    views: list["_View"],
    bases: list[Array],
) -> None:
    """Count rows (None: all) by what the views, each with its eigenbasis, say of them."""
    H = problem.H if rows is None else problem.H.take(rows)
    narrow = [(cast(V, H.dtype), H.offset * namespace(V).sum(V, axis=0)) for V in bases]
    for block, h in H.blocks():
        here = np.arange(block.start, block.stop) if rows is None else rows[block]
        parts = [
            view.seeing(matmul(h, V) + shift, block)
            for view, (V, shift) in zip(views, narrow, strict=True)
        ]
        tally.add(here, parts)


class _View:
    """A spectrum at every C(1 + λ), C being a times as large and units b times.

    ``p`` are rows in its basis, ``share`` is how much counts of what it says of each.
    """

    def __init__(
        self,
        spectrum: ClassSpectrum,
        points: Points,
        p: Array | None = None,
        a: float = 1.0,
        b: float = 1.0,
        share: np.ndarray | None = None,
    ) -> None:
        self._spectrum, self._b, self._share = spectrum, b, share
        self._values = [a * shared for shared, _ in points.shared()]
        self._last: tuple[int, Recoding, Array] | None = None
        if p is not None:
            self._see(p)

    def seeing(self, p: Array, rows: slice) -> "_View":
        """The same of some rows, which are p in the basis."""
        view = copy(self)
        view._share = None if self._share is None else self._share[rows]
        view._see(p)
        return view

    def _see(self, p: Array) -> None:
        self._p = doubles(p)
        self._squares = self._p**2

    def _at(self, group: int) -> tuple[Recoding, Array]:
        """Θ and 1/(w + 1/C(1 + λ)), of which only the last are kept, for Θ is large."""
        if self._last is None or self._last[0] != group:
            value = self._values[group]
            inverse = self._spectrum.inverse(value)[:, None]
            self._last = group, self._spectrum.recoding(value), inverse
        return self._last[1:]

    def residual(
        self, group: int, codes: Array, unit: Array, lam: np.ndarray, part: slice
    ) -> Array:
        """What is left over of some of the rows (rows × λ × m), times the share."""
        at, inverse = self._at(group)
        phi = matmul(self._p[part, :], at.weights)
        kappa = matmul(self._squares[part, :], inverse)[:, 0]
        residual = at.left_out(phi, kappa, codes[part], self._b * unit[part], lam)
        if self._share is None:
            return residual
        return from_numpy(self._share[part], residual)[:, None, None] * residual


def _combined(
    views: list[_View], group: int, codes: Array, unit: Array, lam: np.ndarray, part: slice
) -> Array:
    """What all views together say."""
    first, *others = (view.residual(group, codes, unit, lam, part) for view in views)
    for other in others:
        first = first + other
    return first


class _Tally:
    """The errors of all points over rows left out, one C(1 + λ) after the other."""

    def __init__(self, problem: Problem, points: Points) -> None:
        self._problem, self._points = problem, points
        self._groups = [where for _, where in points.shared()]
        self._tallies = [Tally(problem, points.C[where]) for where in self._groups]

    def add(self, rows: np.ndarray, views: list[_View]) -> None:
        """Count rows that the views see."""
        codes, unit = _codes(self._problem, rows), self._problem.unit_weight(rows)
        m = self._problem.targets.outputs
        for group, (where, tally) in enumerate(zip(self._groups, self._tallies, strict=True)):
            lam = self._points.lam[where]
            size = min(max(1, _RESIDUALS // (len(lam) * m)), rows_at_once(len(lam) * m))
            for part in row_blocks(len(rows), size):
                residual = _combined(views, group, codes, unit, lam, part)
                tally.add(rows[part], slice(0, len(lam)), residual)

    def path(self) -> Path:
        """The mean errors."""
        squared, rate = np.empty_like(self._points.C), np.empty_like(self._points.C)
        for where, tally in zip(self._groups, self._tallies, strict=True):
            part = tally.path()
            squared[where], rate[where] = part.squared_error, part.error_rate
        return replace(
            part, C=self._points.C, squared_error=squared, error_rate=rate, lam=self._points.lam
        )


def _spectral(
    spectrum: ClassSpectrum,
    V: Array,
    moments: Moments,
    problem: Problem,
    points: Points,
    calibration: np.ndarray,
    path: Path | None,
    sums: ClassSums | None = None,
) -> Solution:
    """β at the best point of the path."""
    best = 0 if path is None else path.best
    shared, lam = points.at(best)
    root = SpectralRoot(V, namespace(V).sqrt(spectrum.inverse(shared)))
    residual = _left_out_at(moments, problem, shared, lam, calibration, root, sums)
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
