"""H as row blocks, so that it is never all in memory unless it fits.

A block is as large as the memory budget allows: 32 MiB, or a quarter of the
h × h matrix in float64 where that is more, so that adding a product to it costs
little beside making it; never more than scikit-learn's ``working_memory``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.utils import check_random_state

from ulmus.backends.namespace import (
    forget_pages,
    gathered,
    is_numpy,
    is_streamed,
    itemsize,
    namespace,
    take,
)
from ulmus.backends.threads import shares
from ulmus.typing import Array, DType, Layer, Rows, Seed

_SMALLEST_BUDGET = 32 * 2**20
_DEVICE_STEP = 4096
# Most rows that are permuted to draw some of them: 800 MB.
_PERMUTED = 10**8
# Numbers that a step over rows and outputs works on, and how many arrays of them it may hold.
_NUMBERS, _COPIES = 2**22, 8


def block_rows(width: int, itemsize: int, extra: int = 0, device: bool = False) -> int:
    """How many rows of ``width`` units (and ``extra`` further columns) fit the memory budget.

    On a device there is no cache to stay in, so a block takes the whole budget.
    """
    limit = int(get_config()["working_memory"] * 2**20)
    budget = limit if device else min(limit, max(_SMALLEST_BUDGET, 2 * width**2))
    rows = max(1, budget // (itemsize * (width + extra)))
    # Matrix units want the rows that they sum over aligned.
    return rows - rows % _DEVICE_STEP if device and rows > _DEVICE_STEP else rows


def fits(n_rows: int, width: int, itemsize: int) -> bool:
    """Whether an array of that size is within scikit-learn's ``working_memory``."""
    return n_rows <= most_rows(width, itemsize)


