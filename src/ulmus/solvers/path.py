"""The whole curve over C from one eigendecomposition, with the error of leaving rows out."""

import numpy as np
from array_api_compat import device as device_of

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import eps, namespace, take, to_numpy, zeros
from ulmus.problem import Moments, Path, Problem, Solution
from ulmus.solvers.spectrum import Spectrum, spectral, spectrum
from ulmus.targets import ClassTargets, coded, wrong
from ulmus.typing import Array

__all__ = ["Tally", "loo_path", "primal_path"]


def primal_path(
    problem: Problem,
    grid: np.ndarray,
    rows: np.ndarray | None,
    calibration: np.ndarray,
    moments: Moments | None = None,
) -> Solution:
    """The best C of the grid by leaving out ``rows`` (None: all) one at a time.

    One eigendecomposition serves every C. A second pass takes each left-out
    row to the eigenbasis, p = Vᵀh, where its leverage is c Σ pⱼ²/(wⱼ + 1/C).
    ``moments`` may hold more rows than ``problem``; None is those of ``problem``.
    """
    moments = problem.moments() if moments is None else moments
    basis = spectrum(moments, problem)
    path = loo_path(basis, problem, grid, rows)
    return spectral(basis, moments, problem, float(grid[path.best]), calibration, path)


def loo_path(basis: Spectrum, problem: Problem, grid: np.ndarray, rows: np.ndarray | None) -> Path:
    """The exact leave-one-out error of every C of the grid on ``rows`` (None: all)."""
    H = problem.H if rows is None else problem.H.take(rows)
    dtype = H.dtype
    xp = namespace(basis.basis)
    V = xp.astype(basis.basis, dtype, copy=False)
    frame = basis.frame
    shift = xp.astype((H.offset - frame.center) @ basis.basis, dtype)
    level = xp.astype(frame.level, dtype)
    shrink = xp.stack([basis.inverse(float(C)) for C in grid], axis=1)
    weights = xp.reshape(shrink[:, :, None] * basis.cross[:, None, :], (V.shape[0], -1))
    shrink, weights = xp.astype(shrink, dtype), xp.astype(weights, dtype)
    tally = Tally(problem, grid)
    P = xp.empty((min(H.size, len(H)), V.shape[0]), dtype=dtype, device=device_of(V))
    for block, h in H.blocks():
        p = matmul(h, V, P[: h.shape[0], :])
        p += shift
        F = level + xp.reshape(matmul(p, weights), (h.shape[0], len(grid), -1))
        p *= p
        leverage = frame.share + matmul(p, shrink)
        tally.add(block if rows is None else rows[block], F, leverage)
    return tally.path()


class Tally:
    """Sums of c·(squared error) and c·(wrong class) for every C, over rows left out."""

    def __init__(self, problem: Problem, grid: np.ndarray) -> None:
        self._problem = problem
        self._grid = grid
        self._squared = np.zeros(len(grid))
        self._wrong = np.zeros(len(grid))
        self._weight = 0.0
        self._rows = 0

    def add(self, rows: object, F: Array, leverage: Array) -> None:
        """Count rows by their fitted values F (rows × C × m) and leverages (rows × C)."""
        T = coded(self._problem.targets, rows, F.dtype)[:, None, :]
        xp = namespace(F)
        unit = xp.astype(self._problem.unit_weight(rows), F.dtype)[:, None]
        rest = xp.clip(1.0 - unit * leverage, min=eps(F.dtype))[:, :, None]
        self.add_residuals(rows, T, (T - F) / rest)

    def add_residuals(self, rows: object, T: Array, residual: Array) -> None:
        """Count rows by what leaving each out leaves over."""
        xp, weight = namespace(residual), self._problem.weight
        c = zeros(residual.shape[0], residual) + 1.0 if weight is None else take(weight, rows)
        self._squared += to_numpy(c @ xp.sum(residual**2, axis=2, dtype=xp.float64))
        if isinstance(self._problem.targets, ClassTargets):
            self._wrong += to_numpy(c @ xp.astype(wrong(T, T - residual), xp.float64))
        self._weight += float(xp.sum(c))
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
