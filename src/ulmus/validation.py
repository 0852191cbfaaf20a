"""Checks of rows and targets, and which targets are missing.

Targets are missing by one rule, for arrays, frames, files and streams: None, NaN, NaT, the NA of
pandas, the nulls of Arrow and Polars, and masked entries. Text is never missing. For a
semi-supervised fit −1 marks a row without a class too: `ulmus.targets.known_labels` adds that.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import is_dask_array
from sklearn import get_config
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import _check_n_features, check_consistent_length, validate_data

from ulmus.arguments import counted
from ulmus.backends.namespace import (
    check_places,
    forget_pages,
    is_array_api_obj,
    is_away,
    is_collection,
    is_mapped,
    is_numpy,
    is_single,
    is_sparse,
    is_streamed,
    namespace,
    place,
)
from ulmus.exceptions import EntryTypeError, InvalidInputError
from ulmus.fitted import Mark, marked
from ulmus.typing import Rows

# Rules of scikit-learn's check of rows.
_ROWS = {"accept_sparse": "csr", "dtype": "numeric"}
# Bytes of a memory map that are checked together.
_STEP = 32 * 2**20
# Largest values whose squares, summed over many columns, are finite: of float64, and of float32.
_FARTHEST = (1e150, 1e17)
# Parts of the messages of NumPy and pandas about cells that are not numbers.
_NO_NUMBER = (
    "could not convert", "float() argument", "int() argument", "setting an array element",
    "no common dtype", "could not be promoted", "must be real number", "cannot interpret",
)  # fmt: skip
# Types of missing values by name, so that pandas need not be installed.
_NOTHING = {"NoneType", "NAType", "NaTType", "MaskedConstant"}
_NUMBERS = (Real, Decimal, np.datetime64, np.timedelta64)
# Most rows that an error lists.
_NAMED = 5


def valid_rows(estimator: Any, X: Rows, reset: bool, **rules: Any) -> Rows:
    """X by scikit-learn's rules; rows for a device are checked when they are copied there."""
    if is_streamed(X):
        _check_n_features(estimator, X, reset=reset)
        return X
    return _valid(estimator, X, "no_validation", reset=reset, **rules)[0]


def valid_rows_and_target(
    estimator: Any, X: Rows, y: Any, reset: bool, **target: Any
) -> tuple[Rows, np.ndarray]:
    """X and y by scikit-learn's rules; ``target`` are its rules for y."""
    if not is_streamed(X):
        return _valid(estimator, X, y, reset=reset, **target)
    check_consistent_length(X.host, y)
    # Rows of zeros take the place of X, whose own rows are checked on the device.
    stand_in = np.broadcast_to(np.zeros(1), (len(X), 1))
    _, y = validate_data(type(estimator)(), stand_in, y, **target)
    return valid_rows(estimator, X, reset), y


