"""A fitted model as an ONNX model, in memory or as a file."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_precision
from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Graph, Value, onnx_module
from ulmus.exporting.onnx_outputs import add_outputs
from ulmus.exporting.table_columns import encoded_rows, input_names
from ulmus.files import replacing
from ulmus.moving import to_host
from ulmus.version import __version__

# The limit of protocol buffers.
_MOST_BYTES = 2**31 - 1


def to_onnx(model: Any, *, dtype: Any = np.float32, encoder: Any = None) -> Any:
    """A fitted model as an ONNX model, which any ONNX runtime computes without Ulmus.

    Needs the extra ``onnx``: ``pip install 'ulmus[onnx]'``.

    Parameters
    ----------
    model : estimator, feature map or pipeline
        What was fitted: any estimator or feature map of Ulmus, or a scikit-learn ``Pipeline``
        that ends in one and has scalers, PCA, random features and the like before it.
    dtype : {float32, float64}, default=float32
        The type of the rows that go in, and of the numbers that come out. The graph itself
        computes in float64 always.
    encoder : TableEncoder, default=None
        How a table's columns became the rows that the model was fitted to. The graph then takes
        the columns themselves: an input for each, named as the column, (rows, 1). Numbers are
        float64, NaN where blank; yes and no are 1 and 0, dates are days since 1970. Text is
        strings, "" where blank.

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
    model : estimator, feature map or pipeline
        What was fitted, as in `to_onnx`.
    path : str or path
        The file, by custom with the ending ".onnx"; one that is there is replaced.
    dtype : {float32, float64}, default=float32
        The type of the rows that go in, and of the numbers that come out.
    encoder : TableEncoder, default=None
        How a table's columns became the rows, as in `to_onnx`.

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
