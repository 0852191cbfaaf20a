"""A column of text: zeros and ones, a column for each category."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.tables.cells import words
from ulmus.tables.wording import counted, listed

__all__ = ["Category"]

# A column has at most so many categories of its own; the rarer ones are one, "other".
_MOST = 50
# In a column with more values than that, a category is in at least so many rows.
_FEWEST_ROWS = 10


@dataclass(frozen=True)
class Category:
    """How a column of text becomes zeros and ones.

    ``blank`` says whether blanks are a category, ``other`` whether rare and new ones are.
    """

    categories: tuple[str, ...]
    blank: bool = False
    other: bool = False
    kind: str = "category"

    @classmethod
    def of(cls, cells: np.ndarray) -> "Category":
        """The categories of a column."""
        counts = Counter(cells)
        blank = counts.pop(None, 0) > 0
        kept = set(counts)
        if len(counts) > _MOST:
            often = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
            kept = {word for word, count in often if count >= _FEWEST_ROWS}
        return cls(tuple(sorted(kept)), blank, other=len(kept) < len(counts))

    def state(self) -> dict[str, Any]:
        """What makes another one the same."""
        return dict(vars(self))

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        outputs = [f"{name}={category}" for category in self.categories]
        return [*outputs, *[f"{name} is other"] * self.other, *[f"{name} is blank"] * self.blank]

    @property
    def width(self) -> int:
        """How many of the matrix' columns there are."""
        return len(self.categories) + self.other + self.blank

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool
    ) -> tuple[sp.csr_array, list[str]]:
        """The matrix' columns, and what was met."""
        cells = words(values)
        known: dict[str | None, int] = {c: k for k, c in enumerate(self.categories)}
        elsewhere = len(self.categories) if self.other else -1
        if None not in known:
            known[None] = len(self.categories) + self.other if self.blank else -1
        codes = np.array([known.get(cell, elsewhere) for cell in cells], dtype=np.int64)
        rows = np.flatnonzero(codes >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        X = sp.csr_array((ones, (rows, codes[rows])), shape=(len(cells), self.width))
        return X, self._notes(name, Counter(cells))

    def _notes(self, name: str, counts: Counter[str | None]) -> list[str]:
        notes = []
        blanks = counts.pop(None, 0)
        if blanks and not self.blank:
            notes.append(f"{name!r}: {counted(blanks, 'blank')}, of which the model knows none.")
        known = set(self.categories)
        new = Counter({cell: count for cell, count in counts.items() if cell not in known})
        if new:
            what = "rare or new, taken as other" if self.other else "new, taken as none"
            which = listed(str(cell) for cell, _ in new.most_common())
            notes.append(
                f"{name!r}: categories of {counted(new.total(), 'row')} are {what}: {which}."
            )
        return notes
