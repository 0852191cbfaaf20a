"""Prediction intervals and sets of a given coverage, from rows left out once each.

A left-out row is a new row for the model without it, so the errors of left-out rows estimate those
of new rows. Jackknife+ (Barber et al., 2021) takes for a new row x the quantiles of f₋ᵢ(x) ± |eᵢ|,
where f₋ᵢ is the model without row i and eᵢ its error there; the jackknife has f in place of f₋ᵢ.
"""

from dataclasses import dataclass, replace

import numpy as np

from ulmus.arguments import is_number
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.targets import ClassTargets, coded

# Sums of weights that should be equal but were added in another order.
_CLOSE = 1e-9


@dataclass(frozen=True)
class LeftOut:
    """Rows that were left out: their outputs (r × m), targets, and how often each counts.

    The targets are values (r × m), or the numbers of classes (r).
    """

    outputs: np.ndarray
    targets: np.ndarray
    weight: np.ndarray

    @property
    def residual(self) -> np.ndarray:
        """How far the values are from the outputs."""
        return self.targets - self.outputs

    def widened(self, factor: float) -> "LeftOut":
        """The same with errors that are so many times as large."""
        T = self.targets
        if T.ndim == 1:
            k = max(2, self.outputs.shape[1])
            T = coded(ClassTargets(T, k), slice(0, len(T)), np.float64)
        return replace(self, outputs=T - factor * (T - self.outputs))

    def needed(self, coverage: float) -> float:
        """The weight at or below the quantile: ``coverage`` of the rows' and the new row's weight.

        The new row has weight one, or the rows' mean weight where that is less.
        """
        total = float(self.weight.sum())
        new = min(1.0, total / len(self.weight))
        if coverage * (total + new) > total * (1.0 + _CLOSE):
            raise InvalidInputError(
                f"coverage={coverage:g} needs more rows: {total / new:.4g} left-out rows allow at "
                f"most {total / (total + new):.3g}. Use a smaller coverage, or fit more rows."
            )
        return coverage * (total + new)


def check_coverage(coverage: float) -> None:
    """Refuse a coverage that is not between 0 and 1."""
    if not is_number(coverage, most=1.0) or coverage == 1.0:
        raise InvalidParameterError(
            f"coverage={coverage!r} must be a number between 0 and 1, such as 0.9."
        )


def quantile(values: np.ndarray, weight: np.ndarray, needed: float) -> np.ndarray:
    """The weighted quantile of each row: the least value with weight ``needed`` at or below it."""
    if (weight == weight[0]).all():
        k = int(np.ceil(needed / weight[0] * (1.0 - _CLOSE)))
        k = min(max(k, 1), values.shape[1])
        return np.partition(values, k - 1, axis=1)[:, k - 1]
    order = np.argsort(values, axis=1)
    enough = np.cumsum(weight[order], axis=1) >= needed * (1.0 - _CLOSE)
    place = np.where(enough.any(axis=1), np.argmax(enough, axis=1), values.shape[1] - 1)
    return np.take_along_axis(values, np.take_along_axis(order, place[:, None], 1), 1)[:, 0]


def intervals(
    outputs: np.ndarray, effects: np.ndarray | None, left: LeftOut, coverage: float
) -> np.ndarray:
    """The lower and the upper end (n × m × 2) of every output for new rows.

    ``effects`` (n × r) are the changes of the outputs by leaving out each row, for an error of one;
    None takes them as zero (the jackknife).
    """
    needed, found = left.needed(coverage), np.empty((*outputs.shape, 2))
    for j, error in enumerate(left.residual.T):
        f = outputs[:, j, None]
        if effects is None:
            reach = quantile(np.abs(error)[None], left.weight, needed)
            found[:, j] = f + np.array([-1.0, 1.0]) * reach
            continue
        without = f - effects * error
        for side, end in ((-1.0, 0), (1.0, 1)):
            ends = side * without + np.abs(error)
            found[:, j, end] = side * quantile(ends, left.weight, needed)
    return found


def label_sets(P: np.ndarray, left_P: np.ndarray, left: LeftOut, coverage: float) -> np.ndarray:
    """Which classes (n × k) are at least as likely as the own class of enough left-out rows."""
    own = left_P[np.arange(len(left_P)), left.targets]
    limit = quantile(1.0 - own[None], left.weight, left.needed(coverage))
    return limit >= 1.0 - P
