"""K as blocks, so that n × n is never in memory unless it is asked for.

What ``Hidden`` is to a hidden layer this is to a kernel: the training rows and a way to
make any part of K from them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    cast,
    contiguous,
    doubles,
    is_numpy,
    is_single,
    namespace,
    take,
    zeros,
)
from ulmus.hidden import Hidden, block_rows, row_blocks
from ulmus.kernels import Kernel
from ulmus.kernels.pairs import Shifted, some_rows
from ulmus.typing import Array, DType, Rows

__all__ = ["EvaluatedKernel", "GivenKernel", "HiddenKernel", "KernelMatrix"]

# A hundred thousand so small beside the diagonal move no digit of a solution. A factorisation
# multiplies them on until they are below the smallest normal number, and is twenty times as slow.
_LOST = 1e-20


class KernelMatrix(ABC):
    """K between n rows, n × n in principle."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def dtype(self) -> DType:
        """Precision of the entries."""

    @property
    @abstractmethod
    def array(self) -> Rows:
        """An array that lives where K does."""

    @abstractmethod
    def diagonal(self) -> Array:
        """k(xᵢ, xᵢ) in float64."""

    @abstractmethod
    def block(self, part: slice | np.ndarray, chosen: np.ndarray) -> Array:
        """K[part, chosen], in its own memory."""

    def among(self, chosen: np.ndarray) -> Array:
        """K[chosen, chosen] in float64."""
        return doubles(self.block(chosen, chosen))

    @abstractmethod
    def rows(self) -> Iterator[tuple[slice, Array]]:
        """K by blocks of rows; the array is reused."""

    @abstractmethod
    def take(self, chosen: np.ndarray) -> "KernelMatrix":
        """K of some of the rows."""

    @property
    def definite(self) -> bool:
        """Whether K has to be positive semi-definite."""
        return True

    def precise(self) -> "KernelMatrix":
        """K made in float64, where it is not and can be."""
        return self

    def all(self) -> Array:
        """The whole of K in float64; on the host without what is lost beside its diagonal."""
        n, host = len(self), is_numpy(self.array)
        K = np.empty((n, n), order="F") if host else zeros((n, n), self.array)
        # Beside the entry's own two: where rows differ much in length, small ones count too.
        lost = np.sqrt(_LOST * np.abs(self.diagonal())) if host else None
        for part, block in self.rows():
            if lost is not None:
                block = np.where(np.abs(block) < lost[part, None] * lost, 0.0, block)
            K[:, part] = doubles(block).T  # K is symmetric
        return K

    def times(self, V: Array) -> Array:
        """K V."""
        product = namespace(V).empty((len(self), V.shape[1]), dtype=V.dtype, device=V.device)
        for part, block in self.rows():
            matmul(cast(block, V.dtype), V, product[part, :])
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
        return self.X.dtype

    @property
    def definite(self) -> bool:
        return getattr(self.kernel, "definite", True)

    @property
    def array(self) -> Rows:
        return self.X.rows if isinstance(self.X, Shifted) else self.X

    def diagonal(self) -> Array:
        return doubles(self.kernel.diagonal(self.X))

    def block(self, part: slice | np.ndarray, chosen: np.ndarray) -> Array:
        return self.kernel(some_rows(self.X, part), some_rows(self.X, chosen))

    def rows(self) -> Iterator[tuple[slice, Array]]:
        host = is_numpy(self.array)
        buffer = np.empty((self._size, len(self)), self.dtype) if host else None
        for part in row_blocks(len(self), self._size):
            out = None if buffer is None else buffer[: part.stop - part.start]
            yield part, self.kernel(some_rows(self.X, part), self.X, out)

    def precise(self) -> "EvaluatedKernel":
        if not is_single(self.dtype):
            return self
        return EvaluatedKernel(self.kernel, cast(self.X, namespace(self.array).float64))

    def take(self, chosen: np.ndarray) -> "EvaluatedKernel":
        return EvaluatedKernel(self.kernel, some_rows(self.X, chosen))


@dataclass(frozen=True)
class GivenKernel(KernelMatrix):
    """A kernel matrix that is there already."""

    K: Array

    def __len__(self) -> int:
        return int(self.K.shape[0])

    @property
    def dtype(self) -> DType:
        return self.K.dtype

    @property
    def array(self) -> Rows:
        return self.K

    def diagonal(self) -> Array:
        return doubles(namespace(self.K).linalg.diagonal(self.K))

    def block(self, part: slice | np.ndarray, chosen: np.ndarray) -> Array:
        return contiguous(take(take(self.K, part), chosen, axis=1))

    def rows(self) -> Iterator[tuple[slice, Array]]:
        for part in row_blocks(len(self), self._size):
            yield part, take(self.K, part)

    def take(self, chosen: np.ndarray) -> "GivenKernel":
        return GivenKernel(take(take(self.K, chosen), chosen, axis=1))


@dataclass(frozen=True)
class HiddenKernel(KernelMatrix):
    """K = HHᵀ of a hidden layer."""

    H: Hidden

    def __len__(self) -> int:
        return len(self.H)

    @property
    def dtype(self) -> DType:
        return self.H.layer.dtype

    @property
    def array(self) -> Rows:
        return self.H.X

    def diagonal(self) -> Array:
        xp = namespace(self.H.X)
        parts = [xp.sum(doubles(h + self.H.offset) ** 2, axis=1) for _, h in self.H.blocks()]
        return xp.concat(parts)

    def block(self, part: slice | np.ndarray, chosen: np.ndarray) -> Array:
        these = self.H.layer(take(self.H.X, part)) + self.H.offset
        return matmul(these, self.H.take(chosen).all().T)

    def among(self, chosen: np.ndarray) -> Array:
        rows = doubles(self.H.take(chosen).all())
        return matmul(rows, rows.T)

    def rows(self) -> Iterator[tuple[slice, Array]]:
        for part in row_blocks(len(self), self._size):
            chosen = np.arange(part.start, part.stop)
            yield part, contiguous(self._against(self.H.take(chosen).all()).T)

    def take(self, chosen: np.ndarray) -> "HiddenKernel":
        return HiddenKernel(self.H.take(chosen))

    def times(self, V: Array) -> Array:
        """H(HᵀV): two passes over H, and nothing n × n even by blocks."""
        inner = zeros((self.H.width, V.shape[1]), V)
        for part, h in self.H.blocks():
            inner += matmul(doubles(h + self.H.offset).T, V[part, :])
        return self._against(inner.T)

    def _against(self, rows: Array) -> Array:
        """H rowsᵀ."""
        shape = (len(self), rows.shape[0])
        product = namespace(rows).empty(shape, dtype=rows.dtype, device=rows.device)
        for part, h in self.H.blocks():
            matmul(cast(h + self.H.offset, rows.dtype), rows.T, product[part, :])
        return product
