"""Where the target of a new row lies, with a given coverage: intervals of values, sets of classes.

A left-out row is a new row for the model without it, so the errors of left-out rows estimate those
of new rows. Jackknife+ (Barber et al., 2021) takes for a new row x the quantiles of f₋ᵢ(x) ± |eᵢ|,
where f₋ᵢ is the model without row i and eᵢ its error there; the jackknife has f in place of f₋ᵢ.

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

from ulmus.arguments import is_number
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
from ulmus.backends.threads import held_threads
from ulmus.calibration import probabilities
from ulmus.distributed import by_blocks
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.fitted import snapshot, without_rows
from ulmus.hidden import blocks_of, rows_at_once
from ulmus.methods.ridge import Method
from ulmus.problem import Problem, Solution
from ulmus.sources.source import AtHand, Sample, Source, Summed
from ulmus.targets import ClassTargets, ValueTargets, coded, copies
from ulmus.typing import Array, Rows
from ulmus.validation import check_place, valid_rows

# The most rows that are left out one at a time; quantiles of so many are off by half a point.
MOST_LEFT_OUT = 2000


# Sums of weights that should be equal but were added in another order.
_CLOSE = 1e-9


@dataclass(frozen=True)
class LeftOut:
    """Rows that were left out: their outputs (r × m), targets, and how often each counts.

    The targets are values (r × m), or the numbers of classes (r).
    """

    outputs: np.ndarray
    targets: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(
        cls, problem: Problem, solution: Solution, rows: np.ndarray, count: np.ndarray | None
    ) -> "LeftOut":
        """Some of the rows that a solution left out, on the host.

        ``count`` is how often each row of the problem counts, None for once.
        """
        outputs = to_numpy(solution.loo)[np.searchsorted(solution.loo_rows, rows)]
        targets = to_numpy(problem.targets.array)[rows]
        weight = np.ones(len(rows)) if count is None else np.asarray(count, float)[rows]
        return cls(outputs.astype(float), targets, weight)

    @property
    def residual(self) -> np.ndarray:
        """How far the values are from the outputs."""
        return self.targets - self.outputs

    def widened(self, factor: float) -> "LeftOut":
        """The same with errors that are so many times as large."""
        T = self.targets
        if T.ndim == 1:
            k = max(2, self.outputs.shape[1])
            T = coded(ClassTargets(T, k), slice(0, len(T)), np.float64)
        return replace(self, outputs=T - factor * (T - self.outputs))

    def needed(self, coverage: float) -> float:
        """The weight at or below the quantile: ``coverage`` of the rows' and the new row's weight.

        The new row is one more copy, with the mean weight of one.
        """
        total = float(self.weight.sum())
        new = total / float(copies(self.weight).sum())
        if coverage * (total + new) > total * (1.0 + _CLOSE):
            raise InvalidInputError(
                f"coverage={coverage:g} needs more rows: {total / new:.4g} left-out rows allow at "
                f"most {total / (total + new):.3g}. Use a smaller coverage, or fit more rows."
            )
        return coverage * (total + new)


def quantile(values: np.ndarray, weight: np.ndarray, needed: float) -> np.ndarray:
    """The weighted quantile of each row: the least value with weight ``needed`` at or below it."""
    if (weight == weight[0]).all():
        k = int(np.ceil(needed / weight[0] * (1.0 - _CLOSE)))
        k = min(max(k, 1), values.shape[1])
        return np.partition(values, k - 1, axis=1)[:, k - 1]
    order = np.argsort(values, axis=1)
    enough = np.cumsum(weight[order], axis=1) >= needed * (1.0 - _CLOSE)
    place = np.where(enough.any(axis=1), np.argmax(enough, axis=1), values.shape[1] - 1)
    return np.take_along_axis(values, np.take_along_axis(order, place[:, None], 1), 1)[:, 0]


def intervals(
    outputs: np.ndarray, effects: np.ndarray | None, left: LeftOut, coverage: float
) -> np.ndarray:
    """The lower and the upper end (n × m × 2) of every output for new rows.

    ``effects`` (n × r) are the changes of the outputs by leaving out each row, for an error of one;
    None takes them as zero (the jackknife).
    """
    needed, found = left.needed(coverage), np.empty((*outputs.shape, 2))
    for j, error in enumerate(left.residual.T):
        f = outputs[:, j, None]
        if effects is None:
            reach = quantile(np.abs(error)[None], left.weight, needed)
            found[:, j] = f + np.array([-1.0, 1.0]) * reach
            continue
        without = f - effects * error
        for side, end in ((-1.0, 0), (1.0, 1)):
            ends = side * without + np.abs(error)
            found[:, j, end] = side * quantile(ends, left.weight, needed)
    return found


def label_sets(P: np.ndarray, left_P: np.ndarray, left: LeftOut, coverage: float) -> np.ndarray:
    """Which classes (n × k) are at least as likely as the own class of enough left-out rows."""
    own = left_P[np.arange(len(left_P)), left.targets]
    limit = quantile(1.0 - own[None], left.weight, left.needed(coverage))
    return limit >= 1.0 - P


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
                f"{type(model).__name__} has no leave-one-out errors to compute a coverage from; "
                f"use {instead}."
            )
        return True

    return leaves_out


def _at(model: Any, coverage: float, method: str, X: Rows) -> Jackknife:
    """The rows that are left out of a model, made once and kept until the next fit."""
    if not is_number(coverage, most=1.0) or coverage == 1.0:
        raise InvalidParameterError(
            f"coverage={coverage!r} must be a number between 0 and 1, such as 0.9."
        )
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
