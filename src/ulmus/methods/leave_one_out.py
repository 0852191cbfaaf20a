"""The whole curve over C from one eigendecomposition, with the error of leaving rows out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import cast, eps, from_numpy, namespace, take, to_numpy, zeros
from ulmus.balance import Leaving
from ulmus.hidden import row_blocks, rows_at_once
from ulmus.methods.balanced import residuals_of_few
from ulmus.methods.ridge_eigenbasis import Spectrum, spectrum
from ulmus.problem import Moments, Path, Problem
from ulmus.sources.source import ClassSums
from ulmus.targets import ClassTargets, coded, wrong
from ulmus.typing import Array

__all__ = ["Tally", "grid_parts", "loo_path"]

# An eigendecomposition of h × h costs as much as so many h³ of products.
_EIGEN = 8.0
# Columns of a product over outputs and C: more of them make it no faster.
_COLUMNS = 4096


def loo_path(
    basis: Spectrum,
    moments: Moments,
    problem: Problem,
    grid: np.ndarray,
    rows: np.ndarray | None,
    sums: ClassSums | None = None,
) -> Path:
    """The exact leave-one-out error of every C of the grid on ``rows`` (None: all)."""
    tally = Tally(problem, grid)
    if not problem.reweighs:
        tally.add_all(_residuals([_System.of(basis, problem, grid)], problem, grid, rows))
        return tally.path()
    sums = ClassSums(problem) if sums is None else sums
    for leaving in problem.leavings(rows):
        own = sums.rows(leaving.code)
        if own is not None and _are_few(len(own), problem.H.width, len(grid)):
            parts = residuals_of_few(basis, problem, leaving, own, grid)
            for k, residual in enumerate(parts):
                tally.add(leaving.rows, slice(k, k + 1), residual[:, None, :])
        else:
            systems = _systems(basis, moments, problem, grid, leaving, sums)
            tally.add_all(_residuals(systems, problem, grid, leaving.rows))
    return tally.path()


def _are_few(rows: int, units: int, grid: int) -> bool:
    """Whether matrices of the class's rows, one for each C, cost less than one of the units."""
    part = rows / units
    return grid * (part**2 + part**3) < _EIGEN


@dataclass(frozen=True)
class _System:
    """One eigenbasis as the blocks of H need it; ``scale`` is b, ``share`` what counts of it."""

    V: Array
    shift: Array
    level: Array
    shrink: Array
    cross: Array
    leverage: float
    scale: float = 1.0
    share: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        basis: Spectrum,
        problem: Problem,
        grid: np.ndarray,
        scale: float = 1.0,
        share: np.ndarray | None = None,
    ) -> "_System":
        """In the precision of the hidden rows."""
        xp, dtype, frame = namespace(basis.basis), problem.H.dtype, basis.frame
        shrink = xp.stack([basis.inverse(float(C)) for C in grid], axis=1)
        shift = (problem.H.offset - frame.center) @ basis.basis
        return cls(
            cast(basis.basis, dtype),
            cast(shift, dtype),
            cast(frame.level, dtype),
            cast(shrink, dtype),
            cast(basis.cross, dtype),
            frame.share,
            scale,
            share,
        )

    def weights(self, where: slice) -> Array:
        """β in the eigenbasis at some of the C (h × C·m)."""
        weights = self.shrink[:, where, None] * self.cross[:, None, :]
        return namespace(weights).reshape(weights, (self.shrink.shape[0], -1))

    def seeing(self, h: Array, unit: Array, rows: slice, out: Array) -> "_Seen":
        """Hidden rows h, of which ``rows`` are left out; ``out`` takes them in the basis."""
        xp = namespace(h)
        p = matmul(h, self.V, out)
        p += self.shift
        leverage = self.leverage + matmul(p**2, self.shrink)
        factor = 1.0 / xp.clip(1.0 - self.scale * unit[:, None] * leverage, min=eps(p.dtype))
        if self.share is not None:
            factor *= cast(from_numpy(self.share[rows], factor), factor.dtype)[:, None]
        return _Seen(p, self.level, factor)


