"""The problem to solve, apart from how it is solved.

A ``Problem`` is ½ Σ cᵢ‖tᵢ − hᵢβ − b‖² + (1/2C)‖β‖². All that a primal solver needs of the rows are
the ``Moments`` G = HᵀCH, R = HᵀCY and Σ c y²: they are added over batches, subtracted when a batch
is forgotten, and scaled when weights decay.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from ulmus.backends.gram import Gram, has_matrix_units
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    eps,
    is_numpy,
    namespace,
    placed,
    take,
    to_numpy,
    zeros,
)
from ulmus.backends.threads import PANEL, over_shares, over_strips
from ulmus.balance import Leaving, leavings, rebalanced
from ulmus.hidden import Hidden, row_blocks, rows_at_once
from ulmus.targets import ClassTargets, LabelTargets, Targets, coded, wrong
from ulmus.typing import Array, DType

# Rounding of products by a GPU's matrix units, relative to that of float32: `rounding` in
# benchmarks.gpu.
_SHORT = 32.0
# Fewest labelled rows for which one more wrong row counts as equal, where the smoothest is chosen.
_FEW = 50
_SUMS = ("gram", "cross", "energy", "hidden", "target", "weight", "rows")


@dataclass(frozen=True)
class Moments:
    """Sums over rows: all that a primal solve keeps of its data.

    ``gram`` is HᵀCH (h × h), ``cross`` HᵀCY (h × b), ``energy`` Σ c y² for every
    column of Y, ``hidden`` and ``target`` are Σ c h and Σ c y, ``weight`` Σ c,
    ``rows`` the count, and ``rounding`` how far the eigenvalues of ``gram`` may be off.
    """

    gram: Array
    cross: Array
    energy: Array
    hidden: Array
    target: Array
    weight: float
    rows: float
    rounding: float

    def __add__(self, other: "Moments") -> "Moments":
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return Moments(**sums, rounding=self.rounding + other.rounding)

    def __sub__(self, other: "Moments") -> "Moments":
        return self + -1.0 * other

    def __mul__(self, factor: float) -> "Moments":
        sums = {name: factor * getattr(self, name) for name in _SUMS}
        return Moments(**sums, rounding=abs(factor) * self.rounding)

    __rmul__ = __mul__

    def first(self, width: int) -> "Moments":
        """The sums of the first ``width`` units alone."""
        return replace(
            self,
            gram=self.gram[:width, :width],
            cross=self.cross[:width, :],
            hidden=self.hidden[:width],
        )


@dataclass(frozen=True)
class Problem:
    """Fit targets from hidden rows: ½ Σ cᵢ‖tᵢ − hᵢβ − b‖² + (1/2C)‖β‖².

    H is a ``Hidden`` or a ``Stored``; for the dual also a ``KernelMatrix``.

    ``weight`` is c, positive, or None for ones. ``unit`` is the weight that a row loses when it is
    left out, or None for all of it: a row of weight two represents two rows, of which one is left
    out. ``intercept`` says whether there is a b; it is not penalised.
    """

    H: Any
    targets: Targets
    weight: Array | None = None
    unit: Array | None = None
    intercept: bool = False

    def unit_weight(self, rows: Any) -> Array:
        """The weight that each of ``rows`` loses when it is left out."""
        if self.weight is None:
            n = len(self.targets)
            count = len(range(*rows.indices(n))) if isinstance(rows, slice) else len(rows)
            return zeros(count, self.targets.array) + 1.0
        return take(self.weight if self.unit is None else self.unit, rows)

    def take(self, rows: np.ndarray) -> "Problem":
        """The problem of some of the rows, with their weights as they are."""
        weight, unit = (None if c is None else take(c, rows) for c in (self.weight, self.unit))
        H = None if self.H is None else self.H.take(rows)
        return replace(self, H=H, targets=self.targets.take(rows), weight=weight, unit=unit)

    def over(self, H: Any) -> "Problem":
        """The same targets and weights for these hidden rows, on their device."""
        weight, unit = (None if c is None else placed(c, H.X) for c in (self.weight, self.unit))
        targets = self.targets.placed(H.X)
        return replace(self, H=H, targets=targets, weight=weight, unit=unit)

    def among(self, rows: np.ndarray) -> "Problem":
        """The problem of some of the rows, with class weights balanced among these."""
        part, totals = self.take(rows), self.totals
        if totals is None:
            return part
        unit = to_numpy(part.unit_weight(slice(0, len(rows))))
        codes = to_numpy(part.targets.array)
        found = rebalanced(codes, totals, to_numpy(part.weight), unit)
        weight, unit = (placed(c, self.weight) for c in found[1:])
        targets = ClassTargets(part.targets.array, len(totals), found[0])
        return replace(part, targets=targets, weight=weight, unit=unit)

    @property
    def totals(self) -> np.ndarray | None:
        """The classes' weights, where class weights are balanced."""
        return getattr(self.targets, "totals", None)

    @property
    def reweighs(self) -> bool:
        """Whether leaving a row out changes the weights of the others."""
        return self.totals is not None

    def leavings(self, rows: np.ndarray | None = None) -> list[Leaving]:
        """The rows to leave out (None: all), by class."""
        totals = self.totals
        assert totals is not None
        codes, every = to_numpy(self.targets.array), np.arange(len(self.targets))
        unit = to_numpy(self.unit_weight(slice(0, len(every))))
        return list(leavings(codes, totals, unit, every if rows is None else rows))

    def moments(self) -> Moments:
        """One pass over the rows, by as many threads as there are."""
        parts = self.H.shares() if isinstance(self.H, Hidden) else [slice(0, len(self.H))]
        (products, center, *first), *others = over_shares(self._sums, parts)
        products.absorb([other[0] for other in others])
        alike = zip(first, *(other[2:] for other in others), strict=True)
        cross, energy, sums = (reduce(add, parts) for parts in alike)
        gram, b = products.total(), self.targets.width
        squares = namespace(gram).linalg.diagonal(gram)
        rounding = rounding_of_sums(squares, self.H.dtype) * (1.0 if center is None else _SHORT)
        _give_back(self.H.offset, center, gram, cross, sums, energy[b])
        made = gram, cross[:, :b], energy[:b], cross[:, b], sums[:b]
        return Moments(*made, float(energy[b]), float(len(self.H)), rounding)

    def _sums(self, rows: slice) -> tuple[Gram, Array | None, Array, Array, Array]:
        """Of a range of rows: BᵀB, B's center, Bᵀ[Y 1], and the squares and sums of [Y 1]."""
        (h, b), X = (self.H.width, self.targets.width), self.H.X
        products, center = Gram(h, X, short=True), None
        # A column of ones beside Y gives the sums of h and y.
        cross, energy, sums = zeros((h, b + 1), X), zeros(b + 1, X), zeros(b + 1, X)
        H = self.H.share(rows) if isinstance(self.H, Hidden) else self.H
        for block, B in H.blocks():
            here = slice(rows.start + block.start, rows.start + block.stop)
            if has_matrix_units(B):
                # About their means the products are small, and so is their rounding.
                center = namespace(B).mean(B, axis=0) if center is None else center
                B -= center
            root = namespace(B).ones((B.shape[0], 1), dtype=B.dtype, device=device_of(B))
            if self.weight is not None:
                root *= cast(namespace(B).sqrt(take(self.weight, here)), B.dtype)[:, None]
                B *= root
            products.add(B)
            for part, Y in self._beside(here, root):
                cross += doubles(matmul(B[part, :].T, Y))
                Y = doubles(Y)
                energy += namespace(Y).sum(Y**2, axis=0)
                sums += Y.T @ Y[:, b]
        return products, center, cross, energy, sums

    def _beside(self, rows: slice, root: Array) -> Iterator[tuple[slice, Array]]:
        """√c [Y 1] of a block, some of its rows at a time."""
        for part in row_blocks(root.shape[0], rows_at_once(self.targets.width + 1)):
            here, c = slice(rows.start + part.start, rows.start + part.stop), root[part, :]
            yield part, namespace(c).concat([c * self.targets.block(here, c.dtype), c], axis=1)

    def frame(self, moments: Moments) -> "Centred":
        """G and R of ``moments``, about the means where there is an intercept."""
        m, encoded = moments, self.targets.encoded
        if not self.intercept:
            level = zeros(self.targets.outputs, m.gram)
            return Centred(m.gram, encoded(m.cross), 0.0 * m.hidden, level, 0.0)
        s, (h, t) = m.hidden[:, None], (m.hidden / m.weight, m.target / m.weight)
        cross = encoded(m.cross - s * t)
        return Centred(m.gram - s * h, cross, h, encoded(m.target) / m.weight, 1.0 / m.weight)


