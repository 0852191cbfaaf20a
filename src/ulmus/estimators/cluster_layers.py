"""The hidden layer of a clusterer where none is given: units, or the rows themselves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from ulmus.backends.namespace import is_sparse, take
from ulmus.estimators.cluster_columns import column_weights, local_units
from ulmus.estimators.cluster_numbers import possible_numbers
from ulmus.features import RandomFeatures
from ulmus.features.hidden_layer import fitted_map, layer_of, share_a_unit
from ulmus.features.scaling import ColumnStatistics
from ulmus.hidden import Hidden
from ulmus.methods.clusters import Means, whole_blocks
from ulmus.methods.stability import layer_scores
from ulmus.typing import Rows

_SCORES = ("agreement", "stability", "score")
# Layers are compared on at most so many rows, of which factorisations take fewer for time, in so
# many units.
_SAMPLE, _FEWER, _UNITS = 1000, 500, 300
# Rows for each cluster below which they are too few to be halved.
_LEAST = 4


@dataclass(frozen=True)
class LayerChoice:
    """The layer in use, as a function that makes it, and the table of all that were compared."""

    layer: Callable[..., Any]
    candidates: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def why(self) -> str:
        """The reason, in words."""
        if not self.candidates:
            return "default"
        kinds, agreed, steady = (self.candidates[name] for name in ("kind", *_SCORES[:2]))
        return (
            f"{kinds[0]}: of {len(kinds)} layers the one whose clusters agree with the others' "
            f"({agreed[0]:.2f}) and are stable ({steady[0]:.2f})"
        )


def sigmoid_units(n_columns: int) -> Callable[..., Any]:
    """Units that bend on columns of unit variance."""
    # The map's scaling divides rows by their length, about √d; this takes it back.
    return partial(RandomFeatures, gain=float(np.sqrt(n_columns)))


def choice_of_layer(
    model: Any, X: Rows, method: Callable[[str], Means], positive: bool
) -> LayerChoice:
    """The layer whose clusters agree with those of others and are stable, of those left open.

    ``method`` is that of a map by the name of its class, and ``positive`` says that hidden rows may
    not be negative.
    """
    layers = _open_layers(model, X, positive)
    first = LayerChoice(layers["local units" if positive else "sigmoid units"])
    if model.features is not None or X.shape[0] < _LEAST * model.n_clusters_:
        return first
    rows = _some(X, _FEWER if positive else _SAMPLE)
    maps = [_fitted(model, rows, layer) for layer in layers.values()]
    methods = [method(type(each).__name__) for each in maps]
    table = layer_scores([_hidden(each, rows) for each in maps], methods)
    order = np.argsort(-table["score"], kind="stable")
    names = np.array(list(layers))[order]
    found = {"kind": names} | {name: table[name][order] for name in _SCORES}
    return LayerChoice(layers[str(names[0])], found)


def stability_by_number(model: Any, X: Rows) -> dict[str, np.ndarray]:
    """For each number of clusters the score of the best layer."""
    rows, numbers = _some(X, _FEWER), possible_numbers(X)
    numbers = numbers[numbers <= max(2, rows.shape[0] // _LEAST)]
    given = {"the layer that is given": None}
    layers = _open_layers(model, X, positive=False) if model.features is None else given
    hidden = [_hidden(_fitted(model, rows, layer), rows) for layer in layers.values()]
    methods = [[Means(k, model.n_init)] * len(hidden) for k in numbers.tolist()]
    scores = [layer_scores(hidden, each)["score"].max() for each in methods]
    return {"n_clusters": numbers, "score": np.array(scores)}


def _some(X: Rows, most: int) -> Rows:
    """At most so many rows, always the same."""
    if X.shape[0] <= most:
        return X
    return take(X, np.random.RandomState(0).permutation(X.shape[0])[:most])


def _fitted(model: Any, rows: Rows, layer: Any) -> Any:
    """A layer of some units, drawn with a seed of their own."""
    return fitted_map(model, rows, default_width=_UNITS, default=layer, random_state=0)


def _hidden(units: Any, rows: Rows) -> np.ndarray:
    """Hidden rows, written out."""
    return np.concatenate([h for _, h in whole_blocks(Hidden(layer_of(units, rows), rows))])


def _open_layers(model: Any, X: Rows, positive: bool) -> dict[str, Callable[..., Any]]:
    """Layers by name; those of a given width are units, as are those without columns of noise."""
    weights, sparse = column_weights(X), is_sparse(X)
    layers: dict[str, Callable[..., Any]] = {
        "sigmoid units": partial(sigmoid_units(X.shape[1]), column_weights=weights),
        "local units": partial(local_units, column_weights=weights),
    }
    noise = weights is not None and not weights.all()
    if model.n_hidden is None and not noise and not (positive and sparse):
        columns = ColumnStatistics.of(X)
        own = share_a_unit(columns) or weights is not None
        layers["plain rows"] = partial(_plain_rows, own, sparse, positive)
        layers["unit rows"] = partial(_unit_rows, positive)
    return layers


def _plain_rows(own: bool, sparse: bool, positive: bool, width: int, **parameters: Any) -> Any:
    """The rows themselves: columns scaled where they have no unit of their own, or from 0 to 1."""
    if positive:
        return MinMaxScaler(clip=True)
    return StandardScaler(with_mean=not (own or sparse), with_std=not own)


def _unit_rows(positive: bool, width: int, **parameters: Any) -> Any:
    """Rows of unit length, of which none is negative where that is asked for."""
    if positive:
        return make_pipeline(MinMaxScaler(clip=True), Normalizer())
    return Normalizer()
