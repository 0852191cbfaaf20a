"""Feature maps and transformers as nodes of a graph."""

from functools import singledispatch
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.kmeans import ELMKMeans
from ulmus.estimators.nmf import ELMNMF
from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Value
from ulmus.exporting.onnx_nmf import factor_rows

__all__ = ["linear_outputs", "transformed"]


@singledispatch
def transformed(transformer: Any, x: Value) -> Value:
    """``transformer.transform`` of the graph's rows x; a class may say it in a method ``onnx``."""
    if hasattr(transformer, "onnx"):
        return transformer.onnx(x)
    known = {kind.__name__ for kind in transformed.registry if kind is not object}
    known |= {"KernelFeatures", "RBFFeatures", "RandomFeatures"}
    raise ExportError(
        f"{type(transformer).__name__} cannot be written as ONNX. What transforms rows may be of "
        f"{', '.join(sorted(known))}, or have a method onnx(self, x)."
    )


@transformed.register
def _(transformer: ELMEmbedding, x: Value) -> Value:
    E = linear_outputs(transformer, x)
    return E.unit_rows((E * E).sum().op("Sqrt")) if transformer.row_normalize else E


@transformed.register
def _(transformer: ELMKMeans, x: Value) -> Value:
    H = transformed(transformer.features_, x)
    return H.squared_distances(transformer.cluster_centers_).op("Sqrt")


@transformed.register
def _(transformer: ELMNMF, x: Value) -> Value:
    return factor_rows(transformer.nmf_, transformed(transformer.features_, x))


@transformed.register
def _(transformer: Pipeline, x: Value) -> Value:
    for _, step in transformer.steps:
        x = x if step in (None, "passthrough") else transformed(step, x)
    return x


@transformed.register
def _(transformer: FrozenEstimator, x: Value) -> Value:
    return transformed(transformer.estimator, x)


def linear_outputs(model: Any, x: Value) -> Value:
    """Hβ + b for a model with ``features_``, ``beta_`` and ``intercept_``."""
    return transformed(model.features_, x) @ model.beta_ + model.intercept_
