"""What the hinge loss stands on: hidden rows that are written out, or a kernel between rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import is_sparse
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.hidden import block_rows, row_blocks
from ulmus.solvers.decomposition import hinge_kernel
from ulmus.solvers.hinge import hinge

__all__ = ["ExplicitGround", "KernelGround", "kernel_values", "resolved_kernel"]

# Rows whose kernel with each other is made for the sake of its diagonal.
_FEW = 64


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
    """A kernel, and which of the rows X it is taken between.

    ``kernel`` is a function of two sets of rows, or "precomputed" where X is K itself.
    """

    kernel: Any
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
            lambda rows: block_of(self.kernel, self.rows(rows), others),
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
        return self.chosen[rows] if self.kernel == "precomputed" else self.rows(rows)

    def diagonal(self):
        """k(x, x)."""
        if self.kernel == "precomputed":
            return np.asarray(self.X.diagonal(), dtype=float)[self.chosen]
        if hasattr(self.kernel, "diagonal"):
            return np.asarray(self.kernel.diagonal(self.rows(slice(None))), dtype=float)
        parts = []
        for part in row_blocks(len(self.chosen), _FEW):
            X = self.rows(part)
            parts.append(np.diagonal(block_of(self.kernel, X, X)))
        return np.concatenate(parts).astype(float)


def block_of(kernel, X, Z):
    """The kernel between two sets of rows; Z is numbers of columns where it is precomputed."""
    if kernel == "precomputed":
        K = X[:, Z]
        return K.toarray() if is_sparse(K) else K
    K = np.asarray(kernel(X, Z))
    if K.shape != (X.shape[0], Z.shape[0]):
        raise InvalidInputError(
            f"The kernel gave an array of shape {K.shape} for {X.shape[0]} and {Z.shape[0]} rows; "
            f"it must be {(X.shape[0], Z.shape[0])}."
        )
    return K if K.dtype in (np.float32, np.float64) else K.astype(float)


def kernel_values(kernel, X, Z, coef):
    """Σ k(x, zⱼ) coefⱼ for every row x, a block of rows at a time."""
    F = np.zeros((X.shape[0], coef.shape[1]))
    if len(coef):
        for part in row_blocks(X.shape[0], block_rows(len(coef), 8, X.shape[1])):
            F[part] = matmul(block_of(kernel, X[part], Z).astype(float, copy=False), coef)
    return F


def resolved_kernel(kernel, gamma, X):
    """The kernel as a function of two sets of rows, or "precomputed".

    This is the place where a name and ``gamma`` become a kernel.
    """
    if kernel == "precomputed":
        _check_matrix(X)
    elif not callable(kernel):
        raise InvalidParameterError(
            f"kernel={kernel!r} is unknown; use None, 'precomputed', or a function of two sets of "
            "rows that gives the block between them."
        )
    if gamma is not None:
        raise InvalidParameterError(
            f"gamma={gamma!r} belongs to a kernel that is given by name; put it into the function."
        )
    return kernel


def _check_matrix(K):
    """Refuse a matrix that cannot be a kernel."""
    apart = abs(K - K.T).max() if K.shape[0] else 0.0
    if apart > 1e-5 * abs(K).max():
        raise InvalidInputError(
            f"The precomputed kernel is not symmetric: entries differ by up to {apart:.2g} from "
            "those across the diagonal. Give one that is, for example (K + K.T) / 2."
        )
