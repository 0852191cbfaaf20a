"""Kernel ridge: (K + I/C) α = T, with C given or chosen by exact leave-one-out.

K is used whole, or as a low-rank factor FFᵀ. Then F is a hidden layer, in whose space it is ridge,
and α = Wβ on the landmarks that span F.

Which kernel, of what width and on what column weights, is chosen by exact leave-one-out along with
C. Every kernel is tried at a few widths on few rows, and those far behind are left out. The others
are fitted to more rows, and their columns weighed (see `slopes`). Those whose errors over left-out
rows are nearly the least are compared on all rows of the choice, with the same weights. What is
best is fitted to all rows that are given. All rules were fixed on half of
the visible tables and confirmed on the others; `docs/benchmarks` says which, and what they reached.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.sparsefuncs import min_max_axis

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import is_numpy, is_sparse, take
from ulmus.hidden import sample_rows
from ulmus.kernels import KERNELS, Kernel
from ulmus.kernels.definition import kernel_of
from ulmus.kernels.kernel_matrix import (
    KernelMatrix,
    LowRank,
    MeasuredKernel,
    Randomized,
    measured,
)
from ulmus.kernels.lowrank import Factor, Watch, factor_of
from ulmus.kernels.pairs import Shifted, some_rows, weighed_columns
from ulmus.methods.dual import dual, dual_path
from ulmus.methods.kernel_iterative import iterated, iterates
from ulmus.methods.near_path import SINGLE, near_path
from ulmus.methods.ridge import solve
from ulmus.problem import ErrorPath, Problem, Solution
from ulmus.slopes import (
    correction,
    gradient_rows,
    kernel_gradients,
    weighing_rows,
    weighings,
    weights_of,
)
from ulmus.targets import copies, copy_weight

# Up to this many rows the whole kernel matrix is factored; past it a factor has so many columns.
EXACT = 2000
# Up to this many rows all are left out where C is known, half a second of one core; past it so
# many, or those that conjugate gradients leave out.
ALL_LEFT_OUT, _SOME_LEFT_OUT = 3000, 2000
# Rows that widths are tried on: an eigendecomposition takes 0.03 s of one core.
_FEW_ROWS = 500
# γ is tried at these multiples of the typical one; on weighed columns, at the last one alone.
_FACTORS = {"rbf": ((1.0, 4.0, 16.0), 4.0)}
_OTHER_FACTORS = (0.5, 2.0), 1.0
# All multiples of the typical γ where nothing but γ is chosen.
WIDTHS = tuple((2.0 ** np.arange(-6, 7, 2)).tolist())
# Kernels whose squared error is within these factors of the least one go on: from few rows to all,
# to the weighing of columns, and to weighing them again. Nothing that won on the tables was farther
# behind.
_NEAR, _CLOSE, _CLOSEST = 1.2, 1.1, 1.02


@dataclass(frozen=True)
class KernelRidge:
    """One C, or an array to choose from, and how K is approximated (None: it is used whole).

    ``definite`` says that K is known to have no negative eigenvalue. ``path`` are the left-out
    errors of every C where they are known already, from these rows or some of them. ``columns`` is
    the most that a factor has where the approximation does not say. ``factors`` asks for a
    factor of K however many rows there are, where K is used whole.
    """

    C: float | np.ndarray
    approximation: LowRank | Randomized | None = None
    definite: bool = False
    path: ErrorPath | None = None
    columns: int = EXACT
    factors: bool = False
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
        n = len(problem.H)
        found = factor_of(problem.H, self.approximation, n, self.columns, rng, watch)
        return spanned(found, solve(replace(problem, H=found.H), self.C, seed)), found

    def _exact(self, problem: Problem, seed: int) -> Solution:
        """Solve over the whole of K."""
        if self.path is not None and not problem.reweighs:
            C, n, found = float(self.path.C[self.path.best]), len(problem.H), None
            if n > ALL_LEFT_OUT and not self.factors and iterates(problem, C):
                found = iterated(problem, C, seed)
            small = copy_weight(problem.weight, problem.unit) * C <= SINGLE
            single = small and n > EXACT and not self.factors and is_numpy(problem.H.array)
            found = found or _left_out_some(problem, C, seed, single)
            return replace(found, path=self.path)
        if isinstance(self.C, np.ndarray):
            return dual_path(problem, self.C)
        if self.definite:
            return dual(problem, self.C)
        # This kernel may be indefinite; its eigenvalues show whether it is.
        return replace(dual_path(problem, np.array([self.C])), path=None)


def _left_out_some(problem: Problem, C: float, seed: int, single: bool) -> Solution:
    """The solution at one C, by a factor in single precision or not; of many rows a random part is
    left out.

    Those come last: the last rows of the factor are all that their leverages need.
    """
    n = len(problem.H)
    if n <= ALL_LEFT_OUT:
        return dual(problem, C, asked=False, single=single)
    some = np.sort(sample_rows(seed, _SOME_LEFT_OUT, n))
    order = np.concatenate([np.delete(np.arange(n), some), some])
    found = dual(problem.take(order), C, asked=False, last=len(some), single=single)
    coef = take(found.coef, np.argsort(order))
    return replace(found, coef=coef, loo_rows=some, loo=found.loo[-len(some) :, :])


def spanned(factor: Factor, solution: Solution) -> Solution:
    """A solution over a factor's columns, stated by its landmarks: α = Wβ."""
    return replace(solution, coef=matmul(factor.W, solution.coef))


