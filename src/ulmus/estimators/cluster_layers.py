"""The hidden layer of a clusterer where none is given: units, or the rows themselves.

Each layer clusters some rows, and each half of them. Its agreement is the mean adjusted Rand index
of its clusters with those of the other layers, its stability that of the clusters that the two
halves give all rows. The layer with the largest product of agreement and squared stability is
taken: layers that are alike may agree on clusters that other rows would not give, and a layer may
be stable but differ from all others.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from ulmus.backends.namespace import is_sparse, take
from ulmus.estimators.cluster_defaults import column_weights, local_units
from ulmus.features import RandomFeatures
from ulmus.features.hidden_layer import fitted_map, layer_of, share_a_unit
from ulmus.features.scaling import ColumnStatistics
from ulmus.fitted import check_outputs
from ulmus.hidden import Hidden
from ulmus.methods.clusters import Means
from ulmus.methods.partitions import agreement
from ulmus.typing import Rows

# Layers are compared on at most so many rows, of which factorisations take fewer for time, in so
# many units.
_SAMPLE, _FEWER, _UNITS = 1000, 500, 300
# Rows for each cluster below which they are too few to be halved.
_LEAST = 4
# Starts of k-means for each layer, and how often rows are halved.
_STARTS, _HALVINGS = 3, 3
# Power of the stability: of ½, 1 and 2 the best over nine sets (`python -m benchmarks units`).
_POWER = 2


def default_layer(n_columns: int, positive: bool) -> Callable[..., Any]:
    """The layer where none is compared."""
    # The map's scaling divides rows by their length, about √d; the gain takes it back, so that
    # units bend on columns of unit variance.
    return local_units if positive else partial(RandomFeatures, gain=float(np.sqrt(n_columns)))


def layer_for(
    model: Any, X: Rows, method: Callable[[str], Means], positive: bool
) -> Callable[..., Any]:
    """The layer whose clusters agree with those of others and are stable, of those left open.

    It is a function that makes it. Where layers are compared, the model has `candidates_` and
    `layer_reason_`. ``method`` is that of a map by the name of its class, and ``positive`` says
    that hidden rows may not be negative.
    """
    layers = _open_layers(model, X, positive)
    if model.features is not None or X.shape[0] < _LEAST * model.n_clusters_:
        return layers["local units" if positive else "sigmoid units"]
    hidden, origins = _hidden(model, X, _FEWER if positive else _SAMPLE, layers)
    scores = layer_scores(hidden, [method(origin) for origin in origins])
    order = np.argsort(-scores["score"], kind="stable")
    table = {"kind": np.array(list(layers))} | scores
    model.candidates_ = found = {name: column[order] for name, column in table.items()}
    best = str(found["kind"][0])
    model.layer_reason_ = (
        f"{best}: of {len(layers)} layers the one whose clusters agree with the others' "
        f"({found['agreement'][0]:.2f}) and are stable ({found['stability'][0]:.2f})"
    )
    return layers[best]


def stability_by_number(model: Any, X: Rows, numbers: np.ndarray) -> dict[str, np.ndarray]:
    """For each number of clusters that the rows are enough for, the score of the best layer."""
    given = {"the layer that is given": None}
    layers = given if model.features is not None else _open_layers(model, X, positive=False)
    hidden, _ = _hidden(model, X, _FEWER, layers)
    numbers = numbers[numbers <= max(2, len(hidden[0]) // _LEAST)]
    methods = [[Means(k, model.n_init)] * len(hidden) for k in numbers.tolist()]
    scores = [layer_scores(hidden, each)["score"].max() for each in methods]
    return {"n_clusters": numbers, "score": np.array(scores)}


def layer_scores(layers: Sequence[np.ndarray], methods: Sequence[Means]) -> dict[str, np.ndarray]:
    """Agreement, stability and score of the hidden rows of each layer, clustered by its method."""
    methods = [replace(each, n_init=min(_STARTS, each.n_init)) for each in methods]
    pairs = list(zip(layers, methods, strict=True))
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        # Of halves with few different rows, and of factorisations that are cut short.
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = [method.started(h, 0).kmeans.labels_ for h, method in pairs]
        steady = np.array([_stability(h, method) for h, method in pairs])
    agreed = agreement(whole, ["layers"] * len(whole))
    score = np.maximum(agreed, 0.0) * np.maximum(steady, 0.0) ** _POWER
    return {"agreement": agreed, "stability": steady, "score": score}


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


def _hidden(
    model: Any, X: Rows, most: int, layers: dict[str, Any]
) -> tuple[list[np.ndarray], list[str]]:
    """The same few rows in each layer, and the name of its map, drawn with a seed of its own."""
    if X.shape[0] > most:
        X = take(X, np.random.RandomState(0).permutation(X.shape[0])[:most])
    maps = [
        fitted_map(model, X, default_width=_UNITS, default=layer, random_state=0)
        for layer in layers.values()
    ]
    rows = [check_outputs(Hidden(layer_of(each, X), X).all()) for each in maps]
    return rows, [type(each).__name__ for each in maps]


def _open_layers(model: Any, X: Rows, positive: bool) -> dict[str, Callable[..., Any]]:
    """Layers by name; those of a given width are units, as are those without columns of noise."""
    weights, sparse = column_weights(X), is_sparse(X)
    layers: dict[str, Callable[..., Any]] = {
        "sigmoid units": partial(default_layer(X.shape[1], False), column_weights=weights),
        "local units": partial(local_units, column_weights=weights),
    }
    noise = weights is not None and not weights.all()
    if model.n_hidden is None and not noise and not (positive and sparse):
        own = weights is not None or share_a_unit(ColumnStatistics.of(X))
        # Columns are scaled where they have no unit of their own, or from 0 to 1.
        plain = StandardScaler(with_mean=not (own or sparse), with_std=not own)
        unit: Any = Normalizer()
        if positive:
            plain, unit = MinMaxScaler(clip=True), make_pipeline(MinMaxScaler(clip=True), unit)
        layers["plain rows"] = lambda width, **parameters: plain
        layers["unit rows"] = lambda width, **parameters: unit
    return layers
