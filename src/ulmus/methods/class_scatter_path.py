"""The left-out errors of the class scatter at every pair of λ and C."""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, from_numpy, take
from ulmus.hidden import row_blocks, rows_at_once
from ulmus.methods.leave_one_out import Tally
from ulmus.methods.recoding import ClassSpectrum, Points, Recoding
from ulmus.problem import Path, Problem
from ulmus.targets import ClassTargets
from ulmus.typing import Array

__all__ = ["PointTally", "View", "codes_of_rows", "combined"]

# Residuals held at once, rows × λ × outputs: few enough to stay in the cache.
_RESIDUALS = 2**18


class View:
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

    def seeing(self, p: Array, rows: slice) -> "View":
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


def combined(
    views: list[View], group: int, codes: Array, unit: Array, lam: np.ndarray, part: slice
) -> Array:
    """What all views together say."""
    first, *others = (view.residual(group, codes, unit, lam, part) for view in views)
    for other in others:
        first = first + other
    return first


class PointTally:
    """The errors of all points over rows left out, one C(1 + λ) after the other."""

    def __init__(self, problem: Problem, points: Points) -> None:
        self._problem, self._points = problem, points
        self._groups = [where for _, where in points.shared()]
        self._tallies = [Tally(problem, points.C[where]) for where in self._groups]

    def add(self, rows: np.ndarray, views: list[View]) -> None:
        """Count rows that the views see."""
        codes, unit = codes_of_rows(self._problem, rows), self._problem.unit_weight(rows)
        m = self._problem.targets.outputs
        for group, (where, tally) in enumerate(zip(self._groups, self._tallies, strict=True)):
            lam = self._points.lam[where]
            size = min(max(1, _RESIDUALS // (len(lam) * m)), rows_at_once(len(lam) * m))
            for part in row_blocks(len(rows), size):
                residual = combined(views, group, codes, unit, lam, part)
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


def codes_of_rows(problem: Problem, rows: Any) -> Array:
    """The class of each row."""
    assert isinstance(problem.targets, ClassTargets)
    return take(problem.targets.codes, rows)
