"""Memory maps, whose pages are given back once they have been read.

What a process has read of a map counts as its memory until the system wants it elsewhere, so
a fit that goes through a large file seems to need all of it, and on a machine that limits
memory it does. Pages that are given back stay in the system's cache of the file.
"""

import mmap
from typing import Any

import numpy as np

from ulmus.typing import Rows

__all__ = ["forget_pages", "is_mapped", "mapped_rows"]

# The system may bring two megabytes for one row; so many are read before pages are given back.
_TOGETHER = 16


def is_mapped(X: Rows) -> bool:
    """Whether X is rows of a file that is mapped and shared, not copied when it is written to."""
    return _map_of(X) is not None


def forget_pages(X: Rows) -> None:
    """Give back the pages of a memory map that X lies on; nothing where X is no memory map."""
    mapped = _map_of(X)
    if mapped is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = np.frombuffer(mapped, np.uint8).ctypes.data
    first, last = (int(end) - start for end in np.lib.array_utils.byte_bounds(X))
    first -= first % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


def mapped_rows(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A copy of some rows of a memory map, by their numbers."""
    found = np.empty((len(rows), *X.shape[1:]), X.dtype)
    for start in range(0, len(rows), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        found[part] = X[rows[part]]
        forget_pages(X)
    return found


def _map_of(X: Rows) -> Any:
    """The map that X is a view of, or None."""
    if not isinstance(X, np.ndarray):
        return None
    while isinstance(X.base, np.ndarray):
        X = X.base
    # Pages that were copied when they were written to ("c") are nowhere but in memory.
    shared = getattr(X, "mode", "c") != "c"
    return X.base if shared and isinstance(X.base, mmap.mmap) else None
