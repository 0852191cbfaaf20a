"""Ridge on classes or values that were not given but found, for rows whose targets then change.

`PseudoRidge` is given them: HᵀH and its factor serve all targets, and what has changed of them is
added to HᵀT. `own_classes` finds them, from the ridge on the labelled rows alone. Each step gives
every other row the class of its output and solves for all rows again, until no class changes.
Outputs are centred, for else the largest class would take all rows. So a boundary moves to where
rows are few: classes that are clusters, without a manifold between them, are found from a label or
two. Labelled rows are left out a part at a time, each part with a run of its own.

Outputs are SY, where Y is the rows' classes and S = H(HᵀH + I/C)⁻¹Hᵀ. S is the same for all labels,
and a row that changes its class adds one of its rows to a class and takes it from another.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    from_numpy,
    namespace,
    placed,
    take,
    to_numpy,
    zeros,
)
from ulmus.fitted import OnDevice
from ulmus.hidden import Hidden, sample_rows
from ulmus.methods.labelled_rows import LabelledRows
from ulmus.methods.quadratic_penalty import sound_factor
from ulmus.methods.ridge import Ridge
from ulmus.problem import Moments, Problem, Solution
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import AtHand, Source
from ulmus.targets import ClassTargets, Targets, ValueTargets, coded, signed
from ulmus.typing import Array

_PARTS = 5
_STEPS = 80
# Rounding of HᵀH in single precision, as a part of its trace; 1/C is never less.
_ROUNDING = 1e-6
# Values of C whose S is kept for other labels, 24 MB each.
_KEPT = 2
# Rows of the fit, besides labelled ones: more move no boundary.
_ROWS = 2000


@dataclass(frozen=True)
class PseudoRidge:
    """All rows' targets, C, and sums over the rows where these are more than units."""

    targets: ClassTargets | ValueTargets
    C: float
    sums: OnDevice[Moments | None]

    @classmethod
    def fit(
        cls,
        H: Hidden | HiddenBlocks,
        targets: ClassTargets | ValueTargets,
        C: float | np.ndarray,
        asked: bool = True,
    ) -> tuple["PseudoRidge", Solution]:
        """Ridge on all rows, and what other targets start from; ``asked`` where C was given."""
        source: Source
        if isinstance(H, HiddenBlocks):
            source = H.with_targets(targets, chooses=np.ndim(C) > 0)
        else:
            source = AtHand(Problem(H, targets.placed(H.X)))
        found = Ridge(C, asked=asked).fit(source)
        return cls(targets, found.C, found.moments), found

    def factor(self, H: Hidden) -> Cholesky | None:
        """That of HᵀH + I/C, or of HHᵀ where rows are fewer; None where rounding is as large."""
        if self.sums is not None:
            return sound_factor(self.sums.gram, self.C, rounding=self.sums.rounding)
        rows = doubles(H.all())
        return sound_factor(matmul(rows, rows.T), self.C)

    def refit(
        self,
        H: Hidden | HiddenBlocks,
        targets: ClassTargets | ValueTargets,
        root: Cholesky | None = None,
    ) -> tuple["PseudoRidge", Solution]:
        """The same rows with other targets, at the same C; ``root`` is their `factor`."""
        if root is None or isinstance(H, HiddenBlocks):
            # Rows in blocks whose targets are others may be many, and stay where they are.
            return PseudoRidge.fit(H, targets, self.C, asked=False)
        sums = self.sums
        if sums is None:
            T = placed(coded(targets, slice(0, len(H)), np.dtype(float)), H.X)
            coef = matmul(doubles(H.all()).T, root.solve(T))
        else:
            sums = _retargeted(sums, H, self.targets, targets)
            coef = root.solve(targets.encoded(sums.cross))
        none = np.empty(0, dtype=np.intp)
        level = zeros(coef.shape[1], coef)
        found = Solution(coef, level, self.C, "pool", none, coef[:0, :], moments=sums)
        return PseudoRidge(targets, self.C, sums), found


