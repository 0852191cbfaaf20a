"""Rows that come one batch after another: those that are kept, their sums, and a map.

Hidden units are not linear in their inputs, so sums over them cannot be rescaled. So rows are kept
at first, and a stream goes through three stages:

1. Up to as many rows as units, at least 1000: every update is a fit on all rows. The map is drawn
   again from the same seed, with the scale of all rows, and C is chosen by leaving out each.
2. Up to 20 000 rows: there are sums beside the rows, to which an update is added. All rows are
   fitted again whenever ten are new, or a twentieth of the weight, or new ones move the scale.
3. Past that: the map stays as it is, and of the rows a sample. C is chosen again, by leaving out
   the rows of the sample from the sums of all rows, when a twentieth of the weight is new.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from ulmus.backends.linalg import Cholesky, NotPositiveDefinite, add_to_diagonal
from ulmus.backends.namespace import all_finite, eps, from_numpy, gathered, namespace, placed
from ulmus.exceptions import InvalidInputError
from ulmus.features.hidden_layer import fitted_map, layer_of, scale_moves
from ulmus.hidden import Hidden
from ulmus.problem import Moments, Problem
from ulmus.reservoir import Reservoir, most_kept, most_refitted
from ulmus.sources.source import AtHand, Gathered, Sample, Summed, calibration_rows, refuse_sums
from ulmus.typing import Array, Rows

# How many times farther off than its estimate the rounding of sums may be.
_MARGIN = 16.0
# X, y and the weights, None for ones.
Batch = tuple[Rows, Any, np.ndarray | None]


@dataclass(frozen=True)
class RowsSoFar:
    """What is known of the rows that have come.

    ``model`` is asked for its parameters, its checks and its method, and never for what it has
    fitted. ``known`` is what their targets have in common, ``kept`` are all rows or a sample,
    ``features`` the fitted map, and ``sums`` are None while there is no need of them.
    """

    model: Any
    known: Any
    kept: Reservoir
    features: Any = None
    sums: Moments | None = None

    # ------------------------------------------------------------------ as a source
    def problem(
        self, features: Any, X: Rows, y: Any, weight: np.ndarray | None, **more: Any
    ) -> Problem:
        """Rows under a map."""
        H = Hidden(layer_of(features, X, self.model.dtype), X)
        return self.known.problem(y, weight, **more).over(H)

    def capacity(self, X: Rows) -> int:
        """How many rows like X are kept beside the units of the map."""
        return most_kept(layer_of(self.features, X, self.model.dtype).width, X)

    def at_hand(self, new: Batch | None = None, stream: bool = False) -> Gathered:
        """All rows, and their map: ``new`` ones, that are kept after the fit, or those kept.

        A ``stream`` keeps more rows than are needed beside sums. Where it is none, these rows are
        all there will be, and the weights that balance classes follow those that are left out.
        """
        X, y, weight = new or self.kept.rows()
        known = self.known if stream else self.model._known().surveyed(y, weight).checked()
        rows = replace(self, known=known)
        if not _stays(self.features):
            features = fitted_map(self.model, X, y, weight, random_state=self.kept.seed)
            rows = replace(rows, features=features)
        capacity = rows.capacity(X)
        if X.shape[0] > (most_refitted(capacity, X) if stream else capacity):
            if stream and not new:
                refuse_sums(self.model._method())
            rows = replace(rows, kept=self.kept.limited(capacity))

        def source(features: Any, watch: Any) -> AtHand:
            problem = rows.problem(features, X, y, weight, whole=not stream)
            return AtHand(replace(problem, H=replace(problem.H, watch=watch)), rows.kept.later_seed)

        summed = X.shape[0] > capacity
        return Gathered(known, rows.features, source, rows.kept, new or (), summed=summed)

    def summed(self, features: Any, choose: bool = True) -> Summed:
        """The sums, and the sample that rows are left out of where C is to be chosen."""
        assert self.sums is not None
        kept = self.kept.limited(self.capacity(self.kept.X))
        problem, odds = self.problem(features, *kept.rows()), kept.odds()
        if odds is not None:
            # With these weights the rows of the sample stand for all.
            problem = replace(problem, weight=problem.weight * placed(odds, problem.weight))
        calibration = calibration_rows(len(kept) if choose else 0, kept.later_seed)

        def whole() -> Problem:
            return self.problem(features, *self.kept.rows())

        sums = self.sums.first(problem.H.width)
        rows = whole if self.kept.complete else None
        return Summed(sums, Sample(problem, None, calibration), rows)

    # ------------------------------------------------------------------ rows that come and go
    def met(self, y: np.ndarray) -> "RowsSoFar":
        """Once the targets of a batch are known, for which the sums may need more columns."""
        known = self.known.met(y)
        sums = self.sums if self.sums is None else known.moved(self.sums, self.known)
        return replace(self, known=known, sums=sums)

    def with_rows(self, X: Rows, y: Any, weight: np.ndarray | None) -> "RowsSoFar":
        """With more rows, that are checked; without sums where all are to be fitted again."""
        met, complete = self.met(y), self.kept.complete
        kept = (self.kept.unlimited() if complete else self.kept).add(X, y, weight)
        again = self.sums is None or kept.grown or kept.stale
        if complete and (again or scale_moves(self.features, X, weight)):
            return replace(met, kept=kept, sums=None)
        return replace(met, kept=kept).with_sums(met.problem(self.features, X, y, weight))

    def with_sums(self, problem: Problem) -> "RowsSoFar":
        """With the sums of a batch."""
        # What overflows is refused below, and needs no warning.
        with np.errstate(over="ignore", invalid="ignore"):
            sums = problem.moments() if self.sums is None else self.sums + problem.moments()
        # Every other sum is at most the root of two of these.
        squares = namespace(sums.gram).linalg.diagonal(sums.gram)
        if not (all_finite(squares) and all_finite(sums.energy)):
            raise InvalidInputError(
                "The sums of all rows so far are not finite: numbers in X, y or sample_weight are "
                "too large for sums of their squares. Bring them nearer to one."
            )
        return replace(self, sums=sums)

    def without(self, X: Rows, y: Any, weight: np.ndarray | None) -> "RowsSoFar":
        """Less some rows, that are checked; refuses rows that cannot have been fitted."""
        self.known.recalled(y)
        X = gathered(X)
        kept, missing = self.kept.without(X, y, weight)
        if kept.complete:
            _check_found(self.kept, kept, missing, X.shape[0])
            known = self.known.without(y, kept.y)
            if known is not self.known or kept.stale or self.sums is None:
                return replace(self, known=known, kept=kept, sums=None)
        batch = self.problem(self.features, X, y, weight).moments()
        assert self.sums is not None  # where rows are gone
        return replace(self, kept=kept, sums=_remaining(self.sums, batch))

    def faded(self, decay: float) -> "RowsSoFar":
        """With the weights of all rows so far multiplied."""
        sums = None if self.sums is None else decay * self.sums
        return replace(self, kept=self.kept.faded(decay), sums=sums)


def _stays(features: Any) -> bool:
    """Whether a map is of the rows that were first fitted, as that of a kernel matrix is."""
    return hasattr(features, "__sklearn_tags__") and get_tags(features).input_tags.pairwise


def _check_found(before: Reservoir, after: Reservoir, missing: int, count: int) -> None:
    if not len(after) or count > len(before):
        raise InvalidInputError(
            f"Forgetting {count} of {len(before)} rows leaves none to fit. Forget fewer rows, or "
            "fit a new model."
        )
    if missing:
        raise InvalidInputError(
            f"{missing} of the {count} rows to forget were not fitted, or with another target or "
            "less weight. Forget rows as they were fitted, with the weight that decay= has left "
            "them."
        )


def _remaining(moments: Moments, batch: Moments) -> Moments:
    """The sums less those of the batch, if it can have been among them.

    Rows with positive weights have a positive semi-definite [H 1 y]ᵀC[H 1 y] for every column y of
    Y, and every such matrix is that of some rows. So the weight is looked at, then [H 1] by one
    Cholesky factorisation, and what it explains of each column beside the energy of that column, a
    class's total among them.
    """
    left = moments - batch
    if left.weight <= _rounding(left, moments) * moments.weight:
        raise InvalidInputError(
            f"Forgetting rows of weight {batch.weight:g} out of {moments.weight:g} leaves none to "
            "fit. Forget fewer rows, or fit a new model."
        )
    if not _possible(left, moments):
        raise InvalidInputError(
            "These rows were not all fitted, or with other targets or weights: no rows have the "
            "sums that would be left. Forget rows as they were fitted, with the weight that "
            "decay= has left them."
        )
    return left


def _possible(left: Moments, before: Moments) -> bool:
    """Whether some rows have these sums, to the rounding of the sums ``before``."""
    xp, slack = namespace(before.gram), _rounding(left, before)
    size, outer = _size(xp.linalg.diagonal(_with_ones(before))), _size(before.energy)
    scaled = _with_ones(left) / size / size[:, None]
    try:
        factor = Cholesky(add_to_diagonal(scaled, slack), overwrite=True)
    except NotPositiveDefinite:
        return False
    cross = xp.concat([left.cross, left.target[None, :]]) / size[:, None] / outer
    explained = xp.sum(factor.whiten(cross) ** 2, axis=0)
    return bool(xp.all(left.energy / outer**2 + slack > explained))


def _with_ones(m: Moments) -> Array:
    """[H 1]ᵀC[H 1]."""
    xp, s = namespace(m.gram), m.hidden[:, None]
    weight = from_numpy(np.array([[m.weight]]), m.gram)
    return xp.concat([xp.concat([m.gram, s], axis=1), xp.concat([s.T, weight], axis=1)])


def _size(squares: Array) -> Array:
    """The root of each, and one for nothing."""
    xp = namespace(squares)
    return xp.where(squares > 0, xp.sqrt(xp.clip(squares, min=0.0)), 0.0 * squares + 1.0)


def _rounding(left: Moments, before: Moments) -> float:
    """How far below zero rounding may move an eigenvalue, beside a diagonal of ones."""
    xp = namespace(before.gram)
    largest = float(xp.max(xp.linalg.diagonal(before.gram)))
    sums = left.rounding / largest if largest > 0 else 0.0
    return _MARGIN * (sums + before.gram.shape[0] * eps(before.gram.dtype))
