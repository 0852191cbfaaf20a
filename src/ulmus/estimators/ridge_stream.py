"""One ridge solve that goes on: rows are added, fade, and are taken out again.

While all rows are kept (`Reservoir.complete`), an update is a fit on all of them: the map is drawn
again from the same seed, with the scale of all rows, and C is chosen by leaving out each. Hidden
units are not linear in their inputs, so sums over them cannot be rescaled: that is why the first
rows are kept and not summed. Once there are more rows than are kept, the map stays as it is, sums
begin, and C is chosen by leaving out the rows of the sample from the sums of all rows.
"""

import numpy as np

from ulmus.backends.namespace import gathered
from ulmus.estimators.stage import layer_of
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import Hidden
from ulmus.solvers.auto import calibration_rows
from ulmus.solvers.forgetting import remaining

__all__ = [
    "add_sums",
    "fade",
    "forget_rows",
    "posed",
    "refit",
    "sample_problem",
    "solve_sums",
    "update",
]


def update(estimator, X, y, weight):
    """Fit more rows, that are checked."""
    estimator._meet(y)
    kept = estimator._kept
    if not kept.complete:
        add_sums(estimator, posed(estimator, estimator.features_, X, y, weight))
        estimator._kept = kept.add(X, y, weight)
        solve_sums(estimator, choose=estimator._kept.stale)
    elif len(kept):
        refit(estimator, kept.unlimited().add(X, y, weight))
    else:
        # The first rows of all may be many; they are fitted where they lie.
        estimator._fit_checked(X, y, weight, estimator._encode_known(y, weight))


def forget_rows(estimator, X, y, weight):
    """Take rows out again, that are checked; refuses rows that cannot have been fitted."""
    estimator._recall(y)
    X = gathered(X)
    kept, missing = estimator._kept.without(X, y, weight)
    if kept.complete:
        _check_found(estimator._kept, kept, missing, X.shape[0])
        estimator._drop(y, kept.y)
        refit(estimator, kept)
        return
    batch = posed(estimator, estimator.features_, X, y, weight).moments()
    estimator._moments, estimator._kept = remaining(estimator._moments, batch), kept
    solve_sums(estimator, choose=kept.stale)


def _check_found(before, after, missing, count):
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


def fade(estimator, decay):
    """Multiply the weights of all earlier rows."""
    estimator._kept = estimator._kept.faded(decay)
    if hasattr(estimator, "_moments"):
        estimator._moments = decay * estimator._moments


def refit(estimator, kept, encoded=None):
    """Fit all rows there were, for they are all kept."""
    X, y, weight = kept.rows()
    encoded = estimator._encode_known(y, weight) if encoded is None else encoded
    capacity = estimator._solve_rows(X, y, weight, encoded)
    estimator._kept = kept.limited(capacity).judged()


def add_sums(estimator, problem):
    """Add a batch to the sums."""
    known, moments = getattr(estimator, "_moments", None), problem.moments()
    estimator._moments = moments if known is None else known + moments


def solve_sums(estimator, choose):
    """Solve from the sums; ``choose`` looks for C anew, by the rows that are kept."""
    kept, grid = estimator._kept, estimator._grid()
    choose = choose and len(kept) > 0
    point = None if choose else estimator._settled(grid)
    grid = grid if point is None else point
    calibration = calibration_rows(len(kept) if choose else 0, estimator._seed())
    problem = sample_problem(estimator, estimator.features_)
    solution = estimator._solve_sample(estimator._moments, problem, grid, None, calibration)
    estimator._accept(problem, solution, np.inf, settled=point is not None)
    if choose:
        estimator._kept = kept.judged()


def sample_problem(estimator, features):
    """The rows that are kept as a problem; their weights are such that they stand for all rows."""
    X, y, weight = estimator._kept.rows()
    targets, weight, unit = estimator._encode_known(y, weight)
    odds = estimator._kept.odds()
    if odds is not None:
        weight = weight * odds
    H = Hidden(layer_of(features, X, estimator.dtype), X)
    return estimator._problem(H, targets, weight, unit)


def posed(estimator, features, X, y, weight):
    """Rows as a problem."""
    H = Hidden(layer_of(features, X, estimator.dtype), X)
    return estimator._problem(H, *estimator._encode_known(y, weight))