def _retargeted(sums: Moments, H: Hidden, old: Targets, new: Targets) -> Moments:
    """The sums once some rows' targets are others: HᵀH stays as it is."""
    rows, every = np.arange(len(H)), np.dtype(float)
    if new.width == old.width:
        rows = np.flatnonzero((new.array != old.array).reshape(len(H), -1).any(axis=1))
        if not len(rows):
            return sums
        gone, come = (placed(each.block(rows, every), H.X) for each in (old, new))
    else:
        # Classes came or went, and columns no longer stand for the same ones.
        come = placed(new.block(rows, every), H.X)
        gone, zero = 0.0 * come, zeros(new.width, H.X)
        sums = replace(sums, cross=zeros((H.width, new.width), H.X), energy=zero, target=zero)
    part, cross = H.take(rows), 0.0 * sums.cross
    for some, block in part.blocks():
        cross += matmul(doubles(block).T + H.offset, (come - gone)[some, :])
    sum_ = namespace(cross).sum
    return replace(
        sums,
        cross=sums.cross + cross,
        energy=sums.energy + sum_(come**2 - gone**2, axis=0),
        target=sums.target + sum_(come - gone, axis=0),
    )


@dataclass(frozen=True)
class OwnClasses:
    """Classes of all rows, what makes β of them, and the outputs of labelled rows left out."""

    smoother: "Smoother"
    Y: np.ndarray
    level: np.ndarray
    left_out: np.ndarray

    def coef(self) -> np.ndarray:
        """β with its intercept as the last row: seldom asked for, and as long as ten steps."""
        return signed(np.vstack([self.smoother.coef(self.Y), -self.level]))


@dataclass(frozen=True)
class Smoother:
    """S of some rows: ZᵀZ with Z = R⁻ᵀHᵀ and RᵀR = HᵀH + I/C.

    ``added`` are the last columns of Z, of rows that came after R was found.
    """

    factor: Cholesky
    Z: Array
    S: np.ndarray
    added: int = 0

    @classmethod
    def of(cls, H: Array, gram: Array, C: float) -> "Smoother":
        """That of all these rows."""
        factor = Cholesky(add_to_diagonal(gram, 1.0 / C), overwrite=True)
        Z = factor.whiten(H.T)
        return cls(factor, Z, to_numpy(self_product(Z.T)).astype(np.float32, order="C"))

    def with_rows(self, further: Array) -> "Smoother":
        """That of further rows too."""
        added = further.shape[0]
        if not added:
            return self
        more = self.factor.whiten(further.T)
        Z = namespace(more).concat([self.Z, more], axis=1)
        K = to_numpy(matmul(Z.T, more))
        S = np.block([[self.S, K[:-added]], [K.T]])
        S -= matmul(K, np.linalg.solve(np.eye(added, dtype=K.dtype) + K[-added:], K.T))
        return Smoother(self.factor, Z, S, added)

    def coef(self, Y: np.ndarray) -> np.ndarray:
        """β for targets Y."""
        found = to_numpy(matmul(self.Z, from_numpy(Y, self.Z)))
        if self.added:
            more = to_numpy(self.Z[:, -self.added :])
            inner = np.eye(self.added, dtype=more.dtype) + matmul(more.T, more)
            found -= matmul(more, np.linalg.solve(inner, matmul(more.T, found)))
        return to_numpy(self.factor.colour(from_numpy(found, self.Z)))


class SampledRows:
    """Some hidden rows in single precision, their ``numbers`` in ascending order, and their S."""

    def __init__(self, every: Hidden | HiddenBlocks) -> None:
        self.numbers = np.arange(len(every))
        if len(every) > _ROWS:
            self.numbers = np.sort(sample_rows(1, _ROWS, len(every)))
        self.H = _single(every.take(self.numbers))
        total = float(namespace(self.H).sum(self.H**2))
        self.mean_square = total / len(self.numbers) or 1.0
        self.largest_C = 1.0 / (_ROUNDING * max(total, float(np.finfo(float).tiny)))
        self._smoothers: dict[float, Smoother] = {}
        self._products = LabelledRows()

    def products(self, numbers: np.ndarray, labelled: Array, further: Array) -> np.ndarray:
        """Those of labelled rows with these rows and further ones."""

        def with_these(some: np.ndarray) -> np.ndarray:
            rows = take(labelled, np.searchsorted(numbers, some))
            return to_numpy(matmul(rows, self.H.T))

        K = self._products.of(numbers, with_these)
        return np.column_stack([K, to_numpy(matmul(labelled, further.T))])

    @cached_property
    def _gram(self) -> Array:
        return matmul(self.H.T, self.H)

    def smoother(self, C: float, further: Array) -> Smoother:
        """S of these rows and of further ones."""
        found = self._smoothers.get(C) or Smoother.of(self.H, self._gram, C)
        if len(self._smoothers) < _KEPT:
            self._smoothers[C] = found
        return found.with_rows(further)


