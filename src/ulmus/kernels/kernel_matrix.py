"""K in blocks, so that n × n is in memory only on request, and the choice of its approximation.

A ``KernelMatrix`` has the training rows and computes any part of K from them, as ``Hidden`` does
for a hidden layer.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ulmus.arguments import check_known, check_rank
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
from ulmus.exceptions import InvalidParameterError
from ulmus.hidden import Hidden, block_rows, row_blocks
from ulmus.kernels import KERNELS, Kernel, Precomputed
from ulmus.kernels.pairs import Shifted, some_rows
from ulmus.typing import Array, DType, Rows

# Entries this small relative to the diagonal are set to zero: they change no digit of a solution.
# In a factorisation their products become subnormal numbers, which makes it twenty times as slow.
_LOST = 1e-20
# Rows of the panels that a whole K is made of on the host: of few, little is made twice.
_PANEL = 512
# Default tolerance without a rank, as a fraction of the trace.
DEFAULT_TOL = 1e-7
NAMES = ("rpcholesky", "nystrom", "randomized", "eig")


@dataclass(frozen=True)
class KernelMatrix:
    """K between the rows X, n × n in principle."""

    kernel: Kernel
    X: Rows

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def dtype(self) -> DType:
        """Precision of the entries."""
        return self.X.dtype

    @property
    def array(self) -> Rows:
        """An array on the device of K."""
        return self.X.rows if isinstance(self.X, Shifted) else self.X

    @property
    def definite(self) -> bool:
        """Whether K has to be positive semi-definite."""
        return getattr(self.kernel, "definite", True)

    def diagonal(self) -> Array:
        """k(xᵢ, xᵢ) in float64."""
        return doubles(self.kernel.diagonal(self.X))

    def block(self, part: slice | np.ndarray, chosen: slice | np.ndarray) -> Array:
        """K[part, chosen], as a new array."""
        return self.kernel(some_rows(self.X, part), some_rows(self.X, chosen))

    def rows(self) -> Iterator[tuple[slice, Array]]:
        """K by blocks of rows."""
        for part in row_blocks(len(self), self._size):
            yield part, self.block(part, slice(0, len(self)))

    def take(self, chosen: np.ndarray) -> "KernelMatrix":
        """K of some of the rows."""
        return KernelMatrix(self.kernel, some_rows(self.X, chosen))

    def precise(self) -> "KernelMatrix":
        """K computed in float64, where that is possible."""
        if not is_single(self.dtype):
            return self
        return KernelMatrix(self.kernel, cast(self.X, namespace(self.array).float64))

    def all(self, dtype: Any = np.float64) -> Array:
        """The whole of K, in float64 or, on the host, another precision; there negligible entries
        are set to zero."""
        n, host = len(self), is_numpy(self.array)
        K = np.empty((n, n), dtype) if host else zeros((n, n), self.array)
        for part, block in self.panels():
            K[part, part.start :] = block
            K[part.start :, part] = block.T
        # Column-major, as LAPACK wants it: K is symmetric.
        return K.T if host else K

    def panels(self) -> Iterator[tuple[slice, Array]]:
        """Rows of K from their diagonal on, each pair once; entries are as in `all`."""
        n, host = len(self), is_numpy(self.array)
        # Relative to both diagonal entries, because rows may differ much in length.
        lost = np.sqrt(_LOST * np.abs(self.diagonal())) if host else None
        for part in row_blocks(n, min(self._size, _PANEL) if host else self._size):
            rest = slice(part.start, n)
            block = self.block(part, rest)
            if lost is None:
                yield part, doubles(block)
            else:
                yield part, _without_lost(block, lost[part], lost[rest])

    def times(self, V: Array) -> Array:
        """K V."""
        product = namespace(V).empty((len(self), V.shape[1]), dtype=V.dtype, device=V.device)
        for part, block in self.rows():
            matmul(cast(block, V.dtype), V, product[part, :])
        return product

    @property
    def _size(self) -> int:
        return min(len(self), block_rows(len(self), 8))


def _without_lost(block: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A block with zeros for entries below the products of ``left`` and ``right``."""
    size = np.abs(block)
    if size.min(initial=np.inf) >= left.max() * right.max():
        return block
    return np.where(size < left[:, None] * right, 0.0, block)


class MeasuredKernel(KernelMatrix):
    """exp(−γD) of rows on the host whose distances D are known, so that they serve every width."""

    D: np.ndarray

    def __init__(self, kernel: Any, X: Rows, D: np.ndarray) -> None:
        super().__init__(kernel, X)
        object.__setattr__(self, "D", D)

    def all(self, dtype: Any = np.float64) -> Array:
        K = np.multiply(self.D, -self.kernel.gamma, dtype=dtype)  # type: ignore[attr-defined]
        if K.min(initial=0.0) < np.log(_LOST):
            K[np.log(_LOST) > K] = -np.inf
        return np.exp(K, out=K).T


