"""Dask collections as blocks of rows. All that Ulmus asks of Dask is in this file."""

from collections.abc import Callable, Iterable
from contextlib import contextmanager
from functools import reduce
from operator import add
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.backends.namespace import is_sparse
from ulmus.exceptions import BatchError, InvalidInputError, MissingExtraError

__all__ = ["Blocks", "is_collection", "joined", "named"]

# How many sums a step of the tree adds up.
_BRANCHES = 4


def is_collection(X: Any) -> bool:
    """Whether X is of Dask, told without importing it."""
    return type(X).__module__.partition(".")[0] == "dask"


def _dask() -> ModuleType:
    try:
        import dask.array
    except ImportError as error:
        raise MissingExtraError(
            "Dask collections need dask and distributed, which are not all installed; try: "
            "pip install 'ulmus[dask]'"
        ) from error
    return dask


class Blocks:
    """The blocks of X, and of what lies beside it, cut alike.

    ``client`` says who works on them; None is whoever Dask would ask.
    """

    def __init__(self, X: Any, *beside: Any, client: Any = None) -> None:
        self._dask, self._client = _dask(), client
        if getattr(X, "ndim", 0) != 2:
            raise InvalidInputError(
                f"X must be a Dask array of two dimensions or a Dask frame, not {X!r}."
            )
        self.X = _rows_whole(X)
        rows = _delayed(self.X)
        others = [_beside(each, self.X, len(rows)) for each in beside]
        self._parts = list(zip(rows, *others, strict=True))

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def lengths(self) -> list[float]:
        """The rows of each block as far as Dask knows, else NaN."""
        known = getattr(self.X, "chunks", None)
        return list(known[0]) if known else [np.nan] * len(self)

    def each(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """``function(number, *block, *shared)`` of every block, not computed yet.

        What is shared is sent to a worker once and not with every task.
        """
        delayed = self._dask.delayed
        shared = tuple(delayed(each, traverse=False) for each in shared)
        call = delayed(function, pure=False)
        return [call(number, *parts, *shared) for number, parts in enumerate(self._parts)]

    def total(self, parts: list[Any]) -> Any:
        """The sum of what `each` gave, by a tree whose every step is a task.

        The tree is the same whoever works on it, and so is the rounding.
        """
        step = self._dask.delayed(_sum, pure=False)
        while len(parts) > 1:
            parts = [step(parts[i : i + _BRANCHES]) for i in range(0, len(parts), _BRANCHES)]
        return parts[0]

    def compute(self, *tasks: Any) -> tuple[Any, ...]:
        """The results, in this process."""
        scheduler = {} if self._client is None else {"scheduler": self._client}
        results: tuple[Any, ...] = self._dask.compute(*tasks, **scheduler)
        return results

    def array(self, parts: list[Any], tail: tuple[int, ...], dtype: Any) -> Any:
        """A Dask array of what `each` gave: one array of shape (rows, *tail) for every block."""
        da = self._dask.array
        arrays = [
            da.from_delayed(part, (length, *tail), dtype=dtype)
            for part, length in zip(parts, self.lengths, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


@contextmanager
def named(number: int) -> Any:
    """Say which block an error came from."""
    try:
        yield
    except ValueError as error:
        raise BatchError(
            f"Block {number} (counted from 0) cannot be used. {error}"
        ) from error


def joined(parts: Iterable[Any]) -> Any:
    """Arrays or sparse matrices one below the other."""
    parts = list(parts)
    return sp.vstack(parts, format="csr") if is_sparse(parts[0]) else np.concatenate(parts)


def _sum(parts: list[Any]) -> Any:
    """The sum of the parts; a block without rows has none."""
    found = [part for part in parts if part is not None]
    return reduce(add, found) if found else None


def _rows_whole(X: Any) -> Any:
    """X with every row in one block."""
    cut = hasattr(X, "chunks") and getattr(X, "ndim", 0) == 2 and X.numblocks[1] > 1
    return X.rechunk({1: -1}) if cut else X


def _delayed(X: Any) -> list[Any]:
    """The blocks, each to be computed."""
    return list(np.ravel(X.to_delayed()))


def _beside(each: Any, X: Any, blocks: int) -> list[Any]:
    """The blocks of ``each``, cut as X is; of None, None for every block."""
    if each is None:
        return [None] * blocks
    if not is_collection(each):
        raise InvalidInputError(
            f"X is a Dask collection, and beside it there is a {type(each).__name__}; make that "
            "one too, with dask.array.from_array(..., chunks=X.chunks[0])."
        )
    each = _rows_whole(each)
    if _lengths_known(X) and _lengths_known(each):
        if each.shape[0] != X.shape[0]:
            raise InvalidInputError(
                f"X has {X.shape[0]} rows, and beside it there are {each.shape[0]}."
            )
        each = each.rechunk({0: X.chunks[0]})
    parts = _delayed(each)
    if len(parts) != blocks:
        raise InvalidInputError(
            f"X has {blocks} blocks, and beside it there are {len(parts)}; cut them alike, by "
            "repartition or rechunk."
        )
    return parts


def _lengths_known(X: Any) -> bool:
    return hasattr(X, "chunks") and not np.isnan(X.chunks[0]).any()
