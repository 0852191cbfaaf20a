"""The rows of Dask collections, checked on the workers and numbered throughout."""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from ulmus.backends.namespace import take
from ulmus.distributed.blocks import Blocks, joined, named
from ulmus.exceptions import BatchError, InvalidInputError
from ulmus.fitted import without_rows
from ulmus.typing import Array, DType, Rows
from ulmus.validation import valid_rows

_INPUTS = ("n_features_in_", "feature_names_in_")


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
        parts = self.compute(*self.each(_surveyed, self._light_estimator, look))
        found = [(number, part) for number, part in enumerate(parts) if part is not None]
        if not found:
            raise InvalidInputError("No block has a row that counts; there is nothing to fit.")
        first, (_, self.example, inputs, _) = found[0]
        for number, part in found[1:]:
            _check_alike(number, part[2], first, inputs)
        vars(self._estimator).update(inputs)
        counts = np.array([0 if part is None else part[0] for part in parts])
        self._ends = np.cumsum(counts)
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
        cuts = np.searchsorted(rows, self._ends)
        starts = np.r_[0, self._ends[:-1]]
        within = [
            part - start for part, start in zip(np.split(rows, cuts)[:-1], starts, strict=True)
        ]
        tasks = self.each(_chosen, self._light_estimator, within)
        return [task for task, part in zip(tasks, within, strict=True) if len(part)]

    @staticmethod
    def gathered(parts: list[Any]) -> tuple[Rows, Array | None, Array | None]:
        """The results of the tasks of `chosen`, joined."""
        columns = zip(*parts, strict=True)
        X, y, weight = (None if each[0] is None else joined(each) for each in columns)
        return X, y, weight

    def total(self, function: Callable[..., Any], *shared: Any) -> Any:
        """A task: the sum over blocks of ``function(X, y, weight, estimator, *shared)``."""
        return self.added(self.each(_applied, self._light_estimator, function, *shared))

    def parts(self) -> list[tuple[int, int, Any]]:
        """The blocks that have rows: the first one's number, how many, and a task for X."""
        tasks = self.each(_applied, self._light_estimator, _first)
        starts = np.r_[0, self._ends[:-1]]
        return [
            (int(start), int(end - start), task)
            for start, end, task in zip(starts, self._ends, tasks, strict=True)
            if end > start
        ]

    @property
    def _light_estimator(self) -> Any:
        """The estimator without data of training rows, to send to workers."""
        return without_rows(self._estimator)


def _surveyed(
    number: int, X: Any, y: Any, weight: Any, estimator: Any, look: Callable[..., Any]
) -> Any:
    """The number of rows, the first row, the columns' number and names, and ``look``'s result."""
    estimator = copy(estimator)  # threads share the one they are given
    rows = _checked(number, X, y, weight, estimator, reset=True)
    if rows is None:
        return None
    inputs = {name: getattr(estimator, name) for name in _INPUTS if hasattr(estimator, name)}
    return rows[0].shape[0], rows[0][:1], inputs, look(*rows, estimator)


def _applied(
    number: int,
    X: Any,
    y: Any,
    weight: Any,
    estimator: Any,
    function: Callable[..., Any],
    *shared: Any,
) -> Any:
    rows = _checked(number, X, y, weight, estimator)
    return None if rows is None else function(*rows, estimator, *shared)


def _first(X: Any, y: Any, weight: Any, estimator: Any) -> Any:
    return X


def _chosen(
    number: int, X: Any, y: Any, weight: Any, estimator: Any, within: list[np.ndarray]
) -> Any:
    rows = _checked(number, X, y, weight, estimator)
    return tuple(None if each is None else take(each, within[number]) for each in rows)


def _checked(number: int, X: Any, y: Any, weight: Any, estimator: Any, reset: bool = False) -> Any:
    """The rows of positive weight, or None where there are none."""
    nothing = X.shape[0] == 0 or (weight is not None and not np.any(weight))
    if nothing:
        return None
    with named(f"Block {number} (counted from 0)"):
        if hasattr(estimator, "_checked_rows"):
            return estimator._checked_rows(X, y, weight, reset)
        return valid_rows(estimator, X, reset), None, None


def _check_alike(number: int, inputs: dict[str, Any], first: int, expected: dict[str, Any]) -> None:
    """Refuse a block whose columns are not those of the first."""
    width, wanted = inputs["n_features_in_"], expected["n_features_in_"]
    if width != wanted:
        raise BatchError(
            f"Block {number} (counted from 0) cannot be used. It has {width} columns, and block "
            f"{first} has {wanted}."
        )
    names = [list(each.get("feature_names_in_", [])) for each in (inputs, expected)]
    if names[0] != names[1]:
        raise BatchError(
            f"Block {number} (counted from 0) cannot be used. Its columns are called "
            f"{names[0]}, and those of block {first} {names[1]}."
        )
