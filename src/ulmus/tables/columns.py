"""One column of a table: what it holds, by its cells, and how it becomes columns of a matrix."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from ulmus.exceptions import TableError
from ulmus.tables.cells import DATE_LAYOUTS, read_cells, reader, words
from ulmus.tables.squashing import LARGEST, Frame, frame_of, framed, ranks_of, unusable, usable
from ulmus.tables.wording import counted, listed, quoted

__all__ = ["Category", "Number", "column_of"]

# A column holds numbers if this share of its filled cells does, and the others have few spellings.
_NUMBERS = 0.95
_MOST_SPELLINGS = 10
# In fewer rows than these, all values may differ by chance.
_FEW_ROWS = 20
# Blanks get a column of their own from this share of the rows on.
_INDICATED = 0.01
# A column has at most so many categories of its own; the rarer ones are one, "other".
_MOST_CATEGORIES = 50
# In a column with more values than that, a category is in at least so many rows.
_FEWEST_ROWS = 10
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_HOLDS = {"number": "numbers", "boolean": "yes or no", "date": "dates"}
_BLANK = "is blank in every row"
_CONSTANT = "has the same value in every row"


@dataclass(frozen=True)
class Number:
    """How a column becomes numbers.

    ``layout`` is a date's, ``spellings`` are words among numbers that count as blank, ``fill`` is
    what a blank becomes, ``indicator`` says whether blanks have a column of their own, ``frame``
    and ``ranks`` are as in `ulmus.tables.squashing`.
    """

    kind: str
    layout: str = ""
    spellings: tuple[str, ...] = ()
    fill: float = 0.0
    indicator: bool = False
    frame: Frame = (0.0, 1.0, False)
    ranks: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))

    def fitted(self, x: np.ndarray, ranked: bool) -> "Number":
        """The same with fill, frame and ranks of these numbers, not all of which are blank."""
        seen = x[usable(x)]
        blanks = len(x) - len(seen)
        indicator = blanks > 0 and blanks >= _INDICATED * len(x)
        found = replace(self, fill=float(np.median(seen)), indicator=indicator)
        if self.kind == "boolean":
            return found
        ranks = ranks_of(seen) if ranked else self.ranks
        return replace(found, frame=frame_of(seen), ranks=ranks)

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        ranked = [f"rank of {name}"] * bool(self.ranks.size)
        return [name, *ranked, *[f"{name} is blank"] * self.indicator]

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool
    ) -> tuple[np.ndarray, list[str]]:
        """The matrix' columns, and notes about cells that training did not have."""
        x = self._numbers(name, values, decimal_comma)
        blank = ~usable(x)
        notes = []
        if blank.any() and not self.indicator:
            notes = [f"{name!r}: {unusable(x)} filled by {self.fill:g}."]
        x = np.where(blank, self.fill, x)
        columns = [framed(x, self.frame)]
        if self.ranks.size:
            columns.append(np.interp(x, *self.ranks))
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
        if len(counts) > _MOST_CATEGORIES:
            often = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CATEGORIES]
            kept = {word for word, count in often if count >= _FEWEST_ROWS}
        return cls(tuple(sorted(kept)), blank, other=len(kept) < len(counts))

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        outputs = [f"{name}={category}" for category in self.categories]
        return [*outputs, *[f"{name} is other"] * self.other, *[f"{name} is blank"] * self.blank]

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool
    ) -> tuple[sp.csr_array, list[str]]:
        """The matrix' columns, and notes about cells that training did not have."""
        cells = words(values)
        last = len(self.categories)
        elsewhere = last if self.other else -1
        known: dict[str | None, int] = {c: k for k, c in enumerate(self.categories)}
        known[None] = last + self.other if self.blank else -1
        codes = np.array([known.get(cell, elsewhere) for cell in cells], dtype=np.int64)
        rows = np.flatnonzero(codes >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        shape = (len(cells), last + self.other + self.blank)
        X = sp.csr_array((ones, (rows, codes[rows])), shape=shape)
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


# How a column is encoded, or the reason why it is of no use; and notes about it.
Found = tuple[Number | Category | str, list[str]]


def column_of(name: str, values: np.ndarray, *, decimal_comma: bool, ranked: bool) -> Found:
    """What becomes of a column; ``ranked`` says whether numbers get their ranks too."""
    if values.dtype != object:
        return _number(name, values, Number("number"), ranked)
    distinct = {cell for cell in values if cell is not None}
    if not distinct:
        return _BLANK, []
    numbers = Number("number")
    for column in (numbers, Number("boolean"), *(Number("date", form) for form in DATE_LAYOUTS)):
        read = reader(column.kind, column.layout, distinct, decimal_comma)
        if all(read(cell) is not None for cell in distinct):
            return _number(name, read_cells(values, read)[0], column, ranked)
    x, bad = read_cells(values, reader("number", "", distinct, decimal_comma))
    spellings = tuple(sorted(set(values[bad])))
    few = bad.sum() <= (1 - _NUMBERS) * sum(cell is not None for cell in values)
    if not few or len(spellings) > _MOST_SPELLINGS:
        return _category(name, values, distinct)
    found, notes = _number(name, x, replace(numbers, spellings=spellings), ranked)
    note = f"{name!r} holds numbers, and {listed(spellings)} among them count as blank."
    return found, [note, *notes]


def _number(name: str, x: np.ndarray, column: Number, ranked: bool) -> Found:
    seen = x[usable(x)]
    blanks = len(x) - len(seen)
    if not len(seen):
        return _BLANK if np.isnan(x).all() else f"has no number below {LARGEST:g} in any row", []
    if not blanks and _tells_rows_apart(name, seen):
        return "is a number of the row, different in each", []
    column = column.fitted(x, ranked)
    if seen.min() == seen.max() and not column.indicator:
        return _CONSTANT, []
    notes = []
    if column.kind == "date":
        layout = column.layout.replace("iso", "%Y-%m-%d")
        for letter, part in (("%Y", "year"), ("%m", "month"), ("%d", "day")):
            layout = layout.replace(letter, part)
        notes.append(f"{name!r} holds dates ({layout}), which become days.")
    if blanks:
        also = "; a column of its own says where" if column.indicator else ""
        notes.append(f"{name!r}: {unusable(x)} filled by the median, {column.fill:g}{also}.")
    return column, notes


def _category(name: str, values: np.ndarray, distinct: set[str]) -> Found:
    blanks = sum(cell is None for cell in values)
    if len(distinct) == 1 and not blanks:
        return _CONSTANT, []
    if len(distinct) == len(values) >= _FEW_ROWS:
        return "has different text in each row", []
    column = Category.of(values)
    if not column.categories and not blanks:
        return "has different text in nearly every row", []
    notes = []
    if column.other:
        kept = f"{len(column.categories)} of {counted(len(distinct), 'value')}"
        notes.append(f"{name!r}: {kept} are categories, the rarer ones are other.")
    if blanks:
        notes.append(f"{name!r}: blanks, in {counted(blanks, 'row')}, are a category of their own.")
    return column, notes


def _tells_rows_apart(name: str, x: np.ndarray) -> bool:
    """Whether whole numbers count the rows from 0 or 1, or are an id that never comes twice."""
    if len(x) < _FEW_ROWS or (x != np.round(x)).any() or len(np.unique(x)) < len(x):
        return False
    parts = _WORDS.findall(name)
    named = bool(parts) and parts[-1].lower() in ("id", "uuid", "guid")
    return bool(named or (x.min() in (0, 1) and np.ptp(x) == len(x) - 1))
