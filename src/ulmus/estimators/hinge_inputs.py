"""The rows of the hinge loss: hidden rows that are written out, or a kernel between rows."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.hidden import block_rows, row_blocks
from ulmus.kernels import Kernel, Precomputed
from ulmus.methods.hinge import Hinge, HingeSolution, hinge
from ulmus.methods.hinge_kernel import hinge_kernel
from ulmus.targets import wrong
from ulmus.typing import Rows

__all__ = ["ExplicitRows", "HingeInputs", "KernelRows", "held_out_path", "kernel_values"]


@dataclass(frozen=True)
class ExplicitRows:
    """Hidden rows H (n × h)."""

    H: np.ndarray

    def take(self, rows: Any) -> "ExplicitRows":
        """Some of the rows."""
        return ExplicitRows(self.H[rows])

    def solve(self, problem: Hinge, start: np.ndarray | None, **settings: Any) -> HingeSolution:
        """α and β."""
        return hinge(problem, self.H, start, **settings)

    def values(self, other: Any, T: np.ndarray, solution: HingeSolution) -> np.ndarray:
        """Decision values of the rows of ``other``."""
        assert solution.coef is not None  # rows that are written out give β
        return matmul(other.H, solution.coef.astype(other.H.dtype))


@dataclass(frozen=True)
class KernelRows:
    """A kernel, and which of the rows X it is between; X is K itself where it is precomputed."""

    kernel: Kernel
    X: Any
    chosen: np.ndarray

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        return replace(self, chosen=self.chosen[rows])

    def solve(self, problem: Hinge, start: np.ndarray | None, **settings: Any) -> HingeSolution:
        """α alone."""
        others = self.side(slice(None))
        return hinge_kernel(
            problem,
            lambda rows: self.kernel(self.rows(rows), others),
            self.diagonal(),
            start,
            **settings,
        )

    def values(self, other: Any, T: np.ndarray, solution: HingeSolution) -> np.ndarray:
        """Decision values of the rows of ``other``."""
        support = np.flatnonzero(solution.alpha.any(axis=1))
        coef = (T * solution.alpha)[support]
        return kernel_values(self.kernel, other.rows(slice(None)), self.side(support), coef)

    def rows(self, rows: Any) -> Rows:
        """The rows of X, the left side of a block."""
        return self.X[self.chosen[rows]]

    def side(self, rows: Any) -> Any:
        """The right side of a block: rows of X, or columns of K."""
        return self.chosen[rows] if isinstance(self.kernel, Precomputed) else self.rows(rows)

    def diagonal(self) -> np.ndarray:
        """k(x, x)."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(self.X.diagonal(), dtype=float)[self.chosen]
        return np.asarray(self.kernel.diagonal(self.rows(slice(None))), dtype=float)


HingeInputs = ExplicitRows | KernelRows


def kernel_values(kernel: Kernel, X: Rows, Z: Any, coef: np.ndarray) -> np.ndarray:
    """Σ k(x, zⱼ) coefⱼ for every row x, a block of rows at a time."""
    F = np.zeros((X.shape[0], coef.shape[1]))
    if len(coef):
        for part in row_blocks(X.shape[0], block_rows(len(coef), 8, X.shape[1])):
            F[part] = matmul(kernel(X[part], Z).astype(float, copy=False), coef)
    return F


def held_out_path(
    inputs: HingeInputs,
    T: np.ndarray,
    weight: np.ndarray,
    grid: np.ndarray,
    held: np.ndarray,
    settings: dict[str, Any],
) -> dict[str, np.ndarray]:
    """The error on held-out rows for every C, each solved from where the one before ended."""
    seen = np.flatnonzero(~held)
    fitted, other = inputs.take(seen), inputs.take(np.flatnonzero(held))
    start, rates, support = None, [], []
    for C in grid:
        solution = fitted.solve(Hinge(T[seen], C * weight[seen]), start, **settings)
        start = solution.alpha
        F = fitted.values(other, T[seen], solution)
        rates.append(np.average(wrong(T[held], F), weights=weight[held]))
        support.append(np.count_nonzero(start.any(axis=1)))
    return {"C": grid, "error_rate": np.array(rates), "n_support": np.array(support)}
