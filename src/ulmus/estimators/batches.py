"""A data set that arrives as batches (X, y) or (X, y, sample_weight)."""

from itertools import count

from sklearn.utils.validation import _num_samples

from ulmus.exceptions import BatchError, InvalidInputError

__all__ = ["SourceError", "cut_short", "is_batches", "numbered", "rewinds"]


class SourceError(BatchError):
    """The batches end with an error of their source; those before it are sound."""


def is_batches(X):
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


def rewinds(batches):
    """Whether the batches can be read a second time."""
    return callable(batches) or iter(batches) is not batches


def numbered(batches):
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


def _read(batches):
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


def cut_short(error, rows, path):
    """The error of one batch, with what is kept of the batches before it."""
    kept = []
    if isinstance(error, SourceError):
        kept.append(f"the model is fitted to the {rows:.0f} rows before it")
    if path is not None:
        kept.append(f"{path} keeps the sums of them, from which a fit with it goes on")
    failure = BatchError(f"{error} What was learned is kept: {' and '.join(kept)}.")
    failure.__cause__ = error.__cause__
    return failure if kept else error
