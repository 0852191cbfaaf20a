"""`save`, `load` and `describe`: models to files and back."""

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from ulmus.exceptions import ModelFileError, UnsupportedModelError
from ulmus.files import replacing
from ulmus.persistence.decoding import LIST, VALUE, Archive, Reader
from ulmus.persistence.encoding import Writer, write
from ulmus.version import __version__

_FORMAT = "ulmus model"
_VERSION = 1
# Most entries of an array that `describe` shows, and bytes that it charges for a dict.
_FEW, _DICT = 20, 256


def save(model: Any, path: str | PathLike[str], *, for_update: bool = True) -> None:
    """Write a model to a file that is safe to open.

    The file is a zip of one JSON document and ``.npy`` arrays. It holds no code and no pickle, and
    `load` creates objects of known classes only. It is written under another name first, so that an
    older file of this name is kept if writing fails.

    Parameters
    ----------
    model : estimator, feature map, pipeline or graph
        Fitted or not: any public class of Ulmus, the transformers and meta-estimators of
        scikit-learn that the guide lists, and classes passed to `ulmus.persistence.register`.
    path : str or path
        The file, usually with the ending ".ulmus".
    for_update : bool, default=True
        Whether to keep what predictions do not need: the sums and rows that ``partial_fit``
        continues from, the rows of ``relabel`` and ``transduction_`` of the semi-supervised
        models, and those that ``feature_importances_`` is averaged over. False makes the file
        smaller, and it then holds no rows of the data except those that the model consists of (a
        kernel's landmarks, RBF centres, support vectors).

    See Also
    --------
    load : The inverse.
    to_host : For a model that was fitted on a device.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> import ulmus
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ulmus.ELMClassifier(n_hidden=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.ulmus"
    ...     ulmus.save(model, path)
    ...     same = ulmus.load(path)
    >>> bool((same.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"{model.__name__} is a class; save takes a model, such as {model.__name__}()."
        )
    writer = Writer(for_update)
    data = writer.object(model, type(model).__name__)
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "ulmus": __version__,
        "scikit-learn": sklearn.__version__,
        "random": writer.random,
        "model": data,
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    with replacing(Path(path)) as stream:
        write(stream, text.encode("ascii"), writer.arrays)


def load(path: str | PathLike[str]) -> Any:
    """Read a model from a file that `save` wrote.

    The file holds no code: it is read without pickle, its classes are looked up in a list, and
    sizes and checksums are checked before and while it is read.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : object
        The model; it can do everything that it could do when it was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, of a newer version, or holds something forbidden.

    Warns
    -----
    InconsistentVersionWarning
        If the file holds objects of another version of scikit-learn.

    See Also
    --------
    save : The inverse.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import ulmus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "units.ulmus"
    ...     ulmus.save(ulmus.RandomFeatures(100, activation="tanh"), path)
    ...     ulmus.load(path)
    RandomFeatures(activation='tanh', n_hidden=100)
    """
    with _opened(path) as (opened, document):
        reader, version = Reader(opened, document["random"]), str(document["scikit-learn"])
        model = reader.value(document["model"])
        if len(reader.arrays) != len(opened.members) - 1:
            raise ModelFileError("it has arrays that nothing refers to")
    for name in sorted(reader.scikit_learn) if version != sklearn.__version__ else ():
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name=name,
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=version,
            ),
            stacklevel=2,
        )
    return model


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """What is in a model's file, without reading its large arrays.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    facts : dict
        "format", "version", "ulmus" and "scikit-learn" (the versions that wrote it), "class",
        "params" and "fitted" (public attributes), and "bytes". Objects within are dicts of "class",
        "params" and "fitted" too, and large arrays are described by their shape.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import ulmus
    >>> from ulmus.persistence import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "units.ulmus"
    ...     ulmus.save(ulmus.RandomFeatures(50).fit([[0.0], [1.0]]), path)
    ...     facts = describe(path)
    >>> facts["class"], facts["params"]["activation"], facts["fitted"]["weights_"]
    ('ulmus.RandomFeatures', 'sigmoid', 'float64 array of shape (50, 1)')
    """
    with _opened(path) as (opened, document):
        facts = {key: document[key] for key in ("format", "version", "ulmus", "scikit-learn")}
        return facts | _words(document["model"], opened) | {"bytes": Path(path).stat().st_size}


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[tuple[Archive, dict[str, Any]]]:
    """The archive and its JSON document, open for reading."""
    with Path(path).open("rb") as stream:
        try:
            yield _document(stream)
        except MemoryError:
            raise
        # zipfile, json, NumPy, SciPy and the classes themselves each have errors of their own for
        # damaged bytes; the caller gets one error for all.
        except Exception as error:
            why = f"{type(error).__name__}: {str(error)[:200]}"
            why = f"it is damaged, or was not written by ulmus.save ({why})"
            why = str(error) if isinstance(error, ModelFileError) else why
            raise ModelFileError(f"{path} cannot be read as a model: {why}.") from error


def _document(stream: IO[bytes]) -> tuple[Archive, dict[str, Any]]:
    """The opened archive and its JSON document, if this version can read it."""
    opened = Archive(stream)
    document = json.loads(opened.document().decode("ascii"), parse_constant=_no_constant)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ModelFileError("it is a file of another kind")
    version, writer = document["version"], str(document["ulmus"])[:40]
    if type(version) is not int or version > _VERSION:
        raise ModelFileError(
            f"Ulmus {writer} wrote it in version {version!r} of the format, and Ulmus "
            f"{__version__} reads up to {_VERSION}; install a newer Ulmus"
        )
    return opened, document


def _no_constant(name: str) -> float:
    raise ModelFileError(f"its JSON has a {name}, which is not JSON")


def _words(data: Any, opened: Archive) -> Any:
    """Stored data as plain JSON values."""
    if isinstance(data, list):
        opened.spend(LIST + VALUE * len(data))
        return [_words(part, opened) for part in data]
    if not isinstance(data, dict):
        return data
    ((kind, inside),) = data.items()
    opened.spend(_DICT)
    if kind == "object":
        state = {key: _words(part, opened) for key, part in inside["state"].items()}
        fitted = {key: part for key, part in state.items() if key.endswith("_") and key[0] != "_"}
        params = {k: part for k, part in state.items() if not (k in fitted or k.startswith("_"))}
        return {"class": inside["class"], "params": params, "fitted": fitted}
    if kind == "dict":
        return {str(key): _words(part, opened) for key, part in inside}
    if kind == "array":
        name = opened.name(inside)
        shape, dtype = opened.header(name)
        # An array without entries can have any number of rows, each of which becomes a list.
        few = math.prod(max(n, 1) for n in shape) <= _FEW and dtype.kind != "S"
        # A file may refer to one array, with long texts, any number of times.
        opened.spend_shape(shape if few else (), dtype.itemsize)
        return opened.array(name).tolist() if few else f"{dtype} array of shape {shape}"
    if kind == "symmetric":
        return f"array of shape {(inside[1], inside[1])}"
    if kind == "sparse":
        return f"{inside['class']} of shape {tuple(inside['shape'])}"
    if kind in ("scalar", "objects"):
        return _words(inside[1], opened)
    return _words(inside, opened) if kind in ("tuple", "slice") else str(inside)
