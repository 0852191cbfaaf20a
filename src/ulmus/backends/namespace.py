"""Which library owns an array, and how to bring it home."""

from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    is_array_api_strict_namespace,
    is_dask_array,
    is_numpy_namespace,
)
from array_api_compat import device as device_of
from array_api_compat import is_array_api_obj as is_array_or_class
from array_api_compat import is_cupy_array as is_cupy
from array_api_compat import is_torch_array as is_torch

from ulmus.backends.pages import is_mapped, mapped_rows
from ulmus.exceptions import InvalidInputError
from ulmus.typing import Array, DType, Rows

__all__ = [
    "all_finite",
    "beside",
    "cast",
    "contiguous",
    "doubles",
    "eps",
    "floating",
    "from_numpy",
    "gathered",
    "is_array_api_obj",
    "is_away",
    "is_cupy",
    "is_numpy",
    "is_single",
    "is_sparse",
    "is_streamed",
    "is_torch",
    "itemsize",
    "namespace",
    "numpy_dtype",
    "on_host",
    "place",
    "placed",
    "put_rows",
    "same_place",
    "smallest",
    "take",
    "to_numpy",
    "zeros",
]


def is_array_api_obj(x: Any) -> bool:
    """Whether x is an array of some library; a class of arrays, such as np.float16, is none."""
    return not isinstance(x, type) and bool(is_array_or_class(x))


def is_sparse(X: Rows) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_streamed(X: Rows) -> bool:
    """Whether X is rows of the host that are given out on a device (see ``streaming``)."""
    return hasattr(X, "host") and hasattr(X, "blocks")


def namespace(X: Rows) -> ModuleType:
    """The array-API namespace of X; NumPy for SciPy sparse rows."""
    return np if is_sparse(X) else array_namespace(X)


def is_numpy(X: Rows) -> bool:
    """Whether X lives in host memory as a NumPy array or SciPy matrix."""
    return is_sparse(X) or isinstance(X, np.ndarray) or is_numpy_namespace(namespace(X))


def floating(X: Rows, dtype: DType | None = None) -> DType:
    """The precision to compute in: ``dtype`` if given, else float32 for float32, else float64."""
    xp = namespace(X)
    if dtype is not None:
        return getattr(xp, np.dtype(dtype).name)
    return xp.float32 if X.dtype == xp.float32 else xp.float64


def to_numpy(x: Array) -> np.ndarray:
    """The same values in host memory."""
    if is_cupy(x):
        return np.asarray(x.get())
    if is_torch(x):
        return np.asarray(x.detach().cpu())
    xp = namespace(x)
    if is_array_api_strict_namespace(xp):
        x = x.to_device(xp.Device("CPU_DEVICE"))
    return np.asarray(x)


def from_numpy(x: np.ndarray, like: Rows, dtype: DType = None) -> Array:
    """``x`` as an array of the library and on the device of ``like``."""
    if is_numpy(like):
        return np.asarray(x, dtype=dtype)
    return namespace(like).asarray(np.ascontiguousarray(x), dtype=dtype, device=device_of(like))


def placed(x: Array, like: Rows) -> Array:
    """x where ``like`` lives; it is copied from the host, or to it, where it is elsewhere."""
    if is_numpy(like):
        return to_numpy(x)
    return from_numpy(x, like) if is_numpy(x) else x


def on_host(y: Any) -> Any:
    """y, or its values in host memory where it is an array elsewhere."""
    return to_numpy(y) if is_array_api_obj(y) and not is_numpy(y) else y


def beside(x: Array, like: Rows) -> Array:
    """x where ``like`` lives, or on the host where a device has no such type: words, objects."""
    return placed(x, like) if is_array_api_obj(x) and _is_number(x) else x


def _is_number(x: Array) -> bool:
    return not is_numpy(x) or x.dtype.kind in "fiub"


