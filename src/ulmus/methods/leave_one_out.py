"""Rows left out one at a time of (G + Q) β = R, for any quadratic penalty Q.

With A = G + Q, ℓ = hᵀA⁻¹h and u the weight that a row loses, its residual without it is
(t − f)/(1 − uℓ). Where weights balance the classes (see ``balance``) the row's class weighs b times
as much without it, and so G gains (b − 1)Gₜ. Where the class has more rows than half the units that
is another h × h matrix to factor. Where it has few it is a matrix of low rank: with B = √cH of the
class and K = BA⁻¹Bᵀ, the new fitted values √cF are (I + (b − 1)K)⁻¹ of the old ones and the
leverages the diagonal of K(I + (b − 1)K)⁻¹.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, column_major, matmul
from ulmus.backends.namespace import (
    doubles,
    eps,
    from_numpy,
    namespace,
    put_rows,
    take,
    to_numpy,
    zeros,
)
from ulmus.balance import Leaving
from ulmus.methods.ridge_eigenbasis import Root, Spectrum, ridge_root
from ulmus.problem import Moments, Path, Problem
from ulmus.sources.source import ClassSums
from ulmus.targets import ClassTargets, coded, wrong
from ulmus.typing import Array

__all__ = ["QuadraticPenalty", "Tally", "left_out", "remainder", "residuals_of_few"]


def remainder(unit: Array, leverage: Array) -> Array:
    """1 − uℓ, which is not below rounding: a row that no other resembles has nothing left."""
    return namespace(leverage).clip(1.0 - unit * leverage, min=eps(leverage.dtype))


class QuadraticPenalty:
    """‖β‖²/2C. Another penalty has another root, or rows that take a part of it along."""

    # Whether rows are left out of G and R alone, and the penalty stays as it is.
    fixed = True

    def root(self, moments: Moments, problem: Problem, C: float) -> Root:
        """A^(−½)."""
        return ridge_root(moments, problem, C)

    def residuals(
        self, moments: Moments, problem: Problem, rows: np.ndarray, root: Root, b: float
    ) -> Array:
        """Residuals of ``rows`` that lose b times their unit, each left out of these moments."""
        frame = problem.frame(moments)
        H = doubles(problem.H.take(rows).all()) - frame.center
        W = root.whiten(column_major(H.T))
        F = frame.level + matmul(W.T, root.whiten(frame.cross))
        leverage = frame.share + namespace(W).sum(W**2, axis=0)
        T = coded(problem.targets, rows, F.dtype)
        return (T - F) / remainder(b * problem.unit_weight(rows), leverage)[:, None]


def left_out(
    problem: Problem,
    moments: Moments,
    C: float,
    rows: np.ndarray,
    penalty: QuadraticPenalty,
    root: Root,
    sums: ClassSums | None = None,
) -> Array:
    """Decision values of ``rows``, in ascending order, each left out at one C.

    ``root`` is A^(−½) with all rows, ``sums`` those of the classes if they are known.
    """
    if problem.reweighs:
        sums = ClassSums(problem) if sums is None else sums
        residual = _reweighted(problem, moments, C, rows, penalty, sums)
    else:
        residual = penalty.residuals(moments, problem, rows, root, 1.0)
    return coded(problem.targets, rows, residual.dtype) - residual


def _reweighted(
    problem: Problem,
    moments: Moments,
    C: float,
    rows: np.ndarray,
    penalty: QuadraticPenalty,
    sums: ClassSums,
) -> Array:
    """Residuals where a row that leaves changes the weights of its class."""
    residual = zeros((len(rows), problem.targets.outputs), moments.gram)
    cross = problem.frame(moments).cross
    roots: dict[float, tuple[Root, Array]] = {}
    for leaving in problem.leavings(rows):
        own = sums.rows(leaving.code) if penalty.fixed else None
        if own is not None and 2 * len(own) < problem.H.width:
            # Those of the class before are kept where they serve again.
            roots = {a: roots[a] for a, _ in leaving.nodes if a in roots}
            for a, _ in leaving.nodes:
                if a not in roots:
                    found = penalty.root(moments, problem, a * C)
                    roots[a] = found, found.whiten(cross)
            few = _Few(problem, leaving, own)
            white = [(roots[a][0].whiten(few.B.T), roots[a][1]) for a, _ in leaving.nodes]
            total = few.residuals([(W, matmul(W.T, right)) for W, right in white])
        else:
            total = 0.0
            for a, b, share in leaving.each():
                heavier = sums.heavier(moments, leaving.code, b)
                root = penalty.root(heavier, problem, a * C)
                part = penalty.residuals(heavier, problem, leaving.rows, root, b)
                total = total + from_numpy(share[:, None], part) * part
        put_rows(residual, np.searchsorted(rows, leaving.rows), total)
    return residual


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
    few, xp = _Few(problem, leaving, rows), namespace(basis.basis)
    P = matmul(basis.basis.T, few.B.T)
    for C in grid.tolist():
        inverses = [basis.inverse(a * C)[:, None] for a, _ in leaving.nodes]
        systems = [(xp.sqrt(w) * P, matmul((w * P).T, basis.cross)) for w in inverses]
        yield few.residuals(systems)


class Tally:
    """Sums of c·(squared error) and c·(wrong class) for every C, or pair of λ and C.

    They are over rows that were left out or held out; ``kind`` is as in `Path`.
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

    def path(self, roughness: np.ndarray | None = None) -> Path:
        """The mean errors."""
        classes = isinstance(self._problem.targets, ClassTargets)
        return Path(
            self._C,
            self._squared / self._weight,
            self._wrong / self._weight if classes else None,
            self._kind,
            int(self._rows[0]),
            self._lam,
            roughness,
        )
