"""The sums of Dask collections, made where the rows are, and the few rows that are brought home.

Two passes: the first learns scale, classes and the number of rows; the second sums moments where
the rows are, and brings home the few that are left out one at a time. They are the rows that a fit
in memory would take, so it chooses the same C.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ulmus.distributed.rows import BlockRows
from ulmus.exceptions import InvalidInputError
from ulmus.features.base import merged
from ulmus.features.hidden_layer import layer_of
from ulmus.features.scaling import ColumnStatistics
from ulmus.problem import Moments
from ulmus.sources.class_sums import ClassMoments, ClassSums
from ulmus.sources.source import (
    Batch,
    Gathered,
    RowsSoFar,
    Sample,
    Summed,
    calibration_rows,
    left_out_rows,
    refuse_sums,
)
from ulmus.typing import Rows


def gathered_blocks(rows: RowsSoFar, X: Rows, y: Any, weight: Any, client: Any) -> Gathered:
    """The rows of Dask collections, ready to be fitted."""
    blocks, known, columns = surveyed_blocks(rows.model, X, y, weight, client)
    features = rows.model._fitted_map(known, blocks, columns, rows.kept.seed)
    n, width = len(blocks), layer_of(features, blocks.example, rows.model.dtype).width
    settled = replace(rows, known=known, features=features)
    capacity = settled.capacity(blocks.example)
    if n <= max(capacity, width - 1):
        # So few rows would be kept, and the dual may be the smaller problem, which needs them.
        return rows.at_hand(blocks.take(slice(None)))
    method = rows.model._method()
    refuse_sums(method)
    chooses = method.chooses or rows.model.n_hidden == "loo"
    source, home = summed_blocks(settled, blocks, chooses, rows.kept.later_seed)
    return Gathered(known, features, source, rows.kept.limited(capacity), (*home, n), n)


def surveyed_blocks(
    model: Any, X: Rows, y: Any, weight: Any, client: Any
) -> tuple[BlockRows, Any, ColumnStatistics]:
    """The rows, what the targets of all blocks have in common, and the statistics of X."""
    if y is None:
        raise InvalidInputError("A fit on Dask collections requires y, a Dask collection too.")
    blocks = BlockRows(model, X, y, weight, client)
    known, columns = zip(*blocks.survey(_look), strict=True)
    return blocks, reduce(add, known).checked(), merged(columns)


def _look(X: Rows, y: Any, weight: np.ndarray | None, model: Any) -> tuple[Any, ColumnStatistics]:
    return model._known().surveyed(y, weight), ColumnStatistics.of(X, weight)


def summed_blocks(
    rows: RowsSoFar, blocks: BlockRows, chooses: bool, seed: int
) -> tuple[Callable[[Any, Any], Summed], Batch]:
    """The source that a map, or the first units of it, gives; and the rows that were fetched."""
    wanted = Wanted.of(len(blocks), chooses, seed)
    width = layer_of(rows.features, blocks.example, rows.model.dtype).width
    classes = rows.known.balances and ClassMoments.fit(len(rows.known.classes), width)
    total = blocks.total(_class_moments if classes else _moments, replace(rows, model=None))
    sums, parts = blocks.compute(total, blocks.chosen(wanted.rows))
    home = blocks.gathered(parts)

    def source(features: Any, watch: Any) -> Summed:
        problem = rows.problem(features, *home, whole=classes)
        first = sums.first(problem.H.width)
        by_class = ClassSums(problem, first) if classes else None
        sample = Sample(problem, wanted.left, wanted.calibration, by_class)
        return Summed(first.total() if classes else first, sample)

    return source, home


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


def _moments(X: Rows, y: Any, weight: Any, model: Any, rows: RowsSoFar) -> Moments:
    return replace(rows, model=model).problem(rows.features, X, y, weight).moments()


def _class_moments(X: Rows, y: Any, weight: Any, model: Any, rows: RowsSoFar) -> ClassMoments:
    return ClassMoments.of(replace(rows, model=model).problem(rows.features, X, y, weight))
