"""What a graph gives: labels, probabilities, values, places.

The names are those that converters of scikit-learn's models use, and shapes those of the
methods: "label", "probabilities" and "scores" are `predict`, `predict_proba` and
`decision_function` of a classifier, "variable" is `predict` of a regressor, "label" `predict` of a
clusterer and "transformed" `transform`.

A graph cannot refuse a row. One that the methods refuse, because an entry or what comes of it is
not finite, has NaN for every number, and a label that is no class.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from ulmus.estimators.class_labels import ClassLabels
from ulmus.estimators.kernel_ridge import KernelELM
from ulmus.estimators.kmeans import ELMKMeans
from ulmus.estimators.nmf import ELMNMF
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.estimators.value_labels import ValueLabels
from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Value
from ulmus.exporting.onnx_maps import linear_outputs, transformed
from ulmus.features.base import FeatureMap
from ulmus.features.fitting import HiddenModel
from ulmus.features.kernel_space import kernel_graph

__all__ = ["OUTPUT_NAMES", "Output", "outputs"]

OUTPUT_NAMES = ("label", "probabilities", "scores", "variable", "transformed")


@dataclass(frozen=True)
class Output:
    """A value of the graph that is given; without columns it is one entry for each row."""

    value: Value
    dtype: Any
    columns: int | None = None

    @classmethod
    def numbers(cls, value: Value, dtype: Any, columns: int | None = None) -> "Output":
        """Numbers in the precision that was asked for."""
        return cls(value.cast(dtype), dtype, columns)


Outputs = dict[str, Output]


@singledispatch
def outputs(model: Any, x: Value, dtype: Any) -> Outputs:
    """The graph's outputs by name, for rows x and numbers in ``dtype``: those of a transformer."""
    if not hasattr(model, "transform"):
        raise ExportError(
            f"{type(model).__name__} cannot be written as ONNX; an estimator or a feature map of "
            "Ulmus can, and a pipeline that ends in one."
        )
    places = transformed(model, x)
    if isinstance(model, FeatureMap | HiddenModel):
        places = _blanked(places, _refused(x, places.cast(dtype)))
    columns = len(model.get_feature_names_out())
    return {"transformed": Output.numbers(places, dtype, columns)}


@outputs.register(ClassLabels)
def _(model: Any, x: Value, dtype: Any) -> Outputs:
    F, refused = _decided(model, x, dtype)
    codes = _chosen(len(model.classes_), F)
    found = {"label": _label(model, codes, refused)}
    if hasattr(model, "predict_proba"):
        found["probabilities"] = _probabilities(model, F, codes, dtype)
    return found | {"scores": _scores(model, F, dtype)}


@outputs.register(ValueLabels)
def _(model: Any, x: Value, dtype: Any) -> Outputs:
    F, _ = _decided(model, x, dtype)
    if model._flat:
        return {"variable": Output.numbers(F.column(0), dtype)}
    return {"variable": Output.numbers(F, dtype, len(model.intercept_))}


@outputs.register(ELMKMeans)
@outputs.register(ELMNMF)
def _(model: Any, x: Value, dtype: Any) -> Outputs:
    E = transformed(model, x)
    refused = _refused(x, E.cast(dtype))
    # k-means transforms rows to their distances from the centres.
    distances = isinstance(model, ELMKMeans)
    centers = model.cluster_centers_
    codes = E.op("ArgMin", axis=1, keepdims=0) if distances else E.nearest(centers)
    return {
        "label": _cluster(codes, refused),
        "transformed": Output.numbers(_blanked(E, refused), dtype, model.n_clusters),
    }


@outputs.register
def _(model: ELMSpectralClustering, x: Value, dtype: Any) -> Outputs:
    if hasattr(model, "beta_"):
        F = linear_outputs(model, x)
        return {"label": _cluster(_chosen(model.n_clusters, F), _refused(x, F.cast(dtype)))}
    E = transformed(model.embedding_, x)
    codes = E.nearest(model.kmeans_.cluster_centers_)
    return {"label": _cluster(codes, _refused(x, E.cast(dtype)))}


