"""scikit-learn's own transformers that often stand before or in place of a hidden layer."""

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
from ulmus.exporting.functions import cosine, scaled
from ulmus.exporting.kernels import kernel_block
from ulmus.exporting.maps import transformed
from ulmus.kernels import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid

__all__ = []


@transformed.register
def _(transformer: StandardScaler, x):
    center = transformer.mean_ if transformer.with_mean else 0.0
    scale = transformer.scale_ if transformer.with_std else 1.0
    return scaled(x, center, 1.0 / scale)


@transformed.register
def _(transformer: RobustScaler, x):
    center = transformer.center_ if transformer.with_centering else 0.0
    scale = transformer.scale_ if transformer.with_scaling else 1.0
    return scaled(x, center, 1.0 / scale)


@transformed.register
def _(transformer: MaxAbsScaler, x):
    return scaled(x, 0.0, 1.0 / transformer.scale_)


@transformed.register
def _(transformer: MinMaxScaler, x):
    x = x * transformer.scale_ + transformer.min_
    if transformer.clip:
        least, most = map(float, transformer.feature_range)
        x = x.op("Max", least).op("Min", most)
    return x


@transformed.register
def _(transformer: Normalizer, x):
    size = x.op("Abs")
    length = {
        "l1": lambda: size.sum(),
        "l2": lambda: (x * x).sum().op("Sqrt"),
        "max": lambda: size.op("ReduceMax", np.array([1]), keepdims=1),
    }[transformer.norm]()
    return x / x.graph.op("Where", length.op("Equal", 0.0), 1.0, length)


@transformed.register
def _(transformer: SimpleImputer, x):
    values = np.asarray(transformer.statistics_)
    plain = values.dtype.kind == "f" and np.isfinite(values).all()
    if not plain or transformer.add_indicator or not np.isnan(transformer.missing_values):
        raise ExportError(
            "A SimpleImputer can be written as ONNX where NaN marks what is missing, every column "
            "has a number to fill in, and add_indicator=False."
        )
    return x.graph.op("Where", x.op("IsNaN"), values, x)


@transformed.register
def _(transformer: PolynomialFeatures, x):
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
def _(transformer: PCA, x):
    x = (x - transformer.mean_) @ transformer.components_.T
    if not transformer.whiten:
        return x
    deviation = np.sqrt(transformer.explained_variance_)
    return x / np.maximum(deviation, np.finfo(deviation.dtype).eps)


@transformed.register
def _(transformer: TruncatedSVD, x):
    return x @ transformer.components_.T


@transformed.register
def _(transformer: RBFSampler, x):
    z = x @ transformer.random_weights_ + transformer.random_offset_
    return cosine(z) * np.sqrt(2.0 / transformer.n_components)


@transformed.register
def _(transformer: Nystroem, x):
    Z = np.asarray(transformer.components_, dtype=float)
    return kernel_block(_kernel(transformer), x, Z) @ transformer.normalization_.T


def _kernel(transformer):
    gamma = 1.0 / transformer.n_features_in_ if transformer.gamma is None else transformer.gamma
    coef0 = 1.0 if transformer.coef0 is None else transformer.coef0
    degree = 3 if transformer.degree is None else transformer.degree
    known = {
        "rbf": RBF(gamma),
        "laplacian": Laplacian(gamma),
        "poly": Polynomial(gamma, coef0, degree),
        "polynomial": Polynomial(gamma, coef0, degree),
        "sigmoid": Sigmoid(gamma, coef0),
        "cosine": Cosine(),
        "linear": Linear(),
    }
    if not isinstance(transformer.kernel, str) or transformer.kernel not in known:
        raise ExportError(
            f"Nystroem(kernel={transformer.kernel!r}) cannot be written as ONNX; of its kernels "
            f"these can: {', '.join(map(repr, known))}."
        )
    return known[transformer.kernel]


@transformed.register(SelectKBest)
@transformed.register(SelectFromModel)
@transformed.register(VarianceThreshold)
def _(transformer, x):
    return x.columns(transformer.get_support(indices=True))
