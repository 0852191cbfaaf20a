"""The default hidden layer of an ELM: its kind of units and its column weights, by leave-one-out.

Layers with few units of either kind are compared on few of the rows, always in float64 on the host:
columns as they are scaled, and weighed by the gradients of what was fitted before. Kind and weights
of the best are those of the layer that is used.
"""

import logging
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from ulmus.backends.namespace import is_sparse, on_host, take
from ulmus.distributed import BlockRows
from ulmus.features.hidden_layer import fitted_map
from ulmus.features.row_units import RowFeatures, map_rows
from ulmus.features.scaling import ColumnStatistics
from ulmus.hidden import Hidden, sample_rows
from ulmus.methods.ridge import DEFAULT_GRID, Ridge
from ulmus.problem import ErrorPath, Problem
from ulmus.slopes import (
    CHOICE_ROWS,
    correction,
    gradient_rows,
    weighing_rows,
    weighings,
    weights_of,
)
from ulmus.sources.source import AtHand, Batch
from ulmus.targets import copies

_LOG = logging.getLogger(__name__)
# Units of the default map, and the most that leave-one-out chooses from.
_WIDTH, _WIDEST = 1000, 2000
# Units of the layers that are compared: half the rows, within these bounds, the upper one being as
# many units as columns where these are more. With fewer the weights of 500 columns are not found.
_FEWEST_UNITS, _FEW_UNITS = 100, 300
# Smooth units must have at most this part of the error of peaked ones, which gain more from the
# rows and units that the layer has beyond those that are compared.
_SMOOTHER = 0.9
# The C that they are compared at, a decade apart.
_GRID = DEFAULT_GRID[::2]


@dataclass(frozen=True)
class WeighedLayer:
    """A hidden layer on weighed columns, fitted; ``round`` is how often they have been weighed.

    ``weights`` is None for columns as they are scaled.
    """

    weights: np.ndarray | None
    round: int
    problem: Problem
    path: ErrorPath
    coef: np.ndarray
    correction: float = 1.0

    @property
    def squared(self) -> float:
        """The least squared error over left-out rows."""
        return float(self.path.squared_error.min())

    @property
    def score(self) -> tuple[float, ...]:
        """Error rate, if there is one, and squared error, corrected for the fit of the weights."""
        best = int(np.argmin(self.path.squared_error))
        rates, squares = self.path.error_rate, self.path.squared_error
        both = (squares,) if rates is None else (rates, squares)
        return tuple(self.correction * float(errors[best]) for errors in both)

    def next_weights(self, count: np.ndarray | None, seed: int) -> np.ndarray | None:
        """Weights from the gradients of the outputs; None where nothing varies."""
        X, layer = self.problem.H.X, self.problem.H.layer
        some = gradient_rows(X.shape[0], layer.width, X.shape[1], seed)
        share = np.ones(len(some)) if count is None else count[some]
        coef = self.coef / (np.abs(self.coef).max() or 1.0)
        slopes = layer.slopes(X[some], coef)
        # By columns that are scaled and not weighed, whatever their own units are.
        factor = np.ones(X.shape[1]) if self.weights is None else self.weights
        return weights_of(replace(slopes, factor=factor), share)


def fitted_layer(
    model: Any, known: Any, rows: Batch | BlockRows, columns: ColumnStatistics | None, seed: int
) -> Any:
    """The map of a model, fitted to rows.

    ``known`` is what their targets have in common, and ``columns`` are the statistics of all rows
    where these are a sample, or blocks.
    """
    if model.features is None and model._default_map is RowFeatures:
        return _chosen_layer(model, known, rows, columns, seed)
    if isinstance(rows, BlockRows):
        return fitted_map(model, rows, columns=columns)
    return fitted_map(model, *rows, random_state=seed, columns=columns)


def weighing_factor(model: Any, weight: np.ndarray) -> float:
    """What left-out errors of rows are multiplied by where columns were weighed by such rows.

    Their squares are too small by about one part in n for each weight, as a kernel ELM's are. Few
    large weights are few numbers, and which columns have them counts as 2 log(d/k) for each of k:
    the most that the best k of d useless columns explain.
    """
    weights = getattr(model.features_, "column_weights", None)
    if model.features is not None or weights is None:
        return 1.0
    squares, d = on_host(weights) ** 2, model.n_features_in_
    large = squares.sum() ** 2 / np.sum(squares**2)
    numbers = min(d, large * (1.0 + 2.0 * np.log(d / large)))
    return float(np.sqrt(1.0 + numbers / copies(weight).sum()))


