"""Kernels that a caller gives: a function of rows, or the matrix itself."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from ulmus.backends.namespace import is_numpy, is_sparse, namespace, take
from ulmus.exceptions import ExportError, InvalidInputError, InvalidParameterError
from ulmus.kernels.definition import Kernel
from ulmus.kernels.pairs import into
from ulmus.typing import Array, Rows

__all__ = ["Pairwise", "Precomputed"]


def _is_function(value: Any) -> bool:
    return isinstance(value, np.ufunc | FunctionType)


@dataclass(frozen=True)
class Pairwise(Kernel):
    """Any function of two sets of rows that gives the block between them.

    Parameters
    ----------
    function : callable
        Of two arrays of rows; it gives one number for each pair.

    Examples
    --------
    >>> from sklearn.metrics.pairwise import cosine_similarity
    >>> from ulmus.kernels import Pairwise
    >>> Pairwise(cosine_similarity)(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])).round(3)
    array([[0.707]])
    """

    function: Callable[..., Any] = field(metadata={"sound": _is_function})

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        try:
            block = self.function(X, Z)
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"kernel={self._name} failed on {X.shape[0]} and {Z.shape[0]} rows, with "
                f"{type(error).__name__}: {error}"
            ) from error
        block = block.toarray() if is_sparse(block) else block
        if is_numpy(X):
            block = np.asarray(block)
        shape, found = (X.shape[0], Z.shape[0]), getattr(block, "shape", None)
        if found != shape:
            raise InvalidInputError(
                f"The kernel {self._name} gave an array of shape {found} for {shape[0]} and "
                f"{shape[1]} rows; it must give one number for each pair, {shape}."
            )
        xp = namespace(block)
        if not bool(xp.all(xp.isfinite(block))):
            raise InvalidInputError(f"The kernel {self._name} gave values that are not finite.")
        return into(out, block)

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        """Refused: a graph holds no Python."""
        raise ExportError(
            f"The kernel {self._name} is a Python function and cannot be written as ONNX; fit with "
            "a kernel that is given by name."
        )


@dataclass(frozen=True)
class Precomputed(Kernel, name="precomputed"):
    """Rows of a kernel matrix in place of rows; the other set is named by its columns.

    Examples
    --------
    >>> from ulmus.kernels import Precomputed
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> Precomputed()(K, np.array([1]))
    array([[1.],
           [3.]])
    """

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """X[:, Z]."""
        if is_sparse(X):
            raise InvalidInputError("A precomputed kernel must be dense; use X.toarray().")
        return into(out, take(X, Z, axis=1))

    def diagonal(self, X: Rows) -> Array:
        """The diagonal of the matrix between rows of one set."""
        return namespace(X).linalg.diagonal(X)

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        """Refused: the kernel is the caller's."""
        raise ExportError(
            "kernel='precomputed' cannot be written as ONNX, for the kernel is worked out by the "
            "caller; fit with a kernel that is given by name."
        )
