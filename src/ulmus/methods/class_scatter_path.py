"""The left-out errors of the class scatter at every pair of λ and C."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.linalg import eigh, matmul
from ulmus.backends.namespace import doubles, from_numpy, take, zeros
from ulmus.hidden import rows_at_once
from ulmus.methods.leave_one_out import Tally
from ulmus.methods.loo_path import Residuals
from ulmus.methods.recoding import Classes, ClassSpectrum, Points
from ulmus.methods.ridge_eigenbasis import rounding_of
from ulmus.problem import Moments, Problem
from ulmus.targets import ClassTargets
from ulmus.typing import Array

__all__ = ["ScatterGrid", "codes_of_rows"]

# Residuals held at once, rows × λ × outputs: few enough to stay in the cache.
_RESIDUALS = 2**18


@dataclass(frozen=True)
class ScatterGrid:
    """Pairs of λ and C; those with one C(1 + λ) share a matrix."""

    points: Points

    def tally(self, problem: Problem) -> Tally:
        """Over the pairs."""
        return Tally(problem, self.points.C, self.points.lam)

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

    def residuals_of_few(self, basis: Any, problem: Problem, leaving: Any, rows: Any) -> None:
        """A row takes a part of the penalty along, whatever the size of its class."""


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
        p, codes = doubles(p), codes_of_rows(self.problem, numbers)
        squares, unit = p**2, self.b * self.problem.unit_weight(numbers)
        share = None if self.share is None else from_numpy(self.share[block], p)[:, None, None]

        def at(where: np.ndarray) -> Residuals:
            shared, lam = self.a * self.points.at(where[0])[0], self.points.lam[where]
            recoding, inverse = self.spectrum.recoding(shared), self.spectrum.inverse(shared)

            def residuals(part: slice, _: Any) -> Array:
                phi = matmul(p[part, :], recoding.weights)
                kappa = matmul(squares[part, :], inverse[:, None])[:, 0]
                found = recoding.left_out(phi, kappa, codes[part], unit[part], lam)
                return found if share is None else share[part, :, :] * found

            return residuals

        return at


def codes_of_rows(problem: Problem, rows: Any) -> Array:
    """The class of each row."""
    assert isinstance(problem.targets, ClassTargets)
    return take(problem.targets.codes, rows)
