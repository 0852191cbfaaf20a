"""Data files: one ``.npz`` for each data set, read without trust.

Dense data are X and y; sparse ones data, indices, indptr and shape (CSR) and y. n_train, idxLabs
and idxUnls hold published splits. Sizes are checked in the archive's directory and in each
array's header before anything is unpacked, and nothing is ever unpickled.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.datasets.registry import Facts
from ulmus.exceptions import CorruptFileError

__all__ = ["check", "pack", "unpack"]

_MEMBERS = {
    "X", "y", "data", "indices", "indptr", "shape", "n_train", "idxLabs", "idxUnls",
    "feature_names", "date", "origin",
}  # fmt: skip
# What zipfile and NumPy raise on bytes that are no archive, or a broken one.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, RuntimeError, KeyError,
    SyntaxError, TypeError, OverflowError, MemoryError,
)  # fmt: skip


def unpack(blob: bytes, facts: Facts, where: str) -> dict[str, Any]:
    """The arrays of a file, checked; X is a CSR array where the data are sparse.

    Parameters
    ----------
    blob : bytes
        The file.
    facts : Facts
        What it must hold.
    where : str
        The file's name, for messages.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(blob)) as archive:
            arrays = {name: _array(archive, info) for name, info in _members(archive, facts)}
        if "data" in arrays:
            arrays["X"] = _csr(arrays)
    except _BROKEN as error:
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
    for name in ("idxLabs", "idxUnls"):
        index = arrays.get(name)
        if index is not None:
            within = index.dtype.kind in "iu" and bool(((index >= 0) & (index < rows)).all())
            demand(index.ndim == 2 and within, f"{name} must hold row numbers, a split in each row")
    names = arrays.get("feature_names")
    demand(names is None or names.shape == facts.shape[1:], "there must be a name for each column")


def _members(archive: zipfile.ZipFile, facts: Facts) -> list[tuple[str, zipfile.ZipInfo]]:
    """Names and places of the arrays, if the directory is plausible as a whole."""
    infos = archive.infolist()
    names = [info.filename.removesuffix(".npy") for info in infos]
    strange = sorted(set(names) - _MEMBERS)
    if strange or len(set(names)) < len(names):
        raise ValueError(f"it has members that do not belong there: {strange or names}")
    unpacked, limit = sum(info.file_size for info in infos), _limit(facts)
    if unpacked > limit:
        raise ValueError(f"it would unpack to {unpacked} bytes, and {limit} are plausible")
    return list(zip(names, infos, strict=True))


def _limit(facts: Facts) -> int:
    """How many bytes the arrays can have: eight for each value, ten splits, and some names."""
    rows, columns = facts.shape
    values = 2 * facts.stored if facts.stored else rows * columns
    return 8 * values + 8 * 16 * rows + 1024 * columns + 2**16


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array, once its header agrees with its size: NumPy reserves what a header asks for."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in readers:
            raise ValueError(f"{info.filename} is of an unknown version of NumPy's format")
        shape, _, dtype = readers[version](stream)
        if dtype.hasobject or dtype.kind not in "biufU":
            raise ValueError(f"{info.filename} holds {dtype}, which is never loaded")
        count = 1
        for length in shape:
            count *= length
        if min(shape, default=0) < 0 or count * dtype.itemsize != info.file_size - stream.tell():
            raise ValueError(f"{info.filename} is not as long as its header says")
    with archive.open(info) as stream:
        array: np.ndarray = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _csr(arrays: dict[str, Any]) -> Any:
    """X of its parts, every index of which must lie within it."""
    parts = tuple(arrays.pop(name) for name in ("data", "indices", "indptr"))
    X = sp.csr_array(parts, shape=tuple(int(n) for n in arrays.pop("shape")))
    X.check_format(full_check=True)
    return X
