"""BLAS held to the CPUs that this process may use.

BLAS starts a thread for every CPU of the machine. Where a container's quota or the process's
affinity allows fewer, its threads wait for each other: a table of 1316 rows took 356 s in place of
13 s. So for the length of a fit or a prediction no library has more threads than there are such
CPUs. A limit that is lower already, by an environment variable, ``threadpool_limits`` or joblib, is
left as it is.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache

import joblib
from threadpoolctl import ThreadpoolController


def cpus() -> int:
    """How many CPUs this process may use, by its affinity and its container's quota."""
    affinity = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return _cpus(affinity, os.environ.get("LOKY_MAX_CPU_COUNT"))


@cache
def _cpus(affinity: frozenset[int] | None, most: str | None) -> int:
    """As joblib counts them. That takes 0.1 ms, so the quota is read once."""
    return int(joblib.cpu_count())


@contextmanager
def held_threads() -> Iterator[None]:
    """Hold BLAS and OpenMP to ``cpus()`` threads while the block, or a decorated function, runs."""
    most, controller = cpus(), _controller(len(sys.modules))
    libraries = controller.lib_controllers
    above = [library.filepath for library in libraries if (library.num_threads or 1) > most]
    if above:
        with controller.select(filepath=above).limit(limits=most):
            yield
    else:
        yield


@contextmanager
def held_numba() -> Iterator[None]:
    """Hold Numba's own threads to ``cpus()`` while the block runs."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(before, cpus()))
    try:
        yield
    finally:
        numba.set_num_threads(before)


@lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """The libraries that are loaded; a search of 5 ms, repeated when modules were imported."""
    return ThreadpoolController()
