"""What is made for labelled rows, kept while they are labelled."""

from collections.abc import Callable

import numpy as np


class LabelledRows:
    """A row of numbers for each labelled row; those of the last call serve the next one."""

    def __init__(self) -> None:
        self._last = np.empty(0, dtype=np.intp), np.empty((0, 0))

    def of(self, numbers: np.ndarray, make: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Those of rows with these numbers, in ascending order; new ones are made."""
        # Read once and written once, for models of several threads may share it.
        old, rows = self._last
        fresh = np.flatnonzero(~np.isin(numbers, old))
        if len(fresh):
            made = make(numbers[fresh])
            order = np.argsort(np.concatenate([old, numbers[fresh]]))
            rows = np.concatenate([rows, made])[order] if len(old) else made
            old = np.union1d(old, numbers)
        found = rows[np.searchsorted(old, numbers)]
        self._last = numbers, found
        return found
