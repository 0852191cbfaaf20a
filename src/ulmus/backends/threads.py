"""The threads of a fit: how many there may be, and which of them has what work.

BLAS starts a thread for every CPU of the machine. Where a container's quota or the process's
affinity allows fewer, its threads wait for each other: a table of 1316 rows took 356 s in place of
13 s. So for the length of a fit or a prediction no library has more threads than there are such
CPUs. A lower limit, by an environment variable, ``threadpool_limits`` or joblib, stays.

Threads of BLAS also wait for each other where other programs use the CPUs, in each of the many
small products of a small fit: 600 rows took 16 s on two busy CPUs, and 1.1 s with one thread. So
a fit of few rows has one.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

# Columns of an h × h matrix that a thread works on, and the fewest numbers that several share:
# one pass over so many takes 0.1 ms or more, and waking a thread 0.03.
PANEL, _MANY = 256, 2**18
# Fewest threads that get rows of their own (of two or three BLAS's own are as fast), the fewest
# hidden values for each, and how many threads there may be.
_FEWEST, _WORTHWHILE, _MOST_THREADS = 4, 2**20, 256
# Most rows that are fitted by one thread. Fits of 2000 rows (ELM, kernel ELM) on idle CPUs: 1.0 and
# 2.1 s with one thread, 0.7 and 1.5 with two, 0.6 and 1.3 with four, 1.5 and 1.8 with sixteen.
_FEW_ROWS = 2000
Result = TypeVar("Result")
# Whether this thread works beside others like it, with one thread of BLAS each.
sharing: ContextVar[bool] = ContextVar("sharing", default=False)
# Limits of BLAS that threads of the user ask for now, and its threads before the first of them.
_asking, _asked = Lock(), list[int]()
_before = list[tuple[Any, int]]()


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
def held_threads(rows: float = np.inf) -> Iterator[None]:
    """Limit BLAS and OpenMP to ``cpus()`` threads in a block or a decorated function.

    For few rows BLAS has one thread.
    """
    most, controller = cpus(), _controller(len(sys.modules))
    above = [
        x.filepath
        for x in controller.lib_controllers
        if x.user_api != "blas" and (x.num_threads or 1) > most
    ]
    with ExitStack() as held:
        if above:
            held.enter_context(controller.select(filepath=above).limit(limits=most))
        held.enter_context(_held_blas(1 if rows <= _FEW_ROWS else most))
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS, and OpenMP where this thread calls it, to one thread.

    In many small products threads wait for each other, on busy cores above all.
    """
    openmp = _controller(len(sys.modules)).select(user_api="openmp")
    with _held_blas(1), openmp.limit(limits=1):
        yield


@contextmanager
def _held_blas(most: int) -> Iterator[None]:
    """Limit BLAS to so many threads.

    The limit is the whole process's, so while several threads ask, the least number holds. What was
    there before the first comes back after the last; a lower limit that the user has set meanwhile
    holds from the next one that asks to its end, and is there afterwards.
    """
    with _asking:
        if not _asked:
            libraries = _controller(len(sys.modules)).lib_controllers
            _before[:] = [(x, x.num_threads or 1) for x in libraries if x.user_api == "blas"]
        below = {x.filepath: x.num_threads or 1 for x, own in _before if _below(x, own)}
        _asked.append(most)
        _set_blas(below)
    try:
        yield
    finally:
        with _asking:
            _asked.remove(most)
            _set_blas(below)


def _below(library: Any, own: int) -> bool:
    """Whether a user has set fewer threads than those that ask."""
    return bool(_asked) and (library.num_threads or 1) < min([own, *_asked])


def _set_blas(below: dict[str, int]) -> None:
    """Give every BLAS its own number of threads, or the least that is asked for now.

    ``below`` are limits of the user, by library.
    """
    for library, own in _before:
        wanted = min([own, *_asked, below.get(library.filepath, own)])
        if library.num_threads != wanted:
            # From version 3.8 on threadpoolctl ignores all threads but the first that sets it; here
            # a lock keeps them apart.
            free = getattr(library, "clear_controlling_thread", lambda force: None)
            free(force=True)
            library.set_num_threads(wanted)
            free(force=True)


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
    _by_threads(some, range(most))


def shares(rows: int, width: int, most: int) -> list[slice]:
    """Ranges of rows of a hidden layer, one for each of at most ``most`` threads; one for few."""
    count = min(blas_threads(), most, rows * width // _WORTHWHILE)
    if count < _FEWEST:
        return [slice(0, rows)]
    ends = [rows * k // count for k in range(count + 1)]
    return [slice(*pair) for pair in pairwise(ends)]


def over_shares(work: Callable[[slice], Result], parts: list[slice]) -> list[Result]:
    """``work`` of every range, each by a thread of its own with one thread of BLAS.

    Threads of BLAS share a product, and wait for each other before and after it. Here each makes
    the hidden rows of its range and their HᵀH, without waiting.
    """
    if len(parts) == 1:
        return [work(parts[0])]

    def alone(rows: slice) -> Result:
        sharing.set(True)
        return work(rows)

    with one_thread():
        return _by_threads(alone, parts)


def _by_threads(work: Callable[[Any], Result], parts: Sequence[Any]) -> list[Result]:
    """``work`` of every part, the first by this thread."""
    pool = _pool(os.getpid())
    # In copies of this context, for NumPy's ``errstate`` is part of it.
    others = [pool.submit(copy_context().run, work, part) for part in parts[1:]]
    try:
        first = copy_context().run(work, parts[0])
    finally:
        wait(others)
    return [first, *(other.result() for other in others)]


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads of this process, started as they are needed; a fork of it makes its own."""
    return ThreadPoolExecutor(_MOST_THREADS, "ulmus")
