"""Pick a solver by the problem's shape, and say which."""

import numpy as np

from ulmus.backends.random import sample_rows
from ulmus.problem import Problem, Solution
from ulmus.solvers.dual import dual, dual_path
from ulmus.solvers.path import primal_path
from ulmus.solvers.primal import primal

__all__ = ["DEFAULT_GRID", "calibration_rows", "left_out_rows", "solve"]

# Half a decade apart: the error is flat around its best C over more than that.
DEFAULT_GRID = np.logspace(-4, 8, 25)

# Leaving out every row costs two Gram matrices' worth of work. Past the first
# number of rows, a random sample of the second size tells the same curve.
_LOO_ALL = 20_000
_LOO_SAMPLE = 10_000
# One temperature is fitted to these; more would only cost time.
_CALIBRATION = 500


def calibration_rows(n_rows: int, seed: int) -> np.ndarray:
    """The rows whose left-out decision values are wanted."""
    if n_rows == 0:
        return np.empty(0, dtype=np.intp)
    return np.sort(sample_rows(seed, min(n_rows, _CALIBRATION), n_rows))


def left_out_rows(n_rows: int, seed: int) -> np.ndarray | None:
    """The rows to leave out one at a time, or None for all of them."""
    return None if n_rows <= _LOO_ALL else np.sort(sample_rows(seed + 1, _LOO_SAMPLE, n_rows))


def solve(problem: Problem, C: float | np.ndarray, seed: int, solver: str = "auto") -> Solution:
    """β for one C, or for the best C of an array by leave-one-out.

    ``solver`` is "primal", "dual", or "auto" for the one with the smaller matrix.
    """
    n = len(problem.H)
    if solver == "dual" or (solver == "auto" and n < problem.H.width):
        return dual_path(problem, C) if isinstance(C, np.ndarray) else dual(problem, C)
    calibration = calibration_rows(n, seed)
    if not isinstance(C, np.ndarray):
        return primal(problem, C, calibration)
    return primal_path(problem, C, left_out_rows(n, seed), calibration)
