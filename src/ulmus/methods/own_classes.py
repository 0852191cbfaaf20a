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

from ulmus.backends.namespace import doubles, to_numpy
from ulmus.hidden import Hidden, sample_rows
from ulmus.targets import chosen, signed

__all__ = ["OwnClasses", "own_classes"]

_PARTS = 5
_STEPS = 20
# Rows of the fit, besides labelled ones: more move no boundary.
_ROWS = 2000


@dataclass(frozen=True)
class OwnClasses:
    """β with its intercept as the last row, and the outputs of labelled rows left out."""

    coef: np.ndarray
    left_out: np.ndarray


def own_classes(
    every: Hidden, known: np.ndarray, labels: Any, Cs: np.ndarray
) -> Iterator[OwnClasses]:
    """The fit at every C; ``known`` are the numbers of the rows that have these labels."""
    rest = np.setdiff1d(np.arange(len(every)), known)
    if len(rest) > _ROWS:
        rest = rest[np.sort(sample_rows(1, _ROWS, len(rest)))]
    rows = np.concatenate([known, rest])
    H = to_numpy(doubles(every.take(rows).all()))
    gram = H.T @ H
    for C in Cs.tolist():
        yield _settled(H, gram, labels, C)


def _settled(H: np.ndarray, gram: np.ndarray, labels: Any, C: float) -> OwnClasses:
    """The fit at one C; the first rows are those with a label."""
    codes, n_classes = labels.targets.codes, labels.targets.n_classes
    l, parts = len(codes), _parts(codes)
    # The first run has all labels; every other one is without a part of them.
    kept = np.array([np.full(l, True), *(parts != k for k in range(parts.max() + 1))])
    factor = cho_factor(gram + np.eye(len(gram)) / C)
    F = np.stack([_start(H, H[:l], labels, some, C) for some in kept], axis=1)
    classes = None
    for _ in range(_STEPS):
        before, classes = classes, chosen(F)
        classes[:l] = np.where(kept.T, codes[:, None], classes[:l])
        if before is not None and np.array_equal(before, classes):
            break
        T = signed(np.eye(n_classes)[classes])
        beta = cho_solve(factor, H.T @ T.reshape(len(T), -1))
        F = (H @ beta).reshape(T.shape)
        level = F.mean(axis=0)
        F -= level
    first = beta.reshape(len(beta), *T.shape[1:])[:, 0]
    return OwnClasses(np.vstack([first, -level[0]]), F[np.arange(l), 1 + parts])


def _parts(codes: np.ndarray) -> np.ndarray:
    """The part that each labelled row is left out with; rows of a class are in different parts."""
    order = np.argsort(codes, kind="stable")
    part = np.empty(len(codes), dtype=int)
    part[order] = np.arange(len(codes)) % min(_PARTS, len(codes))
    return part


def _start(H: np.ndarray, labelled: np.ndarray, labels: Any, kept: np.ndarray, C: float) -> Any:
    """Outputs of the ridge on the labelled rows that are kept."""
    rows, weight = labelled[kept], labels.weight[kept]
    K = rows @ rows.T + np.diag(1.0 / (C * weight))
    return H @ (rows.T @ np.linalg.solve(K, labels.coded[kept]))
