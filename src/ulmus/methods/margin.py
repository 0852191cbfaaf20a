"""The hinge loss with C given, or chosen by the error on rows that are held out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import block_rows, row_blocks
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.methods.hinge import Hinge, HingeSolution, hinge, hinge_kernel
from ulmus.targets import ClassTargets, coded, wrong
from ulmus.typing import Array

# Hidden rows that are written out, or a kernel between rows.
Inputs = np.ndarray | KernelMatrix


@dataclass(frozen=True)
class Margin:
    """Values of C to choose from, ascending, or one; and the limits of the solver.

    ``fraction`` is the part of every class that is held out.
    """

    C: np.ndarray
    chooses: bool
    fraction: float
    tol: float
    max_iter: int

    def fit(
        self,
        inputs: Inputs,
        targets: ClassTargets,
        weight: np.ndarray,
        rng: np.random.RandomState,
        start: np.ndarray | None = None,
    ) -> tuple[HingeSolution, float, dict[str, np.ndarray] | None]:
        """α and β, the C in use, and the errors of every C where it was chosen."""
        T, seed = coded(targets, slice(0, len(targets)), float), int(rng.randint(2**31 - 2))
        path, best = None, 0
        if self.chooses:
            held = held_out(targets.codes, self.fraction, rng)
            path = self._path(inputs, T, weight, held, seed)
            best = int(np.argmin(path["error_rate"]))
        C = float(self.C[best])
        return self._solution(inputs, slice(None), Hinge(T, C * weight), start, seed), C, path

    def _solution(
        self, inputs: Inputs, rows: Any, problem: Hinge, start: np.ndarray | None, seed: int
    ) -> HingeSolution:
        """α for some of the rows."""
        how: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "seed": seed}
        if not isinstance(inputs, KernelMatrix):
            return hinge(problem, inputs[rows], start, **how)
        K, rows = inputs, np.arange(len(inputs))[rows]
        block, diagonal = lambda some: K.block(rows[some], rows), K.diagonal()[rows]
        return hinge_kernel(problem, block, diagonal, start, **how)

    def _path(
        self, inputs: Inputs, T: np.ndarray, weight: np.ndarray, held: np.ndarray, seed: int
    ) -> dict[str, np.ndarray]:
        """The error on held-out rows for every C, each started from the solution before."""
        seen, start, rates, support = np.flatnonzero(~held), None, [], []
        for C in self.C:
            problem = Hinge(T[seen], C * weight[seen])
            solution = self._solution(inputs, seen, problem, start, seed)
            start = solution.alpha
            F = _outputs(inputs, np.flatnonzero(held), seen, T[seen] * start, solution.coef)
            rates.append(np.average(wrong(T[held], F), weights=weight[held]))
            support.append(np.count_nonzero(start.any(axis=1)))
        return {"C": self.C, "error_rate": np.array(rates), "n_support": np.array(support)}


def held_out(codes: np.ndarray, fraction: float, rng: np.random.RandomState) -> np.ndarray:
    """A mask of the rows to choose C by: a part of every class, and never all of one."""
    held = np.zeros(len(codes), dtype=bool)
    for code in range(codes.max() + 1):
        rows = rng.permutation(np.flatnonzero(codes == code))
        held[rows[: min(max(1, round(fraction * len(rows))), len(rows) - 1)]] = True
    if not held.any():
        raise InvalidInputError(
            "No class has two rows, so none can be held out to choose C by; give C a number."
        )
    return held


def _outputs(
    inputs: Inputs, others: np.ndarray, seen: np.ndarray, dual: np.ndarray, coef: Array | None
) -> np.ndarray:
    """Decision values of other rows, by β or by the dual coefficients of the training rows."""
    if not isinstance(inputs, KernelMatrix):
        assert coef is not None  # rows that are written out give β
        return matmul(inputs[others], coef.astype(inputs.dtype))
    used = np.flatnonzero(dual.any(axis=1))
    F = np.zeros((len(others), dual.shape[1]))
    size = block_rows(len(used), 8, inputs.array.shape[1]) if len(used) else 0
    for part in row_blocks(len(others), size) if size else ():
        K = inputs.block(others[part], seen[used])
        F[part] = matmul(K.astype(float, copy=False), dual[used])
    return F