@dataclass(frozen=True)
class Centred:
    """G and R = HᵀCT, about the origin or about the means of h and t.

    Then F = (H − center) β + level, and every row has the leverage ``share``
    from the intercept alone.
    """

    gram: Array
    cross: Array
    center: Array
    level: Array
    share: float

    def intercept(self, coef: Array) -> Array:
        """b, so that F = Hβ + b."""
        return self.level - self.center @ coef


def _give_back(
    offset: float, center: Array | None, gram: Array, cross: Array, sums: Array, total: Array
) -> None:
    """Add, in float64 and in place, the offset o that was left out of the hidden rows B.

    (B + o)ᵀC(B + o) = BᵀCB + s oᵀ + o sᵀ + o oᵀ Σc, where s = BᵀC1, the last column of ``cross``,
    and Σc is ``total``.
    """
    if center is None and not offset:
        return
    h = gram.shape[0]
    o = offset + (zeros(h, gram) if center is None else doubles(center))
    s = cross[:, -1] + 0.5 * total * o

    def add_strip(columns: slice) -> None:
        # Both at once: one after the other, they would leave G symmetric but for rounding.
        gram[:, columns] += s[:, None] * o[columns] + o[:, None] * s[columns]

    over_strips(add_strip, h, PANEL, h**2 if is_numpy(gram) else 0)
    cross += o[:, None] * sums