# ---------------------------------------------------------------- which kernel
@dataclass(frozen=True)
class Candidate:
    """A kernel on weighed columns, fitted; ``round`` is how often they have been weighed.

    Its γ is ``factor`` times the typical one.
    """

    name: str
    factor: float
    kernel: Kernel
    weights: np.ndarray
    round: int
    rows: Any
    solution: Solution
    correction: float = 1.0

    @property
    def path(self) -> ErrorPath:
        """The left-out errors of every C."""
        assert self.solution.path is not None  # every C of a candidate is judged
        return self.solution.path

    @property
    def squared(self) -> float:
        """The least squared error over left-out rows."""
        return float(self.path.squared_error.min())

    @property
    def score(self) -> tuple[float, float]:
        """The left-out errors at the best C, corrected for the fit of the weights."""
        rate, squared = self.path.score
        return self.correction * rate, self.correction * squared

    def next_weights(self, count: np.ndarray | None, seed: int) -> np.ndarray | None:
        """√(mean squared gradient) by column, of mean square one; None where nothing varies."""
        n, d = self.rows.shape
        some = gradient_rows(n, n, d, seed)
        share = np.ones(len(some)) if count is None else count[some]
        coef = self.solution.coef / (np.abs(self.solution.coef).max() or 1.0)
        rows = some_rows(self.rows, some)
        found = kernel_gradients(self.kernel, rows, self.rows, coef, self.weights)
        assert found is not None  # kernels without gradients are refused before
        return weights_of(found, share)


@dataclass(frozen=True)
class Trial:
    """Scaled rows on the host, their problem without H, how often each counts, and the C to try.

    ``whole`` is how many rows there are where these are a sample; one that counts twice is two. The
    errors of weighed columns are corrected as if by all: with the correction of few rows, those of
    covtype are not weighed.
    """

    rows: Any
    problem: Problem
    count: np.ndarray | None
    C: np.ndarray
    whole: float | None = None

    def take(self, chosen: np.ndarray) -> "Trial":
        """Some of the rows, with their weights as they are."""
        count = None if self.count is None else self.count[chosen]
        return replace(
            self,
            rows=some_rows(self.rows, chosen),
            problem=self.problem.take(chosen),
            count=count,
            whole=self.total,
        )

    def candidate(
        self,
        name: str,
        factor: float,
        weights: np.ndarray | None = None,
        number: int = 0,
        near: float | None = None,
        D: np.ndarray | None = None,
        known: Solution | None = None,
    ) -> Candidate:
        """A kernel at a multiple of its typical γ, on columns with these weights.

        All C are tried, or those around ``near``, the best one of something like it. ``D`` are the
        distances between the rows, and ``known`` the solution at one C, where there are any.
        """
        weights = np.ones(self.rows.shape[1]) if weights is None else weights
        rows = weighed_columns(self.rows, weights)
        D = measured(name, rows) if D is None else D
        if D is None:
            kernel = kernel_of(name, "mean", 3, 1.0, rows, 0, factor, self.count)
            H = KernelMatrix(kernel, rows)
        else:
            of_distances: Any = KERNELS[name]
            kernel = of_distances(factor * of_distances.gamma_of(D, self.count))
            H = MeasuredKernel(kernel, rows, D)
        problem = replace(self.problem, H=H)
        lift = correction(self.columns, self.total) if number else 1.0
        if near is None or np.any(np.diff(self.C) <= 0):
            solution = dual_path(problem, self.C)
        else:
            many = rows.shape[0] > _FEW_ROWS
            solution = near_path(problem, self.C, near, many, known)
        return Candidate(name, factor, kernel, weights, number, rows, solution, lift)

    def again(self, one: Candidate) -> Candidate:
        """What was fitted to other rows, fitted to these."""
        return self.candidate(one.name, one.factor, one.weights, one.round, one.solution.C)

    def best_again(self, some: list[Candidate]) -> Candidate:
        """The same for the one with the least error on these rows, each at its C."""
        if len(some) == 1:
            return self.again(some[0])
        found = list[tuple[Candidate, np.ndarray | None]]()
        for one in some:
            D, C = measured(one.name, weighed_columns(self.rows, one.weights)), one.solution.C
            alone = replace(self, C=np.array([C]))
            found.append((alone.candidate(one.name, one.factor, one.weights, one.round, C, D), D))
        best, D = min(found, key=lambda pair: pair[0].score)
        arguments = best.name, best.factor, best.weights, best.round, best.solution.C
        return self.candidate(*arguments, D, best.solution)

    def sample(self, most: int, seed: int) -> "Trial":
        """At most so many of the rows."""
        n = self.rows.shape[0]
        return self if n <= most else self.take(np.sort(sample_rows(seed, most, n)))

    @property
    def total(self) -> float:
        """How many rows the choice is made on in the end."""
        if self.whole is not None:
            return self.whole
        return float(self.rows.shape[0] if self.count is None else copies(self.count).sum())

    @property
    def columns(self) -> int:
        """How many columns vary, and so can have a weight."""
        rows = self.rows.rows if isinstance(self.rows, Shifted) else self.rows
        ends = min_max_axis(rows, 0) if is_sparse(rows) else (rows.min(axis=0), rows.max(axis=0))
        return int(np.count_nonzero(ends[1] - ends[0]))


