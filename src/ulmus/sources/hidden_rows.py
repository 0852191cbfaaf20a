"""Dask collections as sources: sums are made where the rows are, and a few rows are fetched.

A ridge takes two passes: the first finds scale, classes and the number of rows; the second sums
moments on the workers and fetches the rows that are left out one at a time. They are the rows that
a fit in memory would take, so it chooses the same C.

`HiddenBlocks` has the methods of `Hidden` that other estimators use: some rows, a function of every
row, HᵀΛH, and the sums of a ridge. The edges of a graph and what is found for every row are in this
process; hidden rows are only on the workers, except for rows that are taken.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import take
from ulmus.distributed import BlockRows, joined
from ulmus.exceptions import InvalidInputError
from ulmus.features.base import merged
from ulmus.features.hidden_layer import layer_of
from ulmus.features.scaling import ColumnStatistics
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, UnderLayer, block_rows, row_blocks, sample_rows
from ulmus.problem import Moments, Problem
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
from ulmus.sources.sums import ClassMoments, ClassSums
from ulmus.targets import Targets
from ulmus.typing import DType, Layer, Rows

# Rows of a Dask collection that are fetched to start from.
_SAMPLE = 20_000
# A row has about ten neighbours, whose hidden rows are made together with its own.
_NEIGHBORS = 10
# Makes the layer of a block's rows.
Recipe = Callable[[Rows], Layer]


# ---------------------------------------------------------------- sums of a ridge
def gathered_blocks(rows: RowsSoFar, X: Rows, y: Any, weight: Any, client: Any) -> Gathered:
    """The rows of Dask collections, ready to be fitted."""
    blocks, known, columns = surveyed_blocks(rows.model, X, y, weight, client)
    features = rows.model._fitted_map(known, blocks, columns, rows.kept.seed)
    n, width = len(blocks), layer_of(features, blocks.example, rows.model.dtype).width
    settled = replace(rows, known=known, features=features)
    capacity = settled.capacity(blocks.example)
    if n <= max(capacity, width - 1):
        # So few rows are kept anyway, and the dual, which needs rows, may be the smaller problem.
        return rows.at_hand(blocks.take(slice(None)))
    method = rows.model._method()
    refuse_sums(method)
    chooses = method.chooses or rows.model.n_hidden == "loo"
    source, home = summed_blocks(settled, blocks, chooses, rows.kept.later_seed)
    return Gathered(known, features, source, rows.kept.limited(capacity), (*home, n), n)


def surveyed_blocks(
    model: Any, X: Rows, y: Any, weight: Any, client: Any
) -> tuple[BlockRows, Any, ColumnStatistics]:
    """The rows, the summary of all targets, and the statistics of X."""
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
    """A function from a map, or its first units, to a source; and the rows that were fetched."""
    wanted, left, calibration = _wanted(len(blocks), chooses, seed)
    width = layer_of(rows.features, blocks.example, rows.model.dtype).width
    classes = rows.known.balances and ClassMoments.fit(len(rows.known.classes), width)
    sums, home = blocks.total_and_rows(wanted, _sums_of_block, replace(rows, model=None), classes)

    def source(features: Any, watch: Any) -> Summed:
        problem = rows.problem(features, *home, whole=classes)
        first = sums.first(problem.H.width)
        by_class = ClassSums(problem, first) if classes else None
        sample = Sample(problem, left, calibration, by_class)
        return Summed(first.total() if classes else first, sample)

    return source, home


def _sums_of_block(
    X: Rows, y: Any, weight: Any, model: Any, rows: RowsSoFar, classes: bool
) -> Moments | ClassMoments:
    problem = replace(rows, model=model).problem(rows.features, X, y, weight)
    return ClassMoments.of(problem) if classes else problem.moments()


def _wanted(n: int, chooses: bool, seed: int) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """The rows to fetch, and which of these are left out (None: all) and calibrate.

    They are those that a fit in memory would take; none are left out where there is no choice.
    """
    calibration = calibration_rows(n, seed)
    left = left_out_rows(n, seed) if chooses else calibration[:0]
    if left is None:
        return np.arange(n), None, calibration
    rows = np.union1d(left, calibration)
    return rows, np.searchsorted(rows, left), np.searchsorted(rows, calibration)


# ---------------------------------------------------------------- hidden rows
@dataclass(frozen=True)
class HiddenBlocks(UnderLayer):
    """Hidden rows of the blocks of a Dask collection, under a fitted map.

    ``precision`` is the estimator's dtype, ``columns`` are the units in use (None: all).
    """

    rows: BlockRows
    features: Any
    precision: DType
    columns: slice | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def _recipe(self) -> Recipe:
        return partial(_layer, self.features, self.precision, self.columns)

    @cached_property
    def layer(self) -> Layer:  # type: ignore[override]
        return self._recipe(self.rows.example)

    @property
    def X(self) -> Rows:
        """A row that lives where those taken do."""
        return self.rows.example

    def take(self, rows: Any) -> Hidden:
        """Some rows, brought into this process."""
        return Hidden(self.layer, self.rows[rows])

    def units(self, columns: slice) -> "HiddenBlocks":
        return replace(self, columns=columns)

    def kept(self) -> "HiddenBlocks":
        """The same: a worker makes its hidden rows again."""
        return self

    def sample(self, least: int, seed: int) -> Hidden:
        """At most 20 000 rows, or ``least`` if that is more, in this process."""
        n, most = len(self), max(_SAMPLE, least)
        rows = slice(None) if n <= most else np.sort(sample_rows(seed, most, n))
        return self.take(rows)

    def total(self, function: Callable[[Hidden], Any]) -> Any:
        """The sum over blocks of a function of their rows."""
        return self.rows.compute(self.rows.added(self._each(function)))[0]

    def mapped(self, function: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
        return np.concatenate(self.rows.compute(*self._each(partial(_mapped, function, arguments))))

    def with_targets(self, targets: Targets, chooses: bool = True) -> Summed:
        """All rows with these targets, for a ridge; the same rows are left out as in memory.

        ``chooses`` says whether rows are left out at all.
        """
        wanted, left, calibration = _wanted(len(self), chooses, 0)
        problem = Problem(self.take(wanted), targets.take(wanted))
        return Summed(self.moments(targets), Sample(problem, left, calibration))

    def moments(self, targets: Targets) -> Moments:
        """The sums over all rows, with these targets."""
        parts = [
            self._task(_moments, X, targets.take(np.arange(start, start + length)))
            for start, length, X in self.rows.parts()
        ]
        return self.rows.compute(self.rows.added(parts))[0]

    def smoothed_gram(self, laplacian: Laplacian) -> np.ndarray:
        """M = HᵀΛH (h × h, float64).

        Each block fetches the rows its edges lead to and gives its part of Σ hᵢᵀ(ΛH)ᵢ.
        """
        matrix, parts = laplacian.matrix.tocsr(), self.rows.parts()
        starts = np.array([start for start, _, _ in parts])
        sums = []
        for start, length, here in parts:
            edges, ends = _among_themselves(matrix[start : start + length])
            owner = np.searchsorted(starts, ends, side="right") - 1
            fetched = [
                self.rows.task(take, parts[block][2], ends[owner == block] - starts[block])
                for block in np.unique(owner)
            ]
            # A block without edges needs no other rows.
            neighbors = self.rows.task(joined, fetched) if fetched else here
            sums.append(self.rows.task(_edge_sums, here, neighbors, edges, self._shared_recipe))
        (S,) = self.rows.compute(self.rows.added(sums))
        slope = S[:-1, -1:]
        M = S[:-1, :-1] + self.offset * (slope + slope.T) + self.offset**2 * S[-1, -1]
        return np.asfortranarray((M + M.T) / 2)

    def _each(self, function: Callable[[Hidden], Any]) -> list[Any]:
        call = self.rows.shared(function)
        return [self._task(call, X) for _, _, X in self.rows.parts()]

    def _task(self, function: Any, X: Any, *more: Any) -> Any:
        """A function of a block's hidden rows."""
        return self.rows.task(_of_block, function, X, self._shared_recipe, *more)

    @cached_property
    def _shared_recipe(self) -> Any:
        return self.rows.shared(self._recipe)


