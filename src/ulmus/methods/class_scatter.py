"""GELM: ridge with the within-class scatter, every λ and C for little more than plain ridge.

``scatter_penalty`` has the formulas.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ulmus.backends.linalg import eigh, matmul
from ulmus.backends.namespace import namespace, put_rows, take, zeros
from ulmus.methods.leave_one_out import Residuals, add_rows
from ulmus.methods.ridge import solved
from ulmus.methods.ridge_eigenbasis import sound
from ulmus.methods.row_space import RowSpace, row_space
from ulmus.methods.scatter_penalty import Classes, ClassSpectrum, ScatterPenalty
from ulmus.problem import Problem, Solution
from ulmus.sources.source import Source
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["ClassScatter", "Points"]

_EPS, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Points:
    """Pairs of λ and C to choose from; one pair is taken as it is unless ``chosen``."""

    lam: np.ndarray
    C: np.ndarray
    chosen: bool = True


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
    def penalty(self) -> ScatterPenalty:
        """At every pair."""
        return ScatterPenalty(self.points.C, self.points.lam)

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
            return _few(source.rows(), self.penalty, self.chooses)
        return solved(self.penalty, source, self.chooses, self.asked)


@dataclass(frozen=True)
class _RowSpectrum:
    """√cH = U diag(√w) Vᵀ with fewer rows than units; p are the rows in the basis V."""

    spectrum: ClassSpectrum
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
        return cls(ClassSpectrum(w, U, 0.0, classes), lengths, rows)

    @property
    def p(self) -> Array:
        """The rows in the basis."""
        return self.spectrum.basis * self.lengths / self.rows.root

    def coef(self, shared: float, lam: float) -> Array:
        """β at one point."""
        w, U = self.spectrum.values, self.spectrum.basis
        kept = sound(w, self.spectrum.ridge(shared)) / self.lengths
        coef = self.spectrum.recoding(shared).coef(lam) * kept[:, None]
        return self.rows.coef(matmul(U, coef))


def _few(problem: Problem, penalty: ScatterPenalty, chooses: bool) -> Solution:
    """With fewer rows than units, in the span of the rows."""
    whole = _RowSpectrum.of(problem)
    parts, path, best = list(_leaving(penalty, whole, problem)), None, 0
    if chooses:
        tally = penalty.tally(problem)
        for own, seen in parts:
            add_rows(tally, penalty, problem, own, seen)
        path = tally.path()
        best = path.best
    every = np.arange(len(problem.H))
    loo = coded(problem.targets, every, whole.p.dtype)
    for own, seen in parts:
        found = sum(at(np.array([best]))(slice(0, len(own)), own)[:, 0, :] for at in seen)
        put_rows(loo, own, take(loo, own) - found)
    C, lam = penalty.point(best)
    coef = whole.coef(penalty.strength(best), lam)
    zero = zeros(coef.shape[1], coef)
    return Solution(coef, zero, C, "spectral", every, loo, path, None, lam)


def _leaving(
    penalty: ScatterPenalty, whole: _RowSpectrum, problem: Problem
) -> Iterator[tuple[np.ndarray, list[Callable[[Any], Residuals]]]]:
    """Rows, and from points to their residuals.

    Where weights balance the classes, every node of a class is an n × n eigendecomposition.
    """
    if not problem.reweighs:
        every, system = np.arange(len(problem.H)), penalty.system(whole.spectrum, problem)
        yield every, [system.rows(whole.p, every, slice(None))]
        return
    for leaving in problem.leavings():
        own, seen = leaving.rows, []
        for a, b, share in leaving.each():
            node = _RowSpectrum.of(problem.heavier(leaving.code, b))
            system = penalty.system(node.spectrum, problem, a, b, share)
            seen.append(system.rows(take(node.p, own), own, slice(None)))
        yield own, seen
