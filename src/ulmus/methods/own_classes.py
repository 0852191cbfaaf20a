"""Ridge on all rows, those without a label having the class that the fit gives them itself.

It begins with the ridge on the labelled rows alone. Each step gives every other row the class of
its output and solves for all rows again, until no class changes. Outputs are centred, for else the
largest class would take all rows. So a boundary moves to where rows are few: classes that are
clusters, without a manifold between them, are found from a label or two.

Labelled rows are left out a part at a time, each part with a run of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import cast, from_numpy, namespace, take, to_numpy
from ulmus.hidden import Hidden, sample_rows
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.targets import chosen, signed
from ulmus.typing import Array

__all__ = ["OwnClasses", "SampledRows", "own_classes"]

_PARTS = 5
_STEPS = 20
# Rows of the fit, besides labelled ones: more move no boundary.
_ROWS = 2000


@dataclass(frozen=True)
class OwnClasses:
    """β with its intercept as the last row, and the outputs of labelled rows left out."""

    coef: np.ndarray
    left_out: np.ndarray


class SampledRows:
    """Some hidden rows in single precision, their ``numbers`` in ascending order, and HᵀH."""

    def __init__(self, every: Hidden | HiddenBlocks) -> None:
        self.numbers = np.arange(len(every))
        if len(every) > _ROWS:
            self.numbers = np.sort(sample_rows(1, _ROWS, len(every)))
        self.H = _single(every.take(self.numbers))
        self._gram = matmul(self.H.T, self.H)
        self._factors: dict[float, Cholesky] = {}

    def factor(self, C: float, further: Array) -> Cholesky:
        """A Cholesky factor of HᵀH + I/C, of these rows and further ones."""
        none = further.shape[0] == 0
        if none and C in self._factors:
            return self._factors[C]
        A = self._gram if none else self._gram + matmul(further.T, further)
        found = Cholesky(add_to_diagonal(A, 1.0 / C), overwrite=True)
        if none:
            self._factors[C] = found
        return found


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
    further = take(labelled, np.flatnonzero(~np.isin(numbers, sample.numbers)))
    rest = take(sample.H, np.flatnonzero(~np.isin(sample.numbers, numbers)))
    H = namespace(rest).concat([labelled, rest])
    for C in Cs.tolist():
        yield _settled(H, sample.factor(C, further), labels, C)


def _settled(H: Array, factor: Cholesky, labels: Any, C: float) -> OwnClasses:
    """The fit at one C; the first rows are those with a label."""
    codes, n_classes = labels.targets.codes, labels.targets.n_classes
    l, parts = len(codes), _parts(codes)
    # The first run has all labels; every other one is without a part of them.
    kept = np.array([np.full(l, True), *(parts != k for k in range(parts.max() + 1))])
    F = np.stack([_start(H, labels, np.flatnonzero(some), C) for some in kept], axis=1)
    T, R = np.zeros_like(F), 0.0
    for _ in range(_STEPS):
        classes = chosen(F)
        classes[:l] = np.where(kept.T, codes[:, None], classes[:l])
        new = signed(np.eye(n_classes, dtype=np.float32)[classes])
        changed = np.flatnonzero((new != T).any(axis=(1, 2)))
        if not len(changed):
            break
        change = (new - T)[changed].reshape(len(changed), -1)
        R = R + matmul(take(H, changed).T, from_numpy(change, H))
        T = new
        beta = factor.solve(R)
        F = to_numpy(matmul(H, beta)).reshape(T.shape)
        level = F.mean(axis=0)
        F -= level
    first = to_numpy(beta).reshape(H.shape[1], *T.shape[1:])[:, 0]
    return OwnClasses(np.vstack([first, -level[0]]), F[np.arange(l), 1 + parts].astype(float))


def _parts(codes: np.ndarray) -> np.ndarray:
    """The part that each labelled row is left out with; rows of a class are in different parts."""
    order = np.argsort(codes, kind="stable")
    part = np.empty(len(codes), dtype=int)
    part[order] = np.arange(len(codes)) % min(_PARTS, len(codes))
    return part


def _start(H: Array, labels: Any, kept: np.ndarray, C: float) -> np.ndarray:
    """Outputs of the ridge on the labelled rows that are kept; they are among the first."""
    rows, weight = take(H, kept), labels.weight[kept]
    K = to_numpy(matmul(rows, rows.T)).astype(float) + np.diag(1.0 / (C * weight))
    A = from_numpy(np.linalg.solve(K, labels.coded[kept]), H, H.dtype)
    return to_numpy(matmul(H, matmul(rows.T, A)))
