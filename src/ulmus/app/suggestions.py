"""Rows that would help most if they had a label: uncertain, central, and not all alike.

The uncertainty 1 − max p of all rows is summed over each row's surroundings by t steps along the
graph, S^t u. The row with the largest sum is the first suggestion; around it, where its label will
reach, u is then as good as gone, and so on. Before there is a model all rows are uncertain.
"""

from typing import Any

import numpy as np

__all__ = ["suggested"]

# Steps along the graph: of 4, 8, 16 and 32 the best on digits and 2000 rows of MNIST; others
# confirmed it (docs/guide/labelling).
_STEPS = 16
# Uncertainty of a row that the model is sure of. Rows are suggested as long as there are any.
_LEAST = 1e-3


def suggested(S: Any, uncertainty: np.ndarray, known: np.ndarray, count: int = 10) -> list[int]:
    """Up to ``count`` rows without a label, the most helpful first.

    ``S`` is a symmetric normalised affinity, ``known`` says which rows have a label.
    """
    unsure = np.where(known, 0.0, np.asarray(uncertainty) + _LEAST).astype(np.float32)
    left, found = ~known, list[int]()
    for _ in range(min(count, int(left.sum()))):
        row = int(np.where(left, _spread(S, unsure), -1.0).argmax())
        found.append(row)
        left[row] = False
        unsure *= 1.0 - _reach(S, row)
    return found


def _spread(S: Any, values: np.ndarray) -> np.ndarray:
    for _ in range(_STEPS):
        values = S @ values
    return values


def _reach(S: Any, row: int) -> np.ndarray:
    """How far a label at this row goes: 1 where it is strongest, 0 far away."""
    at = np.zeros(S.shape[0], dtype=np.float32)
    at[row] = 1.0
    mass = _spread(S, at)
    return np.asarray(mass / max(float(mass.max()), np.finfo(np.float32).tiny))
