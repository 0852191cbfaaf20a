"""What the hinge loss stands on: hidden rows that are written out, or a kernel between rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.hidden import block_rows, row_blocks
from ulmus.kernels import Kernel, Precomputed
from ulmus.methods.hinge import hinge
from ulmus.methods.hinge_kernel import hinge_kernel

__all__ = ["ExplicitGround", "KernelGround", "kernel_values"]


@dataclass(frozen=True)
class ExplicitGround:
    """Hidden rows H (n × h)."""

    H: np.ndarray

    def take(self, rows):
        """Some of the rows."""
        return ExplicitGround(self.H[rows])

    def solve(self, problem, start, **settings):
        """α and β."""
        return hinge(problem, self.H, start, **settings)

    def values(self, other, T, solution):
        """Decision values of the rows of ``other``."""
        return matmul(other.H, solution.coef.astype(other.H.dtype))


@dataclass(frozen=True)
class KernelGround:
    """A kernel, and which of the rows X it is between; X is K itself where it is precomputed."""

    kernel: Kernel
    X: Any
    chosen: np.ndarray

    def take(self, rows):
        """Some of the rows."""
        return replace(self, chosen=self.chosen[rows])

    def solve(self, problem, start, **settings):
        """α alone."""
        others = self.side(slice(None))
        return hinge_kernel(
            problem,
            lambda rows: self.kernel(self.rows(rows), others),
            self.diagonal(),
            start,
            **settings,
        )

    def values(self, other, T, solution):
        """Decision values of the rows of ``other``."""
        support = np.flatnonzero(solution.alpha.any(axis=1))
        coef = (T * solution.alpha)[support]
        return kernel_values(self.kernel, other.rows(slice(None)), self.side(support), coef)

    def rows(self, rows):
        """The rows of X, the left side of a block."""
        return self.X[self.chosen[rows]]

    def side(self, rows):
        """The right side of a block: rows of X, or columns of K."""
        return self.chosen[rows] if isinstance(self.kernel, Precomputed) else self.rows(rows)

    def diagonal(self):
        """k(x, x)."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(self.X.diagonal(), dtype=float)[self.chosen]
        return np.asarray(self.kernel.diagonal(self.rows(slice(None))), dtype=float)


def kernel_values(kernel, X, Z, coef):
    """Σ k(x, zⱼ) coefⱼ for every row x, a block of rows at a time."""
    F = np.zeros((X.shape[0], coef.shape[1]))
    if len(coef):
        for part in row_blocks(X.shape[0], block_rows(len(coef), 8, X.shape[1])):
            F[part] = matmul(kernel(X[part], Z).astype(float, copy=False), coef)
    return F