@dataclass(frozen=True)
class _Seen:
    """Rows in an eigenbasis, and what leaving them out multiplies residuals by (rows × C)."""

    p: Array
    level: Array
    factor: Array

    def residuals(self, part: slice, where: slice, weights: Array, T: Array) -> Array:
        """What is left over of some rows at some of the C (rows × C × m)."""
        F = namespace(T).reshape(matmul(self.p[part, :], weights), (T.shape[0], -1, T.shape[1]))
        return ((T - self.level)[:, None, :] - F) * self.factor[part, where, None]


def _systems(
    basis: Spectrum,
    moments: Moments,
    problem: Problem,
    grid: np.ndarray,
    leaving: Leaving,
    sums: ClassSums,
) -> list[_System]:
    """The eigenbasis of every node of a class."""
    found = []
    for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
        heavier = sums.heavier(moments, leaving.code, b)
        own = basis if heavier is moments else spectrum(heavier, problem)
        found.append(_System.of(own, problem, a * grid, b, share))
    return found


def _residuals(
    systems: list[_System], problem: Problem, grid: np.ndarray, rows: np.ndarray | None
) -> Iterator[tuple[Any, slice, Array]]:
    """Rows (None: all), some of the C, and what leaving each row out leaves over (rows × C × m)."""
    H = problem.H if rows is None else problem.H.take(rows)
    xp, m, V = namespace(systems[0].V), problem.targets.outputs, systems[0].V
    shape = (min(H.size, len(H)), V.shape[0])
    room = [xp.empty(shape, dtype=H.dtype, device=device_of(V)) for _ in systems]
    for block, hidden in H.blocks():
        unit = cast(problem.unit_weight(_here(rows, block)), H.dtype)
        seen = [
            system.seeing(hidden, unit, block, out[: hidden.shape[0], :])
            for system, out in zip(systems, room, strict=True)
        ]
        for where in grid_parts(grid, V.shape[0], m):
            weights = [system.weights(where) for system in systems]
            width = m * (where.stop - where.start)
            for part in row_blocks(hidden.shape[0], rows_at_once(width)):
                here = _here(rows, slice(block.start + part.start, block.start + part.stop))
                T = coded(problem.targets, here, H.dtype)
                residual, *others = (
                    one.residuals(part, where, own, T)
                    for one, own in zip(seen, weights, strict=True)
                )
                for other in others:
                    residual += other
                yield here, where, residual


def grid_parts(grid: np.ndarray, height: int, outputs: int) -> Iterator[slice]:
    """Numbers of the C whose β, each height × outputs, are gone through together."""
    most = min(_COLUMNS // outputs, rows_at_once(height * outputs))
    return row_blocks(len(grid), max(1, most))


def _here(rows: np.ndarray | None, block: slice) -> Any:
    return block if rows is None else rows[block]


class Tally:
    """Sums of c·(squared error) and c·(wrong class) for every C, over rows left out."""

    def __init__(self, problem: Problem, grid: np.ndarray) -> None:
        self._problem = problem
        self._grid = grid
        self._squared, self._wrong, self._weight = np.zeros((3, len(grid)))
        self._rows = 0

    def add_all(self, parts: Iterator[tuple[Any, slice, Array]]) -> None:
        """Count one part after the other."""
        for part in parts:
            self.add(*part)

    def add(self, rows: Any, where: slice, residual: Array) -> None:
        """Count rows by what leaving each out leaves over at some of the C (rows × C × m)."""
        xp, weight = namespace(residual), self._problem.weight
        c = zeros(residual.shape[0], residual) + 1.0 if weight is None else take(weight, rows)
        self._squared[where] += to_numpy(c @ xp.sum(residual**2, axis=2, dtype=xp.float64))
        if isinstance(self._problem.targets, ClassTargets):
            T = coded(self._problem.targets, rows, residual.dtype)[:, None, :]
            self._wrong[where] += to_numpy(c @ xp.astype(wrong(T, T - residual), xp.float64))
        self._weight[where] += float(xp.sum(c))
        if where.start == 0:
            self._rows += int(residual.shape[0])

    def path(self) -> Path:
        """The mean errors."""
        classes = isinstance(self._problem.targets, ClassTargets)
        return Path(
            self._grid,
            self._squared / self._weight,
            self._wrong / self._weight if classes else None,
            "loo",
            self._rows,
        )
