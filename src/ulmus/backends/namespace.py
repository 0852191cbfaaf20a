"""The library of an array, copies to and from the host, and what differs between libraries.

Optional packages are imported when they are needed, by `extra`.
"""

import mmap
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import array_api_compat as compat
import array_api_compat.numpy
import numpy as np
import scipy.sparse as sp
import scipy.special

from ulmus.exceptions import InvalidInputError, MissingExtraError
from ulmus.typing import Array, DType, Rows

# Rows of a memory map that are read before their pages are released; the system may read two
# megabytes for one row.
_TOGETHER = 16

is_torch, is_cupy, device_of = compat.is_torch_array, compat.is_cupy_array, compat.device


def extra(module: str, name: str, user: str) -> Any:
    """A module of an optional package, or an error with the command that installs it."""
    package = module.partition(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{user} needs {package}: pip install 'ulmus[{name}]', or in a clone "
            f"pip install --editable '.[{name}]'."
        ) from error


def is_array_api_obj(x: Any) -> bool:
    """Whether x is an array of some library; a class of arrays, such as np.float16, is none."""
    return not isinstance(x, type) and bool(compat.is_array_api_obj(x))


def is_sparse(X: Rows) -> bool:
    """Whether X is a SciPy sparse matrix or array; faster than SciPy's ``issparse``."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def check_places(
    form: str, places: Sequence[np.ndarray], entries: int, shape: tuple[int, int]
) -> None:
    """Refuse indices that are outside of a sparse matrix, or of its ``entries``.

    ``places`` are row and col of "coo", or indices and indptr of "csr" and "csc".
    """
    if form == "coo":
        if any(len(part) != entries for part in places):
            raise ValueError("a sparse matrix has parts that are not of one length")
        for part, n in zip(places, shape, strict=True):
            _check_within(part, n)
        return
    indices, indptr = places
    rows, columns = shape if form == "csr" else shape[::-1]
    # SciPy's own check accepts an indptr that ends with 0, and one whose differences overflow.
    if len(indptr) != rows + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("a sparse matrix has rows that do not follow each other")
    if not indptr[-1] <= len(indices) == entries:
        raise ValueError("a sparse matrix has parts that are not of one length")
    _check_within(indices, columns)


def _check_within(indices: np.ndarray, n: int) -> None:
    """Refuse indices below zero or not below n."""
    if len(indices) and (indices.min() < 0 or indices.max() >= n):
        raise ValueError("a sparse matrix has entries that lie outside of it")


def is_streamed(X: Rows) -> bool:
    """Whether X is rows on the host that are copied to a device by blocks (see ``streaming``)."""
    return hasattr(X, "host") and hasattr(X, "blocks")


def is_collection(X: Any) -> bool:
    """Whether X is a Dask collection, without importing Dask."""
    return type(X).__module__.partition(".")[0] == "dask"


def namespace(X: Rows) -> ModuleType:
    """The array-API namespace of X; NumPy for SciPy sparse rows."""
    if type(X) is np.ndarray:  # twenty times as fast as to ask, which every block does
        return compat.numpy
    return np if is_sparse(X) else compat.array_namespace(X)


def is_numpy(X: Rows) -> bool:
    """Whether X is a NumPy array or SciPy matrix."""
    return isinstance(X, np.ndarray) or is_sparse(X) or compat.is_numpy_namespace(namespace(X))


def floating(X: Rows, dtype: DType | None = None) -> DType:
    """The precision to compute in: ``dtype`` if given, else float32 for float32, else float64."""
    xp = namespace(X)
    if dtype is not None:
        return getattr(xp, np.dtype(dtype).name)
    return xp.float32 if X.dtype == xp.float32 else xp.float64


def to_numpy(x: Any) -> np.ndarray:
    """The same values in host memory."""
    if is_cupy(x):
        return np.asarray(x.get())
    if is_torch(x):
        return np.asarray(x.detach().cpu())
    xp = namespace(x)
    if compat.is_array_api_strict_namespace(xp):
        x = x.to_device(xp.Device("CPU_DEVICE"))
    return np.asarray(x)


def from_numpy(x: np.ndarray, like: Rows, dtype: DType = None) -> Array:
    """``x`` as an array of the library and on the device of ``like``."""
    if is_numpy(like):
        return np.asarray(x, dtype=dtype)
    return namespace(like).asarray(np.ascontiguousarray(x), dtype=dtype, device=device_of(like))


def placed(x: Array, like: Rows) -> Array:
    """x on the device of ``like``, copied to it or to the host if need be."""
    if is_numpy(like):
        return to_numpy(x)
    return from_numpy(x, like) if is_numpy(x) else x


def on_host(y: Any) -> Any:
    """y, copied to the host where it is an array on a device."""
    return to_numpy(y) if is_array_api_obj(y) and not is_numpy(y) else y


def beside(x: Array, like: Rows) -> Array:
    """x on the device of ``like``; strings and objects, which no device has, on the host."""
    number = is_array_api_obj(x) and (not is_numpy(x) or x.dtype.kind in "fiub")
    return placed(x, like) if number else x


def zeros(shape: int | tuple[int, ...], like: Rows) -> Array:
    """Zeros in float64, on the device of ``like``."""
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
    # One sum is cheaper than a test of every entry. It is finite only if all entries are.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(xp.isfinite(xp.sum(x))) or bool(xp.all(xp.isfinite(x)))


def cast(x: Any, dtype: DType) -> Any:
    """Rows of any kind in another precision; x itself where it has that already."""
    if x.dtype == dtype:
        return x
    return x.astype(dtype) if hasattr(x, "astype") else namespace(x).astype(x, dtype)


def contiguous(x: Array) -> Array:
    """x in row-major order, where it is a NumPy array."""
    return np.ascontiguousarray(x) if is_numpy(x) else x


def gathered(X: Rows) -> Rows:
    """X; where it is copied to a device by blocks, all of it on the device."""
    return X[slice(0, len(X))] if is_streamed(X) else X


def take(x: Rows, rows: Any, axis: int = 0) -> Rows:
    """Rows of x, or its columns, by a slice or by their numbers."""
    if axis == 0 and is_mapped(x) and isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        return mapped_rows(x, rows)
    if is_numpy(x) or is_streamed(x):
        return x[rows] if axis == 0 else x[:, rows]
    if isinstance(rows, slice):
        return x[rows, ...] if axis == 0 else x[:, rows]
    return namespace(x).take(x, placed(rows, x), axis=axis)


def row_entries(x: Array, columns: Array) -> Array:
    """Entries of every row of x, by the column numbers in the same row of ``columns``."""
    xp, (n, width) = namespace(x), x.shape
    first = xp.arange(0, n * width, width, dtype=columns.dtype, device=device_of(x))
    places = xp.reshape(columns + first[:, None], (-1,))
    return xp.reshape(xp.take(xp.reshape(x, (-1,)), places), columns.shape)


def smallest_columns(x: Array, count: int) -> Array:
    """The columns of each row's smallest entries, in any order."""
    if is_torch(x):
        return x.topk(count, dim=1, largest=False, sorted=False).indices
    if is_numpy(x) or is_cupy(x):
        return namespace(x).argpartition(x, count - 1, axis=1)[:, :count]
    return namespace(x).argsort(x, axis=1)[:, :count]


