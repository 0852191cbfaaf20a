"""Ridge: ½ Σ c‖t − hβ − b‖² + (1/2C)‖β‖², with C given or chosen by exact leave-one-out.

From sums it takes an h × h matrix: a Cholesky factor for one C, one eigenbasis for all of them.
From rows that are fewer than units it takes an n × n one (see `dual`).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ulmus.arguments import limits, numbers_of
from ulmus.exceptions import InvalidParameterError
from ulmus.methods.dual import dual, dual_path
from ulmus.methods.leave_one_out import QuadraticPenalty, left_out, loo_path
from ulmus.methods.ridge_eigenbasis import sound_factor, warn_of_rounding
from ulmus.problem import Problem, Solution
from ulmus.sources.source import AtHand, Source

# Half a decade apart: the error is flat around its best C over more than that.
DEFAULT_GRID = np.logspace(-4, 8, 25)


@dataclass(frozen=True)
class Ridge:
    """One C, or an array to choose from.

    ``solver`` is "primal", "dual", or "auto" for the one with the smaller matrix. ``asked`` says
    whether the user gave C, and is to be warned where the features' precision does not hold it.
    """

    C: float | np.ndarray
    solver: str = "auto"
    asked: bool = True
    parameters: ClassVar[tuple[str, ...]] = ("C",)

    @property
    def chooses(self) -> bool:
        """Whether there are several C."""
        return isinstance(self.C, np.ndarray)

    @property
    def needs_rows(self) -> bool:
        """In row space alone."""
        return self.solver == "dual"

    def at(self, **values: float) -> Self:
        """At the C that was chosen."""
        return replace(self, C=values["C"], asked=False)

    def compared(self) -> Self:
        """With an error even for one C."""
        return replace(self, C=np.atleast_1d(self.C))

    def fit(self, source: Source) -> Solution:
        """β at the one C, or at the best by leave-one-out."""
        if self._in_row_space(source):
            rows = source.rows()
            return dual_path(rows, self.C) if isinstance(self.C, np.ndarray) else dual(rows, self.C)
        penalty = QuadraticPenalty(np.atleast_1d(self.C))
        return solved(penalty, source, self.chooses, self.asked)

    def _in_row_space(self, source: Source) -> bool:
        if self.solver != "auto":
            return self.solver == "dual"
        return source.at_hand and len(source.rows().H) < source.rows().H.width


def solve(problem: Problem, C: float | np.ndarray, seed: int = 0, solver: str = "auto") -> Solution:
    """Ridge on rows that are all at hand."""
    return Ridge(C, solver).fit(AtHand(problem, seed))


def solved(penalty: QuadraticPenalty, source: Source, chooses: bool, asked: bool) -> Solution:
    """β from sums, at the best point of a penalty by leave-one-out, or at the only one.

    One point takes a Cholesky factor. One eigenbasis serves every C: each left-out row is taken
    there, p = Vᵀh, where its leverage is c Σ pⱼ²/(wⱼ + 1/C). Where weights balance the classes
    there is an eigenbasis for each class, for its weights are its own.
    """
    sums, sample, path, best = source.moments(), source.sample(), None, 0
    problem, how, root = sample.problem, "primal", None
    if not chooses:
        root = sound_factor(problem.frame(sums).gram, penalty.strength(0))
    if root is None:
        how, basis = "spectral", penalty.eigenbasis(sums, problem)
        if chooses:
            sample = sample.with_class_sums()
            path = loo_path(penalty, basis, sums, problem, sample.left, sample.classes)
            best = path.best
        elif asked:
            warn_of_rounding(penalty.point(0)[0])
        root = basis.root(penalty.strength(best))
    one, (C, lam), rows = penalty.only(best), penalty.point(best), sample.calibration
    coef, intercept = one.coef(sums, problem, root)
    loo = left_out(problem, sums, one.strength(0), rows, one, root, sample.classes)
    return Solution(coef, intercept, C, how, rows, loo, path, sums, lam)


def ridge_grid(C: Any, word: str = "loo", default: np.ndarray = DEFAULT_GRID) -> float | np.ndarray:
    """C as a number, or as the array of values to choose from; the word means the default ones."""
    if isinstance(C, str) and word == C:
        return default
    values = numbers_of(C)
    if values is None:
        raise InvalidParameterError(
            f"C={C!r} must be {word!r}, a positive number, or a non-empty list of positive "
            f"numbers{limits(C)}."
        )
    return float(values[0]) if np.ndim(C) == 0 else values
