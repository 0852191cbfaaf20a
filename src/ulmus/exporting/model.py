"""A fitted model as an ONNX model, in memory or as a file."""

import json

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.moving import to_numpy
from ulmus.exceptions import ExportError
from ulmus.exporting import scikit  # noqa: F401  (its transformers register themselves)
from ulmus.exporting.graph import Graph, Value, onnx_module
from ulmus.exporting.outputs import outputs
from ulmus.files import replacing
from ulmus.version import __version__

__all__ = ["save_onnx", "to_onnx"]

# Protocol buffers hold no more.
_MOST_BYTES = 2**31 - 1


def to_onnx(model, *, dtype=np.float32):
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
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ExportError(f"dtype={dtype} is no type for rows; use float32 or float64.")
    onnx_module()
    check_is_fitted(model)
    model = to_numpy(model)
    graph = Graph()
    x = Value(graph, "X").cast(np.float64)
    given = outputs(model, x, dtype)
    rows = graph.described("X", dtype, ["rows", model.n_features_in_])
    results = []
    for name, output in given.items():
        graph.name(output.value, name)
        shape = ["rows"] if output.columns is None else ["rows", output.columns]
        results.append(graph.described(name, output.dtype, shape))
    proto = graph.model(
        [rows],
        results,
        producer_name="ulmus",
        producer_version=__version__,
        doc_string=f"{type(model).__name__}, fitted and written by Ulmus {__version__}.",
    )
    onnx_module("onnx.helper").set_model_props(proto, _metadata(model))
    return proto


def save_onnx(model, path, *, dtype=np.float32):
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
    proto = to_onnx(model, dtype=dtype)
    size = proto.ByteSize()
    if size > _MOST_BYTES:
        raise ExportError(
            f"The model is {size / 2**30:.1f} GiB as ONNX, and a file holds 2; fit with fewer "
            "hidden units or landmarks."
        )
    with replacing(path) as stream:
        stream.write(proto.SerializeToString())


def _metadata(model):
    """What the outputs' types do not say, as strings."""
    found = {"ulmus_version": __version__, "estimator": type(model).__name__}
    for key, name in (("classes", "classes_"), ("feature_names", "feature_names_in_")):
        values = getattr(model, name, None)
        if values is not None:
            found[key] = json.dumps(np.asarray(values).tolist(), ensure_ascii=False)
    return found
