"""Dask collections as blocks of rows. All calls of Dask are in this file."""

from collections.abc import Callable, Iterable
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.backends.namespace import extra, is_collection, is_sparse
from ulmus.exceptions import BatchError, InvalidInputError, RowsGoneError

# How many sums a step of the tree adds up.
_BRANCHES = 4


def _is_array(X: Any) -> bool:
    return type(X).__module__.startswith("dask.array")


def _dask() -> Any:
    extra("dask.array", "dask", "A Dask collection")
    return extra("dask", "dask", "A Dask collection")


class Blocks:
    """The blocks of X, and of y and weights beside it, split alike.

    ``client`` is the Dask client to compute with; None is the current one, or Dask's own scheduler.
    """

    def __init__(self, X: Any, *beside: Any, client: Any = None) -> None:
        self._client = client
        frame = type(X).__module__.startswith("dask.dataframe")
        if not (_is_array(X) or frame) or X.ndim != 2:
            raise InvalidInputError(
                f"X must be a Dask array of two dimensions or a Dask frame, not {X!r}."
            )
        self.X = _rows_whole(X)
        rows = _delayed(self.X)
        others = [self._beside(each, rows) for each in beside]
        self._parts = list(zip(rows, *others, strict=True))

    @property
    def lengths(self) -> list[float]:
        """The rows of each block, NaN where Dask does not know them."""
        return list(self.X.chunks[0]) if _is_array(self.X) else [np.nan] * len(self._parts)

    def _beside(self, other: Any, rows: list[Any]) -> list[Any]:
        """The blocks of ``other``, split as X is; None for every block if it is None."""
        if other is None:
            return [None] * len(rows)
        if not is_collection(other):
            raise InvalidInputError(
                f"X is a Dask collection, and beside it there is a {type(other).__name__}; make "
                "that one too, with dask.array.from_array(..., chunks=X.chunks[0])."
            )
        other = _rows_whole(other)
        if _lengths_known(self.X) and _lengths_known(other):
            return _delayed(_cut(other, self.X.chunks[0]))
        parts = _delayed(other)
        if len(parts) == len(rows):
            return parts
        # Frames converted to arrays may be split differently: see `_delayed`.
        other = other.copy() if _is_array(other) else other.to_dask_array()
        lengths = self.compute(*(self.task(_length, block) for block in rows))
        return _delayed(_cut(other.compute_chunk_sizes(), lengths))

    def each(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Tasks ``function(number, *block, *shared)`` of every block.

        Shared values are sent to a worker once, and not with every task.
        """
        shared = tuple(self.shared(each) for each in shared)
        call = _dask().delayed(function, pure=False)
        return [call(number, *parts, *shared) for number, parts in enumerate(self._parts)]

    def shared(self, value: Any) -> Any:
        """A value for several tasks, which is sent to a worker once."""
        return _dask().delayed(value, traverse=False)

    def task(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(*arguments)``, some of them results of other tasks, or lists of such."""
        return _dask().delayed(function, pure=False)(*arguments)

    def added(self, parts: list[Any]) -> Any:
        """A task that sums the results of `each` by a tree.

        The tree, and so the rounding, is the same with every scheduler.
        """
        while len(parts) > 1:
            groups = [parts[i : i + _BRANCHES] for i in range(0, len(parts), _BRANCHES)]
            parts = [self.task(_sum, group) for group in groups]
        return parts[0]

    def compute(self, *tasks: Any) -> tuple[Any, ...]:
        """The results, in this process."""
        scheduler = {} if self._client is None else {"scheduler": self._client}
        results: tuple[Any, ...] = _dask().compute(*tasks, **scheduler)
        return results

    def array(self, parts: list[Any], tail: tuple[int, ...], dtype: Any) -> Any:
        """A Dask array of the results of `each`: arrays of shape (rows, *tail)."""
        da = _dask().array
        arrays = [
            da.from_delayed(part, (length, *tail), dtype=dtype)
            for part, length in zip(parts, self.lengths, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


def computed(*values: Any) -> tuple[Any, ...]:
    """The values; Dask collections are computed."""
    return tuple(value.compute() if is_collection(value) else value for value in values)


@contextmanager
def named(place: str) -> Any:
    """Name the block or batch in an error."""
    try:
        yield
    except RowsGoneError:  # concerns all batches
        raise
    except ValueError as error:
        raise BatchError(f"{place} cannot be used. {error}") from error


def joined(parts: Iterable[Any]) -> Any:
    """Arrays or sparse matrices one below the other."""
    parts = list(parts)
    return sp.vstack(parts, format="csr") if is_sparse(parts[0]) else np.concatenate(parts)


def _sum(parts: list[Any]) -> Any:
    """The sum of the parts; a block without rows has none."""
    found = [part for part in parts if part is not None]
    return reduce(add, found) if found else None


def _rows_whole(X: Any) -> Any:
    """X with its columns in one block."""
    cut = _is_array(X) and X.ndim == 2 and X.numblocks[1] > 1
    return X.rechunk({1: -1}) if cut else X


def _delayed(X: Any) -> list[Any]:
    """The blocks as tasks.

    The graph is not optimised: Dask would join small Parquet files into one block where few columns
    are used, and y would be split differently from X.
    """
    return list(np.ravel(X.to_delayed(optimize_graph=False)))


def _cut(other: Any, lengths: Iterable[int]) -> Any:
    """``other`` in blocks of these lengths."""
    lengths = tuple(lengths)
    if other.shape[0] != sum(lengths):
        raise InvalidInputError(
            f"X has {sum(lengths)} rows, and beside it there are {other.shape[0]}."
        )
    return other.rechunk({0: lengths})


def _length(block: Any) -> int:
    return int(block.shape[0])


def _lengths_known(X: Any) -> bool:
    return _is_array(X) and not np.isnan(X.chunks[0]).any()
