"""One ridge solve over the blocks of Dask collections.

Two passes: the first learns scale, classes and the number of rows; the second sums moments where
the rows are, and brings home the few that are left out one at a time. They are the rows that a fit
in memory would take, so it chooses the same C.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.distributed.rows import BlockRows
from ulmus.estimators.ridge_stream import posed
from ulmus.exceptions import InvalidInputError
from ulmus.features.base import column_statistics, merged
from ulmus.features.fitting import layer_of, map_over_blocks
from ulmus.features.scaling import ColumnStatistics
from ulmus.methods.method import refuse_sums
from ulmus.problem import Moments, Problem
from ulmus.reservoir import most_kept
from ulmus.sources.source import (
    ClassMoments,
    ClassSums,
    Sample,
    Summed,
    calibration_rows,
    left_out_rows,
)
from ulmus.targets import is_balanced
from ulmus.typing import Rows

__all__ = ["Wanted", "balances", "fit_blocks", "surveyed"]


@dataclass(frozen=True)
class Wanted:
    """The rows to bring home, and which of these are left out (None: all) and calibrate."""

    rows: np.ndarray
    left: np.ndarray | None
    calibration: np.ndarray

    @classmethod
    def of(cls, n: int, chooses: bool, seed: int) -> "Wanted":
        """As a fit in memory would take them; none to leave out where there is no choice."""
        calibration = calibration_rows(n, seed)
        left = left_out_rows(n, seed) if chooses else calibration[:0]
        if left is None:
            return cls(np.arange(n), None, calibration)
        rows = np.union1d(left, calibration)
        return cls(rows, np.searchsorted(rows, left), np.searchsorted(rows, calibration))

    def source(self, estimator: Any, problem: Problem, sums: Any) -> Summed:
        """Sums of all rows, and these rows; their weights follow the classes where sums do."""
        if isinstance(sums, Moments):
            return Summed(sums, Sample(problem, self.left, self.calibration))
        targets: Any = problem.targets
        problem = replace(problem, targets=replace(targets, totals=estimator._totals))
        classes = ClassSums(problem, sums)
        return Summed(sums.total(), Sample(problem, self.left, self.calibration, classes))


def fit_blocks(estimator: Any, X: Rows, y: Any, sample_weight: Any, client: Any) -> Any:
    """Fit a `RidgeELM`."""
    estimator._refuse_sketch("a Dask collection")
    rows, columns = surveyed(estimator, X, y, sample_weight, client)
    estimator.features_ = map_over_blocks(estimator, rows, columns)
    n = len(rows)
    width = layer_of(estimator.features_, rows.example, estimator.dtype).width
    capacity = most_kept(width, rows.example)
    if n <= max(capacity, width - 1):
        # So few rows would be kept, and the dual may be the smaller problem, which needs them.
        return estimator._fit_checked(*rows.take(slice(None)))
    method = estimator._method()
    refuse_sums(method)
    chooses = method.chooses or estimator.n_hidden == "loo"
    wanted = Wanted.of(n, chooses, estimator._seed())
    sums, parts = rows.compute(
        rows.total(_class_moments if balances(estimator, width) else _moments),
        rows.chosen(wanted.rows),
    )
    home = rows.gathered(parts)

    def source(features: Any, update: Any) -> Summed:
        problem = posed(estimator, features, *home)
        return wanted.source(estimator, problem, sums.first(problem.H.width))

    _, solution = estimator._solve(source, n_rows=n)
    estimator._moments = solution.moments
    estimator._kept = estimator._kept.limited(capacity).add(*home, n).refitted()
    return estimator


def surveyed(
    estimator: Any, X: Rows, y: Any, sample_weight: Any, client: Any
) -> tuple[BlockRows, ColumnStatistics]:
    """Let the estimator see every block's targets; give the rows, and the statistics of X."""
    if y is None:
        raise InvalidInputError("A fit on Dask collections requires y, a Dask collection too.")
    rows = BlockRows(estimator, X, y, sample_weight, client)
    parts = rows.survey(_look)
    columns, targets = zip(*parts, strict=True)
    if len({shape for _, _, shape in targets}) > 1:
        raise InvalidInputError(
            f"Blocks of y differ in their columns: {sorted({shape for _, _, shape in targets})}."
        )
    for labels, totals, _ in targets:
        if labels is not None:
            estimator._survey(labels, totals)
    if hasattr(estimator, "classes_"):
        estimator._check_classes()
    return rows, merged(columns)


def _look(
    X: Rows, y: np.ndarray, weight: np.ndarray | None, estimator: Any
) -> tuple[ColumnStatistics, tuple[Any, Any, tuple[int, ...]]]:
    """A block's statistics; its labels, how much each weighs, and how many columns y has."""
    estimator._survey(y, weight)
    labels = getattr(estimator, "classes_", None), getattr(estimator, "_totals", None)
    return column_statistics(X, y, weight, estimator), (*labels, y.shape[1:])


def balances(estimator: Any, width: int) -> bool:
    """Whether sums of every class are wanted, and within the memory that is allowed."""
    weighed = is_balanced(getattr(estimator, "class_weight", None))
    return weighed and ClassMoments.fit(len(estimator.classes_), width)


def _moments(X: Rows, y: Any, weight: np.ndarray | None, estimator: Any) -> Moments:
    return posed(estimator, estimator.features_, X, y, weight).moments()


def _class_moments(X: Rows, y: Any, weight: np.ndarray | None, estimator: Any) -> ClassMoments:
    return ClassMoments.of(posed(estimator, estimator.features_, X, y, weight))
