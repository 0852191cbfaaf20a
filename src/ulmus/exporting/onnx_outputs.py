"""The outputs of a graph: labels, probabilities, values, coordinates.

The names are those that converters of scikit-learn's models use, and shapes those of the
methods: "label", "probabilities" and "scores" are `predict`, `predict_proba` and
`decision_function` of a classifier, "variable" is `predict` of a regressor, "label" `predict` of a
clusterer and "transformed" `transform`.

A graph cannot raise an error. For a row that the methods refuse, because an entry or an output is
not finite, every number is NaN, and the label is none of the classes.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from ulmus.estimators.class_labels import ClassLabels
from ulmus.estimators.kernel_elm import KernelELM
from ulmus.estimators.kmeans import ELMKMeans
from ulmus.estimators.nmf import ELMNMF
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.estimators.value_labels import ValueLabels
from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Value
from ulmus.exporting.onnx_maps import linear_outputs, transformed
from ulmus.features.base import FeatureMap
from ulmus.features.hidden_layer import HiddenModel
from ulmus.features.kernel_space import kernel_graph

OUTPUT_NAMES = ("label", "probabilities", "scores", "variable", "transformed")


@singledispatch
def add_outputs(model: Any, x: Value, dtype: Any) -> None:
    """Add a model's outputs for rows x to their graph, numbers in ``dtype``: a transformer's."""
    if not hasattr(model, "transform"):
        raise ExportError(
            f"{type(model).__name__} cannot be written as ONNX; an estimator or a feature map of "
            "Ulmus can, and a pipeline that ends in one."
        )
    places = transformed(model, x)
    if isinstance(model, FeatureMap | HiddenModel):
        places, _ = _blanked(places, x, dtype)
    x.graph.output("transformed", places, dtype, len(model.get_feature_names_out()))


@add_outputs.register(ClassLabels)
def _(model: Any, x: Value, dtype: Any) -> None:
    graph, n_classes, table = x.graph, len(model.classes_), _label_table(model.classes_)
    F, refused = _blanked(_decision(model, x), x, dtype)
    if model._several:
        _add_labels(model, F, refused, dtype)
        return
    codes = _chosen(n_classes, F)
    rows = refused.op("Where", np.array(n_classes), codes)
    graph.output("label", graph.op("Gather", table, rows), table.dtype)
    if hasattr(model, "predict_proba"):
        graph.output("probabilities", _probabilities(model, F, codes, dtype), dtype, n_classes)
    if n_classes == 2:
        graph.output("scores", F.column(0), dtype)
    else:
        graph.output("scores", F, dtype, n_classes)


@add_outputs.register(ValueLabels)
def _(model: Any, x: Value, dtype: Any) -> None:
    F, _ = _blanked(_decision(model, x), x, dtype)
    if model._flat:
        x.graph.output("variable", F.column(0), dtype)
    else:
        x.graph.output("variable", F, dtype, len(model.intercept_))


@add_outputs.register(ELMKMeans)
@add_outputs.register(ELMNMF)
def _(model: Any, x: Value, dtype: Any) -> None:
    E, refused = _blanked(transformed(model, x), x, dtype)
    # k-means transforms rows to their distances from the centres.
    distances = isinstance(model, ELMKMeans)
    centers = model.cluster_centers_
    _add_clusters(E.op("ArgMin", axis=1, keepdims=0) if distances else E.nearest(centers), refused)
    x.graph.output("transformed", E, dtype, model.n_clusters_)


@add_outputs.register
def _(model: ELMSpectralClustering, x: Value, dtype: Any) -> None:
    if hasattr(model, "beta_"):
        F, refused = _blanked(linear_outputs(model, x), x, dtype)
        _add_clusters(_chosen(model.n_clusters_, F), refused)
    else:
        E, refused = _blanked(transformed(model.embedding_, x), x, dtype)
        _add_clusters(E.nearest(model.kmeans_.cluster_centers_), refused)


@add_outputs.register
def _(model: Pipeline, x: Value, dtype: Any) -> None:
    x, (_, last) = transformed(model[:-1], x), model.steps[-1]
    if last in (None, "passthrough"):
        x.graph.output("transformed", x, dtype, len(model.get_feature_names_out()))
    else:
        add_outputs(last, x, dtype)


@add_outputs.register(FrozenEstimator)
@add_outputs.register(GridSearchCV)
@add_outputs.register(RandomizedSearchCV)
def _(model: Any, x: Value, dtype: Any) -> None:
    frozen = isinstance(model, FrozenEstimator)
    add_outputs(model.estimator if frozen else model.best_estimator_, x, dtype)


def _label_table(classes: np.ndarray) -> np.ndarray:
    """The classes as int64, bool, double or strings, and last the label for a refused row."""
    kind, labels = classes.dtype.kind, classes.tolist()
    none: Any = False  # a boolean has no third value
    if kind == "b":
        table = classes
    elif kind == "f":
        table, none = classes.astype(np.float64), np.nan
    elif all(isinstance(label, str) for label in labels):
        table, none = np.array(labels, dtype=object), "NaN" if "" in labels else ""
    elif all(isinstance(label, int) and abs(label) < 2**63 for label in labels):
        table, none = np.array(labels, dtype=np.int64), -(2**63) if -1 in labels else -1
    else:
        raise ExportError(
            f"The classes {labels[:5]} have no common type in ONNX; fit with labels that are all "
            "strings, all whole numbers or all numbers."
        )
    return np.append(table, np.array([none], dtype=table.dtype))


def _blanked(values: Value, x: Value, dtype: Any) -> tuple[Value, Value]:
    """Values, NaN for rows that are refused: those of which some entry is not finite.

    The second is which rows are, as a vector.
    """
    entries = x.graph.op("Concat", x, values.cast(dtype).cast(float), axis=1)
    odd = entries.op("IsNaN").op("Or", entries.op("IsInf")).cast(float).sum().op("Greater", 0.0)
    return odd.op("Where", np.nan, values), odd.column(0)


def _decision(model: Any, x: Value) -> Value:
    """The model's linear outputs, before they become labels."""
    if getattr(model, "kernel", None) is None:
        return linear_outputs(model, x)
    if isinstance(model, KernelELM):
        return kernel_graph(model, x, model.landmarks_) @ model.dual_coef_ + model.intercept_
    # There are no support vectors where the kernel is precomputed, and that is refused further on.
    support = getattr(model, "support_vectors_", np.empty((0, 0)))
    return kernel_graph(model, x, support) @ model.dual_coef_.T + model.intercept_


