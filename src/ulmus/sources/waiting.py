"""Rows that were added to a model and are fitted when something is asked of it.

A row that is added costs a copy of it. What it leads to, a fit on all rows, another C, or sums, is
done when a fitted attribute is read. What comes out is the same whenever that is: the points at
which all rows are fitted again, or C is chosen, depend on the batches alone.

While rows wait, the model has no fitted attributes but `Waiting` and those of its inputs.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from ulmus.arguments import is_number
from ulmus.backends.namespace import is_sparse, on_host
from ulmus.backends.threads import held_threads
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.fitted import check_finite, fitted_names, settled, twin
from ulmus.reservoir import Reservoir, most_refitted
from ulmus.sources.source import Batch, RowsSoFar
from ulmus.typing import Rows

# Rows that are added to sums together: the h × h matrix is gone over once for all of them.
_TOGETHER = 256
# Largest values that wait: sums of their squares are finite, so that no error is put off.
_ORDINARY = 1e50
# Fitted attributes that checks of further rows read.
OF_INPUTS = ("n_features_in_", "feature_names_in_")


def streamed(model: Any, X: Rows, y: Any, sample_weight: Any, forget: bool, decay: float) -> Any:
    """``partial_fit`` of a model that has ``_learn`` and ``_update``, within `atomic`."""
    if not is_number(decay, most=1.0):
        raise InvalidParameterError(f"decay={decay!r} must be above 0 and at most 1.")
    waiting = vars(model).get("_waiting")
    if waiting is not None and (forget or decay < 1 or not waiting.suits(model)):
        settled(model)
        waiting = None
    first = waiting is None and "_kept" not in vars(model)
    if waiting is None:
        model._refuse_sketch("partial_fit")
    if forget and first:
        raise InvalidInputError("There is nothing to forget: no row has been fitted yet.")
    batch = model._checked_rows(X, y, sample_weight, reset=first)
    if decay < 1 and not first:
        rows = model._so_far().faded(decay)
        model._kept = rows.kept
        if rows.sums is not None:
            model._moments = rows.sums
    if first:
        # They may be many, and are fitted without a copy.
        model._learn(model._so_far().met(batch[1]).at_hand(batch, stream=True))
    elif forget:
        rows = model._so_far().without(*batch)
        model._learn(rows.at_hand(stream=True)) if rows.sums is None else model._update(rows)
    else:
        _add(model, waiting or Waiting.of(model), batch)
    return model


def _add(model: Any, waiting: "Waiting", batch: Batch) -> None:
    """Let rows wait, or fit them with those that do where an error may come of them."""
    waits, more = waiting.may_wait(*batch), waiting.added(*batch)
    if not waits:
        settled(model)
        more.fit(model)
        return
    for name in fitted_names(model):
        if name not in OF_INPUTS:
            del vars(model)[name]
    model._waiting = more


@dataclass(frozen=True)
class Waiting:
    """Rows after the last solve.

    ``rows`` has the model as it was before them, all rows or the sample, and the sums of rows that
    are not in ``later``. While all rows are kept, ``again`` says whether all are to be fitted
    together, and ``cuts`` are the numbers of rows then and after each further batch. After that
    ``choice`` is where C is to be chosen. ``known`` is the summary of all targets, ``summed``
    whether there are sums once all are fitted again, and ``found`` the fitted attributes, once they
    are worked out.
    """

    rows: RowsSoFar
    known: Any
    summed: bool
    cuts: tuple[int, ...]
    later: Reservoir
    again: bool = False
    choice: RowsSoFar | None = None
    lock: Any = field(default_factory=Lock, init=False)
    found: dict[str, Any] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, model: Any) -> "Waiting":
        """None yet, for a fitted model."""
        rows = replace(model._so_far(), model=twin(model, dict(vars(model))))
        none, summed = Reservoir(rows.kept.seed), rows.sums is not None
        return cls(rows, rows.known, summed, (len(rows.kept),), none)

    def suits(self, model: Any) -> bool:
        """Whether the model still has the parameters that rows wait with."""
        before = vars(self.rows.model)
        return all(before[name] is now for name, now in model.get_params(deep=False).items())

    # ------------------------------------------------------------------ rows added
    def added(self, X: Rows, y: Any, weight: np.ndarray | None) -> "Waiting":
        """With more checked rows."""
        known, kept = self.known.met(y), self.rows.kept
        if not kept.complete:
            more = replace(self.rows, kept=kept.add(X, y, weight))
            return replace(self, rows=more, known=known)._sampled(X, y, weight)
        kept = replace(kept, capacity=None).add(X, y, weight)
        if self.summed and not (kept.grown(X.shape[0]) or kept.stale):
            cuts = (*self.cuts, len(kept))
            return replace(self, rows=replace(self.rows, kept=kept), known=known, cuts=cuts)
        rows = replace(self.rows, kept=kept.refitted(), known=known, sums=None)
        summed = len(kept) > rows.capacity(kept.X)
        return replace(self, rows=rows, known=known, again=True, summed=summed, cuts=(len(kept),))

    def _sampled(self, X: Rows, y: Any, weight: np.ndarray | None) -> "Waiting":
        """With a batch that is in the sample and not in the sums yet."""
        if X.shape[0] < _TOGETHER:
            found = replace(self, later=self.later.add(X, y, weight))
            found = found._folded() if len(found.later) >= _TOGETHER else found
        else:
            found = self._folded()
            found = replace(found, rows=_summed(found.rows, (X, y, weight)))
        kept = found.rows.kept
        if not (kept.stale and len(kept)):
            return found
        found = found._folded()
        return replace(found, rows=replace(found.rows, kept=kept.judged()), choice=found.rows)

    def _folded(self) -> "Waiting":
        """With all rows in the sums."""
        if not len(self.later):
            return self
        rows = _summed(self.rows, self.later.rows())
        return replace(self, rows=rows, later=Reservoir(self.later.seed))

    def may_wait(self, X: Rows, y: Any, weight: np.ndarray | None) -> bool:
        """Whether no error can be put off with these rows, and there is room for them."""
        features, kept, model = self.rows.features, self.rows.kept, self.rows.model
        own = features.estimator if isinstance(features, FrozenEstimator) else features
        if not isinstance(own, FeatureMap) or model.n_hidden == "loo" or model.verbose:
            return False
        # Of a given width, and without a function of the user's, which may fail.
        given = own.get_params(deep=False)
        if "n_hidden" not in given or any(map(callable, given.values())):
            return False
        if kept.complete and len(kept) + X.shape[0] > most_refitted(0, kept.X):
            return False
        return all(_is_ordinary(part) for part in (X, y, weight))

    # ------------------------------------------------------------------ when asked
    def after(self) -> dict[str, Any]:
        """The fitted attributes, worked out once whoever asks.

        Where that fails, the rows that wait are let go with the error, and the next to ask has the
        attributes from before them.
        """
        with self.lock:
            if not self.found:
                before = self.rows.model
                model = twin(before, dict(vars(before)))
                try:
                    kept = self.rows.kept
                    with held_threads(len(kept) if kept.complete else np.inf):
                        self.fit(model)
                    check_finite(model)
                except Exception as error:
                    model = before
                    error.add_note("The rows that were added since the last answer are left out.")
                    raise
                finally:
                    self.found.update({name: vars(model)[name] for name in fitted_names(model)})
            return self.found

    def fit(self, model: Any) -> None:
        """Fit a model to what waits; ``model`` is as it was before."""
        rows = replace(self.rows, model=model)
        if rows.kept.complete:
            self._refit(model, rows)
            return
        if self.choice is not None:
            model._update(replace(self.choice, model=model))
        if len(self.later):
            model._update(rows, self.later.rows())
        elif self.choice is None or rows.sums is not self.choice.sums:
            model._update(rows)

    def _refit(self, model: Any, rows: RowsSoFar) -> None:
        """Go through the batches since the rows were last fitted together."""
        kept, summed = rows.kept, self.cuts[0]
        if self.again:
            model._learn(replace(rows, kept=kept.first(summed)).at_hand(stream=True))
        for first, last in pairwise(self.cuts):
            so_far, (X, _, weight) = model._so_far(), kept.between(first, last)
            features = so_far.features
            if isinstance(features, FeatureMap) and features.moves(X, weight):
                known = so_far.known.met(kept.between(summed, last)[1])
                so_far = replace(so_far, known=known, kept=kept.first(last), sums=None)
                model._learn(so_far.at_hand(stream=True))
                summed = last
        if summed < len(kept):
            so_far = replace(model._so_far(), kept=kept)
            model._update(so_far, kept.between(summed, len(kept)))
        if model._kept.complete:
            model._kept = kept


def _summed(rows: RowsSoFar, batch: Batch) -> RowsSoFar:
    """With the sums of a batch."""
    rows = rows.met(batch[1])
    return rows.with_sums(rows.problem(rows.features, *batch))


def _is_ordinary(part: Any) -> bool:
    """Whether no number is so large or so small that its square could overflow or vanish."""
    values = on_host(part.data if is_sparse(part) else part)
    if values is None or values.dtype.kind not in "fc" or not values.size:
        return True
    size = np.abs(values)
    least = float(np.min(size, where=size > 0, initial=1.0))
    return float(size.max()) < _ORDINARY and least > 1.0 / _ORDINARY
