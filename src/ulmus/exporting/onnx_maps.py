"""Feature maps, transformers and a table's columns as nodes of a graph.

Scikit-learn's transformers are among them. Where the encoder of a table rounds to single precision
the graph does too, because comparisons of numbers in a model must have the same result.
"""

import operator
import shlex
from collections.abc import Callable
from functools import reduce, singledispatch
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from ulmus.commanded import without_flag
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.kmeans import ELMNMF, ELMKMeans
from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import OUTPUT_NAMES, Graph, Value
from ulmus.features.base import FeatureMap
from ulmus.kernels import KERNELS
from ulmus.kernels.definition import parameters_of
from ulmus.tables.cells import TURNS
from ulmus.tables.columns import FARTHEST, LARGEST, Category, Frame, Number, Text
from ulmus.tables.encoder import TableEncoder
from ulmus.tables.table_model import ClippedColumns
from ulmus.typing import DType

# Kernels of a Nystroem map that Ulmus has under the same names.
_SHARED = ("rbf", "laplacian", "poly", "polynomial", "sigmoid", "cosine", "linear")
_EPSILON = float(np.finfo(np.float32).eps)
# Steps between two looks at the error of multiplicative updates.
_ROUND = 10


@singledispatch
def transformed(transformer: Any, x: Value) -> Value:
    """``transformer.transform`` of the graph's rows x; a class may define it as ``onnx(x)``."""
    if hasattr(transformer, "onnx"):
        return transformer.onnx(x)
    kinds = [
        *FeatureMap.__subclasses__(),
        *(kind for kind in transformed.registry if kind is not object),
    ]
    raise ExportError(
        f"{type(transformer).__name__} cannot be written as ONNX. What transforms rows may be of "
        f"{', '.join(sorted(kind.__name__ for kind in kinds))}, or have a method onnx(self, x)."
    )


@transformed.register
def _(transformer: ELMEmbedding, x: Value) -> Value:
    E = linear_outputs(transformer, x)
    return E.unit_rows(E.length()) if transformer.row_normalize else E


@transformed.register
def _(transformer: Pipeline, x: Value) -> Value:
    for _, step in transformer.steps:
        x = x if step in (None, "passthrough") else transformed(step, x)
    return x


def linear_outputs(model: Any, x: Value) -> Value:
    """Hβ + b for a model with ``features_``, ``beta_`` and ``intercept_``."""
    return transformed(model.features_, x) @ model.beta_ + model.intercept_


@transformed.register
def _(transformer: Normalizer, x: Value) -> Value:
    if transformer.norm == "l2":
        return x.unit_rows(x.length())
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
    # Each column is a product of inputs; a column of ones fills the products up to one length.
    x = x.op("Pad", np.array([0, 0, 0, 1]), 1.0)
    own = [np.repeat(np.arange(len(power)), power) for power in transformer.powers_]
    ones = np.full((len(own), max(1, *map(len, own))), transformer.powers_.shape[1])
    for row, factors in zip(ones, own, strict=True):
        row[: len(factors)] = factors
    return reduce(operator.mul, map(x.columns, ones.T))


@transformed.register
def _(transformer: PCA, x: Value) -> Value:
    x = (x - transformer.mean_) @ transformer.components_.T
    if not transformer.whiten:
        return x
    deviation = np.sqrt(transformer.explained_variance_)
    return x / np.maximum(deviation, np.finfo(deviation.dtype).eps)


@transformed.register
def _(transformer: Nystroem, x: Value) -> Value:
    if not isinstance(transformer.kernel, str) or transformer.kernel not in _SHARED:
        raise ExportError(
            f"Nystroem(kernel={transformer.kernel!r}) cannot be written as ONNX; of its kernels "
            f"these can: {', '.join(map(repr, _SHARED))}."
        )
    cls = KERNELS[transformer.kernel]
    defaults = {"gamma": 1.0 / transformer.n_features_in_, "coef0": 1.0, "degree": 3}
    given = {name: getattr(transformer, name) for name in defaults}
    values = defaults | {name: value for name, value in given.items() if value is not None}
    kernel = cls(**{name: values[name] for name in parameters_of(cls) if name in values})
    Z = np.asarray(transformer.components_, dtype=float)
    return kernel.onnx(x, Z) @ transformer.normalization_.T


