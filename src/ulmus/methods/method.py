"""What a method is, and the outputs of models that lack one row.

A method is a frozen value that finds the output weights from any source of rows. A ridge is linear
in its targets: f(x) = Σ cᵢ sᵢ(x) tᵢ. Without u of the weight of row i the output is
f₋ᵢ(x) = f(x) − u sᵢ(x) eᵢ, where eᵢ is the row's left-out error. The functions u sᵢ are the outputs
of a ridge on the same rows, with a target column for each i that is zero in all other rows.
"""

from dataclasses import replace
from typing import ClassVar, Protocol, Self

import numpy as np

from ulmus.backends.namespace import doubles, placed, to_numpy, zeros
from ulmus.conformal import LeftOut
from ulmus.problem import Problem, Solution
from ulmus.sources.source import AtHand, Sample, Source, Summed
from ulmus.targets import ValueTargets


class Method(Protocol):
    """Penalty, choice of its parameters and leave-one-out together.

    ``parameters`` names what it is given or chooses, as a `Solution` has it.
    """

    parameters: ClassVar[tuple[str, ...]]

    @property
    def chooses(self) -> bool:
        """Whether some of the parameters are to be chosen by leaving rows out."""

    @property
    def needs_rows(self) -> bool:
        """Whether it can do nothing with sums alone."""

    def fit(self, source: Source) -> Solution:
        """The output weights, and the outputs of rows left out."""

    def at(self, **values: float) -> Self:
        """The same with parameters that were chosen before."""

    def compared(self) -> Self:
        """The same with a left-out error even where there is nothing to choose."""


def left_out_of(
    problem: Problem, solution: Solution, rows: np.ndarray, count: np.ndarray | None
) -> LeftOut:
    """Outputs and targets of some of the rows that a solution left out, on the host.

    ``count`` is how often each row of the problem counts, None for once.
    """
    outputs = to_numpy(solution.loo)[np.searchsorted(solution.loo_rows, rows)]
    targets = to_numpy(problem.targets.array)[rows]
    weight = np.ones(len(rows)) if count is None else np.asarray(count, float)[rows]
    return LeftOut(outputs.astype(float), targets, weight)


def effect_targets(problem: Problem, rows: np.ndarray) -> ValueTargets:
    """A column for each of these rows, whose weighted entry is the weight that it loses."""
    n, like = len(problem.targets), problem.targets.array
    unit = to_numpy(problem.unit_weight(rows))
    weight = np.ones(len(rows)) if problem.weight is None else to_numpy(problem.weight)[rows]
    columns = np.zeros((n, len(rows)))
    columns[rows, np.arange(len(rows))] = unit / weight
    return ValueTargets(placed(columns, like))


def effects(method: Method, source: Source) -> Solution:
    """The ridge whose outputs are u sᵢ(x), one for each row that the source has to calibrate."""
    sample = source.sample()
    problem, rows = sample.problem, sample.calibration
    if isinstance(source, AtHand):
        targets = effect_targets(problem, rows)
        return method.fit(replace(source, problem=replace(problem, targets=targets)))
    unit = problem.unit_weight(rows)
    cross = doubles(problem.H.take(rows).all()).T * unit
    few = replace(problem, targets=ValueTargets(zeros((len(problem.targets), len(rows)), cross)))
    sums = replace(source.moments(), cross=cross, energy=0.0 * unit, target=unit)
    return method.fit(Summed(sums, Sample(few, None, rows[:0])))