def put_rows(x: Array, rows: np.ndarray, values: Array) -> None:
    """Write rows of x by their numbers, one by one where the library cannot index by arrays."""
    if is_numpy(x) or is_torch(x) or is_cupy(x):
        x[placed(rows, x), ...] = values
        return
    for k, row in enumerate(rows.tolist()):
        x[row, ...] = values[k, ...]


def place(x: Array) -> str:
    """The library and the device of x, in words."""
    return f"{namespace(x).__name__.split('.')[-1]} on {device_of(x)}"


def is_away(x: Any) -> bool:
    """Whether x is an array that is not in host memory."""
    host = not is_array_api_obj(x) or is_numpy(x) or compat.is_dask_array(x)
    return not host and "cpu" not in str(device_of(x)).lower()


def same_place(**arrays: Any) -> None:
    """Refuse arrays of two libraries or devices; NumPy arrays may be used with any."""
    places = {
        name: place(x) for name, x in arrays.items() if is_array_api_obj(x) and not is_numpy(x)
    }
    if len(set(places.values())) > 1:
        stated = ", ".join(f"{name} is {where}" for name, where in places.items())
        raise InvalidInputError(f"Arrays are not in one place: {stated}. Move one to the other.")


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """A floating type as NumPy names it; other libraries print their own name before it."""
    if isinstance(dtype, str | type | np.dtype):
        return np.dtype(dtype)
    return np.dtype(str(dtype).rpartition(".")[2])


