"""K as blocks, so that n × n is never in memory unless it is asked for.

What ``Hidden`` is to a hidden layer this is to a kernel: the training rows and a way to
make any part of K from them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import is_numpy
from ulmus.hidden import Hidden, block_rows, row_blocks
from ulmus.kernels import Kernel, Shifted
from ulmus.typing import Array, DType, Rows

__all__ = ["EvaluatedKernel", "GivenKernel", "HiddenKernel", "KernelMatrix"]


class KernelMatrix(ABC):
    """K between n rows, n × n in principle."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def dtype(self) -> DType:
        """Precision of the entries."""

    @abstractmethod
    def diagonal(self) -> Array:
        """k(xᵢ, xᵢ) in float64."""

    @abstractmethod
    def block(self, part: slice, chosen: np.ndarray) -> Array:
        """K[part, chosen], in its own memory."""

    @abstractmethod
    def among(self, chosen: np.ndarray) -> Array:
        """K[chosen, chosen] in float64."""

    @abstractmethod
    def rows(self) -> Iterator[tuple[slice, Array]]:
        """K by blocks of rows; the array is reused."""

    @abstractmethod
    def take(self, chosen: np.ndarray) -> "KernelMatrix":
        """K of some of the rows."""

    def precise(self) -> "KernelMatrix":
        """K made in float64, where it is not and can be."""
        return self

    def all(self) -> Array:
        """The whole of K in float64."""
        K = np.empty((len(self), len(self)), order="F")
        for part, block in self.rows():
            K[:, part] = block.T  # K is symmetric
        return K

    def times(self, V: Array) -> Array:
        """K V."""
        product = np.empty((len(self), V.shape[1]), V.dtype)
        for part, block in self.rows():
            matmul(block.astype(V.dtype, copy=False), V, product[part])
        return product

    @property
    def _size(self) -> int:
        return min(len(self), block_rows(len(self), 8))


@dataclass(frozen=True)
class EvaluatedKernel(KernelMatrix):
    """A kernel between the rows X."""

    kernel: Kernel
    X: Rows

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def dtype(self) -> DType:
        """Precision of the entries."""
        return self.X.dtype

    def diagonal(self) -> Array:
        """k(xᵢ, xᵢ) in float64."""
        return np.asarray(self.kernel.diagonal(self.X), dtype=float)

    def block(self, part: slice, chosen: np.ndarray) -> Array:
        """K[part, chosen]."""
        return self.kernel(self.X[part], self.X[chosen])

    def among(self, chosen: np.ndarray) -> Array:
        """K[chosen, chosen] in float64."""
        Z = self.X[chosen]
        return np.asarray(self.kernel(Z, Z), dtype=float)

    def rows(self) -> Iterator[tuple[slice, Array]]:
        """K by blocks of rows."""
        host = isinstance(self.X, Shifted) or is_numpy(self.X)
        buffer = np.empty((self._size, len(self)), self.dtype) if host else None
        for part in row_blocks(len(self), self._size):
            out = None if buffer is None else buffer[: part.stop - part.start]
            yield part, self.kernel(self.X[part], self.X, out)

    def precise(self) -> "EvaluatedKernel":
        """The kernel of the same rows in float64."""
        if not str(self.dtype).endswith("32"):
            return self
        return EvaluatedKernel(self.kernel, self.X.astype(float))

    def take(self, chosen: np.ndarray) -> "EvaluatedKernel":
        """The kernel between some of the rows."""
        return EvaluatedKernel(self.kernel, self.X[chosen])


@dataclass(frozen=True)
class GivenKernel(KernelMatrix):
    """A kernel matrix that is there already."""

    K: Array

    def __len__(self) -> int:
        return len(self.K)

    @property
    def dtype(self) -> DType:
        """Precision of the entries."""
        return self.K.dtype

    def diagonal(self) -> Array:
        """k(xᵢ, xᵢ) in float64."""
        return np.diagonal(self.K).astype(float)

    def block(self, part: slice, chosen: np.ndarray) -> Array:
        """K[part, chosen]."""
        return np.ascontiguousarray(self.K[part][:, chosen])

    def among(self, chosen: np.ndarray) -> Array:
        """K[chosen, chosen] in float64."""
        return self.K[np.ix_(chosen, chosen)].astype(float)

    def rows(self) -> Iterator[tuple[slice, Array]]:
        """K by blocks of rows."""
        for part in row_blocks(len(self), self._size):
            yield part, self.K[part]

    def take(self, chosen: np.ndarray) -> "GivenKernel":
        """The part between some of the rows."""
        return GivenKernel(self.K[np.ix_(chosen, chosen)])


@dataclass(frozen=True)
class HiddenKernel(KernelMatrix):
    """K = HHᵀ of a hidden layer."""

    H: Hidden

    def __len__(self) -> int:
        return len(self.H)

    @property
    def dtype(self) -> DType:
        """Precision of the entries."""
        return self.H.layer.dtype

    def diagonal(self) -> Array:
        """‖h‖² of every row, in float64."""
        parts = [np.sum((h + self.H.offset).astype(float) ** 2, axis=1) for _, h in self.H.blocks()]
        return np.concatenate(parts)

    def block(self, part: slice, chosen: np.ndarray) -> Array:
        """K[part, chosen]."""
        these = self.H.layer(self.H.X[part]) + self.H.offset
        return matmul(these, self.H.take(chosen).all().T)

    def among(self, chosen: np.ndarray) -> Array:
        """K[chosen, chosen] in float64."""
        rows = self.H.take(chosen).all().astype(float)
        return matmul(rows, rows.T)

    def rows(self) -> Iterator[tuple[slice, Array]]:
        """K by blocks of rows."""
        for part in row_blocks(len(self), self._size):
            chosen = np.arange(part.start, part.stop)
            yield part, np.ascontiguousarray(self._against(self.H.take(chosen).all()).T)

    def take(self, chosen: np.ndarray) -> "HiddenKernel":
        """The same between some of the rows."""
        return HiddenKernel(self.H.take(chosen))

    def times(self, V: Array) -> Array:
        """H(HᵀV): two passes over H, and nothing n × n even by blocks."""
        inner = np.zeros((self.H.width, V.shape[1]))
        for part, h in self.H.blocks():
            inner += matmul((h + self.H.offset).T.astype(float), V[part])
        return self._against(inner.T)

    def _against(self, rows: Array) -> Array:
        """H rowsᵀ."""
        product = np.empty((len(self), len(rows)), rows.dtype)
        for part, h in self.H.blocks():
            matmul((h + self.H.offset).astype(rows.dtype, copy=False), rows.T, product[part])
        return product
