"""Names for the types that appear in signatures."""

from typing import Any, Protocol, TypeAlias

import numpy as np

# NumPy, torch and CuPy arrays share a behaviour, not a base class, so the
# aliases document intent and the array-API namespace does the work.
Array: TypeAlias = Any
Rows: TypeAlias = Any  # an array or a SciPy sparse matrix whose first axis is samples
DType: TypeAlias = Any
Seed: TypeAlias = int | np.random.RandomState | None


class Layer(Protocol):
    """A feature map as the methods see it: rows in, hidden rows out."""

    @property
    def width(self) -> int:
        """How many hidden units a row turns into."""

    @property
    def dtype(self) -> DType:
        """The precision of the hidden rows."""

    @property
    def offset(self) -> float:
        """A constant that is left out of the hidden rows: H is the call plus this."""

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H − offset for these rows, written into ``out`` when one is given."""

    def units(self, columns: slice) -> "Layer":
        """Some of the hidden units, as a layer of their own."""


class Targets(Protocol):
    """What the rows should map to, given out block by block."""

    @property
    def array(self) -> Array:
        """What the targets are made of, which lives where they do."""

    @property
    def width(self) -> int:
        """Columns of Y."""

    @property
    def outputs(self) -> int:
        """Columns of the solved targets T = Y E."""

    def encoded(self, Y: Array) -> Array:
        """Y E, for rows of Y or for sums over them."""

    def __len__(self) -> int: ...

    def placed(self, like: Any) -> "Targets":
        """The same where ``like`` lives."""

    def take(self, rows: Any) -> "Targets":
        """Those of some rows."""

    def block(self, rows: Any, dtype: DType) -> Array:
        """Y for these rows."""