def _chosen_layer(
    model: Any, known: Any, rows: Batch | BlockRows, columns: ColumnStatistics | None, seed: int
) -> RowFeatures:
    """The default map of a model, drawn from some of the rows, with columns weighed."""
    width = _WIDEST if model.n_hidden == "loo" else model.n_hidden or _WIDTH
    if columns is None:
        assert not isinstance(rows, BlockRows)  # whose statistics are known
        columns = ColumnStatistics.of(rows[0], rows[2])
    n = len(rows) if isinstance(rows, BlockRows) else rows[0].shape[0]
    X, y, weight = _some(rows, map_rows(seed, n, width))
    plain = fitted_map(model, X, y, weight, width, RowFeatures, seed, columns)
    node, tried = _tried(known, plain, (X, y, weight), columns, seed)
    best = _best(tried)
    features = plain if best.weights is None else plain.reweighed(best.weights, X, weight)
    features.node, features.selection_ = node, _words(node, tried)
    _LOG.info("%s: %s.", type(model).__name__, features.selection_)
    return features


def _tried(
    known: Any, plain: RowFeatures, batch: Batch, columns: ColumnStatistics, seed: int
) -> tuple[str, list[WeighedLayer]]:
    """The better kind of units, and narrow layers of it on some of the rows.

    The C that is given has no part in it: every second one of the default ones is tried.
    """
    n, varying = batch[0].shape[0], int(np.count_nonzero(columns.deviation))
    most = min(CHOICE_ROWS, weighing_rows(varying))
    few = None if n <= most else np.sort(sample_rows(seed, most, n))
    X, y, weight = _some(batch, few)
    X = on_host(X)
    X = X.astype(float) if is_sparse(X) else np.asarray(X, dtype=float)
    narrow = copy(plain)
    count = np.ones(X.shape[0]) if weight is None else weight
    half = int(copies(count).sum()) // 2
    narrow.n_hidden = min(plain.n_hidden, max(_FEW_UNITS, varying), max(_FEWEST_UNITS, half))
    drawn = narrow.drawn(X, weight)

    # Of twice the weights every C is half as large.
    grid = _GRID * float(copies(count).sum() / count.sum())

    def tried(node: str, most: float = np.inf) -> list[WeighedLayer]:
        own = copy(narrow)
        own.node = node

        def problem(weights: np.ndarray | None) -> Problem:
            layer = own.reweighed(weights, X, weight, drawn).layer(X, np.dtype(float))
            return known.problem(y, weight).over(Hidden(layer, X))

        return weighed_layers(problem, grid, varying, count, seed, most)

    peaked = tried("exponential")
    # Weights hardly ever put smooth units ahead that are behind without.
    smooth = tried("gaussian", peaked[0].squared)
    # By squared errors, which vary less than error rates.
    if _best(smooth).score[-1] < _SMOOTHER * _best(peaked).score[-1]:
        return "gaussian", smooth
    return "exponential", peaked


def _best(tried: list[WeighedLayer]) -> WeighedLayer:
    """The layer with the least score."""
    return min(tried, key=attrgetter("score"))


def weighed_layers(
    problem_of: Callable[[np.ndarray | None], Problem],
    C: Any,
    columns: int,
    count: np.ndarray,
    seed: int,
    most: float = np.inf,
) -> list[WeighedLayer]:
    """A hidden layer on columns as they are, and weighed while that lowers the error.

    ``problem_of`` gives the problem over the layer with these weights, of rows in float64 that
    count so often; ``columns`` of them vary. With more columns than rows they are not weighed: no
    weights win by as much as the correction asks for. Nor are they where the squared error without
    weights is above ``most``.
    """
    total = float(copies(count).sum())

    def fitted(weights: np.ndarray | None, number: int, factor: float) -> WeighedLayer:
        problem = problem_of(weights)
        kept = replace(problem, H=problem.H.kept())
        # At the least squared error, which a row of weight two moves as two rows do.
        found = Ridge(C, by_squares=True).fit(AtHand(kept, seed, calibrating=1))
        assert found.path is not None  # there are several C
        return WeighedLayer(weights, number, problem, found.path, found.coef, factor)

    first = fitted(None, 0, 1.0)
    if columns >= total or first.squared > most:
        return [first]
    again = partial(fitted, factor=correction(columns, total))
    return [first, *weighings(first, again, count, seed)]


def _some(rows: Batch | BlockRows, numbers: np.ndarray | None) -> Batch:
    """Some of the rows, or all."""
    if isinstance(rows, BlockRows):
        return rows.take(slice(None) if numbers is None else numbers)
    if numbers is None:
        return rows
    X, y, weight = rows
    return take(X, numbers), y[numbers], None if weight is None else weight[numbers]


def _words(node: str, tried: list[WeighedLayer]) -> str:
    best = _best(tried)
    n, units = len(best.problem.H), f"{node} units"
    if len(tried) == 1:
        return f"{units}, columns as they are scaled: they outnumber the rows to weigh them by"
    if best.round == 0:
        return f"{units}, columns as they are scaled: weights left no less error, {n} rows left out"
    rounds = "1 round" if best.round == 1 else f"{best.round} rounds"
    errors = f"{tried[0].score[-1]:.3g} → {best.score[-1]:.3g}"
    return f"{units}, columns weighed in {rounds}: squared error of {n} left-out rows {errors}"
