"""Rows that no estimator was made for: shapes, types, values and sparse formats.

Each is a function of clean rows. ``EQUAL`` ones hold the same numbers as a clean array, which they
give too; ``REFUSED`` ones mean nothing and must be an error; of others an answer must be finite.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

__all__ = ["EQUAL", "FINITE", "REFUSED", "ROWS", "HostileRows"]

EQUAL, REFUSED, FINITE = "equal", "refused", "finite"
# Precision that a coarser type may cost, beside the largest output.
_SINGLE = 5e-3


@dataclass(frozen=True)
class HostileRows:
    """Rows, what must become of them, and how far an answer may be from that of clean ones."""

    kind: str
    make: Callable[[np.ndarray], Any]
    must: str
    clean: Callable[[np.ndarray], np.ndarray] = np.asarray
    rtol: float = 1e-6


def _whole(X: np.ndarray) -> np.ndarray:
    return np.round(3 * np.abs(X))


def _as(dtype: Any, start: Callable[[np.ndarray], np.ndarray] = np.asarray) -> dict[str, Any]:
    return {
        "make": lambda X: start(X).astype(dtype),
        "clean": lambda X: start(X).astype(dtype).astype(float),
    }


def _ragged(X: np.ndarray) -> list:
    return [row[: 3 + i % 2] for i, row in enumerate(X.tolist())]


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _mapped(X: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:  # the map keeps what it needs of it
        mapped = np.memmap(file, dtype=float, shape=X.shape)
    mapped[...] = X
    return mapped


def _apart(X: np.ndarray) -> np.ndarray:
    """Every second entry of a larger array, in both directions."""
    wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _objects(entry: Any) -> Callable[[np.ndarray], np.ndarray]:
    def make(X: np.ndarray) -> np.ndarray:
        rows = X.astype(object)
        rows[3, 1] = entry
        return rows

    return make


def _with(entry: float, everywhere: bool = False) -> Callable[[np.ndarray], np.ndarray]:
    def make(X: np.ndarray) -> np.ndarray:
        X = X.copy()
        X[... if everywhere else (3, 1)] = entry
        return X

    return make


def _column(column: Any) -> Callable[[np.ndarray], pd.DataFrame]:
    def make(X: np.ndarray) -> pd.DataFrame:
        frame = pd.DataFrame(X, columns=list("abcd"))
        frame["b"] = pd.Series([column] * len(X))
        return frame

    return make


def _scaled(*factors: float, offset: float = 0.0) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: X * np.resize(factors, X.shape[1]) + offset


def _alternating(size: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: np.where(X > 0, size, -size)


class _Subclass(np.ndarray):
    """An array of another name."""


class _Like:
    """Anything that can be made an array."""

    def __init__(self, X: np.ndarray) -> None:
        self._X = X

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._X.astype(dtype or float)

    def __len__(self) -> int:
        return len(self._X)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._X.shape


def _thinned(X: np.ndarray) -> np.ndarray:
    return np.where(X > 0.5, X, 0.0)


def _csr(change: Callable[[Any], Any]) -> Callable[[np.ndarray], Any]:
    return lambda X: change(sp.csr_array(_thinned(X)))


def _unsorted(S: Any) -> Any:
    for start, stop in zip(S.indptr[:-1], S.indptr[1:], strict=True):
        S.indices[start:stop] = S.indices[start:stop][::-1].copy()
        S.data[start:stop] = S.data[start:stop][::-1].copy()
    S.has_sorted_indices = False
    return S


def _doubled(S: Any) -> Any:
    """Every entry as two halves."""
    data, indices = np.repeat(S.data / 2, 2), np.repeat(S.indices, 2)
    return sp.csr_array((data, indices, 2 * S.indptr), shape=S.shape)


def _changed(name: str, place: int, value: int) -> Callable[[Any], Any]:
    def change(S: Any) -> Any:
        getattr(S, name)[place] = value
        return S

    return change


def _long(S: Any) -> Any:
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def _data(entry: float) -> Callable[[Any], Any]:
    def change(S: Any) -> Any:
        S.data[2] = entry
        return S

    return change


def _locked(S: Any) -> Any:
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    return S


_SHAPES = {
    "no rows": (lambda X: X[:0], REFUSED),
    "one row": (lambda X: X[:1], FINITE),
    "two rows": (lambda X: X[:2], FINITE),
    "no columns": (lambda X: X[:, :0], REFUSED),
    "one column": (lambda X: X[:, :1], FINITE),
    "wide": (lambda X: np.tile(X, 50), FINITE),
    "one dimension": (lambda X: X[:, 0], REFUSED),
    "three dimensions": (lambda X: X[:, :, None], REFUSED),
    "a number": (lambda X: 3.0, REFUSED),
    "nothing": (lambda X: None, REFUSED),
    "a word": (lambda X: "rows", REFUSED),
    "bytes": (lambda X: b"rows", REFUSED),
    "a dict": (lambda X: {"a": X[:, 0]}, REFUSED),
    "an empty list": (lambda X: [], REFUSED),
    "empty rows": (lambda X: [[] for _ in X], REFUSED),
    "ragged": (_ragged, REFUSED),
    "a set": (lambda X: set(X[:, 0]), REFUSED),
}
_EQUAL_TYPES = {
    "list": {"make": lambda X: X.tolist()},
    "tuples": {"make": lambda X: tuple(map(tuple, X))},
    "float32": _as(np.float32) | {"rtol": _SINGLE},
    "float16": _as(np.float16) | {"rtol": _SINGLE},
    "longdouble": _as(np.longdouble),
    "int8": _as(np.int8, _whole),
    "int64": _as(np.int64, _whole),
    "uint8": _as(np.uint8, _whole),
    "uint64": _as(np.uint64, _whole),
    "bool": _as(bool, lambda X: X > 0),
    "objects": _as(object),
    "decimals": {"make": lambda X: np.array([[Decimal(v) for v in row] for row in X.tolist()])},
    "Fortran order": {"make": np.asfortranarray},
    "not contiguous": {"make": _apart},
    "negative strides": {"make": lambda X: X[::-1, ::-1].copy()[::-1, ::-1]},
    "other byte order": {"make": lambda X: X.astype(X.dtype.newbyteorder())},
    "other byte order of float32": _as(np.dtype("f4").newbyteorder()) | {"rtol": _SINGLE},
    "read-only": {"make": _read_only},
    "memory map": {"make": _mapped},
    "subclass": {"make": lambda X: X.view(_Subclass)},
    "array-like": {"make": _Like},
    "broadcast": {
        "make": lambda X: np.broadcast_to(X[:, :1], X.shape),
        "clean": lambda X: np.broadcast_to(X[:, :1], X.shape).copy(),
    },
    "masked, nothing hidden": {"make": np.ma.MaskedArray},
    "frame": {"make": pd.DataFrame},
    "frame of Float64": {"make": lambda X: pd.DataFrame(X).astype("Float64")},
    "frame on Arrow": {"make": lambda X: pd.DataFrame(X).astype("float64[pyarrow]")},
    "frame of Int64": {
        "make": lambda X: pd.DataFrame(_whole(X)).astype("Int64"),
        "clean": _whole,
    },
    "frame of objects": {"make": lambda X: pd.DataFrame(X).astype(object)},
}
_BAD_TYPES = {
    "complex": lambda X: X + 0j,
    "text": lambda X: np.full(X.shape, "text"),
    "bytes of text": lambda X: np.full(X.shape, b"text"),
    "text among objects": _objects("text"),
    "None among objects": _objects(None),
    "NA among objects": _objects(pd.NA),
    "a list among objects": _objects([1.0, 2.0]),
    "a dict among objects": _objects({}),
    "complex among objects": _objects(1j),
    "a moment among objects": _objects(pd.Timestamp("2020-01-01")),
    "moments": lambda X: np.abs(1e6 * X).astype("datetime64[s]"),
    "spans": lambda X: np.abs(1e6 * X).astype("timedelta64[s]"),
    "records": lambda X: np.array([tuple(row) for row in X], dtype=[(n, "f8") for n in "abcd"]),
    "masked": lambda X: np.ma.MaskedArray(X, mask=X > 1.5),
    "matrix": np.matrix,
    "frame with moments": _column(pd.Timestamp("2020-01-01")),
    "frame with spans": _column(pd.Timedelta("1h")),
    "frame with text": _column("text"),
    "frame with NA": lambda X: pd.DataFrame(X).astype("Float64").mask(X > 1.5),
    "frame of categories": lambda X: pd.DataFrame(np.where(X > 0, "a", "b")).astype("category"),
}  # fmt: skip
_VALUES = {
    "NaN": (_with(np.nan), REFUSED),
    "infinity": (_with(np.inf), REFUSED),
    "minus infinity": (_with(-np.inf), REFUSED),
    "all NaN": (_with(np.nan, True), REFUSED),
    "1e300 once": (_with(1e300), FINITE),
    "1e9 once": (_with(1e9), FINITE),
    "largest float once": (_with(np.finfo(float).max), FINITE),
    "largest floats": (_alternating(np.finfo(float).max), FINITE),
    "±1e300": (_alternating(1e300), FINITE),
    "times 1e155": (_scaled(1e155), FINITE),
    "times 1e300": (_scaled(1e300), FINITE),
    "times 1e-160": (_scaled(1e-160), FINITE),
    "times 1e-300": (_scaled(1e-300), FINITE),
    "denormal": (_scaled(1e-310), FINITE),
    "one denormal column": (_scaled(1.0, 1e-310), FINITE),
    "columns of 1e30 and 1e-30": (_scaled(1e30, 1e-30), FINITE),
    "offset 1e6": (_scaled(1.0, offset=1e6), FINITE),
    "offset 1e15": (_scaled(1.0, offset=1e15), FINITE),
    "float32 of offset 1e6": (lambda X: (X + 1e6).astype(np.float32), FINITE),
    "float32 of 1e38": (lambda X: np.where(X > 0, 3e38, -3e38).astype(np.float32), FINITE),
    "float32 denormals": (lambda X: (1e-42 * X).astype(np.float32), FINITE),
    "all zero": (_with(0.0, True), FINITE),
    "all minus zero": (_with(-0.0, True), FINITE),
    "all the same": (_with(0.1, True), FINITE),
    "all rows the same": (lambda X: np.tile(X[:1], (len(X), 1)), FINITE),
    "rows twice": (lambda X: np.repeat(X[: len(X) // 2], 2, axis=0), FINITE),
    "rows of two kinds": (lambda X: X[np.arange(len(X)) % 2], FINITE),
    "columns the same": (lambda X: np.tile(X[:, :1], X.shape[1]), FINITE),
    "one row apart": (lambda X: np.vstack([X[:1] + 1e8, X[1:]]), FINITE),
    "integers beyond 2**53": (lambda X: (X * 2**60).astype(np.int64), FINITE),
    "integers beyond 2**63": (lambda X: np.where(X > 0, 2**64 - 1, 1).astype(np.uint64), FINITE),
}
_SPARSE_EQUAL = {
    "CSR": _csr(lambda S: S),
    "CSR matrix": lambda X: sp.csr_matrix(_thinned(X)),
    **{
        form.upper(): _csr(lambda S, form=form: S.asformat(form))
        for form in ("csc", "coo", "bsr", "dok", "lil", "dia")
    },
    "unsorted indices": _csr(_unsorted),
    "entries in two parts": _csr(_doubled),
    "COO in two parts": _csr(lambda S: _doubled(S).tocoo()),
    "long indices": _csr(_long),
    "locked parts": _csr(_locked),
    "longdouble entries": _csr(lambda S: S.astype(np.longdouble)),
}
_SPARSE_BAD = {
    "index past the end": _csr(_changed("indices", 1, 4)),
    "index far past the end": _csr(_changed("indices", 1, 10**6)),
    "negative index": _csr(_changed("indices", 1, -1)),
    "pointers that fall": _csr(_changed("indptr", 3, 0)),
    "pointers past the end": _csr(_changed("indptr", -1, 10**6)),
    "negative pointer": _csr(_changed("indptr", 0, -3)),
    "NaN entry": _csr(_data(np.nan)),
    "infinite entry": _csr(_data(np.inf)),
    "complex entries": _csr(lambda S: S.astype(complex)),
    "no rows": _csr(lambda S: S[:0]),
    "one dimension": lambda X: sp.coo_array(_thinned(X)[:, 0]),
}
_SPARSE_FINITE = {
    "no entries": lambda X: sp.csr_array(X.shape),
    "explicit zeros": _csr(_data(0.0)),
    "boolean entries": _csr(lambda S: S.astype(bool)),
    "entry of 1e300": _csr(_data(1e300)),
    "empty rows": lambda X: sp.csr_array(np.where(np.arange(len(X))[:, None] % 2, X, 0)),
}

ROWS: dict[str, HostileRows] = {
    **{f"shape: {name}": HostileRows("shapes", *how) for name, how in _SHAPES.items()},
    **{f"type: {n}": HostileRows("types", must=EQUAL, **how) for n, how in _EQUAL_TYPES.items()},
    **{f"type: {n}": HostileRows("types", make, REFUSED) for n, make in _BAD_TYPES.items()},
    **{f"value: {name}": HostileRows("values", *how) for name, how in _VALUES.items()},
    **{f"sparse: {n}": HostileRows("sparse", m, EQUAL, _thinned) for n, m in _SPARSE_EQUAL.items()},
    **{f"sparse: {n}": HostileRows("sparse", make, REFUSED) for n, make in _SPARSE_BAD.items()},
    **{f"sparse: {n}": HostileRows("sparse", make, FINITE) for n, make in _SPARSE_FINITE.items()},
}