def rounding_of_sums(squares: Array, dtype: DType) -> float:
    """The error of the eigenvalues of BᵀB, whose diagonal is ``squares``, by rounding.

    An entry is off by about eps times the largest one; a matrix of independent errors of that size
    has √h times their norm.
    """
    largest = float(namespace(squares).max(squares))
    return eps(dtype) * largest * float(np.sqrt(squares.shape[0]))


@dataclass(frozen=True)
class ErrorPath:
    """The error for every C of a grid, or for every pair of λ and C.

    ``kind`` is "loo", "cv" or "validation"; ``rows`` were left or held out, of ``copies`` each.
    ``roughness`` is ‖β‖² per unit of fitted variance, where the smoothest of equals is wanted.
    """

    C: np.ndarray
    squared_error: np.ndarray
    error_rate: np.ndarray | None
    kind: str
    rows: int
    lam: np.ndarray | None = None
    roughness: np.ndarray | None = None
    copies: float = 1.0

    @property
    def best(self) -> int:
        """The point with the least squared error; for classes, among the least error rates.

        With ``roughness``, the smoothest of those: with few labels many points have equal error
        rates, and their squared errors depend more on the scale of f than on its sign.
        """
        if self.error_rate is None:
            return int(np.argmin(self.squared_error))
        close = self.error_rate <= self.error_rate.min() + self.slack
        score = self.squared_error if self.roughness is None else self.roughness
        return int(np.argmin(np.where(close, score, np.inf)))

    @property
    def slack(self) -> float:
        """The largest difference of error rates that counts as equal: one row.

        On a graph, a left-out row keeps its neighbours, so the error rate favours rough solutions.
        There one row counts as equal only without a validation set, and with enough rows.
        """
        if self.roughness is None:
            return (1.0 + 1e-9) / (self.rows * self.copies)
        alone = self.kind == "loo" and self.rows >= _FEW
        return (1.0 / self.rows if alone else 0.0) + 1e-12

    @property
    def error(self) -> float:
        """The error rate at the best point, or else the squared error."""
        errors = self.squared_error if self.error_rate is None else self.error_rate
        return float(errors[self.best])

    @property
    def score(self) -> tuple[float, float]:
        """The errors at the best point, to compare paths by."""
        rate = 0.0 if self.error_rate is None else self.error
        return rate, float(self.squared_error[self.best])

    def with_validation(self, other: "ErrorPath") -> "ErrorPath":
        """The errors over these rows and over validation rows together."""
        share = self.rows / (self.rows + other.rows)
        squared = share * self.squared_error + (1.0 - share) * other.squared_error
        rate = None
        if self.error_rate is not None and other.error_rate is not None:
            rate = share * self.error_rate + (1.0 - share) * other.error_rate
        rows = self.rows + other.rows
        return replace(self, squared_error=squared, error_rate=rate, kind="validation", rows=rows)

    def table(self) -> dict[str, np.ndarray]:
        """The columns by name."""
        columns = {} if self.lam is None else {"lam": self.lam}
        columns |= {"C": self.C, "squared_error": self.squared_error}
        return columns if self.error_rate is None else columns | {"error_rate": self.error_rate}


