"""What every kernel offers."""

from abc import ABC, abstractmethod
from typing import ClassVar

from ulmus.typing import Array, Rows

__all__ = ["Kernel"]


class Kernel(ABC):
    """k(x, z) for blocks of rows; derive from it to add a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus import KernelELMRegressor
    >>> from ulmus.kernels import Kernel
    >>> class Smallest(Kernel):
    ...     def __call__(self, X, Z, out=None):
    ...         return np.minimum(X, Z.T)
    ...
    ...     def diagonal(self, X):
    ...         return X[:, 0]
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> model = KernelELMRegressor(Smallest()).fit(X, np.sqrt(X[:, 0]))
    >>> round(model.score(X, np.sqrt(X[:, 0])), 2)
    1.0
    """

    # Whether K is positive semi-definite between any rows; if not, its negative part is left out.
    definite: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ), written into ``out`` when one is given."""

    @abstractmethod
    def diagonal(self, X: Rows) -> Array:
        """k(xᵢ, xᵢ)."""
