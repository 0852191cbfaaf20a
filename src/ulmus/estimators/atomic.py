"""All of a fit, or nothing of it."""

from contextlib import contextmanager

from ulmus.backends.threads import held_threads
from ulmus.estimators.finite import check_finite

__all__ = ["atomic", "forget_fit"]


@contextmanager
def atomic(estimator):
    """Put the estimator's attributes back as they were if the block raises, or ends not finite.

    The block must rebind what it changes, never write into it. Meanwhile BLAS has no more
    threads than there are CPUs.
    """
    before = vars(estimator).copy()
    try:
        with held_threads():
            yield estimator
        check_finite(estimator)
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def forget_fit(estimator, *private):
    """Drop what an earlier fit left, so that no part of it outlives the next."""
    fitted = [name for name in vars(estimator) if name.endswith("_") and name[0] != "_"]
    for name in (*fitted, *private):
        vars(estimator).pop(name, None)
