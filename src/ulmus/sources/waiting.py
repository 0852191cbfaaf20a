"""Rows that were added to a model and are fitted when something is asked of it.

A row that is added costs a copy of it. What it leads to, a fit on all rows, another C, or sums, is
done when a fitted attribute is read. What comes out is the same whenever that is: the points at
which all rows are fitted again, or C is chosen, depend on the batches alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from ulmus.backends.namespace import is_sparse, on_host
from ulmus.features.base import FeatureMap
from ulmus.features.hidden_layer import scale_moves
from ulmus.problem import Problem
from ulmus.reservoir import Reservoir, most_refitted
from ulmus.sources.source import RowsSoFar
from ulmus.typing import Rows

# Rows that are added to sums together: the h × h matrix is gone over once for all of them.
_TOGETHER = 256
# Largest values that wait: sums of their squares are finite, so that no error is put off.
_ORDINARY = 1e50


@dataclass(frozen=True)
class Waiting:
    """Rows after the last solve.

    ``rows`` has all rows, or the sample, and the sums of rows that are not in ``later``. While all
    rows are kept, ``again`` is the summary of the targets where all are to be fitted together, and
    ``cuts`` are the numbers of rows then and after each further batch. After that ``choice`` is
    where C is to be chosen. ``known`` is the summary of all targets, ``summed`` whether there are
    sums once ``again`` is done; ``before`` and ``parameters`` are the model's fitted attributes
    before these rows, and its parameters. ``growing`` is a solution that few rows are added to
    (`ulmus.methods.growing`), where the model has been asked for its outputs.
    """

    rows: RowsSoFar
    known: Any
    before: dict[str, Any]
    parameters: dict[str, Any]
    summed: bool
    cuts: tuple[int, ...]
    later: Reservoir
    again: Any = None
    choice: RowsSoFar | None = None
    growing: Any = None
    lock: Any = field(default_factory=Lock)
    found: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: RowsSoFar, before: dict[str, Any]) -> "Waiting":
        """None yet, for a model that is fitted to ``rows``."""
        model = before, rows.model.get_params(deep=False)
        none, summed = Reservoir(rows.kept.seed), rows.sums is not None
        return cls(rows, rows.known, *model, summed, (len(rows.kept),), none)

    def suits(self, model: Any) -> bool:
        """Whether the model still has the parameters that rows wait with."""
        now = model.get_params(deep=False)
        return all(now[name] is value for name, value in self.parameters.items())

    # ------------------------------------------------------------------ rows added
    def added(self, X: Rows, y: Any, weight: np.ndarray | None) -> "Waiting":
        """With more checked rows."""
        known, kept = self.known.met(y), self.rows.kept
        if not kept.complete:
            more = replace(self.rows, kept=kept.add(X, y, weight))
            return self._fresh(rows=more, known=known)._sampled(X, y, weight)
        kept = replace(kept, capacity=None).add(X, y, weight)
        if self.summed and not (kept.grown or kept.stale):
            cuts = (*self.cuts, len(kept))
            return self._fresh(rows=replace(self.rows, kept=kept), known=known, cuts=cuts)
        rows = replace(self.rows, kept=kept.refitted())
        summed = len(kept) > rows.capacity(kept.X)
        return self._fresh(rows=rows, known=known, again=known, summed=summed, cuts=(len(kept),))

    def _sampled(self, X: Rows, y: Any, weight: np.ndarray | None) -> "Waiting":
        """With a batch that is in the sample and not in the sums yet."""
        if X.shape[0] < _TOGETHER:
            found = self._fresh(later=self.later.add(X, y, weight))
            found = found._folded() if len(found.later) >= _TOGETHER else found
        else:
            found = self._folded()
            found = found._fresh(rows=_summed(found.rows, (X, y, weight)), growing=None)
        kept = found.rows.kept
        if not (kept.stale and len(kept)):
            return found
        found = found._folded()
        judged = replace(found.rows, kept=kept.judged())
        return found._fresh(rows=judged, choice=found.rows)

    def _folded(self) -> "Waiting":
        """With all rows in the sums."""
        if not len(self.later):
            return self
        rows = _summed(self.rows, self.later.rows())
        return self._fresh(rows=rows, later=Reservoir(self.later.seed), growing=None)

    def _fresh(self, **changes: Any) -> "Waiting":
        """Another, that nothing was asked of yet."""
        return replace(self, **changes, lock=Lock(), found={})

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
    def solved(self, solve: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The fitted attributes, worked out once whoever asks.

        Where that fails, the rows that wait are let go with the error, and the next to ask has the
        attributes from before them.
        """
        with self.lock:
            if not self.found:
                try:
                    self.found.update(solve())
                except Exception as error:
                    self.found.update(self.before)
                    error.add_note("The rows that were added since the last answer are left out.")
                    raise
            return self.found

    def unsummed(self, first: int) -> tuple[RowsSoFar, Problem] | None:
        """Sums, and the rows after them from the first-th on; None where more is to be done.

        That is to choose C, to fit all rows again, or to make room for another class.
        """
        if self.rows.kept.complete or self.choice is not None or not len(self.later):
            return None
        X, y, weight = self.later.between(first, len(self.later))
        same = np.array_equal(
            getattr(self.known, "classes", 0), getattr(self.rows.known, "classes", 0)
        )
        return (self.rows, self.rows.problem(self.rows.features, X, y, weight)) if same else None

    def fit(self, model: Any) -> None:
        """Fit a model to what waits; ``model`` is as it was before."""
        rows = replace(self._folded().rows, model=model)
        if not rows.kept.complete:
            if self.choice is not None:
                model._update(replace(self.choice, model=model))
            if self.choice is None or rows.sums is not self.choice.sums:
                model._update(rows)
            return
        self._refit(model, rows.kept)
        if model._kept.complete:
            model._kept = rows.kept

    def _refit(self, model: Any, kept: Reservoir) -> None:
        """Go through the batches since the rows were last fitted together."""
        start, *ends = self.cuts
        if self.again is not None:
            so_far = replace(self.rows, model=model, known=self.again, kept=kept.first(start))
            model._learn(replace(so_far, sums=None).at_hand(stream=True))
        summed = start
        for first, last in zip((start, *ends), ends, strict=False):
            so_far, (X, _, weight) = model._so_far(), kept.between(first, last)
            if scale_moves(so_far.features, X, weight):
                known = so_far.known.met(kept.between(summed, last)[1])
                so_far = replace(so_far, known=known, kept=kept.first(last), sums=None)
                model._learn(so_far.at_hand(stream=True))
                summed = last
        if summed < len(kept):
            so_far = replace(model._so_far(), kept=kept)
            model._update(_summed(so_far, kept.between(summed, len(kept))))


def _summed(rows: RowsSoFar, batch: Any) -> RowsSoFar:
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
