"""The threads that work: how many there are, limits on those of libraries, and threads of ours.

BLAS starts a thread for every CPU of the machine. Where a container's quota or the process's
affinity allows fewer, its threads wait for each other: a table of 1316 rows took 356 s in place of
13 s. So for the length of a fit or a prediction no library has more threads than there are such
CPUs. A lower limit, by an environment variable, ``threadpool_limits`` or joblib, stays.

On many cores, threads of BLAS that wait for the next product spin for some 20 ms, and take the
cores from the elementwise work in between. Within `own_threads` BLAS has one thread, and strips of
rows or columns are shared by threads of ours, products included.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache
from typing import TypeVar

import joblib
from threadpoolctl import ThreadpoolController

# Columns of an h × h matrix that a thread works on, and the fewest numbers that several share:
# one pass over so many takes 0.1 ms or more, and waking a thread 0.03.
PANEL, _MANY = 256, 2**18
# With fewer cores, BLAS's own threads are as fast: `python -m benchmarks cores`.
_CREW = 4
# The threads of ours that share work; 0 where BLAS has its own. Within work that is shared already:
# 1 for products by threads of ours, −1 where BLAS has its own.
_crew: ContextVar[int] = ContextVar("crew", default=0)

Item = TypeVar("Item")


def cpus() -> int:
    """How many CPUs this process may use, by its affinity and its container's quota."""
    affinity = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return _cpus(affinity, os.environ.get("LOKY_MAX_CPU_COUNT"))


@cache
def _cpus(affinity: frozenset[int] | None, most: str | None) -> int:
    """The count of joblib, cached because it takes 0.1 ms."""
    return int(joblib.cpu_count())


def blas_threads() -> int:
    """The threads that BLAS has now, and no more than there are CPUs."""
    libraries = _controller(len(sys.modules)).lib_controllers
    found = [x.num_threads or 1 for x in libraries if x.user_api == "blas"]
    return min(max(found, default=cpus()), cpus())


@contextmanager
def held_threads() -> Iterator[None]:
    """Limit BLAS and OpenMP to ``cpus()`` threads in a block or a decorated function."""
    most, controller = cpus(), _controller(len(sys.modules))
    above = [x.filepath for x in controller.lib_controllers if (x.num_threads or 1) > most]
    if above:
        with controller.select(filepath=above).limit(limits=most):
            yield
    else:
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread, for many small products: on busy cores threads wait."""
    with _controller(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@contextmanager
def held_numba() -> Iterator[None]:
    """Limit Numba's own threads to ``cpus()``."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(before, cpus()))
    try:
        yield
    finally:
        numba.set_num_threads(before)


@lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """The loaded libraries; the search takes 5 ms and is repeated after imports."""
    return ThreadpoolController()


@contextmanager
def own_threads(wanted: bool) -> Iterator[None]:
    """On many cores, where ``wanted``: products by threads of ours, each with one of BLAS."""
    most = blas_threads() if wanted and _crew.get() == 0 else 1
    if most < _CREW:
        yield
        return
    token = _crew.set(most)
    try:
        with one_thread():
            yield
    finally:
        _crew.reset(token)


def crew() -> int | None:
    """The threads of ours that share products; None where BLAS has threads of its own."""
    return max(0, _crew.get()) or None


def over_strips(work: Callable[[slice], object], rows: int, size: int, numbers: int) -> None:
    """``work`` of every slice of ``size`` rows; of many ``numbers`` by as many threads as BLAS has.

    For NumPy's elementwise functions and ``matmul``, which release Python's lock; for products
    only within `own_threads`, else BLAS spreads them itself. The slices, and so the results, are
    the same for any number of threads.
    """
    strips = [slice(i, min(i + size, rows)) for i in range(0, rows, size)]
    most = _crew.get()
    threads = blas_threads() if most == 0 else abs(most)
    shared(work, strips, threads if numbers >= _MANY else 1)


def shared(work: Callable[[Item], object], items: Sequence[Item], threads: int) -> None:
    """``work`` of every item, by so many threads."""
    most = max(1, min(len(items), threads))

    def some(first: int) -> None:
        for item in items[first::most]:
            work(item)

    if most == 1:
        some(0)
        return
    pool = _pool(os.getpid(), most - 1)
    token = _crew.set(1 if _crew.get() > 0 else -1)  # what is shared is not shared again
    # In copies of this context, for NumPy's ``errstate`` is part of it.
    others = [pool.submit(copy_context().run, some, k) for k in range(1, most)]
    try:
        some(0)
    finally:
        wait(others)
        _crew.reset(token)
    for other in others:
        other.result()


@lru_cache(maxsize=1)
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """Threads of this process; a fork of it has none of them, and makes its own."""
    return ThreadPoolExecutor(workers, "ulmus")
