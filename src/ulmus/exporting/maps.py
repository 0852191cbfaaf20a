"""Stage one, and whatever else transforms rows, as nodes of a graph."""

from functools import singledispatch

import numpy as np
import scipy.special
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ulmus.estimators.clustering import ELMKMeans
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.factorisation import ELMNMF
from ulmus.exceptions import ExportError
from ulmus.exporting.factorisation import factor_rows
from ulmus.exporting.functions import arctangent, cosine, error_function, scaled, squared_distances
from ulmus.exporting.kernels import dense_landmarks, kernel_block
from ulmus.features import KernelFeatures, RandomFeatures, RBFFeatures

__all__ = ["linear_outputs", "transformed"]

_ACTIVATIONS = {
    # In double precision runtimes have a faster tanh than a logistic function.
    "sigmoid": lambda z: 0.5 + 0.5 * (0.5 * z).op("Tanh"),
    "tanh": lambda z: z.op("Tanh"),
    "relu": lambda z: z.op("Relu"),
    "sin": lambda z: z.op("Sin"),
    "erf": error_function,
    "gaussian": lambda z: (-(z * z)).op("Exp"),
}
# Functions that a caller may have given in place of a name, and that graphs have too.
_FUNCTIONS = {
    np.tanh: _ACTIVATIONS["tanh"],
    np.sin: _ACTIVATIONS["sin"],
    np.cos: cosine,
    np.exp: lambda z: z.op("Exp"),
    np.abs: lambda z: z.op("Abs"),
    np.sign: lambda z: z.op("Sign"),
    np.arctan: arctangent,
    scipy.special.expit: _ACTIVATIONS["sigmoid"],
    scipy.special.erf: error_function,
}
_NODES = {
    "gaussian": lambda z: (-z).op("Exp"),
    "random_gaussian": lambda z: (-z).op("Exp"),
    "exponential": lambda z: (-z.op("Sqrt")).op("Exp"),
    "robust": lambda z: (1.0 + z).op("Sqrt").op("Reciprocal"),
}


@singledispatch
def transformed(transformer, x):
    """``transformer.transform`` of the graph's rows x."""
    known = sorted({kind.__name__ for kind in transformed.registry if kind is not object})
    raise ExportError(
        f"{type(transformer).__name__} cannot be written as ONNX. What transforms rows may be of "
        f"{', '.join(known)}."
    )


@transformed.register
def _(transformer: RandomFeatures, x):
    z = _rows(transformer, x) @ transformer.weights_.T + transformer.biases_
    return _activation(transformer.activation)(z)


def _activation(g):
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
def _(transformer: RBFFeatures, x):
    x = _rows(transformer, x)
    return _NODES[transformer.node](squared_distances(x, transformer.centers_, transformer.rates_))


@transformed.register
def _(transformer: KernelFeatures, x):
    Z = dense_landmarks(transformer.landmarks_, transformer.scaling_)
    return kernel_block(transformer.kernel_, _rows(transformer, x), Z) @ transformer.weights_


@transformed.register
def _(transformer: ELMEmbedding, x):
    E = linear_outputs(transformer, x)
    if not transformer.row_normalize:
        return E
    length = (E * E).sum().op("Sqrt")
    return E / x.graph.op("Where", length.op("Equal", 0.0), 1.0, length)


@transformed.register
def _(transformer: ELMKMeans, x):
    H = transformed(transformer.features_, x)
    return squared_distances(H, transformer.cluster_centers_).op("Sqrt")


@transformed.register
def _(transformer: ELMNMF, x):
    return factor_rows(transformer.nmf_, transformed(transformer.features_, x))


@transformed.register
def _(transformer: Pipeline, x):
    for _, step in transformer.steps:
        x = x if step in (None, "passthrough") else transformed(step, x)
    return x


@transformed.register
def _(transformer: FrozenEstimator, x):
    return transformed(transformer.estimator, x)


def linear_outputs(model, x):
    """Hβ + b for a model with ``features_``, ``beta_`` and ``intercept_``."""
    return transformed(model.features_, x) @ model.beta_ + model.intercept_


def _rows(transformer, x):
    """The rows as the map scales them."""
    return scaled(x, transformer.scaling_.center, transformer.scaling_.factor)
