"""Checks of the objects of Ulmus in a file, before `load` returns them.

Only what predictions read is checked here; sums, paths and scores are checked by the fit that uses
them. An attribute of one name is the same thing in every estimator and feature map, so a class
needs no entry of its own: it is checked by the attributes that it declares.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ulmus.calibration import BIASES, SCALES, TEMPERATURES
from ulmus.features.unit_layers import ACTIVATIONS
from ulmus.fitted import declared
from ulmus.kernels import Kernel
from ulmus.kernels.definition import parameters_of
from ulmus.persistence.rules import Layout, Sizes, Spec, fits
from ulmus.tables.cells import TURNS, is_layout

# Largest power of a Laplacian: each power is a product.
_MOST_PRODUCTS = 1000


# ---------------------------------------------------------------- estimators and maps
def _map(value: Any, sizes: Sizes) -> bool:
    """A transformer; a feature map of Ulmus must also be fitted."""
    return fits(value, "has transform", sizes) and (
        not fits(value, "a FeatureMap", sizes) or hasattr(value, "n_features_in_")
    )


def _temperature(value: Any, sizes: Sizes) -> bool:
    """A positive number, or one for each of several labels."""
    each = value.tolist() if fits(value, "floats m", sizes) else [value]
    return all(fits(number, "number {!r} {!r}".format(*TEMPERATURES), sizes) for number in each)


def _class_scaling(value: Any, sizes: Sizes) -> bool:
    """A scale and a bias for each class, if any."""
    if fits(value, "absent", sizes):
        return True
    return fits(value, "floats 2 k", sizes) and all(
        ((low <= row) & (row <= high)).all()
        for row, (low, high) in zip(value, (SCALES, BIASES), strict=True)
    )


COLUMNS: dict[str, Spec] = {
    "n_features_in_": "size d",
    "feature_names_in_": "names d | none | absent",
}
_FITTED: dict[str, Spec] = {
    "features_": _map,
    "beta_": "floats h m",
    "intercept_": "floats m",
    "classes_": "labels k",
    "temperature_": _temperature,
    "class_scaling_": _class_scaling,
    "_indicator": "flag | absent",
    "_flat": "flag",
    "weights_": "floats h d",
    "biases_": "floats h",
    "centers_": "floats h d",
    "rates_": "floats h",
    "scaling_": lambda value, sizes: (
        fits(value, "a Scaling", sizes) and fits(value.center, "floats d", sizes)
    ),
    "kernel_": "a Kernel",
    "landmarks_": "anything",
    "rank_": "size r",
    "dual_coef_": "floats l m",
    "support_": "array iu l",
    "_left_out": "a LeftOut | absent",
    "embedding_": "a ELMEmbedding beta_",
    "kmeans_": "a KMeans cluster_centers_",
    "n_clusters_": "size k",
    "cluster_centers_": "floats k c",
    "nmf_": "a NMF components_",
    "components_": "floats r h",
}
_PARAMETERS: dict[str, Spec] = {
    "dtype": "none | precision",
    "n_clusters": "size k | word auto",
    "activation": f"word {' '.join(ACTIVATIONS)} | function",
    "node": "word gaussian random_gaussian exponential robust",
    "scaling": "word auto | none",
    "kernel": lambda value, sizes: (
        fits(value, "text | function | a Kernel | tuple text", sizes)
        or (type(value) is list and fits(tuple(value), "tuple text", sizes))
    ),
    "row_normalize": "flag",
}
# Classes in which an attribute means something else, or is optional.
_OTHERWISE: dict[str, dict[str, Spec]] = {
    "ELMLayout": {
        "embedding_": "floats n 2 | absent",
        "landmarks_": "moderate l r",
        "places_": "floats l 2",
        "spread_": "floats r",
        "pca_": "a PCA components_",
        "elm_": "a ELMEmbedding beta_",
    },
    "KernelFeatures": {"weights_": "floats l r"},
    "RowFeatures": {
        "centers_": "floats r d",
        "rates_": "floats r",
        "node": "word exponential gaussian",
    },
    "ELMSpectralClustering": {"row_normalize": "flag | none"},
    "SparseELMClassifier": {
        "dual_coef_": "floats m l",
        "kernel": "text | function | a Kernel | none",
    },
}
_HIDDEN, _KERNEL = {"features_", "beta_"}, {"kernel_", "scaling_", "scaling"}


@lru_cache
def layout_of(cls: type) -> Layout:
    """What an object of a public class or a kernel must be, by what the class declares."""
    if issubclass(cls, Kernel):
        return Layout({name: _of_value(sound) for name, sound in parameters_of(cls).items()})
    if not issubclass(cls, BaseEstimator):
        return Layout()
    names = declared(cls).keys()
    fitted = {name: spec for name, spec in _FITTED.items() if name in names}
    read = {name: spec for name, spec in _PARAMETERS.items() if name in signature(cls).parameters}
    fields = {**COLUMNS, **fitted, **read, **_OTHERWISE.get(cls.__name__, {})}
    return Layout(lambda model: _used(model, fields), _agrees)


def _of_value(sound: Callable[[Any], bool]) -> Spec:
    return lambda value, sizes: sound(value)


def _used(model: Any, fields: Mapping[str, Spec]) -> dict[str, Spec]:
    """The fields in use, of a model that can be fitted in two ways."""
    unused: set[str] = set()
    if {"beta_", "kernel_"} <= fields.keys():
        unused = _KERNEL if model.kernel is None else _HIDDEN
    if {"beta_", "embedding_"} <= fields.keys():
        unused = {"embedding_", "kmeans_"} if hasattr(model, "beta_") else {*_HIDDEN, "intercept_"}
    return {name: spec for name, spec in fields.items() if name not in unused}


def _agrees(model: Any, sizes: Sizes) -> bool:
    """Whether outputs, landmarks and centres match the classes, the kernel and the clusters."""
    state, m, k = vars(model), sizes.get("m"), sizes.get("k")
    if "classes_" in state and m != k and ((k, m) != (2, 1) or state.get("_indicator")):
        return False
    if state.get("_indicator", False) != isinstance(state.get("temperature_"), np.ndarray):
        return False
    if (state.get("_flat") and m != 1) or ("kernel_" in state and not _landmarks(model, sizes)):
        return False
    if type(model).__name__ == "RowFeatures" and sizes["h"] - sizes["r"] not in (0, 1):
        return False
    if "elm_" in state:  # rows go through a PCA, an ELM, and to the landmarks' columns
        ends = model.pca_.n_features_in_, model.elm_.n_features_in_, model.elm_.beta_.shape[1]
        if ends != (sizes["d"], len(model.pca_.components_), sizes["r"]):
            return False
    if "nmf_" in state and not len(model.nmf_.components_) == sizes["r"] == sizes["c"]:
        return False
    if "cluster_centers_" not in state:
        return True
    own, centers = model.cluster_centers_, model.kmeans_.cluster_centers_
    return bool(own.shape == centers.shape and own.dtype == centers.dtype)


def _landmarks(model: Any, sizes: Sizes) -> bool:
    """Rows of the inputs, or their numbers where the kernel is precomputed."""
    given = isinstance(model.kernel, str) and model.kernel == "precomputed"
    if given != fits(model.kernel_, "a Precomputed", sizes):
        return False
    own = "landmarks_" in declared(type(model))
    if given:
        return fits(model.landmarks_ if own else model.support_, "places l below d", sizes)
    scaling, rows = model.scaling_, model.landmarks_ if own else model.support_vectors_
    scaled = bool(scaling.center.any() or (scaling.factor != 1.0).any())
    if scaled and not (model._rescales or _only_weighed(model, sizes)):
        return False
    # Sparse rows that are scaled keep their zeros; the shift is stored beside them.
    if scaled and fits(rows, "a Shifted", sizes):
        return fits(rows.rows, "floats l d | csr fd l d", sizes)
    return fits(rows, "floats l d" if scaled else "floats l d | csr fd l d", sizes)


def _only_weighed(model: Any, sizes: Sizes) -> bool:
    """Whether columns are multiplied by their weights and not scaled otherwise."""
    weights, scaling = vars(model).get("column_weights_"), model.scaling_
    sound = fits(weights, "floats d", sizes) and not scaling.center.any()
    return sound and bool((scaling.factor == weights).all())


# ---------------------------------------------------------------- parts
def _part(more: Any = None, **fields: Spec) -> Layout:
    return Layout(fields, more)


def _sampled(kept: Any, sizes: Sizes) -> bool:
    """Whether weights are positive and draws are not negative."""
    threshold = type(kept.threshold) is float and kept.threshold > 0
    return bool(threshold and (kept.weight > 0).all() and (kept.draw >= 0).all())


_COLUMN: dict[str, Spec] = {
    "kind": "word number boolean date category text",
    "categories": "tuple text",
    "blank": "flag",
    "other": "flag",
    "layout": lambda value, sizes: type(value) is str and (not value or is_layout(value)),
    "parts": lambda value, sizes: (
        type(value) is tuple and all(type(part) is str and part in TURNS for part in value)
    ),
    "comma": "flag",
    "unit": "text",
    "weights": "floats 8192",
    "components": "floats c 8192",
    "center": "floats c",
    "scale": "positive",
    "spellings": "tuple text",
    "fill": "number",
    "indicator": "flag",
    "frame": lambda value, sizes: (
        type(value) is tuple
        and all(fits(*pair, {}) for pair in zip(value, ("number", "positive", "flag"), strict=True))
    ),
    "ranks": "floats 2 r",
}


def _column(state: Any) -> bool:
    """Whether the description of a column is complete, and each field is valid."""
    needed = {"category": "categories", "text": "components"}.get(state["kind"], "frame")
    sizes: Sizes = {}
    return needed in state and all(fits(part, _COLUMN[name], sizes) for name, part in state.items())


def _encoder(encoder: Any, sizes: Sizes) -> bool:
    """Whether there is a column for each name, or a fill value for each column of a matrix."""
    if encoder.width:
        dense = encoder.sparse or fits(encoder.fill, f"floats {encoder.width}", sizes)
        known = dense and len(encoder.names) == encoder.width
    else:
        known = all(map(_column, encoder.columns.values()))
        known = known and set(encoder.names) <= encoder.columns.keys()
    return known and len(encoder.feature_names_out) == sum(encoder.widths)


def _table_model(model: Any, sizes: Sizes) -> bool:
    """Whether encoder and view have the same columns, and a classifier has probabilities."""
    classes = model.task == "classification"
    if any(hasattr(model.estimator, name) != classes for name in ("classes_", "predict_proba")):
        return False
    dense = len(model.view.low_) > 0
    width = len(model.encoder.feature_names_out)
    return width == model.view.n_features_in_ and dense != bool(model.encoder.sparse)


_TARGETS = "a ClassTargets | a ValueTargets"
_ROWS = "csr fd?bBhHiIlLqQ n d | floats n d | array biu n d"

PARTS: dict[str, Layout] = {
    "ulmus.estimators.intervals.LeftOut": _part(
        lambda left, sizes: bool((left.weight > 0).all()),
        outputs="floats n m", targets="floats n m | array iu n", weight="floats n",
    ),
    "ulmus.features.scaling.ColumnStatistics": _part(
        weight="positive",
        **dict.fromkeys(("mean", "deviation", "least", "greatest"), "floats d"),
    ),
    "ulmus.features.scaling.Scaling": _part(
        lambda scaling, sizes: (scaling.least is None) == (scaling.greatest is None),
        center="floats d", factor="floats d", least="floats d | none", greatest="floats d | none",
    ),
    "ulmus.graphs.Laplacian": _part(
        matrix="csr fd n n", power=f"whole 1 {_MOST_PRODUCTS}", degree="floats n | none"
    ),
    "ulmus.kernels.pairs.Shifted": _part(rows="csr fd n d | floats n d", shift="floats d"),
    "ulmus.problem.Moments": _part(
        gram="floats h h", cross="floats h b", energy="floats b", hidden="floats h",
        target="floats b", weight="number", rows="number", rounding="number",
    ),
    "ulmus.reservoir.Reservoir": _part(
        _sampled, X=_ROWS, y="array biufUO n | floats n m | array i n m",
        weight="floats n", draw="floats n",
        capacity=f"whole 1 {2**63} | none", total="number 0", fresh="number 0",
        **dict.fromkeys(("seed", "seen", "settled"), f"whole 0 {2**63}"),
    ),
    "ulmus.methods.manifold_basis.ManifoldBasis": _part(basis="floats h r", values="floats r"),
    "ulmus.methods.pool.Pooled": _part(
        outputs="floats n k", bases="tuple a ManifoldBasis", ridge="a PseudoRidge",
        spread="tuple a SpreadLabels | tuple none",
    ),
    "ulmus.methods.propagation.SpreadLabels": _part(
        mass="floats g n b", compared="places c below n", between="floats g c c",
        rows="places l below n", columns="floats l b",
    ),
    "ulmus.methods.pseudo_ridge.PseudoRidge": _part(
        targets=_TARGETS, C="positive", sums="a Moments | none"
    ),
    "ulmus.targets.ClassTargets": _part(n_classes="size k", codes="places n below k"),
    "ulmus.targets.ValueTargets": _part(values="floats n m"),
    "ulmus.tables.TableEncoder": _part(
        _encoder, names="tuple text", feature_names_out="tuple text", columns="a dict",
        dropped="a dict", given="a dict", sparse="flag", width=f"whole 0 {2**31}",
        image_shape=f"tuple whole 1 {2**31}",
    ),
    "ulmus.tables.TableModel": _part(
        _table_model, encoder="a TableEncoder", view="has transform", estimator="has predict",
        target="text", task="word classification regression", summary="a dict",
        fingerprint="array u n",
    ),
    "ulmus.tables.table_model.ClippedColumns": _part(
        lambda view, sizes: view.low_.shape == view.high_.shape, n_features_in_="size d",
        low_="floats d | floats 0", high_="floats d | floats 0",
    ),
}  # fmt: skip