def _valid(estimator: Any, X: Rows, y: Any, **rules: Any) -> tuple[Rows, Any]:
    """X and y; a memory map is checked in parts, so that it is never all in memory."""
    if is_collection(X):  # scikit-learn would bring it together without a word
        raise InvalidInputError(
            f"{type(estimator).__name__} does not take Dask collections here; if the rows fit in "
            "memory, give it X.compute() and y.compute()."
        )
    sound(X)
    rules |= _ROWS | ({"ensure_all_finite": False} if is_mapped(X) else {})
    with readable():
        found = validate_data(estimator, X, y, **rules)
    X, y = found if isinstance(found, tuple) else (found, y)
    X = real(X)
    step = max(1, _STEP // max(1, X[:1].nbytes)) if is_mapped(X) else 0
    for start in range(0, len(X), step) if step else ():
        block = X[start : start + step]
        assert_all_finite(block, input_name="X")
        forget_pages(block)
    return X, y


def on_host_alone(estimator: Any, X: Rows) -> None:
    """Refuse rows on a device, for an estimator that works on the host only.

    Without scikit-learn's ``array_api_dispatch`` every array is converted to NumPy.
    """
    if is_array_api_obj(X) and not is_numpy(X) and get_config()["array_api_dispatch"]:
        raise InvalidInputError(
            f"{type(estimator).__name__} works in host memory alone, and X is {place(X)}; give it "
            "ulmus.to_host(X)."
        )


def check_place(estimator: Any, method: str, X: Rows) -> None:
    """Refuse rows that are not on the device of the fitted arrays.

    This is scikit-learn's rule where it dispatches arrays: otherwise weights would be copied to
    the rows' device at every call.
    """
    if not get_config()["array_api_dispatch"]:
        return
    names = marked(type(estimator), Mark.DEVICE)
    fitted = next((x for n in names if is_array_api_obj(x := getattr(estimator, n, None))), None)
    if fitted is not None and _home(X) != _home(fitted):
        raise InvalidInputError(
            f"Arrays are not in one place: X is {_home(X)}, the model {_home(fitted)}. Inputs of "
            f"{type(estimator).__name__}.{method}() must use the same namespace and device as "
            "those of fit(); move the model with ulmus.to_device or ulmus.to_host, or move X."
        )


def _home(x: Any) -> str:
    """The library and device of x; NumPy on the CPU for what is not an array of another library."""
    away = (is_array_api_obj(x) or is_streamed(x)) and not is_numpy(x) and not is_dask_array(x)
    return place(x) if away else "numpy on cpu"


def plain_rows(X: Any) -> Rows:
    """X as an array or CSR matrix of finite numbers whose distances are finite too."""
    sound(X)
    with readable():
        X = real(check_array(X, input_name="X", **_ROWS))
    size = float(abs(X).max() if is_sparse(X) else namespace(X).max(abs(X)))
    if size > _FARTHEST[is_single(X.dtype)]:
        raise InvalidInputError(
            f"X has values of {size:.1e}, so far apart that squared distances are not finite; "
            "scale its columns first."
        )
    return X


def sound(X: Any, name: str = "X") -> None:
    """Refuse masked entries, which NumPy would unmask, and inconsistent sparse matrices.

    Arrays on a device are refused without ``array_api_dispatch``, because scikit-learn cannot
    convert them to NumPy.
    """
    if is_away(X) and not get_config()["array_api_dispatch"]:
        raise InvalidInputError(
            f"{name} is {place(X)}. To work there, set SCIPY_ARRAY_API=1 before Python starts and "
            "call sklearn.set_config(array_api_dispatch=True); or give ulmus.to_host(X)."
        )
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise InvalidInputError(
            f"{name} has {np.ma.getmaskarray(X).sum():,} masked entries, which are missing values; "
            "fill them in first, by SimpleImputer for instance."
        )
    if is_sparse(X):
        try:
            _check_sparse(X)
        except ValueError as error:
            raise InvalidInputError(
                f"{name} cannot be used: {error}. Build it again from its entries, rows and "
                "columns, or call its check_format(full_check=True) to see what is wrong."
            ) from error


def check_square(W: Any, name: str) -> None:
    """Refuse anything but a square matrix of finite real numbers."""
    sound(W, name)
    if not (is_sparse(W) or isinstance(W, np.ndarray)) or W.ndim != 2 or W.dtype.kind not in "biuf":
        raise InvalidInputError(f"{name} must be a matrix of real numbers, sparse or an array.")
    if W.shape[0] != W.shape[1]:
        raise InvalidInputError(f"{name} has shape {W.shape}; it must be square.")
    data = W if isinstance(W, np.ndarray) else W.tocoo(copy=False).data
    if not np.isfinite(data).all():
        raise InvalidInputError(f"{name} has weights that are not finite; leave such edges out.")


@contextmanager
def readable(name: str = "X") -> Iterator[None]:
    """Errors about entries that are not numbers, with advice."""
    try:
        # scikit-learn looks for infinities in a sum, which may overflow both ways.
        with np.errstate(invalid="ignore"):
            yield
    except (TypeError, ValueError) as error:
        if not any(words in str(error).lower() for words in _NO_NUMBER):
            raise
        kind = EntryTypeError if isinstance(error, TypeError) else InvalidInputError
        raise kind(
            f"{name} must hold numbers alone: {_reason(str(error))}. Encode text, dates and nested "
            "values as numbers first; ulmus.tables.TableEncoder does so for a table."
        ) from error


def real(X: Rows, name: str = "X") -> Rows:
    """X; refuses dates and objects, which scikit-learn accepts.

    Duplicate entries of sparse rows are summed, because squares of the parts would be wrong.
    """
    kind = getattr(X.dtype, "kind", "f")
    if kind == "O":  # scikit-learn leaves lists of objects as they are
        with readable(name):
            X = X.astype(float)
        assert_all_finite(X, input_name=name)
        return X
    if kind in "mM":
        raise InvalidInputError(
            f"{name} holds dates or times ({X.dtype}); make them numbers first, for instance "
            "days: (X - X.min()) / np.timedelta64(1, 'D')."
        )
    if kind not in "biufc":
        raise InvalidInputError(
            f"{name} holds entries of the type {X.dtype}, which are not numbers; encode them first."
        )
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _reason(words: str) -> str:
    """The reason of an error of NumPy or pandas, in words that do not need their terms."""
    if "sequence" in words:
        return "some rows are longer than others, or an entry is a list"
    if "DType" in words:
        return "columns of dates or other types are among them"
    if "not '" in words:
        kind = words.rpartition("not '")[2].partition("'")[0]
        return f"an entry is of the type {kind}, and each argument must be no string but a number"
    return words.partition(". ")[0].rstrip(".")


def _check_sparse(X: Any) -> None:
    """Check that the parts of a sparse matrix are consistent; products do not."""
    if X.format in ("csr", "csc"):
        check_places(X.format, (X.indices, X.indptr), len(X.data), X.shape)
    elif X.format == "bsr":
        height, width = X.blocksize
        shape = X.shape[0] // height, X.shape[1] // width
        check_places("csr", (X.indices, X.indptr), len(X.data), shape)
    elif X.ndim == 2 and X.format in ("coo", "dok", "lil"):
        X = X.tocoo(copy=False)
        check_places("coo", (X.row, X.col), len(X.data), X.shape)


def plain(y: Any) -> np.ndarray:
    """y as a NumPy array in which missing entries are NaN or NaT, or None among objects."""
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
    """Which entries of an array are missing."""
    if y.dtype != object:
        return np.asarray(y != y)  # NaN and NaT alone differ from themselves
    return np.array([_is_nothing(entry) for entry in y.ravel()], dtype=bool).reshape(y.shape)


def narrowed(labels: np.ndarray) -> np.ndarray:
    """Labels without missing ones, as integers, booleans or floats where all of them are."""
    if labels.dtype != object:
        return labels
    entries = labels.ravel().tolist()
    flags = sum(isinstance(entry, bool | np.bool_) for entry in entries)
    alike = flags == len(entries) if flags else all(isinstance(entry, Real) for entry in entries)
    return np.array(labels.tolist()) if alike and entries else labels


def complete(y: Any, instead: str) -> np.ndarray | None:
    """y as a plain array; refuses missing targets. ``instead`` is the advice in the message."""
    if y is None:
        return None
    y = plain(y)
    gaps = missing(y)
    if gaps.any():
        raise InvalidInputError(f"y has {_counted(gaps)}; drop these rows, or {instead}.")
    return narrowed(y)


def _has_gaps(y: Any) -> bool:
    """Whether missing entries would be lost, or change other entries, in ``np.asarray``."""
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
    """y as an array of objects."""
    if isinstance(y, np.ma.MaskedArray):
        entries = np.asarray(y.data).astype(object)
        entries[np.ma.getmaskarray(y)] = None
        return entries
    if hasattr(y, "isna"):
        return np.asarray(y.astype(object), dtype=object)
    for name in ("rows", "to_pylist", "to_list"):
        y = getattr(y, name)() if hasattr(y, name) else y
    return np.array(y, dtype=object)


def _is_nothing(entry: Any) -> bool:
    if type(entry).__name__ in _NOTHING:
        return True
    return isinstance(entry, _NUMBERS) and bool(entry != entry)


def _counted(gaps: np.ndarray) -> str:
    """How many entries are missing, and in which rows."""
    rows = np.flatnonzero(gaps if gaps.ndim == 1 else gaps.any(axis=tuple(range(1, gaps.ndim))))
    count = int(np.count_nonzero(gaps))
    named = ", ".join(map(str, rows[:_NAMED]))
    more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
    values, where = counted(count, "missing value"), "row" if count == 1 else "rows"
    return f"{values}, in {where} {named}{more} (counted from 0)"
