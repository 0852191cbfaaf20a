"""The best C near a known one, by leave-one-out: a Cholesky factor for each C that is tried.

An eigendecomposition serves every C, and takes as long as nine factors of 2000 rows with all of
them left out. Where C is known for similar rows three to five are enough. Up to some C a factor in
single precision does, in half the time.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from ulmus.methods.dual import RowSpace, at_one, dual_path, row_space
from ulmus.problem import ErrorPath, Problem, Solution, Tally
from ulmus.targets import copy_weight
from ulmus.typing import Array

# These C are for weights of one.
# Past this C errors hardly change: of four C one is tried, and from there this smaller one too.
_LARGE, _SMALLER = 1e3, 1e2
# Larger C than the smaller one are left out if its squared error is within this factor of the
# least: of values, and of classes, whose error rate must be the least one. Scores of shuttle and
# segment then differ by less than .0005, and shuttle (10 000 rows) takes 3.5 s and not 8.
_AS_GOOD = {False: 1.01, True: 1.2}
# As many C are tried one by one at most.
_MOST = 6
# The most C in single precision: outputs of 5000 rows are then off by 1e-4, at most .001 (USPS,
# shuttle).
SINGLE = 1e3


def near_path(
    problem: Problem,
    grid: np.ndarray,
    start: float,
    fast: bool = False,
    known: Solution | None = None,
) -> Solution:
    """The C of an ascending grid whose neighbours have larger left-out errors, from ``start`` on.

    Its path has the C that were tried. All are where the best one is far from ``start``, or where
    1/C is below K's rounding. With ``fast``, small C of rows on the host are tried in single
    precision, and large ones are left out where a smaller one does. ``known`` is the solution at
    one C, if there is one.
    """
    scale = copy_weight(problem.weight, problem.unit)
    large = np.flatnonzero(scale * grid > _LARGE)
    some = np.delete(grid, np.setdiff1d(large, large[::-4]))
    tried, tally, every = dict[int, Solution](), Tally(problem, some), np.arange(len(problem.H))

    @cache
    def space(single: bool) -> tuple[RowSpace, Array, float]:
        rows = row_space(problem, np.float32 if single else None)
        return rows, *rows.kernel()

    wanted = _around(_nearest(some, start), len(some))
    if scale * start > _LARGE:
        wanted.add(_nearest(some, _SMALLER / scale))
    while wanted:
        for k in sorted(wanted):
            rows, K, lift = space(fast and scale * some[k] <= SINGLE and not problem.reweighs)
            found = known
            if known is None or some[k] != known.C:
                found = at_one(problem, rows, K, lift, float(some[k]), rows.rounding)
            if found is None or len(tried) >= _MOST:
                return dual_path(problem, grid)
            tried[k] = found
            tally.add(every, slice(k, k + 1), (rows.T - found.loo)[:, None, :])
        path = tally.path()
        if fast:
            path = _without_large(path, int(np.sum(scale * path.C < 1.01 * _SMALLER)))
        best = sorted(tried)[path.best]
        wanted = _around(best, len(some)) - tried.keys()
    return replace(tried[best], path=path)


def _without_large(path: ErrorPath, small: int) -> ErrorPath:
    """The first points alone, so many of them, if the best of these is as good as that of all."""
    if not small or path.best < small:
        return path
    rates = path.error_rate if path.error_rate is None else path.error_rate[:small]
    some = replace(
        path, C=path.C[:small], squared_error=path.squared_error[:small], error_rate=rates
    )
    (rate, squared), least = some.score, path.score
    as_good = squared <= _AS_GOOD[rates is not None] * least[1]
    return some if as_good and rate <= least[0] + path.slack else path


def _nearest(grid: np.ndarray, C: float) -> int:
    """The point of the grid that is nearest to C."""
    return int(np.abs(np.log(grid / C)).argmin())


def _around(k: int, many: int) -> set[int]:
    """A point of the grid and its neighbours."""
    return set(range(max(k - 1, 0), min(k + 2, many)))
