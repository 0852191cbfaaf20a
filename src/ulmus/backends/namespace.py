"""Which library owns an array, and how to bring it home."""

from types import ModuleType

import numpy as np
from array_api_compat import array_namespace, is_numpy_namespace
from array_api_compat import device as device_of

from ulmus.typing import Array, DType, Rows

__all__ = ["eps", "floating", "from_numpy", "is_numpy", "is_sparse", "namespace", "to_numpy"]


def is_sparse(X: Rows) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


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
    if hasattr(x, "get"):  # CuPy
        return np.asarray(x.get())
    return np.asarray(x.cpu() if hasattr(x, "cpu") else x)


def from_numpy(x: np.ndarray, like: Rows, dtype: DType) -> Array:
    """``x`` as an array of the library and on the device of ``like``."""
    if is_numpy(like):
        return np.asarray(x, dtype=dtype)
    return namespace(like).asarray(x, dtype=dtype, device=device_of(like))


def eps(dtype: DType) -> float:
    """Relative spacing of a floating type, whichever library names it."""
    return float(np.finfo(np.float32 if str(dtype).endswith("32") else np.float64).eps)
