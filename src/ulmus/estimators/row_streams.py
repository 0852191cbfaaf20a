"""Rows that are added to a model, faded and taken out again, and fitted when it is asked."""

from dataclasses import replace
from typing import Any

import numpy as np

from ulmus.arguments import is_number
from ulmus.backends.linalg import held_threads
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.fitted import MadeAgain, check_finite, declared, fitted_names, settled, snapshot
from ulmus.methods.growing import Growing
from ulmus.methods.ridge import Ridge
from ulmus.problem import Solution
from ulmus.sources.waiting import Waiting
from ulmus.typing import Rows

# Fitted attributes that checks of further rows read, and those that outputs do not need.
_OF_INPUTS = ("n_features_in_", "feature_names_in_")
_BEHIND = ("_kept", "_moments", "_jackknife")


class RowStream:
    """``partial_fit`` of an estimator that has ``_learn`` and ``_update``.

    While rows wait to be fitted, the estimator has no other fitted attributes: one that is read is
    not found, and `__getattr__` fits the rows first.
    """

    _waiting: MadeAgain[Waiting]

    def _partial_fit(
        self: Any, X: Rows, y: Any, sample_weight: Any, forget: bool, decay: float
    ) -> Any:
        if not is_number(decay, most=1.0):
            raise InvalidParameterError(f"decay={decay!r} must be above 0 and at most 1.")
        waiting = vars(self).get("_waiting")
        if waiting is not None and (forget or decay < 1 or not waiting.suits(self)):
            settled(self)
            waiting = None
        first = waiting is None and "_kept" not in vars(self)
        if waiting is None:
            self._refuse_sketch("partial_fit")
        if forget and first:
            raise InvalidInputError("There is nothing to forget: no row has been fitted yet.")
        batch = self._checked_rows(X, y, sample_weight, reset=first)
        if first:
            # They may be many, and are fitted without a copy.
            self._learn(self._so_far().met(batch[1]).at_hand(batch, stream=True))
        elif forget:
            rows = self._faded(decay).without(*batch)
            self._learn(rows.at_hand(stream=True)) if rows.sums is None else self._update(rows)
        else:
            self._add(waiting or Waiting.of(self._faded(decay), self._fitted()), batch)
        return self

    def _faded(self: Any, decay: float) -> Any:
        """The rows so far, with their weights multiplied."""
        if decay < 1:
            rows = self._so_far().faded(decay)
            self._kept = rows.kept
            if rows.sums is not None:
                self._moments = rows.sums
        return self._so_far()

    def _add(self: Any, waiting: Waiting, batch: Any) -> None:
        """Let rows wait, or fit them with those that do where an error may come of them."""
        waits, more = waiting.may_wait(*batch), waiting.added(*batch)
        if waits:
            for name in self._fitted():
                del vars(self)[name]
            self._waiting = more
        else:
            settled(self)
            more.fit(self)

    def _fitted(self: Any) -> dict[str, Any]:
        """The fitted attributes that are not there while rows wait."""
        names = [name for name in fitted_names(self) if name not in _OF_INPUTS]
        return {name: vars(self)[name] for name in names}

    def _apart(self: Any) -> tuple[dict[str, Any], Waiting]:
        """All attributes that are not fitted ones, and the rows that wait."""
        fitted = self._fitted()
        state = {name: part for name, part in vars(self).items() if name not in fitted}
        return state, fitted["_waiting"]

    def _settle(self: Any) -> dict[str, Any]:
        """The attributes after the rows that wait are fitted."""
        state, waiting = self._apart()
        return state | waiting.solved(lambda: _solution(self, state, waiting))

    def _answering(self: Any) -> dict[str, Any]:
        """What outputs need, without a pass over the sums where few rows wait."""
        if "beta_" in vars(self):
            return vars(self)
        state, waiting = self._apart()
        model = _before(self, state, waiting)
        growing = _grown(model, waiting)
        if growing is None:
            settled_state: dict[str, Any] = self._settle()
            return settled_state
        coef, intercept = growing.solution()
        found = waiting.unsummed(0)
        assert found is not None
        method, none = model._method().at(C=model.C_), np.empty(0, np.intp)
        solution = Solution(coef, intercept, model.C_, "primal", none, coef[:0])
        model._accept(method, found[1], solution, np.inf, settled=True)
        check_finite(model)
        ready = {name: part for name, part in model._fitted().items() if name not in _BEHIND}
        return state | ready | {"_waiting": replace(waiting, growing=growing)}

    def __getattr__(self, name: str) -> Any:
        fitted = name in declared(type(self)) or (name[-1] == "_" and name[0] != "_")
        ready = "beta_" in vars(self) and name not in _BEHIND
        if "_waiting" not in vars(self) or ready or not fitted or name in _OF_INPUTS:
            # Again, for the error: that of a property says more than that it is not there.
            return object.__getattribute__(self, name)
        return getattr(snapshot(self), name)


def _solution(estimator: Any, state: dict[str, Any], waiting: Waiting) -> dict[str, Any]:
    """The fitted attributes of an estimator after the rows that wait."""
    model = _before(estimator, state, waiting)
    with held_threads():
        waiting.fit(model)
    check_finite(model)
    found: dict[str, Any] = model._fitted()
    return found


def _before(estimator: Any, state: dict[str, Any], waiting: Waiting) -> Any:
    """The estimator as it was before the rows that wait."""
    model = object.__new__(type(estimator))
    model.__dict__ = {**state, **waiting.parameters, **waiting.before}
    return model


def _grown(model: Any, waiting: Waiting) -> Growing | None:
    """The solution with all rows that wait; None where that is another solve."""
    growing = waiting.growing
    found = waiting.unsummed(len(growing or ()))
    if found is None or type(model._method()) is not Ridge:
        return None
    rows, problem = found
    if growing is None:
        assert rows.sums is not None  # of a sample
        growing = Growing.of(rows.sums, problem, model.C_)
    return growing.added(problem) if growing is not None and len(problem.targets) else growing
