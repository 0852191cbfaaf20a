"""The within-class scatter as a penalty: rows take a part of their class mean along.

``recoding`` has the formulas.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ulmus.backends.linalg import column_major, eigh, matmul
from ulmus.backends.namespace import doubles, from_numpy, namespace, take, zeros
from ulmus.hidden import rows_at_once
from ulmus.methods.leave_one_out import QuadraticPenalty, Residuals
from ulmus.methods.recoding import Classes, ClassSpectrum, Points, Recoding
from ulmus.methods.ridge_eigenbasis import Root, rounding_of
from ulmus.methods.tally import Tally
from ulmus.problem import Moments, Problem
from ulmus.targets import ClassTargets
from ulmus.typing import Array

__all__ = ["ScatterPenalty", "recoding"]

# Residuals held at once, rows × λ × outputs: few enough to stay in the cache.
_RESIDUALS = 2**18


@dataclass(frozen=True)
class ScatterPenalty(QuadraticPenalty):
    """Pairs of λ and C; those with one C(1 + λ), which stands for C here, share a matrix."""

    lam: np.ndarray
    fixed: ClassVar[bool] = False

    @classmethod
    def of(cls, points: Points) -> "ScatterPenalty":
        """At all points."""
        return cls(points.C, points.lam)

    @property
    def points(self) -> Points:
        """The pairs."""
        return Points(self.lam, self.C)

    def residuals(
        self, moments: Moments, problem: Problem, rows: np.ndarray, root: Root, b: float
    ) -> Array:
        """Residuals of ``rows`` that lose b times their unit, each left out of these moments."""
        at, H = recoding(moments, root), doubles(problem.H.take(rows).all())
        kappa = namespace(H).sum(root.whiten(column_major(H.T)) ** 2, axis=0)
        codes, unit = _codes(problem, rows), b * problem.unit_weight(rows)
        return at.left_out(matmul(H, at.weights), kappa, codes, unit, self.lam)[:, 0, :]

    def tally(self, problem: Problem) -> Tally:
        """Over the pairs."""
        return Tally(problem, self.C, self.lam)

    def eigenbasis(self, moments: Moments, problem: Problem) -> ClassSpectrum:
        """That of G, and the class means in it."""
        w, V = eigh(moments.gram)
        classes = Classes.of(matmul(V.T, moments.cross), moments.energy)
        return ClassSpectrum(w, V, rounding_of(moments, V), classes)

    def system(
        self,
        basis: ClassSpectrum,
        problem: Problem,
        a: float = 1.0,
        b: float = 1.0,
        share: np.ndarray | None = None,
    ) -> "_ScatterSystem":
        """In double precision."""
        return _ScatterSystem(basis, problem, self.points, a, b, share)

    def parts(self, problem: Problem) -> Iterator[tuple[np.ndarray, int]]:
        """The pairs that share a matrix."""
        for where in self.points.shared():
            width = len(where) * problem.targets.outputs
            yield where, min(max(1, _RESIDUALS // width), rows_at_once(width))


def recoding(moments: Moments, root: Root) -> Recoding:
    """Θ from some root of K⁻¹."""
    classes = Classes.of(moments.cross, moments.energy)
    return Recoding.of(root.solve(classes.M), classes)


@dataclass(frozen=True)
class _ScatterSystem:
    spectrum: ClassSpectrum
    problem: Problem
    points: Points
    a: float
    b: float
    share: np.ndarray | None

    @property
    def basis(self) -> Array:
        return self.spectrum.basis

    @property
    def center(self) -> Array:
        return zeros(self.basis.shape[0], self.basis)

    def rows(self, p: Array, numbers: Any, block: slice) -> Callable[[Any], Residuals]:
        p, codes = doubles(p), _codes(self.problem, numbers)
        squares, unit = p**2, self.b * self.problem.unit_weight(numbers)
        share = None if self.share is None else from_numpy(self.share[block], p)[:, None, None]

        def at(where: np.ndarray) -> Residuals:
            shared, lam = self.a * self.points.at(where[0])[0], self.points.lam[where]
            at_C, inverse = self.spectrum.recoding(shared), self.spectrum.inverse(shared)

            def residuals(part: slice, _: Any) -> Array:
                phi = matmul(p[part, :], at_C.weights)
                kappa = matmul(squares[part, :], inverse[:, None])[:, 0]
                found = at_C.left_out(phi, kappa, codes[part], unit[part], lam)
                return found if share is None else share[part, :, :] * found

            return residuals

        return at


def _codes(problem: Problem, rows: Any) -> Array:
    """The class of each row."""
    assert isinstance(problem.targets, ClassTargets)
    return take(problem.targets.codes, rows)