@dataclass(frozen=True)
class KernelChoice:
    """Kernels by their names, and whether columns are weighed."""

    names: tuple[str, ...]
    weighs: bool
    seed: int = 0

    def fit(self, trial: Trial) -> list[Candidate]:
        """All that was tried, but for widths that lost; `best_of` them is to be used."""
        enough = weighing_rows(trial.columns * self.weighs)
        few, some = (trial.sample(most, self.seed) for most in (_FEW_ROWS, enough))
        tried = list[Candidate]()
        for start in _near(self._best_width(few, name) for name in self.names):
            whole = start if few is some else some.again(start)
            tried.append(whole)
            # With more columns than rows no weights win by as much as the correction asks for.
            weighs = self.weighs and some.columns < some.total
            if weighs and whole.squared <= _CLOSE * _least(tried, 0):
                self._weigh(some, tried)
        if some is trial:
            return tried
        # The errors of few rows are uncertain.
        return [*tried, trial.best_again(_finalists(tried))]

    def _best_width(self, trial: Trial, name: str) -> Candidate:
        """The best of a few widths."""
        tried, D = list[Candidate](), measured(name, trial.rows)
        for factor in _FACTORS.get(name, _OTHER_FACTORS)[0]:
            near = tried[-1].solution.C if tried else None
            tried.append(trial.candidate(name, factor, near=near, D=D))
        return min(tried, key=attrgetter("squared"))

    def _weigh(self, trial: Trial, tried: list[Candidate]) -> None:
        """Weigh the columns for the last one that was tried, while its error falls."""
        name = tried[-1].name
        factor = _FACTORS.get(name, _OTHER_FACTORS)[1]

        def again(weights: np.ndarray, number: int) -> Candidate:
            return trial.candidate(name, factor, weights, number, tried[-1].solution.C)

        for found in weighings(tried[-1], again, trial.count, self.seed):
            tried.append(found)
            if found.squared > _CLOSEST * _least(tried, found.round):
                return


def _finalists(tried: list[Candidate]) -> list[Candidate]:
    """The best by its score, and of every kernel that is close to the least squared error one."""
    ranked = sorted(tried, key=lambda each: each.correction * each.squared)
    least, best = ranked[0].correction * ranked[0].squared, best_of(tried)
    close = [each for each in ranked if each.correction * each.squared <= _CLOSEST * least]
    first = {each.name: each for each in reversed(close)}
    return [best, *(each for each in first.values() if each is not best)]


def best_of(tried: list[Candidate]) -> Candidate:
    """The least error of those on the most rows."""
    return min(tried, key=lambda each: (-each.rows.shape[0], each.score))


def _least(tried: list[Candidate], number: int) -> float:
    """The least squared error of the candidates of a round."""
    return min(each.squared for each in tried if each.round == number)


def _near(first: Iterable[Candidate]) -> list[Candidate]:
    """Those not far behind the best, which comes first."""
    ranked = sorted(first, key=attrgetter("squared"))
    return [each for each in ranked if each.squared <= _NEAR * ranked[0].squared]


def table_of(tried: list[Candidate]) -> dict[str, np.ndarray]:
    """Kernel, γ, round, C, rows and left-out errors of all that was tried, as columns."""
    rates, squared = zip(*(each.path.score for each in tried), strict=True)
    table = {
        "kernel": np.array([each.name for each in tried]),
        "gamma": np.array([getattr(each.kernel, "gamma", 0.0) for each in tried]),
        "round": np.array([each.round for each in tried]),
        "C": np.array([each.solution.C for each in tried]),
        "rows": np.array([each.rows.shape[0] for each in tried]),
        "squared_error": np.array(squared),
    }
    return table if tried[0].path.error_rate is None else {**table, "error_rate": np.array(rates)}
