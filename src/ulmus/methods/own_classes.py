"""Ridge on all rows, those without a label having the class that the fit gives them itself.

It begins with the ridge on the labelled rows alone. Each step gives every other row the class of
its output and solves for all rows again, until no class changes. Outputs are centred, for else the
largest class would take all rows. So a boundary moves to where rows are few: classes that are
clusters, without a manifold between them, are found from a label or two.

Labelled rows are left out a part at a time, each part with a run of its own.

Outputs are SY, where Y is the rows' classes and S = H(HᵀH + I/C)⁻¹Hᵀ. S is the same for all labels,
and a row that changes its class adds one of its rows to a class and takes it from another.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import cast, from_numpy, namespace, take, to_numpy
from ulmus.hidden import Hidden, sample_rows
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.targets import signed
from ulmus.typing import Array

__all__ = ["OwnClasses", "SampledRows", "own_classes"]

_PARTS = 5
_STEPS = 80
# Rounding of HᵀH in single precision, as a part of its trace; 1/C is never less.
_ROUNDING = 1e-6
# Values of C whose S is kept for other labels, 24 MB each.
_KEPT = 2
# Rows of the fit, besides labelled ones: more move no boundary.
_ROWS = 2000


@dataclass(frozen=True)
class OwnClasses:
    """β with its intercept as the last row, and the outputs of labelled rows left out."""

    coef: np.ndarray
    left_out: np.ndarray


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
    """The fit at every C to sampled rows and those ``known`` by a label, which have these numbers.

    All is in single precision: it says on which side of a boundary a row lies.
    """
    labelled = _single(known)
    inside = np.isin(numbers, sample.numbers)
    further = take(labelled, np.flatnonzero(~inside))
    # Further rows come after the sampled ones.
    places = np.searchsorted(sample.numbers, numbers)
    places[~inside] = len(sample.numbers) + np.arange(np.count_nonzero(~inside))
    H = namespace(labelled).concat([sample.H, further])
    K = to_numpy(matmul(labelled, H.T))
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
    coef = np.vstack([smoother.coef(Y[before[0]]), -level[0].T])
    return OwnClasses(signed(coef), signed(own).astype(float))


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
