"""A data set that arrives as batches (X, y) or (X, y, sample_weight)."""

from ulmus.exceptions import BatchError, InvalidInputError

__all__ = ["is_batches", "numbered", "rewinds"]


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
    """Yield (number, X, y, sample_weight) from 1 on, and refuse what is no batch."""
    number = 0
    for number, batch in enumerate(batches() if callable(batches) else batches, start=1):
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            raise BatchError(
                f"Batch {number} is not a pair (X, y) or a triple (X, y, sample_weight)."
            )
        yield number, batch[0], batch[1], batch[2] if len(batch) == 3 else None
    if not number:
        raise InvalidInputError("There was no batch to fit; the iterator was empty.")
