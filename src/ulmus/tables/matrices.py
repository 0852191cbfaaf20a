"""Files that are a matrix already: npz and svmlight."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from ulmus.archives import read_npz as archived
from ulmus.archives import sparse_matrix
from ulmus.exceptions import TableError
from ulmus.tables.delimited import look_at
from ulmus.tables.table import Table

__all__ = ["read_npz", "read_svmlight"]

# More columns are refused: the random weights of the hidden units would not fit into memory.
_MOST_COLUMNS = 2**22
_MEMBERS = {"X", "y", "data", "indices", "indptr", "shape", "format", "feature_names"}
_BROKEN = (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError, AttributeError)


def read_npz(path: Path) -> Table:
    """A table of X, or of the parts of a CSR matrix, and of y if there is one."""
    try:
        with path.open("rb") as file:
            arrays = archived(file, _MEMBERS, others=True)
        X = _matrix(arrays)
    except _BROKEN as error:
        raise TableError(
            f"{path} is no npz file that can be used: {error}. It needs numbers in X, or a CSR "
            "matrix in data, indices, indptr and shape, and labels in y if there are any."
        ) from error
    y = arrays.get("y")
    if y is not None:
        y = y.ravel() if y.ndim == 2 and 1 in y.shape else y
        if y.shape != (X.shape[0],) or y.dtype.kind not in "biufU":
            raise TableError(
                f"{path}: y has shape {y.shape} and type {y.dtype}, where X has {X.shape[0]} rows; "
                "it must hold a number or a word for each."
            )
        y = _labels(y)
    return Table(_names(arrays, X.shape[1]), matrix=X, target=y)


def _labels(y: np.ndarray) -> np.ndarray:
    if y.dtype.kind != "U":
        return y.astype(float)
    return np.array([word or None for word in y.tolist()], dtype=object)


def _matrix(arrays: dict[str, Any]) -> Any:
    if "X" in arrays:
        X = arrays["X"]
        if X.dtype.kind not in "biuf" or X.ndim < 2 or 0 in X.shape:
            raise ValueError(f"X has shape {X.shape} and type {X.dtype}")
        return _floating(X.reshape(len(X), -1))
    missing = {"data", "indices", "indptr", "shape"} - set(arrays)
    if missing:
        raise ValueError(f"it has neither X nor all parts of a CSR matrix, but {sorted(arrays)}")
    if arrays.get("format", np.array(b"csr")).item() not in (b"csr", "csr"):
        raise ValueError(f"its sparse matrix is {arrays['format'].item()} and not csr")
    parts = [arrays[name] for name in ("data", "indices", "indptr")]
    rows, columns = arrays["shape"].tolist()
    X = sparse_matrix(sp.csr_array, parts, (rows, columns))
    _check_width(columns)
    if X.dtype.kind not in "biuf" or 0 in X.shape or not np.isfinite(X.data).all():
        raise ValueError(f"the CSR matrix of shape {X.shape} does not hold finite numbers only")
    return _floating(X)


def _floating(X: Any) -> Any:
    """In the precision that holds the numbers: small whole ones fit float32."""
    precision = np.result_type(X.dtype, np.float32)
    return X.astype(min(precision, np.dtype(float)), copy=False)


def _check_width(width: int) -> None:
    if width > _MOST_COLUMNS:
        raise ValueError(f"it has {width:,} columns, more than {_MOST_COLUMNS:,}")


def _names(arrays: dict[str, Any], width: int) -> tuple[str, ...]:
    names = arrays.get("feature_names")
    if names is not None and names.shape == (width,) and len(set(names.tolist())) == width:
        return tuple(map(str, names))
    return tuple(f"x{j}" for j in range(width))


def read_svmlight(path: Path) -> Table:
    """A table of a text file in the format of svmlight and LIBSVM.

    A column keeps the number it has in the file, so that two files agree whichever number their
    first column has.
    """
    # Before scikit-learn reads whole lines: that there are lines, and none too long.
    look_at(path, "latin-1")
    try:
        X, y = load_svmlight_file(str(path), zero_based=True)
        _check_width(X.shape[1])
        if not np.isfinite(X.data).all():
            raise ValueError("it has numbers that are not finite")
    except _BROKEN as error:
        raise TableError(
            f"{path} is no svmlight file that can be read: {error}. A line is a label and then "
            "column:number pairs with the columns in order."
        ) from error
    if not X.nnz:
        raise TableError(f"{path} has no rows with column:number pairs.")
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Table(names, matrix=sp.csr_array(X), target=y)
