"""Rows on a graph, of which some have a label: what a semi-supervised method sees."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.namespace import placed
from ulmus.exceptions import RowsGoneError
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.problem import Problem
from ulmus.typing import Targets

__all__ = ["OnGraph"]


@dataclass(frozen=True)
class OnGraph:
    """The labelled rows, all rows where they are at hand, and their graph.

    ``some`` are the hidden rows that are ``known`` by a label; ``weight`` is what each of them
    weighs at C = 1. ``every`` is None where the rows lie in blocks, and ``basis`` then is known, as
    it is of rows that were fitted before. ``held`` are hidden rows to validate by and their
    targets, and ``watch`` is called with the progress of a pass.
    """

    some: Hidden
    known: np.ndarray
    targets: Targets
    weight: np.ndarray
    laplacian: Laplacian
    every: Hidden | None = None
    basis: Any = None
    held: tuple[Hidden, Targets] | None = None
    watch: Callable[[float, float | None], None] | None = None

    def labelled(self) -> Problem:
        """The rows that have a label, as a supervised problem."""
        X = self.some.X
        return Problem(self.some, self.targets.placed(X), placed(self.weight, X))

    def rows(self) -> Hidden:
        """All hidden rows."""
        if self.every is None:
            raise RowsGoneError(
                "This needs all rows at once, and they lie in the blocks of a Dask collection; use "
                "coupling='tight' and solver='spectral', or rows in memory."
            )
        return self.every
