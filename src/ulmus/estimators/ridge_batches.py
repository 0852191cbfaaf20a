"""One ridge solve over batches, which are read and let go.

Batches that can be read twice are: first for the scale of the inputs, the classes, and a sample of
rows that the map draws its units from; then for the sums. From an iterator, which can be read once,
the first rows settle the map. Either way rows are kept at first, as many as are 32 MiB: where these
are all there are, they are fitted as rows at hand are.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ulmus.distributed.blocks import named
from ulmus.estimators.checkpoint import Checkpoint
from ulmus.estimators.ridge_stream import add_sums, posed, sample_problem
from ulmus.exceptions import BatchError, InvalidInputError
from ulmus.features.base import column_statistics
from ulmus.features.fitting import fitted_map, layer_of, map_of_sample
from ulmus.features.scaling import ColumnStatistics
from ulmus.fitted import atomic
from ulmus.methods.method import refuse_sums
from ulmus.problem import Problem
from ulmus.progress import watched
from ulmus.reservoir import Reservoir, most_collected, most_kept
from ulmus.sources.source import Sample, Summed, calibration_rows
from ulmus.typing import Rows

__all__ = ["fit_batches", "is_batches"]


def fit_batches(estimator: Any, batches: Any, checkpoint: Checkpoint) -> Exception | None:
    """Fit a `RidgeELM`; give back the error that cut the batches short, if one did."""
    estimator._refuse_sketch("rows that come in batches")
    failure, total = None, None
    if _rewinds(batches):
        columns, total = _survey(estimator, batches), estimator._kept.seen
        if estimator._kept.complete:
            checkpoint.check_end(0)
            _finish(estimator)
            return None
        _settle_on_sample(estimator, columns)
    try:
        for _ in _absorbed(estimator, batches, checkpoint, total):
            checkpoint.offer(estimator._moments)
    except BatchError as error:
        kept, summed = estimator._kept, hasattr(estimator, "_moments")
        if not (summed or (kept.complete and len(kept))):
            raise
        failure = _cut_short(error, kept.seen, checkpoint.path if summed else None)
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


def _survey(estimator: Any, batches: Any) -> ColumnStatistics:
    """Learn the targets of all batches and sample their rows; give the columns' statistics."""
    columns: ColumnStatistics | None = None
    with watched(estimator, "Scale") as update:
        for number, *batch in _numbered(batches):
            with named(f"Batch {number}"):
                first = not hasattr(estimator, "n_features_in_")
                X, y, weight = estimator._checked_rows(*batch, reset=first)
                estimator._survey(y, weight)
                part = column_statistics(X, y, weight, estimator)
                columns = part if columns is None else columns.merge(part)
                if first:
                    estimator._kept = estimator._kept.limited(most_collected(X))
                estimator._kept = estimator._kept.add(X, y, weight)
            update(estimator._kept.seen, None)
    assert columns is not None  # `_numbered` refuses batches without a row
    return columns


def _settle_on_sample(estimator: Any, columns: ColumnStatistics) -> None:
    """Settle the map by the statistics of all rows and a sample; the rows are to come again."""
    refuse_sums(estimator._method())
    X, y, _ = estimator._kept.rows()
    seed = estimator._kept.seed
    estimator.features_ = map_of_sample(estimator, X, y, columns, seed)
    estimator._kept = Reservoir(seed, _capacity(estimator, X))


def _absorbed(
    estimator: Any, batches: Any, checkpoint: Checkpoint, total: float | None
) -> Iterator[None]:
    """Add up the batches but for those that the checkpoint has; yield after each that is added."""
    rows, limit = 0, None if total is None else 0
    with watched(estimator, "Read" if total is None else "Fit") as update:
        for number, *batch in _numbered(batches):
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
def _taken_in(
    estimator: Any, batch: Any, fresh: bool, limit: int | None
) -> tuple[int, int | None, Problem | None]:
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


def _collected(estimator: Any, limit: int | None) -> tuple[int, Any]:
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


def _capacity(estimator: Any, X: Rows) -> int:
    return most_kept(layer_of(estimator.features_, X, estimator.dtype).width, X)


def _finish(estimator: Any) -> None:
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


def _solve_widths(estimator: Any) -> None:
    """Solve from the sums, for every width that there is to choose from."""
    sums, kept = estimator._moments, estimator._kept
    calibration = calibration_rows(len(kept), estimator._seed())

    def source(features: Any, update: Any) -> Summed:
        problem = sample_problem(estimator, features, kept)
        return Summed(sums.first(problem.H.width), Sample(problem, None, calibration))

    _, solution = estimator._solve(source, n_rows=np.inf)
    estimator._moments, estimator._kept = solution.moments, kept.refitted()


class SourceError(BatchError):
    """The batches end with an error of their source; those before it are sound."""


def is_batches(X: Rows) -> bool:
    """Whether X is a stream of batches: a function that makes one, or an iterable that is no array.

    Examples
    --------
    >>> is_batches(iter([])), is_batches(lambda: iter([])), is_batches([[1.0]])
    (True, True, False)
    """
    if callable(X) and not hasattr(X, "shape"):
        return True
    return hasattr(X, "__iter__") and not any(
        hasattr(X, name) for name in ("__getitem__", "shape", "__array__", "__dataframe__")
    )


def _rewinds(batches: Any) -> bool:
    """Whether the batches can be read a second time."""
    return callable(batches) or iter(batches) is not batches


def _numbered(batches: Any) -> Iterator[tuple[int, Rows, Any, Any]]:
    """Yield (number, X, y, sample_weight) from 1 on, and refuse what is no batch.

    A batch without rows adds nothing and is passed over.
    """
    seen = False
    for number, batch in _read(batches):
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            raise BatchError(
                f"Batch {number} is not a pair (X, y) or a triple (X, y, sample_weight)."
            )
        if _num_samples(batch[0]):
            seen = True
            yield number, batch[0], batch[1], batch[2] if len(batch) == 3 else None
    if not seen:
        raise InvalidInputError("There was no batch to fit; the iterator was empty.")


def _read(batches: Any) -> Iterator[tuple[int, Any]]:
    """The batches and their numbers; says which one its source failed at."""
    source = iter(batches() if callable(batches) else batches)
    for number in count(1):
        try:
            batch = next(source)
        except StopIteration:
            return
        except Exception as error:
            raise SourceError(
                f"Batch {number} cannot be read ({type(error).__name__}: {error})."
            ) from error
        yield number, batch


def _cut_short(error: BatchError, rows: float, path: Any) -> BatchError:
    """The error of one batch, with what is kept of the batches before it."""
    kept = []
    if isinstance(error, SourceError):
        kept.append(f"the model is fitted to the {rows:.0f} rows before it")
    if path is not None:
        kept.append(f"{path} keeps the sums of them, from which a fit with it goes on")
    failure = BatchError(f"{error} What was learned is kept: {' and '.join(kept)}.")
    failure.__cause__ = error.__cause__
    return failure if kept else error
