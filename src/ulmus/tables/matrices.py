"""Files that are a matrix already: npz and svmlight."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from ulmus.archives import read_npz as arrays_of
from ulmus.archives import sparse_matrix
from ulmus.exceptions import TableError
from ulmus.tables.delimited import look_at
from ulmus.tables.table import Table

__all__ = ["read_npz", "read_svmlight"]

# More columns are refused: the random weights of the hidden units would not fit into memory.
_MOST_COLUMNS = 2**22
_PARTS = ("data", "indices", "indptr", "shape")
_MEMBERS = {"X", "y", "format", "feature_names", *_PARTS}
_BROKEN = (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError, AttributeError)


def read_npz(path: Path) -> Table:
    """A table of X, or of the parts of a CSR matrix, and of y if there is one."""
    try:
        with path.open("rb") as file:
            arrays = arrays_of(file, _MEMBERS, others=True)
        X = _dense(arrays["X"]) if "X" in arrays else _sparse(arrays)
    except _BROKEN as error:
        raise TableError(
            f"{path} is no npz file that can be used: {error}. It needs numbers in X, or a CSR "
            "matrix in data, indices, indptr and shape, and labels in y if there are any."
        ) from error
    # In the precision that holds the numbers: small whole ones fit float32.
    X = X.astype(min(np.result_type(X.dtype, np.float32), np.dtype(float)), copy=False)
    y = _labels(arrays["y"], X, path) if "y" in arrays else None
    return Table(_names(arrays, X.shape[1]), matrix=X, target=y)


def _dense(X: np.ndarray) -> np.ndarray:
    if X.dtype.kind not in "biuf" or X.ndim < 2 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape} and type {X.dtype}")
    return X.reshape(len(X), -1)


def _sparse(arrays: dict[str, Any]) -> Any:
    if not arrays.keys() >= set(_PARTS):
        raise ValueError(f"it has neither X nor all parts of a CSR matrix, but {sorted(arrays)}")
    if arrays.get("format", np.array(b"csr")).item() not in (b"csr", "csr"):
        raise ValueError(f"its sparse matrix is {arrays['format'].item()} and not csr")
    rows, columns = arrays["shape"].tolist()
    X = sparse_matrix(sp.csr_array, [arrays[name] for name in _PARTS[:3]], (rows, columns))
    if X.dtype.kind not in "biuf" or 0 in X.shape or not np.isfinite(X.data).all():
        raise ValueError(f"the CSR matrix of shape {X.shape} does not hold finite numbers only")
    _check_width(X)
    return X


def _names(arrays: dict[str, Any], width: int) -> tuple[str, ...]:
    names = arrays.get("feature_names")
    if names is not None and names.shape == (width,) and len(set(names.tolist())) == width:
        return tuple(map(str, names))
    return tuple(f"x{j}" for j in range(width))


def _labels(y: np.ndarray, X: Any, path: Path) -> np.ndarray:
    y = y.ravel() if y.ndim == 2 and 1 in y.shape else y
    if y.shape != (X.shape[0],) or y.dtype.kind not in "biufU":
        raise TableError(
            f"{path}: y has shape {y.shape} and type {y.dtype}, where X has {X.shape[0]} rows; "
            "it must hold a number or a word for each."
        )
    if y.dtype.kind != "U":
        return y.astype(float)
    return np.array([word or None for word in y.tolist()], dtype=object)


def _check_width(X: Any) -> None:
    if X.shape[1] > _MOST_COLUMNS:
        raise ValueError(f"it has {X.shape[1]:,} columns, more than {_MOST_COLUMNS:,}")


def read_svmlight(path: Path) -> Table:
    """A table of a text file in the format of svmlight and LIBSVM.

    A column keeps the number it has in the file, so that two files agree whichever number their
    first column has.
    """
    # Before scikit-learn reads whole lines: that there are lines, and none too long.
    look_at(path, "latin-1")
    try:
        X, y = load_svmlight_file(str(path), zero_based=True)
        _check_width(X)
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