def most_rows(width: int, itemsize: int) -> int:
    """How many rows are within scikit-learn's ``working_memory``."""
    return int(get_config()["working_memory"] * 2**20 // (width * itemsize))


def rows_at_once(width: int) -> int:
    """How many rows of ``width`` numbers a step works on, within ``working_memory``.

    For what has many columns beside H: targets, and outputs for every C.
    """
    limit = int(get_config()["working_memory"] * 2**20)
    return max(1, min(_NUMBERS, limit // (8 * _COPIES)) // width)


def row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` rows that cover ``n_rows``."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def sample_rows(seed: Seed, n_rows: int, population: int) -> np.ndarray:
    """Indices of ``n_rows`` distinct rows; with repeats only past ``population``."""
    rng = check_random_state(seed)
    if population > _PERMUTED:
        few = np.random.default_rng(rng.randint(2**31 - 1))
        return few.choice(population, n_rows, replace=n_rows > population)
    rounds = -(-n_rows // population)
    left = [n_rows - population * k for k in range(rounds)]
    # A whole permutation of ten million rows is 80 MB, so no second one is made of it.
    return np.concatenate([rng.permutation(population)[:count] for count in left])


def blocks_of(X: Rows, size: int) -> Iterator[tuple[slice, Rows]]:
    """Slices of at most ``size`` rows, and the rows, where they are to be worked on."""
    if is_streamed(X):
        yield from X.blocks(size)
    else:
        for rows in row_blocks(X.shape[0], size):
            block = take(X, rows)
            yield rows, block
            forget_pages(block)


class UnderLayer:
    """What hidden rows have from their ``layer``."""

    layer: Layer

    @property
    def width(self) -> int:
        """Number of hidden units, h."""
        return self.layer.width

    @property
    def offset(self) -> float:
        """The constant that is left out of the blocks: H is a block plus this."""
        return self.layer.offset

    @property
    def dtype(self) -> DType:
        """Precision of H."""
        return self.layer.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one entry of H."""
        return itemsize(self.layer.dtype)


@dataclass(frozen=True)
class Hidden(UnderLayer):
    """The hidden layer's output for the rows X.

    ``watch`` is called after each block with the rows done and their total.
    """

    layer: Layer
    X: Rows
    watch: Callable[[float, float | None], None] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def size(self) -> int:
        """Rows in a block."""
        return block_rows(self.width, self.itemsize, self.X.shape[1], not is_numpy(self.X))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Each block's rows and its H − offset.

        The array is reused: copy what must outlive the step.
        """
        size = min(self.size, len(self))
        # Fresh pages cost more than the activation, so one buffer serves every block.
        buffer = np.empty((size, self.width), self.layer.dtype) if is_numpy(self.X) else None
        for rows, X in blocks_of(self.X, size):
            out = None if buffer is None else buffer[: rows.stop - rows.start]
            yield rows, self.layer(X, out)
            if self.watch is not None:
                self.watch(rows.stop, len(self))

    def all(self) -> Array:
        """The whole of H, offset included; for when it is known to fit."""
        H = self.layer(gathered(self.X))
        if self.layer.offset:
            H += self.layer.offset
        return H

    def take(self, rows: np.ndarray) -> "Hidden":
        """The same layer on some of the rows."""
        return Hidden(self.layer, take(self.X, rows))

    def units(self, columns: slice) -> "Hidden":
        """The same rows in some of the units."""
        return Hidden(self.layer.units(columns), self.X, self.watch)

    def shares(self) -> list[slice]:
        """Ranges of rows that threads work on side by side, each with an h × h sum of its own."""
        if not (is_numpy(self.X) and getattr(self.layer, "shareable", False)):
            return [slice(0, len(self))]
        return shares(len(self), self.width, most_rows(self.width**2, 8))

    def share(self, rows: slice) -> "Hidden":
        """The same layer on the rows of one thread; the first one tells how far all are."""
        if rows.stop - rows.start == len(self):
            return self
        n, watch = len(self), self.watch
        if rows.start or watch is None:
            return replace(self, X=take(self.X, rows), watch=None)
        return replace(self, X=take(self.X, rows), watch=lambda k, of: watch(n * k / rows.stop, n))

    def mapped(self, function: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
        """``function(block, *arguments)`` of every block of H − offset, one below the other."""
        return np.concatenate([function(block, *arguments) for _, block in self.blocks()])

    def kept(self) -> "Hidden":
        """The same rows, made once and kept where they fit; for when they are read many times."""
        if not fits(len(self), self.width, self.itemsize):
            return self
        rows = self.layer(gathered(self.X))
        return Hidden(GivenRows(self.width, self.layer.dtype, self.offset), rows)


@dataclass(frozen=True)
class Stored:
    """Hidden rows in memory, as tiles: each is the transpose of some rows of H.

    It has the properties and methods of `Hidden` that solvers use.
    """

    tiles: list[Array]

    def __len__(self) -> int:
        return sum(tile.shape[1] for tile in self.tiles)

    @property
    def width(self) -> int:
        return int(self.tiles[0].shape[0])

    @property
    def dtype(self) -> DType:
        return self.tiles[0].dtype

    @property
    def offset(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return max(int(tile.shape[1]) for tile in self.tiles)

    @property
    def X(self) -> Array:
        """An array that lives where H does."""
        return self.tiles[0]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        # A tile is copied, because solvers scale blocks in place.
        xp, start = namespace(self.X), 0
        buffer = xp.empty((self.width, self.size), dtype=self.dtype, device=self.X.device)
        for tile in self.tiles:
            rows = slice(start, start + tile.shape[1])
            copy = buffer if tile.shape[1] == self.size else xp.empty_like(tile)
            copy[...] = tile
            yield rows, copy.T
            start = rows.stop

    def all(self) -> Array:
        return namespace(self.X).concat([tile.T for tile in self.tiles])

    def take(self, rows: np.ndarray) -> "Stored":
        ends = np.cumsum([tile.shape[1] for tile in self.tiles])
        order = np.argsort(rows, kind="stable")
        cuts = np.split(rows[order], np.searchsorted(rows[order], ends[:-1]))
        parts = [
            take(tile, cut - end + tile.shape[1], axis=1)
            for tile, cut, end in zip(self.tiles, cuts, ends, strict=True)
        ]
        # Taken twice, because not every library writes to columns by their numbers.
        found = namespace(self.X).concat(parts, axis=1)
        return Stored([take(found, np.argsort(order), axis=1)])


@dataclass(frozen=True)
class GivenRows:
    """The layer of hidden rows that exist already; ``factors``, if any, multiply their columns."""

    width: int
    dtype: DType
    offset: float = 0.0
    columns: slice | None = None
    factors: Array | None = None
    shareable: ClassVar[bool] = True

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """A copy of the rows, because their readers scale them in place."""
        X = X if self.columns is None else X[:, self.columns]
        if self.factors is not None:
            return np.multiply(X, self.factors, out=out) if is_numpy(X) else X * self.factors
        if out is None:
            return namespace(X).asarray(X, copy=True)
        out[...] = X
        return out

    def units(self, columns: slice) -> "GivenRows":
        """Some of the columns."""
        width = len(range(*columns.indices(self.width)))
        factors = None if self.factors is None else self.factors[columns]
        return replace(self, width=width, columns=columns, factors=factors)
