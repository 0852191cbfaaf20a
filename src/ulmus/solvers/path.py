"""The whole curve over C from one eigendecomposition, with the error of leaving rows out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import cast, eps, from_numpy, namespace, take, to_numpy, zeros
from ulmus.balance import Leaving
from ulmus.problem import Moments, Path, Problem, Solution
from ulmus.solvers.balanced import ClassSums, residuals_of_few
from ulmus.solvers.spectral import spectral
from ulmus.solvers.spectrum import Spectrum, spectrum
from ulmus.targets import ClassTargets, coded, wrong
from ulmus.typing import Array

__all__ = ["Tally", "loo_path", "primal_path"]

# An eigendecomposition of h × h costs as much as so many h³ of products.
_EIGEN = 8.0


def primal_path(
    problem: Problem,
    grid: np.ndarray,
    rows: np.ndarray | None,
    calibration: np.ndarray,
    moments: Moments | None = None,
    sums: ClassSums | None = None,
) -> Solution:
    """The best C of the grid by leaving out ``rows`` (None: all) one at a time.

    One eigendecomposition serves every C. A second pass takes each left-out
    row to the eigenbasis, p = Vᵀh, where its leverage is c Σ pⱼ²/(wⱼ + 1/C). Where weights balance
    the classes there is an eigendecomposition for each class, for its weights are its own.
    ``moments`` may hold more rows than ``problem``, and ``sums`` those of every class; None is
    those of ``problem``.
    """
    moments = problem.moments() if moments is None else moments
    basis = spectrum(moments, problem)
    if problem.reweighs and sums is None:
        sums = ClassSums(problem)
    path = loo_path(basis, moments, problem, grid, rows, sums)
    return spectral(basis, moments, problem, float(grid[path.best]), calibration, path, sums)


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
        for here, residual in _residuals([_System.of(basis, problem, grid)], problem, rows):
            tally.add(here, residual)
        return tally.path()
    sums = ClassSums(problem) if sums is None else sums
    for leaving in problem.leavings(rows):
        own = sums.rows(leaving.code)
        if own is not None and _are_few(len(own), problem.H.width, len(grid)):
            parts = residuals_of_few(basis, problem, leaving, own, grid)
            for k, residual in enumerate(parts):
                tally.add(leaving.rows, residual[:, None, :], slice(k, k + 1))
        else:
            systems = _systems(basis, moments, problem, grid, leaving, sums)
            for here, residual in _residuals(systems, problem, leaving.rows):
                tally.add(here, residual)
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
    weights: Array
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
        weights = shrink[:, :, None] * basis.cross[:, None, :]
        shift = (problem.H.offset - frame.center) @ basis.basis
        return cls(
            cast(basis.basis, dtype),
            cast(shift, dtype),
            cast(frame.level, dtype),
            cast(shrink, dtype),
            cast(xp.reshape(weights, (shrink.shape[0], -1)), dtype),
            frame.share,
            scale,
            share,
        )

    def residuals(self, h: Array, T: Array, unit: Array, out: Array) -> Array:
        """What is left over of hidden rows h (rows × C × m); ``out`` takes them in the basis."""
        xp = namespace(h)
        p = matmul(h, self.V, out)
        p += self.shift
        F = self.level + xp.reshape(matmul(p, self.weights), (h.shape[0], -1, T.shape[1]))
        p *= p
        leverage = self.leverage + matmul(p, self.shrink)
        rest = xp.clip(1.0 - self.scale * unit[:, None] * leverage, min=eps(F.dtype))
        return (T[:, None, :] - F) / rest[:, :, None]


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
    systems: list[_System], problem: Problem, rows: np.ndarray | None
) -> Iterator[tuple[Any, Array]]:
    """Rows (None: all) and what leaving each out leaves over, block by block."""
    H = problem.H if rows is None else problem.H.take(rows)
    xp, h = namespace(systems[0].V), systems[0].V.shape[0]
    P = xp.empty((min(H.size, len(H)), h), dtype=H.dtype, device=device_of(systems[0].V))
    for block, hidden in H.blocks():
        here = block if rows is None else rows[block]
        T = coded(problem.targets, here, H.dtype)
        unit = cast(problem.unit_weight(here), H.dtype)
        out = P[: hidden.shape[0], :]
        total = None
        for system in systems:
            residual = system.residuals(hidden, T, unit, out)
            if system.share is not None:
                residual *= cast(from_numpy(system.share[block], residual), H.dtype)[:, None, None]
            total = residual if total is None else total + residual
        yield here, total


class Tally:
    """Sums of c·(squared error) and c·(wrong class) for every C, over rows left out."""

    def __init__(self, problem: Problem, grid: np.ndarray) -> None:
        self._problem = problem
        self._grid = grid
        self._squared, self._wrong, self._weight = np.zeros((3, len(grid)))
        self._rows = 0

    def add(self, rows: Any, residual: Array, where: slice = slice(None)) -> None:
        """Count rows by what leaving each out leaves over (rows × C × m), at some of the C."""
        xp, weight = namespace(residual), self._problem.weight
        c = zeros(residual.shape[0], residual) + 1.0 if weight is None else take(weight, rows)
        self._squared[where] += to_numpy(c @ xp.sum(residual**2, axis=2, dtype=xp.float64))
        if isinstance(self._problem.targets, ClassTargets):
            T = coded(self._problem.targets, rows, residual.dtype)[:, None, :]
            self._wrong[where] += to_numpy(c @ xp.astype(wrong(T, T - residual), xp.float64))
        self._weight[where] += float(xp.sum(c))
        if where.start in (None, 0):
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