@outputs.register
def _(model: Pipeline, x: Value, dtype: Any) -> Outputs:
    x = transformed(model[:-1], x)
    _, last = model.steps[-1]
    if last in (None, "passthrough"):
        return {"transformed": Output.numbers(x, dtype, len(model.get_feature_names_out()))}
    return outputs(last, x, dtype)


@outputs.register
def _(model: FrozenEstimator, x: Value, dtype: Any) -> Outputs:
    return outputs(model.estimator, x, dtype)


@outputs.register(GridSearchCV)
@outputs.register(RandomizedSearchCV)
def _(model: Any, x: Value, dtype: Any) -> Outputs:
    return outputs(model.best_estimator_, x, dtype)


def _label_table(classes: np.ndarray) -> np.ndarray:
    """The classes as a graph holds them: int64, bool, double or strings."""
    kind = classes.dtype.kind
    if kind == "b":
        return classes
    if kind == "f":
        return classes.astype(np.float64)
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    if all(isinstance(label, int) and abs(label) < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64)
    raise ExportError(
        f"The classes {classes.tolist()[:5]} have no common type in ONNX; fit with labels that "
        "are all strings, all whole numbers or all numbers."
    )


def _no_label(table: np.ndarray) -> Any:
    """What stands for no class beside these; there is nothing beside booleans."""
    if table.dtype.kind == "b":
        return False
    if table.dtype.kind == "f":
        return np.nan
    if table.dtype == object:
        return "" if "" not in table.tolist() else "NaN"
    return -1 if -1 not in table.tolist() else int(np.iinfo(np.int64).min)


def _decided(model: Any, x: Value, dtype: Any) -> tuple[Value, Value]:
    """Decision values, NaN for rows that are refused, and which rows are."""
    F = _decision(model, x)
    refused = _refused(x, F.cast(dtype))
    return _blanked(F, refused), refused


def _refused(*values: Value) -> Value:
    """The rows of which some entry is not finite, as a column."""
    odd = [value.op("IsNaN").op("Or", value.op("IsInf")).cast(float).sum() for value in values]
    return sum(odd[1:], start=odd[0]).op("Greater", 0.0)


def _blanked(values: Value, refused: Value) -> Value:
    return refused.op("Where", np.nan, values)


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
    """The number of the class, of so many, that decision values name."""
    if classes == 2:
        return F.column(0).op("Greater", 0.0).cast(np.int64)
    return F.op("ArgMax", axis=1, keepdims=0)


def _label(model: Any, codes: Value, refused: Value) -> Output:
    table = _label_table(model.classes_)
    codes = refused.column(0).op("Where", np.array(len(table)), codes)
    table = np.append(table, np.array([_no_label(table)], dtype=table.dtype))
    return Output(codes.graph.op("Gather", table, codes), table.dtype)


def _cluster(codes: Value, refused: Value) -> Output:
    return Output(refused.column(0).op("Where", np.array(-1), codes), np.int64)


def _scores(model: Any, F: Value, dtype: Any) -> Output:
    if len(model.classes_) == 2:
        return Output.numbers(F.column(0), dtype)
    return Output.numbers(F, dtype, len(model.classes_))


def _probabilities(model: Any, F: Value, codes: Value, dtype: Any) -> Output:
    """softmax(a F), a the temperature; the largest is the label's even where others round to it."""
    graph, n_classes = F.graph, len(model.classes_)
    F = graph.op("Concat", 0.0 * F, F, axis=1) if n_classes == 2 else F
    P = (model.temperature_ * F).op("Softmax", axis=1).cast(dtype)
    every, last = np.arange(n_classes), np.array([1])
    own = codes.op("Unsqueeze", last).op("Equal", every)
    first = P.op("ArgMax", axis=1, keepdims=1).op("Equal", every)
    above = P.op("ReduceMax", last, keepdims=1).cast(float) * (1.0 + 2.0 * np.finfo(dtype).eps)
    tied = own.op("And", first.op("Not"))
    return Output(graph.op("Where", tied, above.cast(dtype), P), dtype, n_classes)
