"""A column of numbers, dates, or yes and no."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ulmus.exceptions import TableError
from ulmus.tables.cells import read_cells, reader, words
from ulmus.tables.shape import Frame, frame_of, framed, rank, ranks_of, unusable, usable
from ulmus.tables.wording import counted, quoted

__all__ = ["Number"]

# Blanks get a column of their own from this share on.
_INDICATED = 0.01
_HOLDS = {"number": "numbers", "boolean": "yes or no", "date": "dates"}


@dataclass(frozen=True)
class Number:
    """How a column becomes numbers.

    ``layout`` is a date's, ``spellings`` are words among numbers that count as blank, ``fill`` is
    what a blank becomes, ``indicator`` says whether blanks have a column of their own, ``frame``
    and ``ranks`` are the shape.
    """

    kind: str
    layout: str = ""
    spellings: tuple[str, ...] = ()
    fill: float = 0.0
    indicator: bool = False
    frame: Frame = (0.0, 1.0, False)
    ranks: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))

    def fitted(self, x: np.ndarray, ranked: bool) -> "Number":
        """The same with a shape for these numbers, not all of which are blank."""
        seen = x[usable(x)]
        blanks = len(x) - len(seen)
        found = replace(
            self,
            fill=float(np.median(seen)),
            indicator=blanks > 0 and blanks >= _INDICATED * len(x),
        )
        if self.kind == "boolean":
            return found
        ranks = ranks_of(seen) if ranked else self.ranks
        return replace(found, frame=frame_of(seen), ranks=ranks)

    def state(self) -> dict[str, Any]:
        """What makes another one the same."""
        return dict(vars(self))

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        ranked = [f"rank of {name}"] * bool(self.ranks.size)
        return [name, *ranked, *[f"{name} is blank"] * self.indicator]

    @property
    def width(self) -> int:
        """How many of the matrix' columns there are."""
        return 1 + bool(self.ranks.size) + self.indicator

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool
    ) -> tuple[np.ndarray, list[str]]:
        """The matrix' columns, and what was met."""
        x = self._numbers(name, values, decimal_comma)
        blank = ~usable(x)
        notes = []
        if blank.any() and not self.indicator:
            notes = [f"{name!r}: {unusable(x)} filled by {self.fill:g}."]
        x = np.where(blank, self.fill, x)
        columns = [framed(x, self.frame)]
        if self.ranks.size:
            columns.append(rank(x, self.ranks))
        if self.indicator:
            columns.append(blank)
        return np.column_stack(columns).astype(np.float32), notes

    def _numbers(self, name: str, values: np.ndarray, decimal_comma: bool) -> np.ndarray:
        """The cells as numbers, blanks as NaN; a word among them is an error."""
        if values.dtype != object and self.kind == "number":
            return values
        cells = words(values)
        x, bad = read_cells(cells, reader(self.kind, self.layout, cells, decimal_comma))
        bad &= [cell not in self.spellings for cell in cells]
        if bad.any():
            row = int(np.argmax(bad))
            more = f" ({counted(bad.sum() - 1, 'more row')} like it)" if bad.sum() > 1 else ""
            raise TableError(
                f"The column {name!r} holds {_HOLDS[self.kind]}, and row {row + 1} below the "
                f"header has {quoted(cells[row])}{more}; correct it, or leave the cell blank."
            )
        return x
