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
from scipy.linalg import cho_factor, cho_solve

from ulmus.backends.namespace import to_numpy
from ulmus.hidden import Hidden, sample_rows
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.targets import chosen, signed

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
        self._gram = self.H.T @ self.H
        self._factors: dict[float, Any] = {}

    def factor(self, C: float, further: np.ndarray) -> Any:
        """A Cholesky factor of HᵀH + I/C, of these rows and further ones."""
        if not len(further) and C in self._factors:
            return self._factors[C]
        A = self._gram + further.T @ further
        A[np.diag_indices(len(A))] += np.float32(1.0 / C)
        found = cho_factor(A, overwrite_a=True)
        if not len(further):
            self._factors[C] = found
        return found


def _single(H: Hidden) -> np.ndarray:
    return to_numpy(H.all()).astype(np.float32, copy=False)


def own_classes(
    sample: SampledRows, known: Hidden, numbers: np.ndarray, labels: Any, Cs: np.ndarray
) -> Iterator[OwnClasses]:
    """The fit at every C to sampled rows and those ``known`` by a label, which have these numbers.

    All is in single precision: it says on which side of a boundary a row lies.
    """
    labelled = _single(known)
    further = labelled[~np.isin(numbers, sample.numbers)]
    rest = sample.H[~np.isin(sample.numbers, numbers)]
    H = np.concatenate([labelled, rest])
    for C in Cs.tolist():
        yield _settled(H, sample.factor(C, further), labels, C)


def _settled(H: np.ndarray, factor: Any, labels: Any, C: float) -> OwnClasses:
    """The fit at one C; the first rows are those with a label."""
    codes, n_classes = labels.targets.codes, labels.targets.n_classes
    l, parts = len(codes), _parts(codes)
    # The first run has all labels; every other one is without a part of them.
    kept = np.array([np.full(l, True), *(parts != k for k in range(parts.max() + 1))])
    F = np.stack([_start(H, H[:l], labels, some, C) for some in kept], axis=1)
    T, R = np.zeros_like(F), 0.0
    for _ in range(_STEPS):
        classes = chosen(F)
        classes[:l] = np.where(kept.T, codes[:, None], classes[:l])
        new = signed(np.eye(n_classes, dtype=np.float32)[classes])
        changed = np.flatnonzero((new != T).any(axis=(1, 2)))
        if not len(changed):
            break
        R = R + H[changed].T @ (new - T)[changed].reshape(len(changed), -1)
        T = new
        beta = cho_solve(factor, R)
        F = (H @ beta).reshape(T.shape)
        level = F.mean(axis=0)
        F -= level
    first = beta.reshape(len(beta), *T.shape[1:])[:, 0]
    return OwnClasses(np.vstack([first, -level[0]]), F[np.arange(l), 1 + parts].astype(float))


def _parts(codes: np.ndarray) -> np.ndarray:
    """The part that each labelled row is left out with; rows of a class are in different parts."""
    order = np.argsort(codes, kind="stable")
    part = np.empty(len(codes), dtype=int)
    part[order] = np.arange(len(codes)) % min(_PARTS, len(codes))
    return part


def _start(H: np.ndarray, labelled: np.ndarray, labels: Any, kept: np.ndarray, C: float) -> Any:
    """Outputs of the ridge on the labelled rows that are kept."""
    rows, weight = labelled[kept], labels.weight[kept]
    K = (rows @ rows.T).astype(float) + np.diag(1.0 / (C * weight))
    return H @ (rows.T @ np.linalg.solve(K, labels.coded[kept]).astype(np.float32))
