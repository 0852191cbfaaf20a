"""All of a fit, or nothing of it."""

from contextlib import contextmanager

__all__ = ["atomic"]


@contextmanager
def atomic(estimator):
    """Put the estimator's attributes back as they were if the block raises.

    The block must rebind what it changes, never write into it.
    """
    before = vars(estimator).copy()
    try:
        yield estimator
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
