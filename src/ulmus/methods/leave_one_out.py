"""Rows left out one at a time of (G + Q) β = R, for any quadratic penalty Q.

With A = G + Q, ℓ = hᵀA⁻¹h and u the weight that a row loses, its residual without it is
(t − f)/(1 − uℓ). At one point A has a root; for a grid of points G has an eigenbasis, to which
hidden rows are taken block by block. Where weights balance the classes (see ``balance``) a class
has a matrix of its own for each node of its weights, and the residuals of its rows are sums over
those.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from array_api_compat import device as device_of

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, column_major, matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    eps,
    from_numpy,
    namespace,
    put_rows,
    take,
    zeros,
)
from ulmus.balance import Leaving
from ulmus.hidden import row_blocks, rows_at_once
from ulmus.methods.ridge_eigenbasis import Root, Spectrum, ridge_root, spectrum
from ulmus.problem import ErrorPath, Moments, Problem, Tally
from ulmus.sources.source import ClassSums
from ulmus.targets import coded
from ulmus.typing import Array

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


@dataclass(frozen=True)
class QuadraticPenalty:
    """‖β‖²/2C for every C of a grid.

    Another penalty has another root or eigenbasis. One of which rows take a part along, so that
    it is not ``fixed``, has residuals of its own.
    """

    C: np.ndarray
    fixed: ClassVar[bool] = True

    def point(self, k: int) -> tuple[float, float | None]:
        """C and λ of one point; None where there is no λ."""
        return float(self.C[k]), None

    def strength(self, k: int) -> float:
        """One over the ridge at one point."""
        return float(self.C[k])

    def only(self, k: int) -> Self:
        """At one point alone."""
        return replace(self, C=self.C[[k]])

    def coef(self, moments: Moments, problem: Problem, root: Root) -> tuple[Array, Array]:
        """β and b at the only point, from A^(−½)."""
        frame = problem.frame(moments)
        coef = root.solve(frame.cross)
        return coef, frame.intercept(coef)

    def root(self, moments: Moments, problem: Problem, C: float) -> Root:
        """A^(−½) at one C."""
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

    def tally(self, problem: Problem) -> Tally:
        """To count the errors of every point."""
        return Tally(problem, self.C)

    def eigenbasis(self, moments: Moments, problem: Problem) -> Any:
        """That of G, for all points."""
        return spectrum(moments, problem)

    def system(
        self,
        basis: Any,
        problem: Problem,
        a: float = 1.0,
        b: float = 1.0,
        share: np.ndarray | None = None,
    ) -> System:
        """C is a times as large, rows lose b times their unit, and ``share`` counts of each."""
        shrink, cross, level = (
            cast(each, problem.H.dtype)
            for each in (basis.inverses(a * self.C), basis.cross, basis.frame.level)
        )
        return _RidgeSystem(basis, problem, shrink, cross, level, b, share)

    def parts(self, problem: Problem) -> Iterator[tuple[Any, int]]:
        """Points that are gone through together, and for how many rows at once."""
        m = problem.targets.outputs
        for where in grid_parts(self.C, problem.H.width, m):
            yield where, rows_at_once(m * (where.stop - where.start))


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
            few = FewRows(problem, leaving, own)
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


def loo_path(
    penalty: QuadraticPenalty,
    basis: Any,
    moments: Moments,
    problem: Problem,
    rows: np.ndarray | None,
    sums: ClassSums | None = None,
) -> ErrorPath:
    """The exact leave-one-out error of every point on ``rows`` (None: all)."""
    tally = penalty.tally(problem)
    if not problem.reweighs:
        _add_blocks(tally, penalty, problem, rows, [penalty.system(basis, problem)])
        return tally.path()
    sums = ClassSums(problem) if sums is None else sums
    for leaving in problem.leavings(rows):
        own = sums.rows(leaving.code) if penalty.fixed else None
        if own is not None and _are_few(len(own), problem.H.width, len(penalty.C)):
            found = residuals_of_few(basis, problem, leaving, own, penalty.C)
            for k, residual in enumerate(found):
                tally.add(leaving.rows, slice(k, k + 1), residual[:, None, :])
            continue
        systems = []
        for a, b, share in leaving.each():
            heavier = sums.heavier(moments, leaving.code, b)
            node = basis if heavier is moments else penalty.eigenbasis(heavier, problem)
            systems.append(penalty.system(node, problem, a, b, share))
        _add_blocks(tally, penalty, problem, leaving.rows, systems)
    return tally.path()


def _are_few(rows: int, units: int, grid: int) -> bool:
    """Whether matrices of the class's rows, one for each C, cost less than one of the units."""
    part = rows / units
    return grid * (part**2 + part**3) < _EIGEN


def _add_blocks(
    tally: Tally,
    penalty: QuadraticPenalty,
    problem: Problem,
    rows: np.ndarray | None,
    systems: list[System],
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
        add_rows(tally, penalty, problem, numbers, seen)


def add_rows(
    tally: Tally,
    penalty: QuadraticPenalty,
    problem: Problem,
    numbers: Any,
    seen: list[Callable[[Any], Residuals]],
) -> None:
    """Count a block of rows at every point; their residuals are sums over the systems."""
    for where, size in penalty.parts(problem):
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


def remainder(unit: Array, leverage: Array) -> Array:
    """1 − uℓ, which is not below rounding: a row that no other resembles has nothing left."""
    return namespace(leverage).clip(1.0 - unit * leverage, min=eps(leverage.dtype))


class FewRows:
    """A class with few rows, of which ``leaving`` are left out.

    A class that weighs b times as much adds (b − 1)Gₜ to A, a matrix of low rank. With B = √cH of
    the class and K = BA⁻¹Bᵀ, the new fitted values √cF are (I + (b − 1)K)⁻¹ of the old ones and the
    leverages the diagonal of K(I + (b − 1)K)⁻¹.
    """

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
