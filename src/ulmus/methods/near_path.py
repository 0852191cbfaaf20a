"""The best C near a known one, by leave-one-out: a Cholesky factor for each C that is tried.

An eigendecomposition serves every C, and takes as long as nine factors of 2000 rows with all of
them left out. Where C is known for similar rows three to five are enough.
"""

from dataclasses import replace

import numpy as np

from ulmus.methods.dual import at_one, dual_path, row_space
from ulmus.problem import Problem, Solution, Tally

# Past this C errors hardly change, and the best one may be anywhere.
_LARGE = 1e3
# As many C are tried one by one at most.
_MOST = 5


def near_path(problem: Problem, grid: np.ndarray, start: float) -> Solution:
    """The C of an ascending grid whose neighbours have larger left-out errors, from ``start`` on.

    Its path has the C that were tried. All are where the best one is far from ``start``, where that
    is large, or where 1/C is below K's rounding.
    """
    if start > _LARGE:
        return dual_path(problem, grid)
    rows = row_space(problem)
    K, lift = rows.kernel()
    tried, tally, every = dict[int, Solution](), Tally(problem, grid), np.arange(len(problem.H))
    wanted = _around(int(np.abs(np.log(grid / start)).argmin()), len(grid))
    while wanted:
        for k in sorted(wanted):
            found = at_one(problem, rows, K, lift, float(grid[k]))
            if found is None or len(tried) >= _MOST:
                return dual_path(problem, grid)
            tried[k] = found
            tally.add(every, slice(k, k + 1), (rows.T - found.loo)[:, None, :])
        path = tally.path()
        best = sorted(tried)[path.best]
        wanted = _around(best, len(grid)) - tried.keys()
    return replace(tried[best], path=path)


def _around(k: int, many: int) -> set[int]:
    """A point of the grid and its neighbours."""
    return set(range(max(k - 1, 0), min(k + 2, many)))