def measured(name: str, X: Rows) -> np.ndarray | None:
    """The distances between rows that the kernel of this name is exp(−γD) of; None for others."""
    found = vars(KERNELS[name]).get("distances")  # classes derived from these may differ
    if found is None:
        return None
    n = X.shape[0]
    D = np.empty((n, n))
    for part in row_blocks(n, _PANEL):
        rest = slice(part.start, n)  # each pair is taken once
        D[part, rest] = found.__func__(some_rows(X, part), some_rows(X, rest))
        D[rest, part] = D[part, rest].T
    return D


class GivenKernel(KernelMatrix):
    """A kernel matrix that is given."""

    def __init__(self, K: Array) -> None:
        super().__init__(Precomputed(), K)

    def block(self, part: slice | np.ndarray, chosen: slice | np.ndarray) -> Array:
        return contiguous(take(take(self.X, part), chosen, axis=1))

    def take(self, chosen: np.ndarray) -> "GivenKernel":
        return GivenKernel(self.block(chosen, chosen))

    def precise(self) -> "GivenKernel":
        return self


class HiddenKernel(KernelMatrix):
    """K = HHᵀ of a hidden layer: its diagonal and products, which a sketch needs."""

    H: Hidden

    def __init__(self, H: Hidden) -> None:
        super().__init__(Precomputed(), H.X)
        object.__setattr__(self, "H", H)

    @property
    def dtype(self) -> DType:
        return self.H.dtype

    def diagonal(self) -> Array:
        xp = namespace(self.X)
        return xp.concat([xp.sum(doubles(h) ** 2, axis=1) for _, h in self._blocks()])

    def precise(self) -> "HiddenKernel":
        return self

    def times(self, V: Array) -> Array:
        """H(HᵀV) by two passes over H, without blocks of K."""
        inner = zeros((self.H.width, V.shape[1]), V)
        for part, h in self._blocks():
            inner += matmul(doubles(h).T, V[part, :])
        product = namespace(V).empty(V.shape, dtype=V.dtype, device=V.device)
        for part, h in self._blocks():
            matmul(cast(h, V.dtype), inner, product[part, :])
        return product

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        return ((part, h + self.H.offset) for part, h in self.H.blocks())


@dataclass(frozen=True)
class LowRank:
    """A low-rank factor of a kernel matrix, made of some of its columns.

    Parameters
    ----------
    rank : int, float or None, default=None
        Largest number of columns of the factor. A float is a fraction of the rows. None means 2000,
        or no limit if ``tol`` is given.
    tol : float or None, default=None
        Stop when the missing fraction of the matrix's trace is this small. None means no such
        limit, or 1e-7 if ``rank`` is None too.
    method : {"rpcholesky", "nystrom", "eig"}, default="rpcholesky"
        Randomly pivoted Cholesky; columns drawn uniformly (Nyström); or the leading eigenvectors of
        the whole matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import KernelELMClassifier, LowRank
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelELMClassifier(method=LowRank(tol=0.01), random_state=0).fit(X, y)
    >>> model.approximation_error_ <= 0.01
    True
    """

    rank: int | float | None = None
    tol: float | None = None
    method: str = "rpcholesky"

    oversampling: ClassVar[int] = 10
    power_steps: ClassVar[int] = 0


@dataclass(frozen=True)
class Randomized:
    """The randomized ELM: a random sketch of HHᵀ, or of a kernel matrix, in its place.

    Parameters
    ----------
    rank : int, float or None, default=None
        Columns of the sketch. A float is a fraction of the rows; None is the number of hidden
        units, or 2000 for a kernel.
    oversampling : int, default=10
        Further columns, which make the first ones more exact.
    power_steps : int, default=0
        Further passes over the matrix, which do so too.
    tol : float or None, default=None
        Stop when the missing fraction of the matrix's trace is this small.
    of : {"rows", "units"}, default="rows"
        What is sketched of hidden units: HHᵀ, or HᵀH.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier, Randomized
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(n_hidden=200, solver=Randomized(30), random_state=0).fit(X, y)
    >>> model.solver_
    'randomized'
    """

    rank: int | float | None = None
    oversampling: int = 10
    power_steps: int = 0
    tol: float | None = None
    of: str = "rows"

    method: ClassVar[str] = "randomized"


def approximation_of(
    method: object, rank: int | float | None, tol: float | None = None
) -> LowRank | Randomized:
    """The approximation of a name, or an object completed by ``rank`` and ``tol``."""
    if isinstance(method, LowRank | Randomized):
        found = method
    else:
        check_known("method", method, NAMES)
        found = Randomized() if method == "randomized" else LowRank(method=str(method))
    for name, value in (("rank", rank), ("tol", tol)):
        if value is not None and getattr(found, name) is not None:
            raise InvalidParameterError(
                f"{name}={value!r} is given beside method={method!r}, which has one; leave one out."
            )
    rank, tol = (found.rank if rank is None else rank), (found.tol if tol is None else tol)
    found = replace(found, rank=rank, tol=tol)
    check_known("method", found.method, NAMES)
    check_rank(found.rank, found.tol, found.oversampling, found.power_steps)
    return found
