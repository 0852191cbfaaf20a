"""The error of leaving rows out at every point of a grid, from one eigendecomposition of G.

Hidden rows are taken to the eigenbasis block by block. Where weights balance the classes, a class
has an eigenbasis of its own for each node of its weights (see ``balance``), and the residuals of
its rows are sums over those.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from array_api_compat import device as device_of

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import cast, from_numpy, namespace
from ulmus.hidden import row_blocks, rows_at_once
from ulmus.methods.leave_one_out import Tally, remainder, residuals_of_few
from ulmus.methods.ridge_eigenbasis import Eigenbasis, Spectrum, spectrum
from ulmus.problem import Moments, Path, Problem
from ulmus.sources.source import ClassSums
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["Grid", "RidgeGrid", "System", "add_rows", "grid_parts", "loo_path"]

# An eigendecomposition of h × h costs as much as so many h³ of products.
_EIGEN = 8.0
# Columns of a product over outputs and C: more of them make it no faster.
_COLUMNS = 4096

# Residuals (rows × points × m) of a part of a block; its rows' numbers in the problem come second.
Residuals = Callable[[slice, Any], Array]


class System(Protocol):
    """An eigenbasis at many points, from which rows are left out."""

    @property
    def basis(self) -> Array:
        """V."""

    @property
    def center(self) -> Array:
        """What is taken off a hidden row before it is taken to the eigenbasis."""

    def rows(self, p: Array, numbers: Any, block: slice) -> Callable[[Any], Residuals]:
        """From points to residuals, for rows that are p in the eigenbasis."""


class Grid(Protocol):
    """The points to compare, under one penalty."""

    def tally(self, problem: Problem) -> Tally:
        """To count the errors of every point."""

    def eigenbasis(self, moments: Moments, problem: Problem) -> Any:
        """That of G, for every point."""

    def system(
        self,
        basis: Any,
        problem: Problem,
        a: float = 1.0,
        b: float = 1.0,
        share: np.ndarray | None = None,
    ) -> System:
        """C is a times as large, rows lose b times their unit, and ``share`` counts of each."""

    def parts(self, problem: Problem) -> Iterator[tuple[Any, int]]:
        """Points that are gone through together, and for how many rows at once."""

    def residuals_of_few(self, basis: Any, problem: Problem, leaving: Any, rows: Any) -> Any:
        """Residuals of a class by its few rows, for every C; None where that is not the way."""


def loo_path(
    grid: Grid,
    basis: Eigenbasis,
    moments: Moments,
    problem: Problem,
    rows: np.ndarray | None,
    sums: ClassSums | None = None,
) -> Path:
    """The exact leave-one-out error of every point on ``rows`` (None: all)."""
    tally = grid.tally(problem)
    if not problem.reweighs:
        _add_blocks(tally, grid, problem, rows, [grid.system(basis, problem)])
        return tally.path()
    sums = ClassSums(problem) if sums is None else sums
    for leaving in problem.leavings(rows):
        found = grid.residuals_of_few(basis, problem, leaving, sums.rows(leaving.code))
        if found is not None:
            for k, residual in enumerate(found):
                tally.add(leaving.rows, slice(k, k + 1), residual[:, None, :])
            continue
        systems = []
        for a, b, share in leaving.each():
            heavier = sums.heavier(moments, leaving.code, b)
            own = basis if heavier is moments else grid.eigenbasis(heavier, problem)
            systems.append(grid.system(own, problem, a, b, share))
        _add_blocks(tally, grid, problem, leaving.rows, systems)
    return tally.path()


def _add_blocks(
    tally: Tally, grid: Grid, problem: Problem, rows: np.ndarray | None, systems: list[System]
) -> None:
    """Count rows (None: all) block by block."""
    H = problem.H if rows is None else problem.H.take(rows)
    xp, like = namespace(systems[0].basis), systems[0].basis
    shape = (min(H.size, len(H)), like.shape[0])
    narrow = [
        (
            cast(system.basis, H.dtype),
            cast((H.offset - system.center) @ system.basis, H.dtype),
            xp.empty(shape, dtype=H.dtype, device=device_of(like)),
        )
        for system in systems
    ]
    for block, h in H.blocks():
        numbers = np.arange(block.start, block.stop) if rows is None else rows[block]
        seen = []
        for system, (V, shift, room) in zip(systems, narrow, strict=True):
            p = matmul(h, V, room[: h.shape[0], :])
            p += shift
            seen.append(system.rows(p, numbers, block))
        add_rows(tally, grid, problem, numbers, seen)


def add_rows(
    tally: Tally, grid: Grid, problem: Problem, numbers: Any, seen: list[Callable[[Any], Residuals]]
) -> None:
    """Count a block of rows at every point; their residuals are sums over the systems."""
    for where, size in grid.parts(problem):
        at = [rows(where) for rows in seen]
        for part in row_blocks(len(numbers), size):
            here = numbers[part]
            residual, *others = (one(part, here) for one in at)
            for other in others:
                residual += other
            tally.add(here, where, residual)


def grid_parts(grid: np.ndarray, height: int, outputs: int) -> Iterator[slice]:
    """Numbers of the C whose β, each height × outputs, are gone through together."""
    most = min(_COLUMNS // outputs, rows_at_once(height * outputs))
    return row_blocks(len(grid), max(1, most))


@dataclass(frozen=True)
class RidgeGrid:
    """Values of C for the plain ridge."""

    C: np.ndarray

    def tally(self, problem: Problem) -> Tally:
        """Over C."""
        return Tally(problem, self.C)

    def eigenbasis(self, moments: Moments, problem: Problem) -> Spectrum:
        """That of G."""
        return spectrum(moments, problem)

    def system(
        self,
        basis: Spectrum,
        problem: Problem,
        a: float = 1.0,
        b: float = 1.0,
        share: np.ndarray | None = None,
    ) -> "_RidgeSystem":
        """In the precision of the hidden rows."""
        shrink, cross, level = (
            cast(each, problem.H.dtype)
            for each in (basis.inverses(a * self.C), basis.cross, basis.frame.level)
        )
        return _RidgeSystem(basis, problem, shrink, cross, level, b, share)

    def parts(self, problem: Problem) -> Iterator[tuple[slice, int]]:
        """As many C as make a large product."""
        m = problem.targets.outputs
        for where in grid_parts(self.C, problem.H.width, m):
            yield where, rows_at_once(m * (where.stop - where.start))

    def residuals_of_few(self, basis: Spectrum, problem: Problem, leaving: Any, rows: Any) -> Any:
        """By matrices of the class's rows, one for each C, where they cost less than h × h."""
        if rows is None:
            return None
        part = len(rows) / problem.H.width
        if len(self.C) * (part**2 + part**3) >= _EIGEN:
            return None
        return residuals_of_few(basis, problem, leaving, rows, self.C)


@dataclass(frozen=True)
class _RidgeSystem:
    spectrum: Spectrum
    problem: Problem
    shrink: Array
    cross: Array
    level: Array
    b: float
    share: np.ndarray | None

    @property
    def basis(self) -> Array:
        return self.spectrum.basis

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