def _single(H: Hidden) -> Array:
    rows = H.all()
    return cast(rows, namespace(rows).float32)


def own_classes(
    sample: SampledRows, known: Hidden, numbers: np.ndarray, labels: Any, Cs: np.ndarray
) -> Iterator[OwnClasses]:
    """The fit at every C to sampled rows and ``known`` ones, with ascending ``numbers``.

    All is in single precision: it says on which side of a boundary a row lies.
    """
    labelled = _single(known)
    inside = np.isin(numbers, sample.numbers)
    further = take(labelled, np.flatnonzero(~inside))
    # Further rows come after the sampled ones.
    places = np.searchsorted(sample.numbers, numbers)
    places[~inside] = len(sample.numbers) + np.arange(np.count_nonzero(~inside))
    K = sample.products(numbers, labelled, further)
    for C in np.minimum(Cs, sample.largest_C).tolist():
        yield _settled(sample.smoother(C, further), K, places, labels, C)


def _settled(
    smoother: Smoother, K: np.ndarray, places: np.ndarray, labels: Any, C: float
) -> OwnClasses:
    """The fit at one C; K are products of labelled rows, which have these places, with all."""
    codes, Y = labels.targets.codes, np.eye(labels.targets.n_classes, dtype=np.float32)
    parts = _parts(codes)
    # The first run has all labels; every other one is without a part of them.
    kept = np.array([np.full(len(codes), True), *(parts != k for k in range(parts.max() + 1))])

    def classes_of(F: np.ndarray, runs: np.ndarray) -> np.ndarray:
        found = F.argmax(axis=1)
        found[:, places] = np.where(kept[runs], codes, found[:, places])
        return found

    runs = np.arange(len(kept))
    start = [_start(K, places, Y[codes], labels.weight, C, some) for some in kept]
    classes = classes_of(np.stack(start), runs)
    # All runs begin with the outputs of the first, most of whose classes they have.
    before = np.tile(classes[0], (len(kept), 1))
    F = np.tile(Y[classes[0]].T @ smoother.S, (len(kept), 1, 1))
    for _ in range(_STEPS):
        F[runs] += _moved(smoother.S, before[runs], classes[runs], len(Y))
        before[runs] = classes[runs]
        classes[runs] = classes_of(F[runs] - F[runs].mean(axis=2, keepdims=True), runs)
        runs = np.flatnonzero((classes != before).any(axis=1))
        if not len(runs):
            break
    level = F.mean(axis=2, keepdims=True)
    own = (F - level)[1 + parts, :, places]
    return OwnClasses(smoother, Y[before[0]], level[0].T, signed(own).astype(float))


def _moved(S: np.ndarray, before: np.ndarray, now: np.ndarray, n_classes: int) -> np.ndarray:
    """What is added to the outputs of every run when rows go from their classes to others."""
    run, row = np.nonzero(before != now)
    places = np.concatenate([run * n_classes + each[run, row] for each in (now, before)])
    order = np.argsort(places)
    signs = np.where(order < len(run), 1.0, -1.0).astype(S.dtype)
    ends = np.searchsorted(places[order], np.arange(len(now) * n_classes + 1))
    moves = sp.csr_array((signs, np.tile(row, 2)[order], ends), (len(ends) - 1, len(S)))
    return np.asarray(moves @ S).reshape(len(now), n_classes, -1)


def _parts(codes: np.ndarray) -> np.ndarray:
    """The part that each labelled row is left out with; rows of a class are in different parts."""
    order = np.argsort(codes, kind="stable")
    part = np.empty(len(codes), dtype=int)
    part[order] = np.arange(len(codes)) % min(_PARTS, len(codes))
    return part


def _start(
    K: np.ndarray, places: np.ndarray, Y: np.ndarray, weight: np.ndarray, C: float, kept: np.ndarray
) -> np.ndarray:
    """Outputs of the ridge on the labelled rows that are kept: classes × rows."""
    among = K[np.ix_(kept, places[kept])].astype(float) + np.diag(1.0 / (C * weight[kept]))
    return np.asarray(np.linalg.solve(among, Y[kept]).T.astype(K.dtype) @ K[kept])