class Tally:
    """Sums of c·(squared error) and c·(wrong row) for every C, or pair of λ and C.

    They are over rows that were left out or held out; ``kind`` is as in `ErrorPath`.
    """

    def __init__(
        self, problem: Problem, C: np.ndarray, lam: np.ndarray | None = None, kind: str = "loo"
    ) -> None:
        self._problem, self._C, self._lam, self._kind = problem, C, lam, kind
        self._squared, self._wrong, self._weight, self._rows, self._stand = np.zeros((5, len(C)))
        # Whether rows have classes, so that there is an error rate.
        self._judges = isinstance(problem.targets, ClassTargets | LabelTargets)
        # The residuals of the rows to keep, at every point.
        self.kept: np.ndarray | None = None

    def keep(self, rows: np.ndarray) -> None:
        """Keep the residuals of these rows, in ascending order, of float64 on the host."""
        self._wanted = rows
        self.kept = np.empty((len(rows), len(self._C), self._problem.targets.outputs))

    def add(self, rows: Any, where: Any, residual: Array) -> None:
        """Count rows by their residuals at some of the points (rows × points × m)."""
        xp, weight = namespace(residual), self._problem.weight
        if self.kept is not None:
            _, here, there = np.intersect1d(rows, self._wanted, True, return_indices=True)
            self.kept[there[:, None], np.arange(len(self._C))[where]] = residual[here]
        c = zeros(residual.shape[0], residual) + 1.0 if weight is None else take(weight, rows)
        self._squared[where] += to_numpy(c @ xp.sum(residual**2, axis=2, dtype=xp.float64))
        if self._judges:
            T = coded(self._problem.targets, rows, residual.dtype)[:, None, :]
            several = isinstance(self._problem.targets, LabelTargets)
            missed = wrong(T, T - residual, several)
            self._wrong[where] += to_numpy(c @ xp.astype(missed, xp.float64))
        self._weight[where] += float(xp.sum(c))
        self._stand[where] += float(xp.sum(c / self._problem.unit_weight(rows)))
        self._rows[where] += residual.shape[0]

    def path(self) -> ErrorPath:
        """The mean errors at the points where rows were counted."""
        seen = self._rows == self._rows.max()
        return ErrorPath(
            self._C[seen],
            self._squared[seen] / self._weight[seen],
            self._wrong[seen] / self._weight[seen] if self._judges else None,
            self._kind,
            int(self._rows.max()),
            None if self._lam is None else self._lam[seen],
            copies=float(self._stand.max() / self._rows.max()),
        )


@dataclass(frozen=True)
class Solution:
    """β and b, how they were found, and the outputs of rows left out.

    ``loo`` holds leave-one-out decision values of the rows ``loo_rows``,
    ``path`` the curve C was chosen from if it was, ``moments`` the sums, ``lam`` the λ of a
    method that has one, and ``reason`` why they were found so, where that needs more words.
    """

    coef: Array
    intercept: Array
    C: float
    method: str
    loo_rows: np.ndarray
    loo: np.ndarray
    path: ErrorPath | None = None
    moments: Moments | None = None
    lam: float | None = None
    reason: str = ""
