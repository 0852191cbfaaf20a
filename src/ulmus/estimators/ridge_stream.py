"""One ridge solve that goes on: rows are added, fade, and are taken out again.

Hidden units are not linear in their inputs, so sums over them cannot be rescaled. So rows are kept
at first, and a stream goes through three stages:

1. Up to as many rows as units, at least 1000: every update is a fit on all rows. The map is drawn
   again from the same seed, with the scale of all rows, and C is chosen by leaving out each.
2. Up to 20 000 rows: there are sums beside the rows, to which an update is added. All rows are
   fitted again whenever ten are new, or a twentieth of the weight, or new ones move the scale.
3. Past that: the map stays as it is, and of the rows a sample. C is chosen again, by leaving out
   the rows of the sample from the sums of all rows, when a twentieth of the weight is new.
"""

from typing import Any

import numpy as np

from ulmus.backends.namespace import all_finite, gathered, namespace
from ulmus.exceptions import InvalidInputError
from ulmus.features.fitting import layer_of, scale_moves
from ulmus.hidden import Hidden
from ulmus.methods.forgetting import remaining
from ulmus.methods.method import refuse_sums
from ulmus.problem import Problem
from ulmus.reservoir import Reservoir, most_kept, most_refitted
from ulmus.sources.source import Sample, Summed, calibration_rows
from ulmus.typing import Rows

__all__ = [
    "add_sums",
    "fade",
    "forget_rows",
    "posed",
    "sample_problem",
    "solve_sums",
    "update",
]


def update(estimator: Any, X: Rows, y: Any, weight: np.ndarray | None) -> None:
    """Fit more rows, that are checked."""
    estimator._meet(y)
    kept = estimator._kept
    if kept.complete and not len(kept):
        _start(estimator, X, y, weight)
        return
    if kept.complete:
        kept = kept.unlimited().add(X, y, weight)
        if _must_refit(estimator, kept, X, weight):
            refit(estimator, kept)
            return
    else:
        kept = kept.add(X, y, weight)
    estimator._kept = kept
    add_sums(estimator, posed(estimator, estimator.features_, X, y, weight))
    solve_sums(estimator, choose=kept.stale)


def _start(estimator: Any, X: Rows, y: Any, weight: np.ndarray | None) -> None:
    """The first rows; they may be many, and are fitted where they lie."""
    encoded = estimator._encode_known(y, weight)
    capacity = estimator._solve_rows(X, y, weight, encoded)
    all_of_them = X.shape[0] <= most_refitted(capacity, X)
    kept = estimator._kept if all_of_them else estimator._kept.limited(capacity)
    estimator._kept = kept.add(X, y, weight).refitted()


def _must_refit(estimator: Any, kept: Reservoir, X: Rows, weight: np.ndarray | None) -> bool:
    """Whether all rows are to be fitted again, of which X are new."""
    if not hasattr(estimator, "_moments") or kept.grown or kept.stale:
        return True
    return scale_moves(estimator.features_, X, weight)


def forget_rows(estimator: Any, X: Rows, y: Any, weight: np.ndarray | None) -> None:
    """Take rows out again, that are checked; refuses rows that cannot have been fitted."""
    estimator._recall(y)
    X = gathered(X)
    kept, missing = estimator._kept.without(X, y, weight)
    if kept.complete:
        _check_found(estimator._kept, kept, missing, X.shape[0])
        if estimator._drop(y, kept.y) or kept.stale or not hasattr(estimator, "_moments"):
            refit(estimator, kept)
            return
    batch = posed(estimator, estimator.features_, X, y, weight).moments()
    estimator._moments, estimator._kept = remaining(estimator._moments, batch), kept
    solve_sums(estimator, choose=kept.stale)


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


def fade(estimator: Any, decay: float) -> None:
    """Multiply the weights of all earlier rows."""
    estimator._kept = estimator._kept.faded(decay)
    if hasattr(estimator, "_moments"):
        estimator._moments = decay * estimator._moments


def refit(estimator: Any, kept: Reservoir) -> None:
    """Fit all rows there were, for they are all kept; past a number, keep only some of them."""
    X, y, weight = kept.rows()
    capacity = estimator._solve_rows(X, y, weight, estimator._encode_known(y, weight))
    many = len(kept) > most_refitted(capacity, X)
    if many:
        refuse_sums(estimator._method())
    estimator._kept = (kept.limited(capacity) if many else kept).refitted()


def add_sums(estimator: Any, problem: Problem) -> None:
    """Add a batch to the sums."""
    known = getattr(estimator, "_moments", None)
    # What overflows is refused below, and needs no warning.
    with np.errstate(over="ignore", invalid="ignore"):
        moments = problem.moments() if known is None else known + problem.moments()
    # Every other sum is at most the root of two of these.
    squares = namespace(moments.gram).linalg.diagonal(moments.gram)
    if not (all_finite(squares) and all_finite(moments.energy)):
        raise InvalidInputError(
            "The sums of all rows so far are not finite: numbers in X, y or sample_weight are too "
            "large for sums of their squares. Bring them nearer to one."
        )
    estimator._moments = moments


def solve_sums(estimator: Any, choose: bool) -> None:
    """Solve from the sums; ``choose`` looks for C anew, by the rows that are kept."""
    kept, method = estimator._kept, estimator._method()
    sample = kept.limited(most_kept(estimator.n_hidden_, kept.X))
    choose = choose and len(sample) > 0
    settled = method.chooses and not choose
    if settled:
        method = method.at(**{name: getattr(estimator, f"{name}_") for name in method.parameters})
    calibration = calibration_rows(len(sample) if choose else 0, estimator._seed())
    problem = sample_problem(estimator, estimator.features_, sample)

    def whole() -> Problem:
        return posed(estimator, estimator.features_, *kept.rows())

    source = Summed(
        estimator._moments, Sample(problem, None, calibration), whole if kept.complete else None
    )
    estimator._accept(method, problem, method.fit(source), np.inf, settled)
    if choose:
        estimator._kept = kept.judged()


def sample_problem(estimator: Any, features: Any, sample: Reservoir) -> Problem:
    """A sample as a problem; its rows have such weights that they stand for all rows."""
    X, y, weight = sample.rows()
    targets, weight, unit = estimator._encode_known(y, weight)
    odds = sample.odds()
    if odds is not None:
        weight = weight * odds
    H = Hidden(layer_of(features, X, estimator.dtype), X)
    return estimator._problem(H, targets, weight, unit)


def posed(estimator: Any, features: Any, X: Rows, y: Any, weight: np.ndarray | None) -> Problem:
    """Rows as a problem."""
    H = Hidden(layer_of(features, X, estimator.dtype), X)
    return estimator._problem(H, *estimator._encode_known(y, weight))
