"""The outputs of the models that lack one row, in closed form.

A ridge is linear in its targets: f(x) = Σ cᵢ sᵢ(x) tᵢ. Without u of the weight of row i the output
is f₋ᵢ(x) = f(x) − u sᵢ(x) eᵢ, where eᵢ is the row's left-out error. The functions u sᵢ are the
outputs of a ridge on the same rows, with a target column for each i that is zero in all other rows.
"""

from dataclasses import replace

import numpy as np

from ulmus.backends.namespace import doubles, placed, to_numpy, zeros
from ulmus.conformal import LeftOut
from ulmus.methods.method import Method
from ulmus.problem import Problem, Solution
from ulmus.sources.source import AtHand, Sample, Source, Summed
from ulmus.targets import ValueTargets


def left_out_rows(
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
