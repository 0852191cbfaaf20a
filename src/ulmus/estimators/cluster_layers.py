"""The hidden layer of a clusterer where none is given: units, or the rows themselves.

Each layer clusters some rows, and each half of them. Its stability is how far the two halves give
all rows the same clusters, by the adjusted Rand index, and its information how much the cluster of
a row tells of those of its neighbours, in a graph of the rows that all layers share. The layer with
the largest product is taken, of those whose clusters agree with the others' by two thirds or more
of what any layer's do. A layer that sees all rows alike is stable, but its one large cluster
tells nothing of neighbours; one that cuts through a dense part tells much of them, but elsewhere
with other rows.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from ulmus.backends.namespace import is_sparse, take
from ulmus.estimators.cluster_defaults import FEW, column_weights, local_units
from ulmus.features import RandomFeatures
from ulmus.features.hidden_layer import comparable_rows, fitted_map, layer_of, share_a_unit
from ulmus.features.scaling import ColumnStatistics
from ulmus.fitted import check_outputs
from ulmus.graphs import KNNGraph
from ulmus.hidden import Hidden
from ulmus.methods.clusters import Means
from ulmus.methods.partitions import agreement, edges_between, information, mean_affinity
from ulmus.typing import Rows

# Layers are compared on at most so many rows, and numbers of clusters on fewer for time, in so many
# units.
_SAMPLE, _FEWER, _UNITS = 1000, 500, 300
# Rows for each cluster below which they are too few to be halved.
_LEAST = 4
# Starts of k-means for each layer, and how often rows are halved.
_STARTS, _HALVINGS = 3, 4
# The part of the largest agreement that a layer must have: from .4 to .75 nothing changes on nine
# sets, and from .65 on units that see all rows alike are left out on others.
_AGREES = 2 / 3
# Neighbours of a row, or as many as a cluster has rows: more would lie in other clusters.
_NEIGHBORS = 10


def default_layer(n_columns: int, positive: bool) -> Callable[..., Any]:
    """The layer where none is compared."""
    # The map's scaling divides rows by their length, about √d; the gain takes it back, so that
    # units bend on columns of unit variance.
    return local_units if positive else partial(RandomFeatures, gain=float(np.sqrt(n_columns)))


def layer_for(
    model: Any, X: Rows, method: Callable[[str], Means], positive: bool
) -> Callable[..., Any]:
    """The layer with stable clusters that neighbours share, of those left open.

    It is a function that makes it. Where layers are compared, the model has `candidates_` and
    `layer_reason_`. ``method`` is that of a map by the name of its class, and ``positive`` says
    that hidden rows may not be negative.
    """
    layers, k = _open_layers(model, X, positive), model.n_clusters_
    if model.features is not None or k == 1 or X.shape[0] < _LEAST * k:
        return layers["local units" if positive else "sigmoid units"]
    some = _some(X, _SAMPLE)
    maps, hidden = _hidden(model, some, layers)
    graph = KNNGraph(min(_NEIGHBORS, some.shape[0] // k), width="local")
    edges = mean_affinity([graph.laplacian(comparable_rows(maps[0], some))])
    scores = layer_scores(hidden, [method(type(each).__name__) for each in maps], edges)
    order = np.argsort(-scores["score"], kind="stable")
    table = {"kind": np.array(list(layers))} | scores
    model.candidates_ = found = {name: column[order] for name, column in table.items()}
    best = str(found["kind"][0])
    model.layer_reason_ = (
        f"{best}: of {len(layers)} layers the one whose clusters are stable "
        f"({found['stability'][0]:.2f}) and tell most of neighbours ({found['information'][0]:.2f})"
    )
    return layers[best]


def stability_by_number(model: Any, X: Rows, numbers: np.ndarray) -> dict[str, np.ndarray]:
    """For each number of clusters that the rows are enough for, the score of the best layer.

    It is the agreement with the other layers × stability²: information is larger with more
    clusters.
    """
    given = {"the layer that is given": None}
    layers = given if model.features is not None else _open_layers(model, X, positive=False)
    _, hidden = _hidden(model, _some(X, _FEWER), layers)
    numbers = numbers[numbers <= max(2, len(hidden[0]) // _LEAST)]
    scores = []
    for k in numbers.tolist():
        whole, steady = _clusterings(hidden, [Means(k, model.n_init)] * len(hidden))
        agreed = agreement(whole, ["layers"] * len(whole))
        scores.append(np.max(np.maximum(agreed, 0.0) * np.maximum(steady, 0.0) ** 2))
    return {"n_clusters": numbers, "score": np.array(scores)}


def layer_scores(
    layers: Sequence[np.ndarray], methods: Sequence[Means], edges: Any
) -> dict[str, np.ndarray]:
    """What judges the hidden rows of each layer, clustered by its method, and the score.

    ``edges`` are those of the graph of the rows.
    """
    whole, steady = _clusterings(layers, methods)
    told = np.array([information(edges_between(labels, edges)) for labels in whole])
    agreed = agreement(whole, ["layers"] * len(whole))
    score = np.where(agreed >= _AGREES * agreed.max(), told * np.maximum(steady, 0.0), 0.0)
    return {"information": told, "stability": steady, "agreement": agreed, "score": score}


def _clusterings(
    layers: Sequence[np.ndarray], methods: Sequence[Means]
) -> tuple[list[np.ndarray], np.ndarray]:
    """The clusters of all rows in each layer, and their stability."""
    pairs = [
        (h, replace(method, n_init=min(_STARTS, method.n_init)))
        for h, method in zip(layers, methods, strict=True)
    ]
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        # Of halves with few different rows, and of factorisations that are cut short.
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = [method.started(h, 0).kmeans.labels_ for h, method in pairs]
        return whole, np.array([_stability(h, method) for h, method in pairs])


def _stability(h: np.ndarray, method: Means) -> float:
    """The adjusted Rand index of the clusters by two halves of the rows, over several halvings."""
    found = []
    for seed in range(_HALVINGS):
        order = np.random.RandomState(seed).permutation(len(h))
        halves = order[::2], order[1::2]
        found.append(
            adjusted_rand_score(*(method.started(h[i], seed).nearest(h)[1] for i in halves))
        )
    return float(np.mean(found))


def _some(X: Rows, most: int) -> Rows:
    """At most so many rows, always the same."""
    if X.shape[0] <= most:
        return X
    return take(X, np.random.RandomState(0).permutation(X.shape[0])[:most])


def _hidden(model: Any, X: Rows, layers: dict[str, Any]) -> tuple[list[Any], list[np.ndarray]]:
    """The map of each layer, of few units, drawn with a seed of its own, and its hidden rows."""
    maps = [
        fitted_map(model, X, default_width=_UNITS, default=layer, random_state=0)
        for layer in layers.values()
    ]
    return maps, [check_outputs(Hidden(layer_of(each, X), X).all()) for each in maps]


def _open_layers(model: Any, X: Rows, positive: bool) -> dict[str, Callable[..., Any]]:
    """Layers by name; those of a given width are units, as are those without columns of noise."""
    weights, sparse = column_weights(X), is_sparse(X)
    layers: dict[str, Callable[..., Any]] = {
        "sigmoid units": partial(default_layer(X.shape[1], False), column_weights=weights),
        "local units": partial(local_units, column_weights=weights),
    }
    noise = weights is not None and not weights.all()
    if model.n_hidden is None and not noise and not (positive and sparse):
        columns = ColumnStatistics.of(X)
        # Columns are scaled where they have no unit of their own.
        own = weights is not None or share_a_unit(columns)
        plain: Any = StandardScaler(with_mean=not (own or sparse), with_std=not own)
        unit: Any = Normalizer()
        if positive:
            reach = columns.greatest - columns.least
            plain = _from_zero(columns.least, reach.max() if own else reach)
            # Rows have the angles that they have for k-means, unless some are negative.
            own_zero = columns.least.min() >= 0
            begin = _from_zero(0.0 * reach, columns.greatest.max()) if own_zero else plain
            unit = make_pipeline(begin, unit)
        layers["plain rows"] = lambda width, **parameters: plain
        if X.shape[1] > FEW:
            layers["unit rows"] = lambda width, **parameters: unit
    return layers


def _from_zero(least: np.ndarray, reach: Any) -> FrozenEstimator:
    """Columns less the ``least``, divided by their reach, or all by the same; none is negative."""
    return FrozenEstimator(MinMaxScaler(clip=True).fit(np.array((least, least + reach))))