def zeros(shape: int | tuple[int, ...], like: Rows) -> Array:
    """Zeros in float64, where ``like`` lives."""
    if is_numpy(like):
        return np.zeros(shape)
    xp = namespace(like)
    return xp.zeros(shape, dtype=xp.float64, device=device_of(like))


def doubles(x: Array) -> Array:
    """x in float64."""
    xp = namespace(x)
    return xp.astype(x, xp.float64, copy=False)


def all_finite(x: Array) -> bool:
    """Whether no entry is infinite or NaN."""
    xp = namespace(x)
    # One sum is cheaper than a look at every entry, and finite unless one of them is not.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(xp.isfinite(xp.sum(x))) or bool(xp.all(xp.isfinite(x)))


def cast(x: Any, dtype: DType) -> Any:
    """Rows of any kind in another precision; x itself where it has that already."""
    if x.dtype == dtype:
        return x
    return x.astype(dtype) if hasattr(x, "astype") else namespace(x).astype(x, dtype)


def contiguous(x: Array) -> Array:
    """x with its rows one after the other in memory, where it is NumPy's."""
    return np.ascontiguousarray(x) if is_numpy(x) else x


def gathered(X: Rows) -> Rows:
    """X; where it is given out by blocks on a device, all of it there."""
    return X.whole() if is_streamed(X) else X


def take(x: Array, rows: Any, axis: int = 0) -> Array:
    """Rows of x, or its columns, by a slice or by their numbers."""
    if axis == 0 and is_mapped(x) and isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        return mapped_rows(x, rows)
    if is_numpy(x) or is_streamed(x):
        return x[rows] if axis == 0 else x[:, rows]
    if isinstance(rows, slice):
        return x[rows, ...] if axis == 0 else x[:, rows]
    return namespace(x).take(x, placed(rows, x), axis=axis)


def put_rows(x: Array, rows: np.ndarray, values: Array) -> None:
    """Write rows of x by their numbers; not every library takes them all at once."""
    if is_numpy(x) or is_torch(x) or is_cupy(x):
        x[placed(rows, x), ...] = values
        return
    for k, row in enumerate(rows.tolist()):
        x[row, ...] = values[k, ...]


def place(x: Array) -> str:
    """Whose array x is, and where, in words."""
    return f"{namespace(x).__name__.split('.')[-1]} on {device_of(x)}"


def is_away(x: Any) -> bool:
    """Whether x is an array that is not in host memory."""
    host = not is_array_api_obj(x) or is_numpy(x) or is_dask_array(x)
    return not host and "cpu" not in str(device_of(x)).lower()


def same_place(**arrays: Any) -> None:
    """Refuse arrays of two libraries or devices; what is on the host as NumPy may join any."""
    places = {
        name: place(x) for name, x in arrays.items() if is_array_api_obj(x) and not is_numpy(x)
    }
    if len(set(places.values())) > 1:
        stated = ", ".join(f"{name} is {where}" for name, where in places.items())
        raise InvalidInputError(f"Arrays are not in one place: {stated}. Move one to the other.")


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """A floating type as NumPy names it, whichever library it is from.

    NumPy's own types come as classes (``np.float32``), as dtypes of either byte order, and as
    strings; those of other libraries print their name behind that of the library.
    """
    if isinstance(dtype, str | type | np.dtype):
        return np.dtype(dtype)
    return np.dtype(str(dtype).rpartition(".")[2])


def is_single(dtype: DType) -> bool:
    """Whether a floating type is float32."""
    return numpy_dtype(dtype).itemsize == 4


def itemsize(dtype: DType) -> int:
    """Bytes of one number."""
    return int(numpy_dtype(dtype).itemsize)


def smallest(dtype: DType) -> float:
    """The smallest normal number of a precision."""
    return float(np.finfo(numpy_dtype(dtype)).tiny)


def eps(dtype: DType) -> float:
    """Relative spacing of a floating type."""
    return float(np.finfo(numpy_dtype(dtype)).eps)
