"""Errors on rows that were left out or held out, summed at every point of a grid."""

from typing import Any

import numpy as np

from ulmus.backends.namespace import namespace, take, to_numpy, zeros
from ulmus.problem import ErrorPath, Problem
from ulmus.targets import ClassTargets, coded, wrong
from ulmus.typing import Array

__all__ = ["Tally"]


class Tally:
    """Sums of c·(squared error) and c·(wrong class) for every C, or pair of λ and C.

    They are over rows that were left out or held out; ``kind`` is as in `ErrorPath`.
    """

    def __init__(
        self, problem: Problem, C: np.ndarray, lam: np.ndarray | None = None, kind: str = "loo"
    ) -> None:
        self._problem, self._C, self._lam, self._kind = problem, C, lam, kind
        self._squared, self._wrong, self._weight, self._rows = np.zeros((4, len(C)))

    def add(self, rows: Any, where: Any, residual: Array) -> None:
        """Count rows by their residuals at some of the points (rows × points × m)."""
        xp, weight = namespace(residual), self._problem.weight
        c = zeros(residual.shape[0], residual) + 1.0 if weight is None else take(weight, rows)
        self._squared[where] += to_numpy(c @ xp.sum(residual**2, axis=2, dtype=xp.float64))
        if isinstance(self._problem.targets, ClassTargets):
            T = coded(self._problem.targets, rows, residual.dtype)[:, None, :]
            self._wrong[where] += to_numpy(c @ xp.astype(wrong(T, T - residual), xp.float64))
        self._weight[where] += float(xp.sum(c))
        self._rows[where] += residual.shape[0]

    def path(self, roughness: np.ndarray | None = None) -> ErrorPath:
        """The mean errors."""
        classes = isinstance(self._problem.targets, ClassTargets)
        return ErrorPath(
            self._C,
            self._squared / self._weight,
            self._wrong / self._weight if classes else None,
            self._kind,
            int(self._rows[0]),
            self._lam,
            roughness,
        )
