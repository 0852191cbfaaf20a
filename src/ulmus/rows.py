"""Rows as they come from a user: numbers that can be read, in arrays that are sound."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import assert_all_finite, check_array

from ulmus.archives import check_places
from ulmus.backends.namespace import is_away, is_sparse, place
from ulmus.exceptions import EntryTypeError, InvalidInputError
from ulmus.typing import Rows

__all__ = ["ROWS", "check_square", "plain_rows", "readable", "real", "sound"]

# What scikit-learn is to make of rows.
ROWS = {"accept_sparse": "csr", "dtype": "numeric"}
# Values whose squares, added over many columns, are finite: of float64, and of float32.
_FARTHEST = (1e150, 1e17)
# How NumPy and pandas begin when they find no number in a cell.
_NO_NUMBER = (
    "could not convert", "float() argument", "int() argument", "setting an array element",
    "no common dtype", "could not be promoted", "must be real number", "cannot interpret",
)  # fmt: skip


def plain_rows(X: Any) -> Rows:
    """X as an array or CSR matrix of finite numbers whose distances are finite too."""
    sound(X)
    with readable():
        X = real(check_array(X, input_name="X", **ROWS))
    size = float(abs(X).max())
    if size > _FARTHEST[X.dtype == np.float32]:
        raise InvalidInputError(
            f"X has values of {size:.1e}, so far apart that squared distances are not finite; "
            "scale its columns first."
        )
    return X


def sound(X: Any, name: str = "X") -> None:
    """Refuse masked entries, which NumPy would unmask, and sparse parts that do not fit.

    Arrays on a device are refused where scikit-learn would turn them into NumPy's, and cannot.
    """
    if is_away(X) and not get_config()["array_api_dispatch"]:
        raise InvalidInputError(
            f"{name} is {place(X)}. To work there, set SCIPY_ARRAY_API=1 before Python starts and "
            "call sklearn.set_config(array_api_dispatch=True); or give ulmus.to_numpy(X)."
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
    """Refuse what is no square matrix of finite real numbers."""
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
    """Say what to do where there is something else than numbers."""
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
    """X, or an error where its entries are moments or objects, which scikit-learn lets pass.

    Entries of sparse rows that share a place are added up, for squares of them would not be.
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
            f"{name} holds entries of the type {X.dtype}, which are no numbers; encode them first."
        )
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _reason(words: str) -> str:
    """What NumPy or pandas found, in other words where theirs are about themselves."""
    if "sequence" in words:
        return "some rows are longer than others, or an entry is a list"
    if "DType" in words:
        return "columns of dates or other types are among them"
    if "not '" in words:
        kind = words.rpartition("not '")[2].partition("'")[0]
        return f"an entry is of the type {kind}, and each argument must be no string but a number"
    return words.partition(". ")[0].rstrip(".")


def _check_sparse(X: Any) -> None:
    """The parts of a sparse matrix fit each other; products would trust them."""
    if X.format in ("csr", "csc"):
        check_places(X.format, (X.indices, X.indptr), len(X.data), X.shape)
    elif X.format == "bsr":
        height, width = X.blocksize
        shape = X.shape[0] // height, X.shape[1] // width
        check_places("csr", (X.indices, X.indptr), len(X.data), shape)
    elif X.ndim == 2 and X.format in ("coo", "dok", "lil"):
        X = X.tocoo(copy=False)
        check_places("coo", (X.row, X.col), len(X.data), X.shape)