def _layer(features: Any, dtype: DType, columns: slice | None, X: Rows) -> Layer:
    found: Any = layer_of(features, X, dtype)
    return found if columns is None else found.units(columns)


def _of_block(function: Callable[..., Any], X: Rows, recipe: Recipe, *more: Any) -> Any:
    return function(Hidden(recipe(X), X), *more)


def _mapped(function: Callable[..., np.ndarray], arguments: tuple[Any, ...], H: Hidden) -> Any:
    return H.mapped(function, *arguments)


def _moments(H: Hidden, targets: Targets) -> Moments:
    return Problem(H, targets).moments()


def _edge_sums(X: Rows, neighbors: Rows, edges: Any, recipe: Recipe) -> np.ndarray:
    """A block's part of [B 1]ᵀΛ[B 1] but for its last row, some rows at a time; B is H − offset."""
    layer = recipe(X)
    h = layer.width
    sums = np.zeros((h + 1, h + 1))
    size = max(1, block_rows(h, 8) // _NEIGHBORS)
    for part in row_blocks(X.shape[0], size):
        some, ends = _among_themselves(edges[part])
        if len(ends):
            B, level = layer(take(X, part)), np.asarray(some.sum(axis=1)).ravel()
            sums[:h, :h] += matmul(B.T, some.astype(B.dtype) @ layer(take(neighbors, ends)))
            sums[:h, h] += B.T.astype(float) @ level
            sums[h, h] += level.sum()
    return sums


def _among_themselves(edges: Any) -> tuple[Any, np.ndarray]:
    """Rows of a matrix without its empty columns, and the numbers of the others."""
    ends = np.unique(edges.indices)
    shape = edges.shape[0], max(len(ends), 1)
    places = np.searchsorted(ends, edges.indices)
    return sp.csr_array((edges.data, places, edges.indptr), shape), ends
