"""Elementwise work on the host by as many threads as BLAS has."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import lru_cache

from ulmus.backends.linalg import blas_threads

# Columns of an h × h matrix that a thread works on, and the fewest numbers that several share:
# one pass over so many takes 0.1 ms or more, and waking a thread 0.03.
PANEL, _MANY = 256, 2**18


def over_strips(work: Callable[[slice], object], rows: int, size: int, numbers: int) -> None:
    """``work`` of every slice of ``size`` rows; of many ``numbers`` by as many threads as BLAS has.

    For NumPy's elementwise functions, which release Python's lock, and not for products, which
    BLAS spreads itself. The slices, and so the results, are the same for any number of threads.
    """
    strips = [slice(i, min(i + size, rows)) for i in range(0, rows, size)]
    most = max(1, min(len(strips), blas_threads())) if numbers >= _MANY else 1

    def some(first: int) -> None:
        for strip in strips[first::most]:
            work(strip)

    if most == 1:
        some(0)
        return
    pool = _pool(os.getpid(), most - 1)
    # In copies of this context, for NumPy's ``errstate`` is part of it.
    others = [pool.submit(copy_context().run, some, k) for k in range(1, most)]
    try:
        some(0)
    finally:
        wait(others)
    for other in others:
        other.result()


@lru_cache(maxsize=1)
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """Threads of this process; a fork of it has none of them, and makes its own."""
    return ThreadPoolExecutor(workers, "ulmus")
