"""Kernel ridge: (K + I/C) α = T, with C given or chosen by exact leave-one-out.

K is used whole, or as a low-rank factor FFᵀ. Then F is a hidden layer, in whose space it is ridge,
and α = Wβ on the landmarks that span F.

Kernel, width and column weights can be chosen along with C.
Every kernel is tried at a few widths on few rows, and those far behind are left out. The others are
fitted to all rows that are given, and their columns weighed (see `column_weights`). The least error
over left-out rows decides.

All rules were fixed on half of the visible tables and confirmed on the others; `docs/benchmarks`
says which, and what they reached.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import is_sparse
from ulmus.hidden import sample_rows
from ulmus.kernels import Kernel
from ulmus.kernels.definition import kernel_of
from ulmus.kernels.kernel_matrix import KernelMatrix, LowRank, Randomized
from ulmus.kernels.lowrank import Factor, factor_of
from ulmus.kernels.pairs import Shifted, some_rows, weighed_columns
from ulmus.kernels.partial_cholesky import Watch
from ulmus.methods.column_weights import correction, gradient_rows, weighings, weights_of
from ulmus.methods.dual import dual, dual_path
from ulmus.methods.ridge import solve
from ulmus.problem import ErrorPath, Problem, Solution
from ulmus.slopes import Slopes, kernel_gradients
from ulmus.typing import Rows

# Up to this many rows the whole kernel matrix is factored; past it a factor has so many columns.
EXACT = 2000
# Rows that widths are tried on: an eigendecomposition takes 0.06 s of one core.
_FEW_ROWS = 700
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
            return self._exact(problem), None
        found = self.factor(problem.H, len(problem.H), rng, watch)
        return spanned(found, solve(replace(problem, H=found.H), self.C, seed)), found

    def factor(
        self, K: KernelMatrix, n: int, rng: np.random.RandomState, watch: Watch = None
    ) -> Factor:
        """K ≈ FFᵀ, with as many columns as are asked for of n rows; K may be some of them."""
        assert self.approximation is not None  # only for a kernel that is not used whole
        return factor_of(K, self.approximation, n, self.columns, rng, watch)

    def _exact(self, problem: Problem) -> Solution:
        """Solve over the whole of K."""
        if self.path is not None and not problem.reweighs:
            C = float(self.path.C[self.path.best])
            return replace(dual(problem, C, asked=False), path=self.path)
        if isinstance(self.C, np.ndarray):
            return dual_path(problem, self.C)
        if self.definite:
            return dual(problem, self.C)
        # This kernel may be indefinite; its eigenvalues show whether it is.
        return replace(dual_path(problem, np.array([self.C])), path=None)


def spanned(factor: Factor, solution: Solution) -> Solution:
    """A solution over a factor's columns, stated by its landmarks: α = Wβ."""
    return replace(solution, coef=matmul(factor.W, solution.coef))


# ---------------------------------------------------------------- which kernel
@dataclass(frozen=True)
class Candidate:
    """A kernel on weighed columns, fitted; ``round`` is how often they have been weighed."""

    name: str
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
        return weights_of(self._slopes(some_rows(self.rows, some), coef), share)

    def _slopes(self, rows: Rows, coef: np.ndarray) -> Slopes:
        found = kernel_gradients(self.kernel, rows, self.rows, coef, self.weights)
        assert found is not None  # kernels without gradients are refused before
        return found


