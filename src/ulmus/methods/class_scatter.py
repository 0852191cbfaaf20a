"""The within-class scatter as a penalty, solved: every λ and C for little more than plain ridge.

``recoding`` has the formulas. Where weights balance the classes, rows of each class are left out of
a system of their own (see ``balance``).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

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
from ulmus.methods.balanced import Root, ridge_root
from ulmus.methods.class_scatter_path import PointTally, View, codes_of_rows, combined
from ulmus.methods.dual import RowSpace, row_space
from ulmus.methods.recoding import Classes, ClassSpectrum, Points, Recoding
from ulmus.methods.ridge_eigenbasis import (
    SpectralRoot,
    ridge,
    rounding_of,
    sound,
    sound_factor,
    warn_of_rounding,
)
from ulmus.problem import Moments, Path, Problem, Solution
from ulmus.sources.source import ClassSums, Source
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["ClassScatter", "Points"]

_EPS, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


@dataclass(frozen=True)
class ClassScatter:
    """Pairs of λ and C to choose from, or one; ``asked`` is as in `Ridge`."""

    points: Points
    asked: bool = True
    parameters: ClassVar[tuple[str, ...]] = ("C", "lam")

    @property
    def chooses(self) -> bool:
        """Whether there are several pairs."""
        return self.points.chosen

    @property
    def needs_rows(self) -> bool:
        """Class sums are all it needs."""
        return False

    def at(self, **values: float) -> Self:
        """At the pair that was chosen."""
        lam, C = (np.array([values[name]]) for name in ("lam", "C"))
        return replace(self, points=Points(lam, C, chosen=False), asked=False)

    def compared(self) -> Self:
        """With an error even for one pair."""
        return replace(self, points=replace(self.points, chosen=True))

    def fit(self, source: Source) -> Solution:
        """β at the best of the points by leave-one-out, or at the only one."""
        if source.at_hand and len(source.rows().H) < source.rows().H.width:
            return _few(source.rows(), self.points)
        moments, sample = source.moments(), source.sample()
        problem, sums = sample.problem, sample.classes
        if not self.points.chosen:
            return _one(moments, problem, self.points, sample.calibration, sums, self.asked)
        spectrum, V = _spectrum(moments, problem)
        if problem.reweighs and sums is None:
            sums = ClassSums(problem)
        path = _path(spectrum, V, moments, problem, self.points, sample.left, sums)
        rows = sample.calibration
        return _spectral(spectrum, V, moments, problem, self.points, rows, path, sums)


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
    codes, unit = codes_of_rows(problem, rows), b * problem.unit_weight(rows)
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
        views = [([View(whole.spectrum, points, whole.p)], every)]
    path, best = None, 0
    if points.chosen:
        tally = PointTally(problem, points)
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


def _row_views(problem: Problem, leaving: Leaving, points: Points) -> list[View]:
    """Every node of a class, seen from its rows: an n × n eigendecomposition for each."""
    found = []
    for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
        own = _RowSpectrum.of(problem.heavier(leaving.code, b))
        found.append(View(own.spectrum, points, take(own.p, leaving.rows), a, b, share))
    return found


def _view_residual(
    problem: Problem, points: Points, k: int, rows: np.ndarray, views: list[View]
) -> Array:
    """Residuals at one point."""
    group = next(g for g, (_, where) in enumerate(points.shared()) if k in where)
    codes, unit = codes_of_rows(problem, rows), problem.unit_weight(rows)
    return combined(views, group, codes, unit, points.lam[[k]], slice(0, len(rows)))[:, 0, :]


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
    tally = PointTally(problem, points)
    if sums is None:
        _add_rows(tally, problem, rows, [View(spectrum, points)], [V])
        return tally.path()
    for leaving in problem.leavings(rows):
        views, bases = [], []
        for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
            heavier = sums.heavier(moments, leaving.code, b)
            own, basis = (spectrum, V) if heavier is moments else _spectrum(heavier, problem)
            views.append(View(own, points, None, a, b, share))
            bases.append(basis)
        _add_rows(tally, problem, leaving.rows, views, bases)
    return tally.path()


def _add_rows(
    tally: "PointTally",
    problem: Problem,
    rows: np.ndarray | None,
    views: list[View],
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
