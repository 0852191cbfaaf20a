"""Kernel ridge: (K + I/C) α = T, with C given or chosen by exact leave-one-out.

K is used whole, or as a low-rank factor FFᵀ. Then F is a hidden layer, in whose space it is ridge,
and α = Wβ on the landmarks that span F.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import take
from ulmus.hidden import sample_rows
from ulmus.kernels.kernel_matrix import KernelMatrix, LowRank, Randomized
from ulmus.kernels.lowrank import Factor, factor_of
from ulmus.kernels.partial_cholesky import Watch
from ulmus.methods.dual import dual, dual_path
from ulmus.methods.ridge import solve
from ulmus.problem import ErrorPath, Problem, Solution

# Up to this many rows the whole kernel matrix is factored; past it a factor has so many columns.
EXACT = 2000
# Up to this many rows all are left out where C is known; past it so many, which give quantiles to
# half a point. All of 10 000 would take twice as long as their Cholesky factor, 10 s of one core.
ALL_LEFT_OUT, _SOME_LEFT_OUT = 5000, 2000


@dataclass(frozen=True)
class KernelRidge:
    """One C, or an array to choose from, and how K is approximated (None: it is used whole).

    ``definite`` says that K is known to have no negative eigenvalue. ``path`` are the left-out
    errors of every C where they are known already, from these rows or some of them. ``columns`` is
    the most that a factor has where the approximation does not say.
    """

    C: float | np.ndarray
    approximation: LowRank | Randomized | None = None
    definite: bool = False
    path: ErrorPath | None = None
    columns: int = EXACT
    parameters: ClassVar[tuple[str, ...]] = ("C",)

    @property
    def chooses(self) -> bool:
        """Whether there are several C."""
        return isinstance(self.C, np.ndarray)

    @property
    def name(self) -> str:
        """How K is used."""
        return "exact" if self.approximation is None else self.approximation.method

    def fit(
        self, problem: Problem, rng: np.random.RandomState, watch: Watch = None
    ) -> tuple[Solution, Factor | None]:
        """The dual coefficients of a problem over a `KernelMatrix`, and its factor if there is one.

        Without a factor there is a coefficient for every row, else for each of its landmarks.
        """
        seed = rng.randint(2**31 - 2)
        if self.approximation is None:
            return self._exact(problem, seed), None
        found = self.factor(problem.H, len(problem.H), rng, watch)
        return spanned(found, solve(replace(problem, H=found.H), self.C, seed)), found

    def factor(
        self, K: KernelMatrix, n: int, rng: np.random.RandomState, watch: Watch = None
    ) -> Factor:
        """K ≈ FFᵀ, with as many columns as are asked for of n rows; K may be some of them."""
        assert self.approximation is not None  # only for a kernel that is not used whole
        return factor_of(K, self.approximation, n, self.columns, rng, watch)

    def _exact(self, problem: Problem, seed: int) -> Solution:
        """Solve over the whole of K."""
        if self.path is not None and not problem.reweighs:
            C = float(self.path.C[self.path.best])
            return replace(_left_out_some(problem, C, seed), path=self.path)
        if isinstance(self.C, np.ndarray):
            return dual_path(problem, self.C)
        if self.definite:
            return dual(problem, self.C)
        # This kernel may be indefinite; its eigenvalues show whether it is.
        return replace(dual_path(problem, np.array([self.C])), path=None)


def _left_out_some(problem: Problem, C: float, seed: int) -> Solution:
    """The solution at one C; of many rows a random part is left out.

    Those come last: the last rows of the factor are all that their leverages need.
    """
    n = len(problem.H)
    if n <= ALL_LEFT_OUT:
        return dual(problem, C, asked=False)
    some = np.sort(sample_rows(seed, _SOME_LEFT_OUT, n))
    order = np.concatenate([np.delete(np.arange(n), some), some])
    found = dual(problem.take(order), C, asked=False, last=len(some))
    coef = take(found.coef, np.argsort(order))
    return replace(found, coef=coef, loo_rows=some, loo=found.loo[-len(some) :, :])


def spanned(factor: Factor, solution: Solution) -> Solution:
    """A solution over a factor's columns, stated by its landmarks: α = Wβ."""
    return replace(solution, coef=matmul(factor.W, solution.coef))