def _factor_rows(nmf: Any, H: Value) -> Value:
    """B of H ≈ BW for new rows H, by scikit-learn's steps of the solver that found W, as loops.

    Its stopping rule looks at all rows together, and so does the graph's: both give a row that
    depends on the other rows in digits beyond ``tol``.
    """
    W = np.asarray(nmf.components_, dtype=float)
    solve = _coordinate_descent if nmf.solver == "cd" else _multiplicative_updates
    return solve(nmf, H, H @ W.T, W)


def _coordinate_descent(nmf: Any, H: Value, cross: Value, W: np.ndarray) -> Value:
    """One coordinate of every row at a time, until the gradient is ``tol`` of what it was."""
    graph, k, gram = H.graph, len(W), W @ W.T
    curvature = np.diag(gram)
    inverse = np.divide(1.0, curvature, out=np.zeros(k), where=curvature != 0)

    def coordinate(t: Value, B: Value, violation: Value) -> tuple[Any, ...]:
        own = graph.op("Gather", np.eye(k), t)
        before = (B * own).sum()
        slope = B @ graph.op("Gather", gram, t, axis=1).op("Unsqueeze", np.array([1]))
        slope = slope - (cross * own).sum()
        # At zero a coordinate can only grow.
        pull = graph.op("Where", before.op("Equal", 0.0), slope.op("Min", 0.0), slope)
        after = (before - slope * graph.op("Gather", inverse, t)).op("Max", 0.0)
        violation = violation + pull.op("Abs").op("ReduceSum", keepdims=0)
        return True, B + (after - before) * own, violation

    def sweep(step: Value, B: Value, first: Value, _: Value) -> tuple[Any, ...]:
        B, violation = graph.loop(k, coordinate, B, 0.0)
        first = graph.op("Where", step.op("Equal", 0), violation, first)
        return violation.op("Greater", first * nmf.tol), B, first, violation

    return graph.loop(int(nmf.max_iter), sweep, cross * 0.0, 0.0, 0.0)[0]


