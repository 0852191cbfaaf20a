"""scikit-learn's own transformers that often stand before or in place of a hidden layer."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Value
from ulmus.exporting.onnx_maps import transformed
from ulmus.kernels import KERNELS, Kernel
from ulmus.kernels.definition import parameters_of

__all__: list[str] = []

# The kernels of a Nystroem map that are here as well, under the same names.
_SHARED = ("rbf", "laplacian", "poly", "polynomial", "sigmoid", "cosine", "linear")


@transformed.register
def _(transformer: StandardScaler, x: Value) -> Value:
    center = transformer.mean_ if transformer.with_mean else 0.0
    scale = transformer.scale_ if transformer.with_std else 1.0
    return x.scaled(center, 1.0 / scale)


@transformed.register
def _(transformer: RobustScaler, x: Value) -> Value:
    center = transformer.center_ if transformer.with_centering else 0.0
    scale = transformer.scale_ if transformer.with_scaling else 1.0
    return x.scaled(center, 1.0 / scale)


@transformed.register
def _(transformer: MaxAbsScaler, x: Value) -> Value:
    return x.scaled(0.0, 1.0 / transformer.scale_)


@transformed.register
def _(transformer: MinMaxScaler, x: Value) -> Value:
    x = x * transformer.scale_ + transformer.min_
    if transformer.clip:
        least, most = map(float, transformer.feature_range)
        x = x.op("Max", least).op("Min", most)
    return x


@transformed.register
def _(transformer: Normalizer, x: Value) -> Value:
    if transformer.norm == "l2":
        return x.unit_rows((x * x).sum().op("Sqrt"))
    size = x.op("Abs")
    largest = size.op("ReduceMax", np.array([1]), keepdims=1)
    return x.unit_rows(size.sum() if transformer.norm == "l1" else largest)


@transformed.register
def _(transformer: SimpleImputer, x: Value) -> Value:
    values = np.asarray(transformer.statistics_)
    plain = values.dtype.kind == "f" and np.isfinite(values).all()
    if not plain or transformer.add_indicator or not np.isnan(transformer.missing_values):
        raise ExportError(
            "A SimpleImputer can be written as ONNX where NaN marks what is missing, every column "
            "has a number to fill in, and add_indicator=False."
        )
    return x.graph.op("Where", x.op("IsNaN"), values, x)


@transformed.register
def _(transformer: PolynomialFeatures, x: Value) -> Value:
    # Each column is a product of inputs, with one as their last, so that all are equally long.
    powers = transformer.powers_
    longest = int(powers.sum(axis=1).max(initial=0))
    ones = powers.shape[1]
    factors = np.full((longest, len(powers)), ones)
    for column, power in enumerate(powers):
        own = np.repeat(np.arange(len(power)), power)
        factors[: len(own), column] = own
    x = x.op("Pad", np.array([0, 0, 0, 1]), 1.0)
    product = x.columns(factors[0]) if longest else x.columns(np.full(len(powers), ones))
    for factor in factors[1:]:
        product = product * x.columns(factor)
    return product


@transformed.register
def _(transformer: PCA, x: Value) -> Value:
    x = (x - transformer.mean_) @ transformer.components_.T
    if not transformer.whiten:
        return x
    deviation = np.sqrt(transformer.explained_variance_)
    return x / np.maximum(deviation, np.finfo(deviation.dtype).eps)


@transformed.register
def _(transformer: TruncatedSVD, x: Value) -> Value:
    return x @ transformer.components_.T


@transformed.register
def _(transformer: RBFSampler, x: Value) -> Value:
    z = x @ transformer.random_weights_ + transformer.random_offset_
    return z.cosine() * np.sqrt(2.0 / transformer.n_components)


@transformed.register
def _(transformer: Nystroem, x: Value) -> Value:
    Z = np.asarray(transformer.components_, dtype=float)
    return _kernel(transformer).onnx(x, Z) @ transformer.normalization_.T


def _kernel(transformer: Nystroem) -> Kernel:
    if not isinstance(transformer.kernel, str) or transformer.kernel not in _SHARED:
        raise ExportError(
            f"Nystroem(kernel={transformer.kernel!r}) cannot be written as ONNX; of its kernels "
            f"these can: {', '.join(map(repr, _SHARED))}."
        )
    cls = KERNELS[transformer.kernel]
    defaults = {"gamma": 1.0 / transformer.n_features_in_, "coef0": 1.0, "degree": 3}
    given = {name: getattr(transformer, name) for name in defaults}
    values = {name: defaults[name] if given[name] is None else given[name] for name in defaults}
    return cls(**{name: value for name, value in values.items() if name in parameters_of(cls)})


@transformed.register(SelectKBest)
@transformed.register(SelectFromModel)
@transformed.register(VarianceThreshold)
def _(transformer: Any, x: Value) -> Value:
    return x.columns(transformer.get_support(indices=True))
