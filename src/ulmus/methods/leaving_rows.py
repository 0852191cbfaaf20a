"""Rows left out in row space where the weights of their class change with it (see ``balance``).

A class that weighs b times as much is one whose ridge falls from r to r/b. With Q its block of
(K + rI)⁻¹ and θ = r(1 − 1/b), the block becomes Q(I − θQ)⁻¹ and its part of α (I − θQ)⁻¹α.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import from_numpy, namespace, put_rows, take, to_numpy, zeros
from ulmus.methods.ridge_eigenbasis import ridge
from ulmus.problem import Problem
from ulmus.typing import Array

__all__ = ["Decomposed", "Factored", "all_reweighted", "reweighted"]

_EPS = float(np.finfo(float).eps)


class Factored:
    """(K + r)⁻¹ and α, from a Cholesky factorisation for each r."""

    def __init__(self, K: Array, S: Array) -> None:
        self._K, self._S = K, S
        self._found: dict[float, tuple[Array, Array]] = {}

    def among(self, rows: np.ndarray) -> Callable[[float], "_Block"]:
        """The block of some rows, as a function of C."""
        return lambda C: self._block(rows, 1.0 / C)

    def _block(self, rows: np.ndarray, r: float) -> "_Block":
        if r not in self._found:
            factor = Cholesky(add_to_diagonal(self._K, r), overwrite=True)
            self._found = {r: (factor.inverse(), factor.solve(self._S))}
        inverse, alpha = self._found[r]
        return _Block(take(take(inverse, rows), rows, axis=1), take(alpha, rows), r)


class Decomposed:
    """The same from an eigendecomposition, Z being UᵀS."""

    def __init__(self, w: Array, U: Array, Z: Array, rounding: float = 0.0) -> None:
        self._w, self._U, self._Z, self._rounding = w, U, Z, rounding

    def among(self, rows: np.ndarray) -> Callable[[float], "_Block"]:
        """The block of some rows, as a function of C."""
        U = take(self._U, rows)
        return lambda C: self._block(U, float(ridge(self._w, C, self._rounding)))

    def _block(self, U: Array, r: float) -> "_Block":
        xp = namespace(U)
        shrink = 1.0 / (xp.clip(self._w, min=0.0) + r)
        return _Block(self_product(U * xp.sqrt(shrink)), matmul(U * shrink, self._Z), r)


@dataclass(frozen=True)
class _Block:
    """A class's block of (K + rI)⁻¹, and its part of α."""

    Q: Array
    alpha: Array
    r: float

    def heavier(self, b: float) -> tuple[Array, Array]:
        """α, and the diagonal of the inverse, once the class weighs b times as much."""
        xp, less = namespace(self.Q), self.r * (1.0 - 1.0 / b)
        diagonal = xp.linalg.diagonal(self.Q)
        if less == 0.0:
            return self.alpha, diagonal
        factor = Cholesky(add_to_diagonal(-less * self.Q, 1.0), overwrite=True)
        return factor.solve(self.alpha), diagonal + less * factor.leverage(self.Q)


def reweighted(
    problem: Problem, inverse: Factored | Decomposed, root: Array, grid: np.ndarray
) -> Iterator[tuple[np.ndarray, int, Array]]:
    """Rows, the number of a C, and what leaving each row out leaves over; ``root`` is √c."""
    codes, every = to_numpy(problem.targets.array), slice(0, len(problem.targets))
    part = problem.unit_weight(every) / root[:, 0] ** 2
    for leaving in problem.leavings():
        own = np.flatnonzero(codes == leaving.code)
        place, block = np.searchsorted(own, leaving.rows), inverse.among(own)
        for k, C in enumerate(grid.tolist()):
            residual: Any = 0.0
            for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
                found = block(a * C)
                alpha, diagonal = found.heavier(b)
                rest = (1.0 - take(part, own)) * b / found.r + take(part, own) * diagonal
                # Nothing is left of a row that no other row says anything about.
                rest = namespace(rest).maximum(rest, _EPS * diagonal)
                left = take(alpha / (rest[:, None] * take(root, own)), place)
                residual = residual + from_numpy(share[:, None], left) * left
            yield leaving.rows, k, residual


def all_reweighted(
    problem: Problem, inverse: Factored | Decomposed, root: Array, C: float
) -> Array:
    """The residuals of all rows at one C."""
    residual = zeros((len(problem.targets), problem.targets.outputs), root)
    for rows, _, found in reweighted(problem, inverse, root, np.array([C])):
        put_rows(residual, rows, found)
    return residual