def _multiplicative_updates(nmf: Any, H: Value, cross: Value, W: np.ndarray) -> Value:
    """All coordinates times a factor, until ten steps gain less than ``tol`` of the first error."""
    graph, k, gram = H.graph, len(W), W @ W.T

    def update(step: Value, B: Value) -> tuple[Any, ...]:
        norm = B @ gram
        return True, B * cross / graph.op("Where", norm.op("Equal", 0.0), _EPSILON, norm)

    def error(B: Value) -> Value:
        apart = H - B @ W
        return (apart * apart).op("ReduceSum", keepdims=0).op("Sqrt")

    def round_(step: Value, B: Value, last: Value) -> tuple[Any, ...]:
        left = int(nmf.max_iter) - step * _ROUND
        B = graph.loop(left.op("Min", _ROUND), update, B)
        now = error(B)
        gains = (last - now).op("GreaterOrEqual", nmf.tol * first) if nmf.tol > 0 else True
        return gains, B, now

    start = cross * 0.0 + (H.op("ReduceMean", keepdims=0) / float(k)).op("Sqrt")
    first = error(start)
    rounds = -(-int(nmf.max_iter) // _ROUND)
    return graph.loop(rounds, round_, start, first)[0]


# ---------------------------------------------------------------- a table's columns
def input_names(encoder: TableEncoder) -> dict[str, str]:
    """The graph's input name for each column: its own, with a prefix if an output has the name."""
    if encoder.width:
        return {"X": "X"}
    mark = "column " if set(encoder.names) & set(OUTPUT_NAMES) else ""
    return {name: mark + name for name in encoder.names}


def encoded_rows(graph: Graph, encoder: TableEncoder, dtype: DType) -> Value:
    """The matrix of the columns, whose inputs are added to the graph."""
    if encoder.width:
        x = graph.input("X", dtype, encoder.width).cast(np.float64)
        return x if encoder.sparse else _filled(x, encoder.fill.astype(dtype))
    parts = []
    for name, given in input_names(encoder).items():
        column = encoder.column(name)
        if isinstance(column, Text):
            raise ExportError(
                f"The column {name!r} is read as text, which has no form in ONNX; fit without it, "
                f"{without_flag(name)}, or with --as {shlex.quote(f'{name}=category')}."
            )
        nodes: Any = _number if isinstance(column, Number) else _category
        parts.append(nodes(column, graph, given))
    return graph.op("Concat", *parts, axis=1)


def _number(column: Number, graph: Graph, name: str) -> Value:
    given = graph.input(name, np.float64, 1)
    x = _filled(given, column.fill)
    parts = [_framed(x, column.frame)]
    if column.ranks.size:
        parts.append(_interpolated(x, *column.ranks))
    parts += [_calendar(x, part) for part in column.parts]
    parts = [part.cast(np.float32).cast(np.float64) for part in parts]
    if column.indicator:
        parts.append(_blank(given).cast(np.float64))
    return graph.op("Concat", *parts, axis=1)


def _calendar(x: Value, part: str) -> Value:
    """`ulmus.tables.cells.part_columns`."""
    if part == "week":
        day = x.op("Floor") + 3.0
        return (day - (day / 7.0).op("Floor") * 7.0).op("Equal", np.arange(7.0)).cast(np.float64)
    turns = x / TURNS[part]
    angle = (turns - turns.op("Floor")) * (2 * np.pi)
    return x.graph.op("Concat", angle.op("Sin"), angle.cosine(), axis=1)


def _category(column: Category, graph: Graph, name: str) -> Value:
    known = {category: code for code, category in enumerate(column.categories)}
    width = len(known) + column.other + column.blank
    known.setdefault("", width - 1 if column.blank else -1)
    codes = graph.input(name, object, 1).op(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=list(known),
        values_int64s=list(known.values()),
        default_int64=len(column.categories) if column.other else -1,
    )
    return codes.op("Equal", np.arange(width)).cast(np.float64)


def _blank(x: Value) -> Value:
    """The negation of `ulmus.tables.columns.usable`; comparisons with NaN are false."""
    return x.op("Abs").op("Less", LARGEST).op("Not")


def _filled(x: Value, fill: Any) -> Value:
    return x.graph.op("Where", _blank(x), fill, x)


def _framed(x: Value, frame: Frame) -> Value:
    """`ulmus.tables.columns.framed`."""
    center, scale, squash = frame
    z = ((x - center) / scale).clipped(-FARTHEST, FARTHEST)
    third = z / 3.0
    return z / (1.0 + third * third).op("Sqrt") if squash else z


def _interpolated(x: Value, values: np.ndarray, ranks: np.ndarray) -> Value:
    """`numpy.interp` of a column: the position among the values, and the line from there."""
    slope = np.append(np.diff(ranks) / np.diff(values), 0.0)
    last = (x.op("GreaterOrEqual", values).cast(np.int64).sum() - 1).op("Max", 0)
    start, height, steep = (x.graph.op("Gather", row, last) for row in (values, ranks, slope))
    return steep * (x.op("Max", float(values[0])) - start) + height


_FORMULAS: dict[type, Callable[[Any, Value], Value]] = {
    ELMKMeans: lambda t, x: (
        transformed(t.features_, x).squared_distances(t.cluster_centers_).op("Sqrt")
    ),
    ELMNMF: lambda t, x: _factor_rows(t.nmf_, transformed(t.features_, x)),
    FrozenEstimator: lambda t, x: transformed(t.estimator, x),
    StandardScaler: lambda t, x: x.scaled(
        t.mean_ if t.with_mean else 0.0, 1.0 / (t.scale_ if t.with_std else 1.0)
    ),
    RobustScaler: lambda t, x: x.scaled(
        t.center_ if t.with_centering else 0.0, 1.0 / (t.scale_ if t.with_scaling else 1.0)
    ),
    MaxAbsScaler: lambda t, x: x.scaled(0.0, 1.0 / t.scale_),
    TruncatedSVD: lambda t, x: x @ t.components_.T,
    MinMaxScaler: lambda t, x: (
        (x * t.scale_ + t.min_).clipped(*map(float, t.feature_range))
        if t.clip
        else x * t.scale_ + t.min_
    ),
    ClippedColumns: lambda t, x: x.clipped(t.low_, t.high_) if len(t.low_) else x,
    RBFSampler: lambda t, x: (
        (x @ t.random_weights_ + t.random_offset_).cosine() * np.sqrt(2.0 / t.n_components)
    ),
    **dict.fromkeys(
        (SelectKBest, SelectFromModel, VarianceThreshold),
        lambda t, x: x.columns(t.get_support(indices=True)),
    ),
}
for _kind, _formula in _FORMULAS.items():
    transformed.register(_kind, _formula)