@dataclass(frozen=True)
class Trial:
    """Scaled rows on the host, their problem without H, how often each counts, and the C to try."""

    rows: Any
    problem: Problem
    count: np.ndarray | None
    C: np.ndarray

    def take(self, chosen: np.ndarray) -> "Trial":
        """Some of the rows, with their weights as they are."""
        count = None if self.count is None else self.count[chosen]
        return replace(
            self,
            rows=some_rows(self.rows, chosen),
            problem=self.problem.take(chosen),
            count=count,
        )

    def candidate(
        self, name: str, factor: float, weights: np.ndarray | None = None, number: int = 0
    ) -> Candidate:
        """A kernel at a multiple of its typical γ, on columns with these weights."""
        rows = self.rows if weights is None else weighed_columns(self.rows, weights)
        weights = np.ones(rows.shape[1]) if weights is None else weights
        kernel = kernel_of(name, "mean", 3, 1.0, rows, 0, factor, self.count)
        solution = dual_path(replace(self.problem, H=KernelMatrix(kernel, rows)), self.C)
        factor = correction(self.columns, self.total) if number else 1.0
        return Candidate(name, kernel, weights, number, rows, solution, factor)

    @property
    def total(self) -> float:
        """How many rows there are; one that counts twice is two."""
        return float(self.rows.shape[0] if self.count is None else self.count.sum())

    @property
    def columns(self) -> int:
        """How many columns vary, and so can have a weight."""
        rows = self.rows.rows if isinstance(self.rows, Shifted) else self.rows
        return int(np.count_nonzero(_dense(rows.max(axis=0)) - _dense(rows.min(axis=0))))


@dataclass(frozen=True)
class KernelChoice:
    """Kernels by their names, and whether columns are weighed."""

    names: tuple[str, ...]
    weighs: bool
    seed: int = 0

    def fit(self, trial: Trial) -> list[Candidate]:
        """All that was tried on all rows; the best by its score is to be used."""
        n, tried = trial.rows.shape[0], list[Candidate]()
        few = trial
        if n > _FEW_ROWS:
            few = trial.take(np.sort(sample_rows(self.seed, _FEW_ROWS, n)))
        first = [self._best_width(few, name) for name in self.names]
        for start, factor in _near(first):
            whole = start if few is trial else trial.candidate(start.name, factor)
            tried.append(whole)
            # With more columns than rows no weights win by as much as the correction asks for.
            weighs = self.weighs and trial.columns < trial.total
            if weighs and whole.squared <= _CLOSE * _least(tried, 0):
                self._weigh(trial, tried)
        return tried

    def _best_width(self, trial: Trial, name: str) -> tuple[Candidate, float]:
        """The best of a few widths, and its multiple of the typical γ."""
        factors = _FACTORS.get(name, _OTHER_FACTORS)[0]
        found = [(trial.candidate(name, factor), factor) for factor in factors]
        return min(found, key=lambda pair: pair[0].squared)

    def _weigh(self, trial: Trial, tried: list[Candidate]) -> None:
        """Weigh the columns for the last one that was tried, while its error falls."""
        name = tried[-1].name
        again = partial(trial.candidate, name, _FACTORS.get(name, _OTHER_FACTORS)[1])
        for found in weighings(tried[-1], again, trial.count, self.seed):
            tried.append(found)
            if found.squared > _CLOSEST * _least(tried, found.round):
                return


def _least(tried: list[Candidate], number: int) -> float:
    """The least squared error of the candidates of a round."""
    return min(each.squared for each in tried if each.round == number)


def _dense(row: Any) -> np.ndarray:
    return np.asarray(row.toarray() if is_sparse(row) else row).ravel()


def _near(first: Iterable[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
    """Those not far behind the best, which comes first."""
    ranked = sorted(first, key=lambda pair: pair[0].squared)
    return [pair for pair in ranked if pair[0].squared <= _NEAR * ranked[0][0].squared]


def table_of(tried: list[Candidate]) -> dict[str, np.ndarray]:
    """Kernel, γ, round, C and left-out errors of all that was tried, as columns."""
    rates, squared = zip(*(each.path.score for each in tried), strict=True)
    table = {
        "kernel": np.array([each.name for each in tried]),
        "gamma": np.array([getattr(each.kernel, "gamma", 0.0) for each in tried]),
        "round": np.array([each.round for each in tried]),
        "C": np.array([each.solution.C for each in tried]),
        "squared_error": np.array(squared),
    }
    return table if tried[0].path.error_rate is None else {**table, "error_rate": np.array(rates)}
