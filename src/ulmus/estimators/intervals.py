"""Where the target of a new row lies, with a given coverage: intervals of values, sets of classes.

An estimator that can say so leaves fitted rows out, ``_leave_out()``, when it is first asked.

A ridge is linear in its targets: f(x) = Σ cᵢ sᵢ(x) tᵢ. Without u of the weight of row i the output
is f₋ᵢ(x) = f(x) − u sᵢ(x) eᵢ, where eᵢ is the row's left-out error. The functions u sᵢ are the
outputs of a ridge on the same rows, with a target column for each i, zero in all other rows.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.linalg import held_threads
from ulmus.backends.namespace import (
    cast,
    doubles,
    floating,
    from_numpy,
    is_collection,
    namespace,
    placed,
    to_numpy,
    zeros,
)
from ulmus.calibration import probabilities
from ulmus.conformal import LeftOut, check_coverage, intervals, label_sets
from ulmus.distributed import by_blocks
from ulmus.exceptions import InvalidInputError
from ulmus.fitted import snapshot, without_rows
from ulmus.hidden import blocks_of, rows_at_once
from ulmus.methods.ridge import Method
from ulmus.problem import Problem, Solution
from ulmus.sources.source import AtHand, Sample, Source, Summed
from ulmus.targets import ValueTargets
from ulmus.typing import Array, Rows
from ulmus.validation import check_place, valid_rows

# The most rows that are left out one at a time; quantiles of so many are off by half a point.
MOST_LEFT_OUT = 2000


@dataclass
class Jackknife:
    """Rows that were left out of a model, which is light to send.

    Where ``effects`` are known, further outputs of the model say how far each of these rows moves a
    new row's outputs, for an error of one.
    """

    model: Any
    left: LeftOut
    effects: bool = False
    coverage: float = 0.9

    @classmethod
    def of(cls, model: Any, left: LeftOut, effects: Solution | None = None) -> "Jackknife":
        """Beside the coefficients of a fitted model those of the effects."""
        light = copy(without_rows(model))
        if effects is not None:
            name = "beta_" if hasattr(model, "beta_") else "dual_coef_"
            for part, more in ((name, effects.coef), ("intercept_", effects.intercept)):
                own = getattr(model, part)
                more = cast(placed(more, own), own.dtype)
                setattr(light, part, namespace(own).concat([own, more], axis=-1))
        return cls(light, left, effects is not None)

    @by_blocks
    def interval(self, X: Rows) -> Array:
        """Lower and upper ends, a block of rows at a time."""
        X = valid_rows(self.model, X, reset=False)
        m = self.left.outputs.shape[1]
        found = np.empty((X.shape[0], m, 2))
        for rows, block in blocks_of(X, rows_at_once(m + len(self.left.weight))):
            F = to_numpy(self.model._map(block))
            effects = F[:, m:] if self.effects else None
            found[rows] = intervals(F[:, :m], effects, self.left, self.coverage)
        ends = found[:, 0] if self.model._flat else found
        return from_numpy(ends, X, floating(X, self.model.dtype))

    @by_blocks
    def classes(self, X: Rows) -> Array:
        """Which classes are likely enough."""
        F = self.model._outputs(X)
        if len(self.model.classes_) == 1:
            return namespace(F).astype(0.0 * F + 1.0, namespace(F).bool)
        scaling = getattr(self.model, "class_scaling_", None)
        P, left = (
            probabilities(to_numpy(each).astype(float), self.model.temperature_, scaling)
            for each in (F, self.left.outputs)
        )
        return from_numpy(label_sets(P, left, self.left, self.coverage), F)


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


def _leaves_out(instead: str) -> Callable[[Any], bool]:
    """Whether an estimator leaves rows out; else an error that says which ones do."""

    def leaves_out(model: Any) -> bool:
        if not hasattr(model, "_leave_out"):
            raise AttributeError(
                f"{type(model).__name__} keeps no errors of left-out rows to tell a coverage by; "
                f"use {instead}."
            )
        return True

    return leaves_out


def _at(model: Any, coverage: float, method: str, X: Rows) -> Jackknife:
    """The rows that are left out of a model, made once and kept until the next fit."""
    check_coverage(coverage)
    check_is_fitted(model)
    if not is_collection(X):
        check_place(model, method, X)
    now = snapshot(model)
    if not hasattr(now, "_jackknife"):
        with held_threads():
            now._jackknife = now._leave_out()
    at = copy(now._jackknife)
    at.coverage = float(coverage)
    return at


@available_if(_leaves_out("ELMRegressor or KernelELMRegressor"))
def predict_interval(self: Any, X: Rows, coverage: float = 0.9) -> Array:
    """Where the values of new rows lie, with a given coverage.

    By jackknife+: the ends are quantiles of f₋ᵢ(x) ∓ rᵢ, where f₋ᵢ is the model without the
    fitted row i and rᵢ its absolute error for that row: n refits in closed form, of all rows or of
    a fair sample (at most 2000). Where the models without a row are not at hand, for a kernel of
    more than 5000 rows, a low-rank factor or a precomputed kernel, f takes their place, which is
    the jackknife. The coverage is over all new rows together, not of each. Several outputs have an
    interval each.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
        The rows.
    coverage : float, default=0.9
        The part of new rows whose value lies in its interval, if they are like the fitted ones.

    Returns
    -------
    ends : ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
        The lower and the upper end.
    """
    found: Array = _at(self, coverage, "predict_interval", X).interval(X)
    return found


@available_if(_leaves_out("ELMClassifier, GraphELMClassifier or KernelELMClassifier"))
def predict_set(self: Any, X: Rows, coverage: float = 0.9) -> Array:
    """The classes that new rows may have, with a given coverage.

    A class is in the set where its probability is at least as large as that of the own class of
    enough fitted rows, each left out once: of all rows or of a fair sample. The coverage is
    over all new rows together, not of each. Where a model is right more often than is
    asked for, some sets are empty: those of the rows that it is least sure of.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
        The rows.
    coverage : float, default=0.9
        The part of new rows whose class is in the set, if they are like the fitted ones.

    Returns
    -------
    sets : ndarray of bool of shape (n_samples, n_classes)
        Whether each class is in the row's set, in the order of ``classes_``.
    """
    if self._several:
        raise InvalidInputError(
            "predict_set is for one label in each row, and this model has several; predict_proba "
            "has the probability of each."
        )
    found: Array = _at(self, coverage, "predict_set", X).classes(X)
    return found
