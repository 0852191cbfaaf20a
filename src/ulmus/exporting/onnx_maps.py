"""Stage one, and whatever else transforms rows, as nodes of a graph."""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.special
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ulmus.estimators.clustering import ELMKMeans
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.factorisation import ELMNMF
from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Value
from ulmus.exporting.onnx_nmf import factor_rows
from ulmus.features import KernelFeatures, RandomFeatures, RBFFeatures
from ulmus.kernels.pairs import landmarks_like

__all__ = ["kernel_block", "linear_outputs", "transformed"]

Formula = Callable[[Value], Value]
_ACTIVATIONS: dict[str, Formula] = {
    # In double precision runtimes have a faster tanh than a logistic function.
    "sigmoid": lambda z: 0.5 + 0.5 * (0.5 * z).op("Tanh"),
    "tanh": lambda z: z.op("Tanh"),
    "relu": lambda z: z.op("Relu"),
    "sin": lambda z: z.op("Sin"),
    "erf": Value.error_function,
    "gaussian": lambda z: (-(z * z)).op("Exp"),
}
# Functions that a caller may have given in place of a name, and that graphs have too.
_FUNCTIONS: dict[Any, Formula] = {
    np.tanh: _ACTIVATIONS["tanh"],
    np.sin: _ACTIVATIONS["sin"],
    np.cos: Value.cosine,
    np.exp: lambda z: z.op("Exp"),
    np.abs: lambda z: z.op("Abs"),
    np.sign: lambda z: z.op("Sign"),
    np.arctan: Value.arctangent,
    scipy.special.expit: _ACTIVATIONS["sigmoid"],
    scipy.special.erf: _ACTIVATIONS["erf"],
}
_NODES: dict[str, Formula] = {
    "gaussian": lambda z: (-z).op("Exp"),
    "random_gaussian": lambda z: (-z).op("Exp"),
    "exponential": lambda z: (-z.op("Sqrt")).op("Exp"),
    "robust": lambda z: (1.0 + z).op("Sqrt").op("Reciprocal"),
}


@singledispatch
def transformed(transformer: Any, x: Value) -> Value:
    """``transformer.transform`` of the graph's rows x."""
    known = sorted({kind.__name__ for kind in transformed.registry if kind is not object})
    raise ExportError(
        f"{type(transformer).__name__} cannot be written as ONNX. What transforms rows may be of "
        f"{', '.join(known)}."
    )


@transformed.register
def _(transformer: RandomFeatures, x: Value) -> Value:
    z = _rows(transformer, x) @ transformer.weights_.T + transformer.biases_
    return _activation(transformer.activation)(z)


def _activation(g: Any) -> Formula:
    if not callable(g):
        return _ACTIVATIONS[g]
    for function, formula in _FUNCTIONS.items():
        if g is function:
            return formula
    known = ", ".join(function.__name__ for function in _FUNCTIONS)
    raise ExportError(
        f"activation={getattr(g, '__name__', g)!s} is a Python function and cannot be written as "
        f"ONNX; of functions these can: {known}."
    )


@transformed.register
def _(transformer: RBFFeatures, x: Value) -> Value:
    D = _rows(transformer, x).squared_distances(transformer.centers_, transformer.rates_)
    return _NODES[transformer.node](D)


@transformed.register
def _(transformer: KernelFeatures, x: Value) -> Value:
    return kernel_block(transformer, x, transformer.landmarks_) @ transformer.weights_


def kernel_block(model: Any, x: Value, landmarks: Any) -> Value:
    """k(x, z) for every pair of a row x and a landmark z, by the model's kernel and scale."""
    Z = landmarks_like(landmarks, np.empty((0, 0)), np.dtype(float), model.scaling_.shift)
    return model.kernel_.onnx(_rows(model, x), Z)


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


def _rows(transformer: Any, x: Value) -> Value:
    """The rows as the map scales them."""
    return x.scaled(transformer.scaling_.center, transformer.scaling_.factor)
