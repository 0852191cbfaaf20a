"""Rows of a small class left out one at a time, where the weights of their class change.

A class that weighs b times as much (see ``balance``) adds (b − 1)Gₜ to A, a matrix of low rank.
With B = √cH of the class and K = BA⁻¹Bᵀ, the new fitted values √cF are (I + (b − 1)K)⁻¹ of the old
ones and the leverages the diagonal of K(I + (b − 1)K)⁻¹.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles, eps, from_numpy, namespace, take
from ulmus.balance import Leaving
from ulmus.methods.ridge_eigenbasis import Spectrum
from ulmus.problem import Problem
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["FewRows", "remainder", "residuals_of_few"]


def remainder(unit: Array, leverage: Array) -> Array:
    """1 − uℓ, which is not below rounding: a row that no other resembles has nothing left."""
    return namespace(leverage).clip(1.0 - unit * leverage, min=eps(leverage.dtype))


class FewRows:
    """A class with few rows, of which ``leaving`` are left out."""

    def __init__(self, problem: Problem, leaving: Leaving, rows: np.ndarray) -> None:
        part = problem.take(rows)
        every = slice(0, len(rows))
        H = doubles(part.H.all())
        self.root = namespace(H).sqrt(part.weight)[:, None]
        self.T, self.B = coded(part.targets, every, H.dtype), H * self.root
        self.unit = part.unit_weight(every) / part.weight
        self._at = np.searchsorted(rows, leaving.rows)
        self._leaving = leaving

    def residuals(self, systems: list[tuple[Array, Array]]) -> Array:
        """Residuals of the rows left out; a system is A^(−½)Bᵀ and BA⁻¹R at the node's a."""
        total: Any = 0.0
        for (W, F), (_, b, share) in zip(systems, self._leaving.each(), strict=True):
            F, leverage = self._heavier(W, F, b)
            rest = remainder(b * self.unit, leverage)
            residual = take((self.T - F / self.root) / rest[:, None], self._at)
            total = total + from_numpy(share[:, None], residual) * residual
        return total

    def _heavier(self, W: Array, F: Array, b: float) -> tuple[Array, Array]:
        """√cF and the leverages c hᵀA⁻¹h of the class once it weighs b times as much."""
        K = self_product(W.T)
        diagonal = namespace(W).linalg.diagonal(K)
        if b == 1.0:
            return F, diagonal
        factor = Cholesky(add_to_diagonal((b - 1.0) * K, 1.0), overwrite=True)
        F = factor.solve(F + (b - 1.0) * matmul(K, self.root * self.T))
        return F, diagonal - (b - 1.0) * factor.leverage(K)


def residuals_of_few(
    basis: Spectrum, problem: Problem, leaving: Leaving, rows: np.ndarray, grid: np.ndarray
) -> Iterator[Array]:
    """Residuals of a class with few rows, for one C after the other."""
    few, xp = FewRows(problem, leaving, rows), namespace(basis.basis)
    P = matmul(basis.basis.T, few.B.T)
    for C in grid.tolist():
        inverses = [basis.inverse(a * C)[:, None] for a, _ in leaving.nodes]
        systems = [(xp.sqrt(w) * P, matmul((w * P).T, basis.cross)) for w in inverses]
        yield few.residuals(systems)