def itemsize(dtype: DType) -> int:
    """Bytes of one number."""
    return int(numpy_dtype(dtype).itemsize)


def is_single(dtype: DType) -> bool:
    """Whether a floating type is float32."""
    return itemsize(dtype) == 4


def eps(dtype: DType) -> float:
    """Relative spacing of a floating type."""
    return float(np.finfo(numpy_dtype(dtype)).eps)


def decay(Z: Array) -> Array:
    """exp(Z), in place where the library can; values below √(smallest normal number) become zero.

    Arithmetic with subnormal numbers is many times slower. The limit is not higher, because small
    values decide the class of a row that is far from all others: on USPS the accuracy is 92 %, and
    46 % with a limit at the square of the rounding (``python -m benchmarks kernel_readings``).
    """
    xp = namespace(Z)
    least = 0.5 * float(np.log(np.finfo(numpy_dtype(Z.dtype)).tiny))
    if 0 not in Z.shape and float(xp.min(Z)) < least:
        vanishing = least > Z
        if isinstance(Z, np.ndarray):
            Z[vanishing] = -np.inf
        else:
            Z = xp.where(vanishing, xp.asarray(-xp.inf, dtype=Z.dtype, device=Z.device), Z)
    return elementwise("exp", Z)


def ratio(a: Array, b: Array) -> Array:
    """a/b, and zero where b is not positive."""
    if is_numpy(b):  # in a third of the time, for small arrays
        shape, dtype = np.broadcast_shapes(np.shape(a), b.shape), np.result_type(a, b)
        return np.divide(a, b, out=np.zeros(shape, dtype), where=b > 0)
    xp = namespace(a)
    return xp.where(b > 0, a, 0.0 * a) / xp.where(b > 0, b, 0.0 * b + 1.0)


def clipped(Z: Array, least: float | None = None, most: float | None = None) -> Array:
    """Z between two bounds, in place where the library can."""
    if is_numpy(Z):
        return np.clip(Z, least, most, out=Z)
    return namespace(Z).clip(Z, min=least, max=most)


def elementwise(function: str, Z: Array) -> Array:
    """``function`` of the array standard applied to Z, in place where the library can."""
    xp = namespace(Z)
    f: Any = getattr(scipy.special if is_numpy(Z) and function == "erf" else xp, function)
    if xp.__name__.endswith("array_api_strict"):
        return f(Z)
    return f(Z, out=Z)


def row_bytes(X: Rows) -> list[bytes]:
    """The bytes of each row on the host in float64, equal for equal rows: minus zero is zero."""
    if not is_sparse(X):
        return [row.tobytes() for row in np.ascontiguousarray(X, dtype=float) + 0.0]
    X = sp.csr_array(X, dtype=float, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].tobytes() for a, b in ends]


def is_mapped(X: Rows) -> bool:
    """Whether X is a view of a shared memory map, and not of one that is copied on write."""
    return _map_of(X) is not None


def forget_pages(X: Rows) -> None:
    """Release the pages of X, if it is a view of a memory map.

    Pages that were read count as the process's memory, so a fit that reads a large file would seem
    to need all of it. Released pages stay in the system's cache of the file.
    """
    mapped = _map_of(X)
    if mapped is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = np.frombuffer(mapped, np.uint8).ctypes.data
    first, last = (int(end) - start for end in np.lib.array_utils.byte_bounds(X))
    first -= first % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


def mapped_rows(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A copy of some rows of a memory map, by their numbers."""
    found = np.empty((len(rows), *X.shape[1:]), X.dtype)
    for start in range(0, len(rows), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        found[part] = X[rows[part]]
        forget_pages(X)
    return found


def _map_of(X: Rows) -> Any:
    """The map that X is a view of, or None."""
    if not isinstance(X, np.ndarray):
        return None
    while isinstance(X.base, np.ndarray):
        X = X.base
    # Pages that were copied on write (mode "c") exist in memory only.
    shared = getattr(X, "mode", "c") != "c"
    return X.base if shared and isinstance(X.base, mmap.mmap) else None
