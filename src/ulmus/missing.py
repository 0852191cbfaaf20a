"""Which targets are missing: one rule for arrays, frames, files and streams.

Missing are None, NaN, NaT, the NA of pandas, the nulls of Arrow and Polars, and masked entries.
Text is never missing, whatever it says. Where a fit is semi-supervised, −1 marks a row without a
class too: `ulmus.targets.known_labels` adds that.
"""

from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from ulmus.exceptions import InvalidInputError

__all__ = ["complete", "missing", "narrowed", "plain"]

# By name: pandas need not be installed for its NA to be known.
_NOTHING = {"NoneType", "NAType", "NaTType", "MaskedConstant"}
# Rows that an error names; the others it counts.
_NAMED = 5


def plain(y: Any) -> np.ndarray:
    """y as a NumPy array that says which entries are missing: by NaN or NaT, else by None.

    Examples
    --------
    >>> plain(["a", float("nan")]).tolist()
    ['a', None]
    """
    if hasattr(y, "tocsr"):
        raise InvalidInputError("y is sparse; give it as an array, y.toarray().")
    try:
        y = _objects(y) if _has_gaps(y) else np.asarray(y)
    except ValueError as error:
        raise InvalidInputError(
            "y has rows of several lengths; give one value, or as many, for each row of X."
        ) from error
    if y.dtype != object:
        return y
    y = y.copy()
    y[missing(y)] = None
    return y


def missing(y: np.ndarray) -> np.ndarray:
    """Which entries of an array are missing.

    Examples
    --------
    >>> missing(np.array([1.0, np.nan])).tolist()
    [False, True]
    """
    if y.dtype.kind in "fc":
        return np.isnan(y)
    if y.dtype.kind in "mM":
        return np.isnat(y)
    if y.dtype.kind != "O":
        return np.zeros(y.shape, dtype=bool)
    return np.array([_is_nothing(entry) for entry in y.ravel()], dtype=bool).reshape(y.shape)


def narrowed(labels: np.ndarray) -> np.ndarray:
    """Labels of which none is missing, as integers, booleans or floats where all of them are.

    Examples
    --------
    >>> narrowed(np.array([2, 1], dtype=object)).dtype.kind
    'i'
    """
    if labels.dtype != object:
        return labels
    entries = labels.ravel().tolist()
    flags = sum(isinstance(entry, bool | np.bool_) for entry in entries)
    alike = flags == len(entries) if flags else all(isinstance(entry, Real) for entry in entries)
    return np.array(labels.tolist()) if alike and entries else labels


def complete(y: Any, instead: str) -> np.ndarray | None:
    """y as a plain array, or an error that says how many targets are missing, and where.

    ``instead`` is what else could be done than to drop the rows.
    """
    if y is None:
        return None
    y = plain(y)
    gaps = missing(y)
    if gaps.any():
        raise InvalidInputError(f"y has {_counted(gaps)}; drop these rows, or {instead}.")
    return narrowed(y)


def _has_gaps(y: Any) -> bool:
    """Whether ``np.asarray`` would change the entries around a gap, or make text of the gap."""
    if isinstance(y, np.ma.MaskedArray):
        return bool(np.ma.getmaskarray(y).any())
    if isinstance(y, list | tuple):
        return any(_is_nothing(entry) for entry in y)
    if hasattr(y, "null_count"):
        counts = y.null_count() if callable(y.null_count) else y.null_count
        return bool(np.sum(np.asarray(counts)))
    if isinstance(y, np.ndarray) or not hasattr(y, "isna"):
        return False
    return not isinstance(getattr(y, "dtype", None), np.dtype) and bool(np.any(y.isna()))


def _objects(y: Any) -> np.ndarray:
    """y with every entry as it is."""
    if isinstance(y, np.ma.MaskedArray):
        entries = np.asarray(y.data).astype(object)
        entries[np.ma.getmaskarray(y)] = None
        return entries
    if hasattr(y, "isna"):
        return np.asarray(y.astype(object), dtype=object)
    for name in ("rows", "to_pylist", "to_list"):
        if hasattr(y, name):
            y = getattr(y, name)()
            break
    return np.array(y, dtype=object)


def _is_nothing(entry: Any) -> bool:
    if type(entry).__name__ in _NOTHING:
        return True
    if isinstance(entry, Integral):
        return False
    moment = np.datetime64 | np.timedelta64
    return isinstance(entry, Real | Decimal | moment) and bool(entry != entry)


def _counted(gaps: np.ndarray) -> str:
    """How many entries are missing, and in which rows."""
    rows = np.flatnonzero(gaps if gaps.ndim == 1 else gaps.any(axis=tuple(range(1, gaps.ndim))))
    count = int(np.count_nonzero(gaps))
    named = ", ".join(map(str, rows[:_NAMED]))
    more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
    values, where = ("value", "row") if count == 1 else ("values", "rows")
    return f"{count:,} missing {values}, in {where} {named}{more} (counted from 0)"
