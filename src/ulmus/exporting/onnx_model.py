"""A fitted model as an ONNX model, in memory or as a file, and its outputs.

The names of outputs are those that converters of scikit-learn's models use, and their shapes those
of the methods. A graph cannot raise an error: for a row that the methods refuse, because an entry
or an output is not finite, every number is NaN, and the label is none of the classes.
"""

import json
from functools import singledispatch
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_precision
from ulmus.estimators.class_labels import ClassLabels
from ulmus.estimators.kernel_elm import KernelELM
from ulmus.estimators.kmeans import ELMNMF, ELMKMeans
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.estimators.value_labels import ValueLabels
from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Graph, Value, onnx_module
from ulmus.exporting.onnx_maps import encoded_rows, input_names, linear_outputs, transformed
from ulmus.features.base import FeatureMap
from ulmus.features.hidden_layer import HiddenModel
from ulmus.features.kernel_space import kernel_graph
from ulmus.files import replacing
from ulmus.moving import to_host
from ulmus.tables import TableModel
from ulmus.version import __version__

# The limit of protocol buffers.
_MOST_BYTES = 2**31 - 1


def to_onnx(model: Any, *, dtype: Any = np.float32, encoder: Any = None) -> Any:
    """A fitted model as an ONNX model, which any ONNX runtime computes without Ulmus.

    Needs the extra ``onnx``: ``pip install 'ulmus[onnx]'``.

    Parameters
    ----------
    model : estimator, feature map, pipeline or TableModel
        A fitted estimator or feature map of Ulmus, a scikit-learn ``Pipeline`` that ends in one and
        has scalers, PCA, random features and the like before it, or the result of `fit_table`, with
        its encoder.
    dtype : {float32, float64}, default=float32
        The type of the inputs and of the outputs. The graph itself always computes in float64.
    encoder : TableEncoder, default=None
        The encoder that made the rows from the columns of a table. The graph then takes the columns
        themselves: an input for each, of its name and of shape (rows, 1). Numbers are float64, NaN
        if missing; yes and no are 1 and 0, dates are days since 1970. Text is strings, "" if
        missing.

    Returns
    -------
    proto : onnx.ModelProto
        Its input is "X", any number of rows. Its outputs are "label", "probabilities" and "scores"
        (`predict`, `predict_proba`, `decision_function`) of a classifier, "variable" (`predict`)
        of a regressor, "label" of a clusterer, and "transformed" (`transform`) of a transformer.
        Labels are strings, int64, bool or float64, as the classes are.

    See Also
    --------
    save_onnx : The same as a file.

    Notes
    -----
    Precomputed kernels, and kernels and activations that are Python functions, are refused;
    of activations NumPy's and SciPy's own functions are known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> proto = to_onnx(ELMClassifier(n_hidden=50, random_state=0).fit(X, y))
    >>> [output.name for output in proto.graph.output]
    ['label', 'probabilities', 'scores']
    """
    check_precision("dtype", dtype)
    dtype = np.dtype(np.float32 if dtype is None else dtype)
    onnx_module("onnx")
    if isinstance(model, TableModel):
        encoder = model.encoder
        model = Pipeline([("view", model.view), ("estimator", model.estimator)])
    check_is_fitted(model)
    model = to_host(model)
    x = _rows(model, encoder, dtype)
    add_outputs(model, x, dtype)
    proto = x.graph.model(
        producer_name="ulmus",
        producer_version=__version__,
        doc_string=f"{type(model).__name__}, fitted and written by Ulmus {__version__}.",
    )
    onnx_module("onnx.helper").set_model_props(proto, _metadata(model, encoder))
    return proto


def save_onnx(
    model: Any, path: str | PathLike[str], *, dtype: Any = np.float32, encoder: Any = None
) -> None:
    """Write a fitted model as an ONNX file, whole or not at all.

    Needs the extra ``onnx``: ``pip install 'ulmus[onnx]'``.

    Parameters
    ----------
    model : estimator, feature map, pipeline or TableModel
        The fitted model, as in `to_onnx`.
    path : str or path
        The file, usually with the ending ".onnx"; an existing file is replaced.
    dtype : {float32, float64}, default=float32
        The type of the inputs and of the outputs.
    encoder : TableEncoder, default=None
        The encoder of the table's columns, as in `to_onnx`.

    See Also
    --------
    to_onnx : The same in memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import RandomFeatures, save_onnx
    >>> X, _ = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "features.onnx"
    ...     save_onnx(RandomFeatures(20, random_state=0).fit(X), path)
    ...     path.stat().st_size < 5000
    True
    """
    proto = to_onnx(model, dtype=dtype, encoder=encoder)
    size = proto.ByteSize()
    if size > _MOST_BYTES:
        raise ExportError(
            f"The model is {size / 2**30:.1f} GiB as ONNX, and a file holds 2; fit with fewer "
            "hidden units or landmarks."
        )
    with replacing(Path(path)) as stream:
        stream.write(proto.SerializeToString())


def _rows(model: Any, encoder: Any, dtype: Any) -> Value:
    """The rows in a new graph, whose inputs are X or a table's columns."""
    if encoder is None:
        return Graph().input("X", dtype, model.n_features_in_).cast(np.float64)
    if not encoder.names:
        raise ExportError("The encoder is not fitted; call its fit with a table first.")
    width = len(encoder.feature_names_out)
    if width != model.n_features_in_:
        raise ExportError(
            f"The encoder gives {width} columns and the model takes {model.n_features_in_}; give "
            "the encoder that the model's rows came from."
        )
    return encoded_rows(Graph(taken=input_names(encoder).values()), encoder, dtype)


def _metadata(model: Any, encoder: Any) -> dict[str, str]:
    """Metadata beyond the types of the outputs, as strings."""
    found: dict[str, Any] = {"estimator": type(model).__name__, "ulmus_version": __version__}
    for key, name in (("classes", "classes_"), ("feature_names", "feature_names_in_")):
        values = getattr(model, name, None)
        if values is not None:
            found[key] = np.asarray(values).tolist()
    if encoder is not None and not encoder.width:
        names = input_names(encoder)
        found["columns"] = {
            name: {"input": names[name], "kind": kind}
            for name, kind in zip(encoder.names, encoder.kinds, strict=True)
        }
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in found.items()
    }


# ---------------------------------------------------------------- outputs
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
    if isinstance(model, ELMKMeans):
        nearest, width = E.op("ArgMin", axis=1, keepdims=0), model.n_clusters_
    else:
        # The rows of B are compared as they lie in BW.
        root, width = model._found().metric_root(), len(model.components_)
        nearest = (E @ np.asarray(root, dtype=float)).nearest(model.cluster_centers_)
    _add_clusters(nearest, refused)
    x.graph.output("transformed", E, dtype, width)


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
