"""Data files: one ``.npz`` for each data set, read without trust.

Dense data are X and y; sparse ones data, indices, indptr and shape (CSR) and y. n_train, idxLabs
and idxUnls hold published splits. Nothing is unpickled, and nothing is written to disk.
"""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from papers.datasets.facts import Facts
from papers.errors import CorruptFileError
from ulmus.archives import read_npz, sparse_matrix

_MEMBERS = {
    "X", "y", "data", "indices", "indptr", "shape", "n_train", "idxLabs", "idxUnls",
    "feature_names", "date", "origin",
}  # fmt: skip


def unpack(blob: bytes, facts: Facts, where: str) -> dict[str, Any]:
    """The arrays of a file, checked; X is a CSR array where the data are sparse.

    ``where`` is the file's name, for messages.
    """
    try:
        arrays: dict[str, Any] = read_npz(io.BytesIO(blob), _MEMBERS, most=_limit(facts))
        if "data" in arrays:
            parts = [arrays.pop(name) for name in ("data", "indices", "indptr")]
            rows, columns = arrays.pop("shape").tolist()
            arrays["X"] = sparse_matrix(sp.csr_array, parts, (rows, columns))
    except (ValueError, KeyError, TypeError, MemoryError) as error:
        raise CorruptFileError(f"{where} is no data file that can be read: {error}") from error
    check(arrays, facts, where)
    return arrays


def pack(arrays: Mapping[str, Any]) -> bytes:
    """A file of dense arrays; the same arrays give the same bytes."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def check(arrays: Mapping[str, Any], facts: Facts, where: str) -> None:
    """Refuse arrays that do not fit each other or the facts."""

    def demand(holds: bool, complaint: str) -> None:
        if not holds:
            raise CorruptFileError(f"{where} is not the data set it should be: {complaint}.")

    rows = facts.shape[0]
    demand("X" in arrays and "y" in arrays, "X or y is missing")
    X, y = arrays["X"], arrays["y"]
    demand(X.shape == facts.shape, f"X has shape {X.shape} and not {facts.shape}")
    demand(y.shape == (rows,), f"y has shape {y.shape} and not {(rows,)}")
    values = X.data if sp.issparse(X) else X
    demand(values.dtype.kind in "biuf", f"X holds {values.dtype} and not numbers")
    demand(values.dtype.kind != "f" or bool(np.isfinite(values).all()), "X is not finite")
    if facts.classes:
        within = y.dtype.kind in "iu" and bool(((y >= 0) & (y < facts.classes)).all())
        demand(within, f"y must hold the classes 0 to {facts.classes - 1}")
    else:
        demand(y.dtype.kind == "f" and bool(np.isfinite(y).all()), "y must hold numbers")
    if "n_train" in arrays:
        n_train = arrays["n_train"]
        demand(n_train.shape == () and n_train == facts.n_train, f"n_train is {n_train}")
    for name in {"idxLabs", "idxUnls"} & set(arrays):
        index = arrays[name]
        within = index.dtype.kind in "iu" and bool(((index >= 0) & (index < rows)).all())
        demand(index.ndim == 2 and within, f"{name} must hold row numbers, a split in each row")
    names = arrays.get("feature_names")
    demand(names is None or names.shape == facts.shape[1:], "there must be a name for each column")


def _limit(facts: Facts) -> int:
    """How many bytes the arrays can have: eight for each value, ten splits, and some names."""
    rows, columns = facts.shape
    values = 2 * facts.stored if facts.stored else rows * columns
    return 8 * values + 8 * 16 * rows + 1024 * columns + 2**16