def _chosen(classes: int, F: Value) -> Value:
    """The number of the class with the largest decision value."""
    if classes == 2:
        return F.column(0).op("Greater", 0.0).cast(np.int64)
    return F.op("ArgMax", axis=1, keepdims=0)


def _add_labels(model: Any, F: Value, refused: Value, dtype: Any) -> None:
    """Zeros and ones, −1 for rows that are refused, and the probability of each label."""
    graph, n = F.graph, len(model.classes_)
    labels = F.op("Greater", 0.0).cast(np.int64)
    rows = refused.op("Unsqueeze", np.array([1]))
    graph.output("label", rows.op("Where", np.array(-1), labels), np.int64, n)
    graph.output("probabilities", (F * model.temperature_).op("Sigmoid").cast(dtype), dtype, n)
    graph.output("scores", F, dtype, n)


def _add_clusters(codes: Value, refused: Value) -> None:
    codes.graph.output("label", refused.op("Where", np.array(-1), codes), np.int64)


def _probabilities(model: Any, F: Value, codes: Value, dtype: Any) -> Value:
    """As `ulmus.calibration.probabilities`: the largest is the label's."""
    graph, n_classes = F.graph, len(model.classes_)
    F = graph.op("Concat", 0.0 * F, F, axis=1) if n_classes == 2 else F
    Z, scaling = model.temperature_ * F, getattr(model, "class_scaling_", None)
    Z = Z if scaling is None else Z * scaling[0] + scaling[1]
    P = Z.op("Softmax", axis=1).cast(dtype)
    every, last = np.arange(n_classes), np.array([1])
    own = codes.op("Unsqueeze", last).op("Equal", every)
    first = P.op("ArgMax", axis=1, keepdims=1).op("Equal", every)
    above = P.op("ReduceMax", last, keepdims=1).cast(float) * (1.0 + 2.0 * np.finfo(dtype).eps)
    tied = own.op("And", first.op("Not"))
    found = graph.op("Where", tied, above.cast(dtype), P).cast(float)
    return (found / found.sum()).cast(dtype)
