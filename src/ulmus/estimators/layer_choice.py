"""The default hidden layer of an ELM, with column weights that leave-one-out chooses.

Layers with few units are compared on few of the rows, always in float64 on the host: columns as
they are scaled, and weighed by the gradients of what was fitted before. The weights of the best
are those of the layer that is used.
"""

import logging
from copy import copy
from typing import Any

import numpy as np

from ulmus.backends.namespace import is_sparse, on_host, take
from ulmus.distributed.rows import BlockRows
from ulmus.features.hidden_layer import fitted_map, map_over_blocks
from ulmus.features.row_units import RowFeatures, map_rows
from ulmus.features.scaling import ColumnStatistics
from ulmus.hidden import Hidden, sample_rows
from ulmus.methods.column_weights import CHOICE_ROWS, WeighedLayer, weighed_layers
from ulmus.methods.ridge import DEFAULT_GRID
from ulmus.problem import Problem
from ulmus.sources.source import Batch

_LOG = logging.getLogger(__name__)
# Units of the default map, and the most that leave-one-out chooses from.
_WIDTH, _WIDEST = 1000, 2000
# Units of the layers that are compared: 1000 units chose no better and took twice as long.
_FEW_UNITS = 500


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
        assert columns is not None  # blocks have been surveyed
        return map_over_blocks(model, rows, columns)
    return fitted_map(model, *rows, random_state=seed, columns=columns)


def weighing_factor(model: Any, weight: np.ndarray) -> float:
    """What left-out errors of rows are multiplied by where columns were weighed by such rows.

    Their squares are too small by about one part in n for each weight, as a kernel ELM's are.
    """
    if model.features is not None or getattr(model.features_, "column_weights", None) is None:
        return 1.0
    return float(np.sqrt(1.0 + model.n_features_in_ / np.maximum(weight, 1.0).sum()))


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
    tried = _tried(known, plain, (X, y, weight), columns, seed)
    best = min(tried, key=lambda each: each.score, default=None)
    weights = None if best is None else best.weights
    features = plain if weights is None else plain.reweighed(weights, X, weight)
    features.selection_ = _words(tried, best)
    _LOG.info("%s: %s.", type(model).__name__, features.selection_)
    return features


def _tried(
    known: Any, plain: RowFeatures, batch: Batch, columns: ColumnStatistics, seed: int
) -> list[WeighedLayer]:
    """Narrow layers on at most 2000 of the rows, with columns weighed more and more often.

    The C that is given has no part in it: all of the default ones are tried.
    """
    n = batch[0].shape[0]
    few = None if n <= CHOICE_ROWS else np.sort(sample_rows(seed, CHOICE_ROWS, n))
    X, y, weight = _some(batch, few)
    X = on_host(X)
    X = X.astype(float) if is_sparse(X) else np.asarray(X, dtype=float)
    narrow = copy(plain)
    narrow.n_hidden = min(plain.n_hidden, _FEW_UNITS)

    def problem(weights: np.ndarray | None) -> Problem:
        layer = narrow.reweighed(weights, X, weight).layer(X, np.dtype(float))
        return known.problem(y, weight).over(Hidden(layer, X))

    varying = int(np.count_nonzero(columns.deviation))
    count = np.ones(X.shape[0]) if weight is None else weight
    return weighed_layers(problem, DEFAULT_GRID, varying, count, seed)


def _some(rows: Batch | BlockRows, numbers: np.ndarray | None) -> Batch:
    """Some of the rows, or all."""
    if isinstance(rows, BlockRows):
        return rows.take(slice(None) if numbers is None else numbers)
    if numbers is None:
        return rows
    X, y, weight = rows
    return take(X, numbers), y[numbers], None if weight is None else weight[numbers]


def _words(tried: list[WeighedLayer], best: WeighedLayer | None) -> str:
    if best is None:
        return "columns as they are scaled: they outnumber the rows to weigh them by"
    n = len(best.problem.H)
    if best.round == 0:
        return f"columns as they are scaled: weights left no less error, {n} rows left out"
    rounds = "1 round" if best.round == 1 else f"{best.round} rounds"
    errors = f"{tried[0].score[-1]:.3g} → {best.score[-1]:.3g}"
    return f"columns weighed in {rounds}: squared error of {n} left-out rows {errors}"
