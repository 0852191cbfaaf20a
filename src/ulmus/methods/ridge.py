"""Ridge: ½ Σ c‖t − hβ − b‖² + (1/2C)‖β‖², with C given or chosen by exact leave-one-out.

From sums it takes an h × h matrix: a Cholesky factor for one C, one eigenbasis for all of them.
From rows that are fewer than units it takes an n × n one (see `dual`).

From sums, rows are left out one at a time of (G + Q) β = R for any quadratic penalty Q; hidden rows
are transformed to the eigenbasis block by block. With balanced class weights (see ``balance``) a
class has a matrix of its own for each node of its weights, and the residuals of its rows are sums
over the nodes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from array_api_compat import device as device_of

from ulmus.arguments import is_number, limits, numbers_of
from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    from_numpy,
    is_numpy,
    namespace,
    put_rows,
    take,
    zeros,
)
from ulmus.balance import Leaving
from ulmus.exceptions import InvalidParameterError
from ulmus.hidden import row_blocks
from ulmus.methods.dual import dual, dual_path
from ulmus.methods.quadratic_penalty import (
    NO_RIDGE,
    QuadraticPenalty,
    Residuals,
    Root,
    Spectrum,
    System,
    remainder,
    warn_of_rounding,
)
from ulmus.problem import ErrorPath, Moments, Problem, Solution, Tally
from ulmus.sources.source import AtHand, Sample, Source
from ulmus.sources.sums import ClassSums
from ulmus.targets import coded
from ulmus.typing import Array

# Half a decade apart: around the best C the error is flat over more than that.
DEFAULT_GRID = np.logspace(-4, 8, 25)
# Cost of an h × h eigendecomposition, in units of h³ operations of products.
_EIGEN = 8.0
# Most residuals of calibration rows that are kept while C is chosen: 32 MB.
_KEPT = 2**22


class Method(Protocol):
    """A frozen value that finds the output weights from any source of rows.

    ``parameters`` names what it is given or chooses, as a `Solution` has it.
    """

    parameters: ClassVar[tuple[str, ...]]

    @property
    def chooses(self) -> bool:
        """Whether some of the parameters are to be chosen by leaving rows out."""

    @property
    def needs_rows(self) -> bool:
        """Whether it can do nothing with sums alone."""

    def fit(self, source: Source) -> Solution:
        """The output weights, and the outputs of rows left out."""

    def at(self, **values: float) -> Self:
        """The same with parameters that were chosen before."""

    def compared(self) -> Self:
        """The same with a left-out error even where there is nothing to choose."""


@dataclass(frozen=True)
class Ridge:
    """One C, or an array to choose from.

    ``solver`` is "primal", "dual", or "auto" for the one with the smaller matrix. ``asked`` says
    whether the user gave C, and is warned where 1/C is below the features' rounding. Among several
    C the best one is `ErrorPath.best`, or the one of least squared error with ``by_squares``.
    """

    C: float | np.ndarray
    solver: str = "auto"
    asked: bool = True
    by_squares: bool = False
    parameters: ClassVar[tuple[str, ...]] = ("C",)

    @property
    def chooses(self) -> bool:
        return isinstance(self.C, np.ndarray)

    @property
    def needs_rows(self) -> bool:
        return self.solver == "dual"

    def at(self, **values: float) -> Self:
        return replace(self, C=values["C"], asked=False)

    def compared(self) -> Self:
        return replace(self, C=np.atleast_1d(self.C))

    def fit(self, source: Source) -> Solution:
        if self._in_row_space(source):
            rows = source.rows()
            if isinstance(self.C, np.ndarray):
                return dual_path(rows, self.C, self.by_squares)
            return dual(rows, self.C)
        penalty = QuadraticPenalty(np.atleast_1d(self.C))
        return solved(penalty, source, self.chooses, self.asked, self.by_squares)

    def _in_row_space(self, source: Source) -> bool:
        if self.solver != "auto":
            return self.solver == "dual"
        return source.at_hand and len(source.rows().H) < source.rows().H.width


def ridge_grid(C: Any, word: str = "loo", default: np.ndarray = DEFAULT_GRID) -> float | np.ndarray:
    """C as a number, or as the array of values to choose from; the word means the default ones.

    Infinity, where C is one over a ridge, is a C whose ridge is nothing beside any rounding.
    """
    if isinstance(C, str) and word == C:
        return default
    if word == "loo" and is_number(C, np.inf, np.inf):
        return NO_RIDGE
    values = numbers_of(C)
    if values is None:
        raise InvalidParameterError(
            f"C={C!r} must be {word!r}, a positive number, or a non-empty list of positive "
            f"numbers{limits(C)}."
        )
    return float(values[0]) if np.ndim(C) == 0 else values


def solve(problem: Problem, C: float | np.ndarray, seed: int = 0, solver: str = "auto") -> Solution:
    """Ridge on rows that are all at hand."""
    return Ridge(C, solver).fit(AtHand(problem, seed))


def solved(
    penalty: QuadraticPenalty, source: Source, chooses: bool, asked: bool, by_squares: bool = False
) -> Solution:
    """β from sums, at the best point of a penalty by leave-one-out, or at the only one.

    One point takes a Cholesky factor. One eigenbasis serves every C: in it, p = Vᵀh, a row has the
    leverage c Σ pⱼ²/(wⱼ + 1/C). With balanced class weights there is an eigenbasis for each class.
    """
    sums, sample, path, best = source.moments(), source.sample(), None, 0
    problem, how, root, tally = sample.problem, "primal", None, None
    classes = sample.class_sums()
    if not chooses:
        root = penalty.factor(sums, problem, penalty.strength(0))
    if root is None:
        how, basis = "spectral", penalty.eigenbasis(sums, problem)
        if chooses:
            tally = penalty.tally(problem)
            if _keeps(penalty, sample):
                tally.keep(sample.calibration)
            path = loo_path(tally, penalty, basis, sums, problem, sample.left, classes)
            best = int(np.argmin(path.squared_error)) if by_squares else path.best
        elif asked:
            warn_of_rounding(penalty.point(0)[0])
        root = basis.root(penalty.strength(best))
    one, (C, lam), rows = penalty.only(best), penalty.point(best), sample.calibration
    coef, intercept = one.coef(sums, problem, root)
    if tally is not None and tally.kept is not None and C < NO_RIDGE:
        loo: Any = coded(problem.targets, rows, np.float64) - tally.kept[:, best]
    else:
        loo = left_out(problem, sums, one.strength(0), rows, one, root, classes)
    return Solution(coef, intercept, C, how, rows, loo, path, sums, lam)


def _keeps(penalty: QuadraticPenalty, sample: Sample) -> bool:
    """Whether calibration rows are among those left out at every point, and few enough to keep."""
    problem, numbers = sample.problem, len(sample.calibration) * len(penalty.C)
    H = problem.H
    return (
        sample.left is None
        and is_numpy(H.X)
        and H.dtype == np.float64
        and numbers * problem.targets.outputs <= _KEPT
    )


def left_out(
    problem: Problem,
    moments: Moments,
    C: float,
    rows: np.ndarray,
    penalty: QuadraticPenalty,
    root: Root,
    sums: ClassSums | None,
) -> Array:
    """Decision values of ``rows``, in ascending order, each left out at one C.

    ``root`` is A^(−½) with all rows, ``sums`` those of the classes where leaving a row out changes
    the weights.
    """
    if sums is None:
        residual = penalty.residuals(moments, problem, rows, root, 1.0)
    else:
        residual = _reweighted(problem, moments, C, rows, penalty, sums)
    return coded(problem.targets, rows, residual.dtype) - residual


def _reweighted(
    problem: Problem,
    moments: Moments,
    C: float,
    rows: np.ndarray,
    penalty: QuadraticPenalty,
    sums: ClassSums,
) -> Array:
    """Residuals where leaving a row out changes the weights of its class."""
    residual = zeros((len(rows), problem.targets.outputs), moments.gram)
    cross = problem.frame(moments).cross
    roots: dict[float, tuple[Root, Array]] = {}
    for leaving in problem.leavings(rows):
        own = sums.rows(leaving.code) if penalty.fixed else None
        if own is not None and 2 * len(own) < problem.H.width:
            # Roots of the class before are used again where a is the same.
            roots = {a: roots[a] for a, _ in leaving.nodes if a in roots}
            for a, _ in leaving.nodes:
                if a not in roots:
                    found = penalty.root(moments, problem, a * C)
                    roots[a] = found, found.whiten(cross)
            few = FewRows(problem, leaving, own)
            white = [(roots[a][0].whiten(few.B.T), roots[a][1]) for a, _ in leaving.nodes]
            total: Any = few.residuals([(W, matmul(W.T, right)) for W, right in white])
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
    tally: Tally,
    penalty: QuadraticPenalty,
    basis: Any,
    moments: Moments,
    problem: Problem,
    rows: np.ndarray | None,
    sums: ClassSums | None,
) -> ErrorPath:
    """The exact leave-one-out error of every point on ``rows`` (None: all)."""
    if sums is None:
        _add_blocks(tally, penalty, problem, rows, [penalty.system(basis, problem)])
        return tally.path()
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
