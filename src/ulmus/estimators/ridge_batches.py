"""One ridge solve over batches, which are read and let go.

Batches that can be read twice are: first for the scale of the inputs, the classes, and a sample of
rows that the map draws its units from; then for the sums. From an iterator, which can be read once,
the first rows settle the map. Either way rows are kept at first, as many as are 32 MiB: where these
are all there are, they are fitted as rows at hand are.
"""

import numpy as np

from ulmus.distributed.blocks import named
from ulmus.estimators.batches import SourceError, cut_short, numbered, rewinds
from ulmus.estimators.ridge_stream import add_sums, posed, sample_problem
from ulmus.estimators.stage import fitted_map, layer_of, map_of_sample
from ulmus.estimators.watching import watched
from ulmus.exceptions import BatchError, InvalidInputError
from ulmus.features.base import column_statistics
from ulmus.fitted import atomic
from ulmus.methods.method import refuse_sums
from ulmus.reservoir import Reservoir, most_collected, most_kept
from ulmus.sources.source import Sample, Summed, calibration_rows

__all__ = ["fit_batches"]


def fit_batches(estimator, batches, checkpoint):
    """Fit a `RidgeELM`; give back the error that cut the batches short, if one did."""
    estimator._refuse_sketch("rows that come in batches")
    failure, total = None, None
    if rewinds(batches):
        columns, total = _survey(estimator, batches), estimator._kept.seen
        if estimator._kept.complete:
            checkpoint.check_end(0)
            return _finish(estimator)
        _settle_on_sample(estimator, columns)
    try:
        for _ in _absorbed(estimator, batches, checkpoint, total):
            checkpoint.offer(estimator._moments)
    except BatchError as error:
        kept, summed = estimator._kept, hasattr(estimator, "_moments")
        if not (summed or (kept.complete and len(kept))):
            raise
        failure = cut_short(error, kept.seen, checkpoint.path if summed else None)
        if not isinstance(error, SourceError):
            raise failure from error.__cause__
    finally:
        checkpoint.save()
    try:
        _finish(estimator)
    except InvalidInputError as error:
        raise failure or error from error
    if failure is None:
        checkpoint.remove()
    return failure


def _survey(estimator, batches):
    """Learn the targets of all batches and sample their rows; give the columns' statistics."""
    columns = None
    with watched(estimator, "Scale") as update:
        for number, *batch in numbered(batches):
            with named(f"Batch {number}"):
                first = not hasattr(estimator, "n_features_in_")
                X, y, weight = estimator._checked_rows(*batch, reset=first)
                estimator._survey(y, weight)
                part = column_statistics(X, y, weight, estimator)
                columns = part if first else columns.merge(part)
                if first:
                    estimator._kept = estimator._kept.limited(most_collected(X))
                estimator._kept = estimator._kept.add(X, y, weight)
            update(estimator._kept.seen, None)
    return columns


def _settle_on_sample(estimator, columns):
    """Settle the map by the statistics of all rows and a sample; the rows are to come again."""
    refuse_sums(estimator._method())
    X, y, _ = estimator._kept.rows()
    seed = estimator._kept.seed
    estimator.features_ = map_of_sample(estimator, X, y, columns, seed)
    estimator._kept = Reservoir(seed, _capacity(estimator, X))


def _absorbed(estimator, batches, checkpoint, total):
    """Add up the batches but for those that the checkpoint has; yield after each that is added."""
    rows, limit = 0, None if total is None else 0
    with watched(estimator, "Read" if total is None else "Fit") as update:
        for number, *batch in numbered(batches):
            fresh = rows >= checkpoint.rows
            with named(f"Batch {number}"):
                count, limit, problem = _taken_in(estimator, batch, fresh, limit)
            rows += count
            if problem is not None:
                checkpoint.claim(estimator, problem)
            if rows >= checkpoint.rows and not fresh:
                estimator._moments = checkpoint.restored(problem, rows)
            update(rows, total)
            if rows >= checkpoint.rows and problem is not None:
                yield
    checkpoint.check_end(rows)


@atomic
def _taken_in(estimator, batch, fresh, limit):
    """Keep rows of a batch, and add it to the sums if it is ``fresh``.

    ``limit`` is how many rows are collected first; 0 says that the map is settled. Gives the number
    of rows, the limit for the next batch, and what is now in the sums as a problem, if anything is.
    """
    part = estimator._checked_rows(*batch, reset=not hasattr(estimator, "n_features_in_"))
    count = part[0].shape[0]
    estimator._meet(part[1])
    estimator._kept = estimator._kept.add(*part)
    if limit != 0:
        limit, part = _collected(estimator, limit)
        if part is None:
            return count, limit, None
    problem = posed(estimator, estimator.features_, *part)
    if fresh:
        add_sums(estimator, problem)
    return count, 0, problem


def _collected(estimator, limit):
    """How many rows to collect; and all of them, once they are more and the map is settled."""
    kept = estimator._kept
    X, y, weight = kept.rows()
    limit = most_collected(X) if limit is None else limit
    if len(kept) <= limit:
        return limit, None
    estimator.features_ = fitted_map(estimator, X, y, weight, random_state=kept.seed)
    capacity = _capacity(estimator, X)
    if len(kept) <= capacity:
        return capacity, None
    refuse_sums(estimator._method())
    estimator._kept = kept.limited(capacity)
    return capacity, (X, y, weight)


def _capacity(estimator, X):
    return most_kept(layer_of(estimator.features_, X, estimator.dtype).width, X)


def _finish(estimator):
    """Solve, from the rows if all are kept and else from the sums."""
    if hasattr(estimator, "classes_"):
        estimator._check_classes()
    kept = estimator._kept
    if kept.complete:
        X, y, weight = kept.rows()
        capacity = estimator._solve_rows(X, y, weight, estimator._encode(y, weight))
        estimator._kept = kept.limited(capacity).refitted()
    else:
        _solve_widths(estimator)
    vars(estimator).pop("_totals", None)


def _solve_widths(estimator):
    """Solve from the sums, for every width that there is to choose from."""
    sums, kept = estimator._moments, estimator._kept
    calibration = calibration_rows(len(kept), estimator._seed())

    def source(features, update):
        problem = sample_problem(estimator, features, kept)
        return Summed(sums.first(problem.H.width), Sample(problem, None, calibration))

    _, solution = estimator._solve(source, n_rows=np.inf)
    estimator._moments, estimator._kept = solution.moments, kept.refitted()
