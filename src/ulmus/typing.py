"""Names for the types that appear in signatures."""

from typing import Any, Protocol, TypeAlias

import numpy as np

# Arrays of NumPy, torch and CuPy share no base class; NumPy's stands for them all, so that what the
# array standard has in common with it is checked.
Array: TypeAlias = np.ndarray
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
        """A constant that is left out of the hidden rows: H is ``layer(X)`` plus this."""

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H − offset for these rows, written into ``out`` when one is given."""

    def units(self, columns: slice) -> "Layer":
        """Some of the hidden units, as a layer of their own."""
