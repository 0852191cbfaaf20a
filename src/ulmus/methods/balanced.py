"""Rows left out one at a time where the weights of their class change with it (see ``balance``).

A class weighs b times as much, and so G gains (b − 1)Gₜ. Where its rows outnumber half the units
that is another h × h matrix to factor. Where they are few it is a matrix of low rank: with
B = √cH of the class and K = BA⁻¹Bᵀ, the new fitted values √cF are (I + (b − 1)K)⁻¹ of the old ones
and the leverages the diagonal of K(I + (b − 1)K)⁻¹.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles, from_numpy, namespace, put_rows, take, zeros
from ulmus.balance import Leaving
from ulmus.methods.ridge_eigenbasis import Spectrum, sound_factor, spectrum
from ulmus.problem import Moments, Problem
from ulmus.sources.source import ClassSums
from ulmus.targets import coded
from ulmus.typing import Array

__all__ = ["Root", "left_out_at", "residuals_of_few", "ridge_root"]

_EPS = float(np.finfo(float).eps)


class Root(Protocol):
    """Some A^(−½): ‖whiten(b)‖² = bᵀA⁻¹b."""

    def solve(self, B: Array) -> Array:
        """A⁻¹B."""

    def whiten(self, B: Array) -> Array:
        """A^(−½)B."""


def _unit_block(W: Array, F: Array, S: Array, b: float) -> tuple[Array, Array]:
    """√cF and the leverages c hᵀA⁻¹h of a class that weighs b times as much.

    W is A^(−½)Bᵀ, F = BA⁻¹R and S = √cT, all at b = 1.
    """
    K = self_product(W.T)
    diagonal = namespace(W).linalg.diagonal(K)
    if b == 1.0:
        return F, diagonal
    factor = Cholesky(add_to_diagonal((b - 1.0) * K, 1.0), overwrite=True)
    F = factor.solve(F + (b - 1.0) * matmul(K, S))
    return F, diagonal - (b - 1.0) * factor.leverage(K)


class _Few:
    """A class with few rows."""

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
        """What is left over of each row; a system is A^(−½)Bᵀ and BA⁻¹R at the node's a."""
        total: Any = 0.0
        nodes = zip(systems, self._leaving.nodes, self._leaving.share.T, strict=True)
        for (W, F), (_, b), share in nodes:
            F, leverage = _unit_block(W, F, self.root * self.T, b)
            rest = namespace(F).clip(1.0 - b * self.unit * leverage, min=_EPS)
            residual = take((self.T - F / self.root) / rest[:, None], self._at)
            total = total + from_numpy(share[:, None], residual) * residual
        return total


def residuals_of_few(
    basis: Spectrum, problem: Problem, leaving: Leaving, rows: np.ndarray, grid: np.ndarray
) -> Iterator[Array]:
    """Residuals of a class with few rows, for one C after the other."""
    few, xp = _Few(problem, leaving, rows), namespace(basis.basis)
    P = matmul(basis.basis.T, few.B.T)
    for C in grid.tolist():
        inverses = [basis.inverse(a * C)[:, None] for a, _ in leaving.nodes]
        systems = [(xp.sqrt(w) * P, matmul((w * P).T, basis.cross)) for w in inverses]
        yield few.residuals(systems)


def ridge_root(moments: Moments, problem: Problem, C: float) -> Root:
    """(G + I/C)^(−½), by the eigenbasis where rounding is as large as 1/C."""
    factor = sound_factor(moments.gram, C)
    return spectrum(moments, problem).root(C) if factor is None else factor


def left_out_at(
    problem: Problem,
    moments: Moments,
    C: float,
    rows: np.ndarray,
    sums: ClassSums | None = None,
    root: Callable[[Moments, Problem, float], Root] = ridge_root,
) -> Array:
    """Decision values of ``rows``, in ascending order, each left out at one C."""
    sums = ClassSums(problem) if sums is None else sums
    T = coded(problem.targets, rows, moments.gram.dtype)
    loo, h, cross = zeros(T.shape, T), problem.H.width, problem.frame(moments).cross
    roots: dict[float, tuple[Root, Array]] = {}
    for leaving in problem.leavings(rows):
        own = sums.rows(leaving.code)
        if own is not None and 2 * len(own) < h:
            # Those of the class before are kept where they serve again.
            roots = {a: roots[a] for a, _ in leaving.nodes if a in roots}
            for a, _ in leaving.nodes:
                if a not in roots:
                    found = root(moments, problem, a * C)
                    roots[a] = found, found.whiten(cross)
            few = _Few(problem, leaving, own)
            white = [(roots[a][0].whiten(few.B.T), roots[a][1]) for a, _ in leaving.nodes]
            residual = few.residuals([(W, matmul(W.T, right)) for W, right in white])
        else:
            residual = _residuals_of_many(problem, moments, C, leaving, sums, root)
        place = np.searchsorted(rows, leaving.rows)
        put_rows(loo, place, take(T, place) - residual)
    return loo


def _residuals_of_many(
    problem: Problem,
    moments: Moments,
    C: float,
    leaving: Leaving,
    sums: ClassSums,
    root: Callable[[Moments, Problem, float], Root],
) -> Array:
    """Residuals of some rows of a class with many, from one factorisation for each node."""
    total: Any = 0.0
    H = doubles(problem.H.take(leaving.rows).all())
    T, unit = coded(problem.targets, leaving.rows, H.dtype), problem.unit_weight(leaving.rows)
    for (a, b), share in zip(leaving.nodes, leaving.share.T, strict=True):
        heavier = sums.heavier(moments, leaving.code, b)
        system = root(heavier, problem, a * C)
        W = system.whiten(H.T)
        F, xp = matmul(W.T, system.whiten(problem.frame(heavier).cross)), namespace(W)
        rest = xp.clip(1.0 - b * unit * xp.sum(W**2, axis=0), min=_EPS)
        total = total + from_numpy(share[:, None], F) * (T - F) / rest[:, None]
    return total
