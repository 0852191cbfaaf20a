"""Dask collections in place of X and y: blocks of rows, sums over them, and lazy results.

All calls of Dask are in this file.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from functools import reduce, wraps
from math import prod
from operator import add, itemgetter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from ulmus.backends.namespace import extra, is_collection, is_sparse, on_host, take
from ulmus.backends.threads import held_threads
from ulmus.exceptions import BatchError, InvalidInputError, RowsGoneError
from ulmus.fitted import snapshot, without_rows
from ulmus.typing import Array, DType, Rows
from ulmus.validation import check_place, complete, valid_rows

# How many sums a step of the tree adds up.
_BRANCHES = 4
_INPUTS = ("n_features_in_", "feature_names_in_")
# Most numbers in rows for which threads are not limited: BLAS uses one thread for them anyway, and
# limiting would take 5 % of such a prediction.
_FEW = 256
# X, y and weight.
Block = tuple[Any, Any, Any]


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
        lengths = self.compute(*(self.task(_num_samples, block) for block in rows))
        return _delayed(_cut(other.compute_chunk_sizes(), lengths))

    def each(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Tasks ``function(number, block, *shared)`` of every block.

        Shared values are sent to a worker once, and not with every task.
        """
        shared = tuple(self.shared(each) for each in shared)
        call = _dask().delayed(function, pure=False)
        return [call(number, block, *shared) for number, block in enumerate(self._parts)]

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
        return _dask().compute(*tasks, **scheduler)

    def array(self, parts: list[Any], tail: tuple[int, ...], dtype: Any) -> Any:
        """A Dask array of the results of `each`: arrays of shape (rows, *tail)."""
        da = _dask().array
        lengths = self.X.chunks[0] if _is_array(self.X) else [np.nan] * len(parts)
        arrays = [
            da.from_delayed(part, (length, *tail), dtype=dtype)
            for part, length in zip(parts, lengths, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


class BlockRows(Blocks):
    """Blocks of an estimator's rows, checked by its ``_checked_rows(X, y, weight, reset)`` if any.

    It has the parts of an array that a feature map needs: a shape, a dtype, and rows by their
    numbers, which are fetched. Rows of weight zero are not counted, and empty blocks are skipped.
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any = None, weight: Any = None, client: Any = None
    ) -> None:
        if get_tags(estimator).input_tags.pairwise:
            raise InvalidInputError(
                "X is a kernel matrix, which has no blocks of rows; gather it with X.compute()."
            )
        self._estimator = estimator
        super().__init__(X, y, weight, client=client)
        self.example: Rows = None

    def survey(self, look: Callable[..., Any]) -> list[Any]:
        """Count the rows; return ``look(X, y, weight, estimator)`` of each block with rows.

        Sets the number and the names of columns of the estimator.
        """
        parts = self.compute(*self.each(_surveyed, without_rows(self._estimator), look))
        found = [(number, part) for number, part in enumerate(parts) if part is not None]
        if not found:
            raise InvalidInputError(
                "All blocks are empty, or all sample weights are zero; there is nothing to fit."
            )
        first, (_, self.example, inputs, _) = found[0]
        for number, part in found[1:]:
            _check_alike(number, part[2], first, inputs)
        vars(self._estimator).update(inputs)
        counts = np.array([0 if part is None else part[0] for part in parts])
        self._ends = np.cumsum(counts)
        self._starts = self._ends - counts
        return [part[3] for _, part in found]

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.example.shape[1]

    @property
    def dtype(self) -> DType:
        """The first block's."""
        return self.example.dtype

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np

    def __getitem__(self, rows: Any) -> Rows:
        return self.take(rows)[0]

    def take(self, rows: Any) -> tuple[Rows, Array | None, Array | None]:
        """X, y and weight of some rows, in the given order."""
        every, back = np.unique(np.arange(len(self))[rows], return_inverse=True)
        (parts,) = self.compute(self.chosen(every))
        X, y, weight = (None if part is None else part[back] for part in self.gathered(parts))
        return X, y, weight

    def chosen(self, rows: np.ndarray) -> list[Any]:
        """Tasks that fetch some rows, given in rising order, from the blocks that hold them."""
        within = self._within(rows)
        tasks = self.each(_chosen, without_rows(self._estimator), within)
        return [task for task, part in zip(tasks, within, strict=True) if len(part)]

    def _within(self, rows: np.ndarray) -> list[np.ndarray]:
        """The numbers in each block of rows that are given in rising order."""
        parts = np.split(rows, np.searchsorted(rows, self._ends))[:-1]
        return [part - start for part, start in zip(parts, self._starts, strict=True)]

    @staticmethod
    def gathered(parts: list[Any]) -> tuple[Rows, Array | None, Array | None]:
        """The results of the tasks of `chosen`, joined."""
        columns = zip(*parts, strict=True)
        X, y, weight = (None if each[0] is None else joined(each) for each in columns)
        return X, y, weight

    def total_and_rows(
        self, rows: np.ndarray, function: Callable[..., Any], *shared: Any
    ) -> tuple[Any, tuple[Rows, Array | None, Array | None]]:
        """The sum over blocks of ``function(X, y, weight, estimator, *shared)``, and some rows.

        Rows are given in rising order. A block is used by one task for both, since Dask would keep
        it in memory until the later one of two.
        """
        within = self._within(rows)
        estimator = without_rows(self._estimator)
        both = self.each(_both, estimator, within, function, *shared)
        sums, parts = ([self.task(itemgetter(k), task) for task in both] for k in (0, 1))
        fetched = [part for part, some in zip(parts, within, strict=True) if len(some)]
        total, found = self.compute(self.added(sums), fetched)
        return total, self.gathered(found)

    def parts(self) -> list[tuple[int, int, Any]]:
        """The blocks that have rows: the first one's number, how many, and a task for X."""
        tasks = self.each(_inputs, without_rows(self._estimator))
        return [
            (int(start), int(end - start), task)
            for start, end, task in zip(self._starts, self._ends, tasks, strict=True)
            if end > start
        ]


def computed(*values: Any) -> tuple[Any, ...]:
    """The values; Dask collections are computed."""
    return tuple(value.compute() if is_collection(value) else value for value in values)


@contextmanager
def named(place: str) -> Iterator[None]:
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


def _lengths_known(X: Any) -> bool:
    return _is_array(X) and not np.isnan(X.chunks[0]).any()


def _surveyed(number: int, block: Block, estimator: Any, look: Callable[..., Any]) -> Any:
    """The number of rows, the first row, the columns' number and names, and ``look``'s result."""
    estimator = copy(estimator)  # threads share the one they are given
    rows = _checked(number, block, estimator, reset=True)
    if rows is None:
        return None
    inputs = {name: getattr(estimator, name) for name in _INPUTS if hasattr(estimator, name)}
    first = take(rows[0], np.zeros(1, np.int64))  # a slice would keep the block in memory
    return rows[0].shape[0], first, inputs, look(*rows, estimator)


def _inputs(number: int, block: Block, estimator: Any) -> Rows:
    rows = _checked(number, block, estimator)
    return None if rows is None else rows[0]


def _chosen(number: int, block: Block, estimator: Any, within: list[np.ndarray]) -> Any:
    return _some(_checked(number, block, estimator), within[number])


def _some(rows: Block, numbers: np.ndarray) -> Block:
    x, y, weight = (None if each is None else take(each, numbers) for each in rows)
    return x, y, weight


def _both(number: int, block: Block, estimator: Any, within: Any, of: Any, *shared: Any) -> Any:
    rows = _checked(number, block, estimator)
    if rows is None:
        return None, None
    return of(*rows, estimator, *shared), _some(rows, within[number])


def _checked(number: int, block: Block, estimator: Any, reset: bool = False) -> Any:
    """The rows of positive weight, or None where there are none."""
    X, y, weight = block
    if X.shape[0] == 0 or (weight is not None and not np.any(weight)):
        return None
    with named(f"Block {number} (counted from 0)"):
        if hasattr(estimator, "_checked_rows"):
            return estimator._checked_rows(X, y, weight, reset)
        return valid_rows(estimator, X, reset), None, None


def _check_alike(number: int, inputs: dict[str, Any], first: int, expected: dict[str, Any]) -> None:
    """Refuse a block whose columns are not those of the first."""
    widths = [each["n_features_in_"] for each in (inputs, expected)]
    names = [list(each.get("feature_names_in_", [])) for each in (inputs, expected)]
    why = ""
    if widths[0] != widths[1]:
        why = f"It has {widths[0]} columns, and block {first} has {widths[1]}."
    elif names[0] != names[1]:
        why = f"Its columns are called {names[0]}, and those of block {first} {names[1]}."
    if why:
        raise BatchError(f"Block {number} (counted from 0) cannot be used. {why}")


# ---------------------------------------------------------------- methods that take collections
def by_blocks(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For a Dask collection, the results block by block; otherwise the result of ``method``.

    It uses the model as it is at the call, even if another thread fits it meanwhile.
    """

    @wraps(method)
    def results(self: Any, X: Any) -> Any:
        if is_collection(X):
            return _mapped(self, method.__name__, X)
        model = snapshot(self)
        check_place(model, method.__name__, X)
        small = hasattr(X, "shape") and prod(X.shape) < _FEW
        with nullcontext() if small else held_threads():
            return method(model, X)

    results.takes_blocks = True  # type: ignore[attr-defined]
    return results


def _mapped(estimator: Any, method: str, X: Any) -> Any:
    blocks = Blocks(X)
    # The result of one row has the shape and type of the others, and shows whether columns fit.
    example = getattr(estimator, method)(_example(X))
    tasks = blocks.each(_result, without_rows(estimator), method, example[:0])
    return blocks.array(tasks, example.shape[1:], example.dtype)


def _result(number: int, block: tuple[Any], estimator: Any, method: str, empty: np.ndarray) -> Any:
    (X,) = block
    if X.shape[0] == 0:
        return empty
    with named(f"Block {number} (counted from 0)"):
        return getattr(estimator, method)(X)


def _example(X: Any) -> Any:
    """One row like those of X."""
    if hasattr(X, "_meta_nonempty"):
        return X._meta_nonempty.iloc[:1]
    return np.zeros((1, X.shape[1]), X.dtype)


def scored(metric: Callable[..., float], y: Any, predicted: Any, weight: Any) -> float:
    """A metric of scikit-learn, computed on the host, also for Dask collections.

    On a device its means may be in float32 though the values are in float64.
    """
    y, predicted, weight = map(on_host, computed(y, predicted, weight))
    with config_context(array_api_dispatch=False):
        return metric(complete(y, "score the others alone"), predicted, sample_weight=weight)
