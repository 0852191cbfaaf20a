"""The sums of batches, of which one at a time is in memory.

Batches that can be read twice are read twice: first for the scale of the inputs, the classes, and a
sample of rows that the map draws its units from; then for the sums. For an iterator, which can be
read once, the map is fitted to the first rows. Either way up to 32 MiB of rows are kept: if these
are all rows, they are fitted as rows in memory are.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from sklearn.utils.validation import _num_samples

from ulmus.distributed import named
from ulmus.exceptions import BatchError, InvalidInputError
from ulmus.features.scaling import ColumnStatistics
from ulmus.fitted import watched
from ulmus.problem import Problem
from ulmus.reservoir import Reservoir, most_collected
from ulmus.sources.checkpoint import Checkpoint
from ulmus.sources.source import Gathered, RowsSoFar, refuse_sums
from ulmus.typing import Rows


def fit_batches(
    rows: RowsSoFar, batches: Any, checkpoint: Checkpoint, learn: Callable[[Gathered], Any]
) -> Exception | None:
    """Let the model ``learn`` the batches; give the error that cut them short, if one did."""
    failure, total = None, None
    if callable(batches) or iter(batches) is not batches:  # they can be read a second time
        rows, columns = _surveyed(rows, batches)
        if rows.kept.complete:
            checkpoint.check_end(0)
            learn(rows.at_hand())
            return None
        rows, total = _settled(rows, columns), rows.kept.seen
    try:
        for so_far in _absorbed(rows, batches, checkpoint, total):
            rows = so_far
            checkpoint.offer(rows.sums)
    except BatchError as error:
        summed = rows.sums is not None
        if not (summed or (rows.kept.complete and len(rows.kept))):
            raise
        failure = _cut_short(error, rows.kept.seen, checkpoint.path if summed else None)
        if not isinstance(error, SourceError):
            raise failure from error.__cause__
    finally:
        checkpoint.save()
    try:
        learn(rows.at_hand() if rows.kept.complete else rows.gathered())
    except InvalidInputError as error:
        raise failure or error from error
    if failure is None:
        checkpoint.remove()
    return failure


def _surveyed(rows: RowsSoFar, batches: Any) -> tuple[RowsSoFar, ColumnStatistics]:
    """With the targets of all batches and a sample of their rows; and the columns' statistics."""
    columns: Any = None
    with watched(rows.model, "Scale") as update:
        for number, *batch in _numbered(batches):
            with named(f"Batch {number}"):
                X, y, weight = rows.model._checked_rows(*batch, reset=columns is None)
                part = ColumnStatistics.of(X, weight)
                kept = rows.kept if columns is not None else rows.kept.limited(most_collected(X))
                columns = part if columns is None else columns.merge(part)
                known = rows.known.surveyed(y, weight)
                rows = replace(rows, known=known, kept=kept.add(X, y, weight))
            update(rows.kept.seen, None)
    return rows, columns


def _settled(rows: RowsSoFar, columns: ColumnStatistics) -> RowsSoFar:
    """With a map, fitted to the statistics of all rows and a sample; no rows are kept yet."""
    refuse_sums(rows.model._method())
    X, y, weight = rows.kept.rows()
    rows = replace(rows, features=rows.mapped(X, y, weight, columns))
    return replace(rows, kept=Reservoir(rows.kept.seed, rows.capacity(X)))


def _absorbed(
    rows: RowsSoFar, batches: Any, checkpoint: Checkpoint, total: float | None
) -> Iterator[RowsSoFar]:
    """The rows so far after each batch; sums of those that the checkpoint has are restored."""
    seen = 0
    with watched(rows.model, "Read" if total is None else "Fit") as update:
        for number, *batch in _numbered(batches):
            fresh = seen >= checkpoint.rows
            with named(f"Batch {number}"):
                part = rows.model._checked_rows(*batch, reset=total is None and not seen)
                seen += part[0].shape[0]
                rows, problem = _with_batch(rows, part)
                if problem is not None and fresh:
                    rows = rows.with_sums(problem)
            if problem is not None:
                checkpoint.claim(rows.model, problem)
            if seen >= checkpoint.rows and not fresh:
                rows = replace(rows, sums=checkpoint.restored(problem, seen))
            update(seen, total)
            yield rows
    checkpoint.check_end(seen)


def _with_batch(rows: RowsSoFar, part: Any) -> tuple[RowsSoFar, Problem | None]:
    """With the rows of a batch; and the rows that are to be added to the sums, if there are any.

    Rows are collected until they are too many; then the map is fitted to them, and later rows are
    sampled.
    """
    rows = rows.met(part[1])
    rows = replace(rows, kept=rows.kept.add(*part))
    if rows.kept.capacity is None:
        X, y, weight = part = rows.kept.rows()
        most = most_collected(X) if rows.features is None else rows.capacity(X)
        if len(rows.kept) <= most:
            return rows, None
        rows = replace(rows, features=rows.mapped(X, y, weight))
        if len(rows.kept) <= rows.capacity(X):
            return rows, None
        refuse_sums(rows.model._method())
        rows = replace(rows, kept=rows.kept.limited(rows.capacity(X)))
    return rows, rows.problem(rows.features, *part)


class SourceError(BatchError):
    """An error of the iterator that gives the batches; the batches before it can be used."""


def is_batches(X: Rows) -> bool:
    """Whether X is a stream of batches: a function that makes one, or an iterable but no array."""
    if callable(X) and not hasattr(X, "shape"):
        return True
    return hasattr(X, "__iter__") and not any(
        hasattr(X, name) for name in ("__getitem__", "shape", "__array__", "__dataframe__")
    )


def _numbered(batches: Any) -> Iterator[tuple[int, Rows, Any, Any]]:
    """Yield (number, X, y, sample_weight) from 1 on, and refuse what is no batch.

    A batch without rows adds nothing and is passed over.
    """
    seen, source = False, iter(batches() if callable(batches) else batches)
    for number in count(1):
        try:
            batch = next(source)
        except StopIteration:
            break
        except Exception as error:
            raise SourceError(
                f"Batch {number} cannot be read ({type(error).__name__}: {error})."
            ) from error
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            raise BatchError(
                f"Batch {number} is not a pair (X, y) or a triple (X, y, sample_weight)."
            )
        if _num_samples(batch[0]):
            seen = True
            yield number, batch[0], batch[1], batch[2] if len(batch) == 3 else None
    if not seen:
        raise InvalidInputError("There was no batch to fit; the iterator was empty.")


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
