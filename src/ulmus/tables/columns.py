"""One column: what it is, and how it becomes numbers."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.exceptions import TableError
from ulmus.tables.cells import DATE_FORMATS, Reader, boolean, date_reader, number_reader, parsed
from ulmus.tables.shape import bent, knots_of

__all__ = ["Category", "Found", "Number", "column_of", "fitted_column"]

# A column of text has at most so many categories of its own; the rarer ones are one, "other".
_MOST_CATEGORIES = 50
# A category of a column with more values than that is in at least so many rows.
_FEWEST_ROWS = 10
# Blanks get a column of their own from this share on.
_INDICATED = 0.01
# A column is numbers if this share of its filled cells are, and the others have few spellings.
_NUMBERS = 0.95
_MOST_SPELLINGS = 10
# In fewer rows than these, all values may differ by chance.
_FEW_ROWS = 20
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True)
class Number:
    """A column of numbers, or of yes and no, or of dates.

    ``spellings`` are words among the numbers that count as blank, ``fill`` is what a blank becomes,
    ``indicator`` says whether blanks have a column of their own, ``knots`` bend the numbers.
    """

    kind: str
    layout: str = ""
    spellings: tuple[str, ...] = ()
    fill: float = 0.0
    indicator: bool = False
    knots: Any = ()

    def state(self) -> dict[str, Any]:
        """What makes another one the same."""
        return dict(vars(self))

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        return [name, f"{name} is blank"] if self.indicator else [name]

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool
    ) -> tuple[np.ndarray, list[str]]:
        """The matrix' columns, and what was met."""
        x = self.numbers(name, values, decimal_comma)
        blank = ~np.isfinite(x)
        notes = []
        if blank.any() and not self.indicator:
            notes = [f"{name!r}: {_count(blank.sum(), 'blank')} filled by {self.fill:g}."]
        x = bent(np.where(blank, self.fill, x), self.knots).astype(np.float32)
        columns = [x, blank.astype(np.float32)] if self.indicator else [x]
        return np.column_stack(columns), notes

    def numbers(self, name: str, values: np.ndarray, decimal_comma: bool) -> np.ndarray:
        """The cells as numbers, blanks as NaN; a word among them is an error."""
        if values.dtype != object:
            if self.kind == "number" or np.isnan(values).all():
                return values
            values = _words(values)
        reader = _reader(self.kind, self.layout, decimal_comma)
        x, bad = parsed(values, reader)
        bad &= ~np.isin(values, self.spellings)
        if bad.any():
            row = int(np.argmax(bad))
            more = f", as do {bad.sum() - 1} more" if bad.sum() > 1 else ""
            raise TableError(
                f"Column {name!r} holds {_PLURALS[self.kind]}, and row {row + 1} below the header "
                f"has {values[row]!r}{more}; correct it, or leave the cell blank."
            )
        return x


_PLURALS = {"number": "numbers", "boolean": "yes or no", "date": "dates"}


@dataclass(frozen=True)
class Category:
    """A column of text: a column of zeros and ones for each category.

    ``blank`` says whether blanks are a category, ``other`` whether rare and new ones are.
    """

    categories: tuple[str, ...]
    blank: bool = False
    other: bool = False
    kind: str = "category"

    def state(self) -> dict[str, Any]:
        """What makes another one the same."""
        return dict(vars(self))

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        outputs = [f"{name}={category}" for category in self.categories]
        return outputs + [f"{name} is other"] * self.other + [f"{name} is blank"] * self.blank

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool
    ) -> tuple[sp.csr_array, list[str]]:
        """The matrix' columns, and what was met."""
        values = _words(values)
        known: dict[str | None, int] = {c: k for k, c in enumerate(self.categories)}
        elsewhere = len(self.categories) if self.other else -1
        if self.blank:
            known[None] = len(self.categories) + self.other
        codes = np.array([known.get(cell, elsewhere) for cell in values])
        rows = np.flatnonzero(codes >= 0)
        shape = (len(values), len(self.categories) + self.other + self.blank)
        ones = np.ones(len(rows), dtype=np.float32)
        return sp.csr_array((ones, (rows, codes[rows])), shape=shape), self._notes(name, values)

    def _notes(self, name: str, values: np.ndarray) -> list[str]:
        notes = []
        blanks = sum(cell is None for cell in values)
        if blanks and not self.blank:
            notes.append(f"{name!r}: {_count(blanks, 'blank')}, of which there were none before.")
        known = {None, *self.categories}
        new = Counter(cell for cell in values if cell not in known)
        if new:
            some = ", ".join(repr(word) for word, _ in new.most_common(3))
            what = "rare or new, and count as other" if self.other else "new, and count as none"
            notes.append(
                f"{name!r}: categories of {_count(new.total(), 'row')} are {what} ({some})."
            )
        return notes


@dataclass(frozen=True)
class Found:
    """What a column was found to be, or why it is of no use, and what to tell of it."""

    column: Number | Category | None
    reason: str = ""
    notes: tuple[str, ...] = ()


def column_of(state: dict[str, Any]) -> Number | Category:
    """The column whose state this is."""
    return Category(**state) if state["kind"] == "category" else Number(**state)


def fitted_column(name: str, values: np.ndarray, decimal_comma: bool) -> Found:
    """What a column is, by its cells."""
    if values.dtype != object:
        return _number(name, values, Number("number"))
    filled = values[values != None]  # noqa: E711
    if not len(filled):
        return Found(None, "is blank in every row")
    candidates = [
        Number("boolean"),
        *(Number("date", layout) for layout in DATE_FORMATS),
        Number("number"),
    ]
    for column in candidates:
        x, bad = parsed(values, _reader(column.kind, column.layout, decimal_comma))
        if not bad.any():
            return _number(name, x, column)
    # The last candidate was the plain numbers: a few words among many of them are blanks.
    words = sorted(set(values[bad]))
    if bad.sum() <= (1 - _NUMBERS) * len(filled) and len(words) <= _MOST_SPELLINGS:
        found = _number(name, x, replace(column, spellings=tuple(words)))
        note = (
            f"{name!r} holds numbers, and {', '.join(map(repr, words))} among them count as blank."
        )
        return replace(found, notes=(note, *found.notes))
    return _category(name, values, filled)


def _number(name: str, x: np.ndarray, column: Number) -> Found:
    finite = x[np.isfinite(x)]
    blanks = len(x) - len(finite)
    indicator = blanks > 0 and blanks >= _INDICATED * len(x)
    if not len(finite):
        return Found(None, "is blank in every row")
    if finite.min() == finite.max() and not indicator:
        return Found(None, "has the same value in every row")
    if _counts_rows(name, finite) and not blanks:
        return Found(None, "is a row's number or name, different in each")
    fill = float(np.median(finite))
    notes = []
    if blanks:
        also = ", and a column of its own says where" if indicator else ""
        notes.append(f"{name!r}: {_count(blanks, 'blank')} filled by the median {fill:g}{also}.")
    if column.kind == "date":
        how = "year-month-day" if column.layout == "iso" else column.layout
        notes.append(f"{name!r} holds dates ({how}), which become days since 1970.")
    knots = knots_of(finite) if column.kind != "boolean" else ()
    return Found(replace(column, fill=fill, indicator=indicator, knots=knots), notes=tuple(notes))


def _category(name: str, values: np.ndarray, filled: np.ndarray) -> Found:
    counts = Counter(filled)
    blank = len(filled) < len(values)
    if len(counts) == 1 and not blank:
        return Found(None, "has the same value in every row")
    if len(counts) == len(filled) >= _FEW_ROWS and not blank:
        return Found(None, "has different text in each row")
    kept, notes = counts, []
    if len(counts) > _MOST_CATEGORIES:
        often = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CATEGORIES]
        kept = Counter({word: count for word, count in often if count >= _FEWEST_ROWS})
        if not kept and not blank:
            return Found(None, "has different text in nearly every row")
        notes = [
            f"{name!r}: of {len(counts)} categories {len(kept)} are kept, the rarer are other."
        ]
    column = Category(tuple(sorted(kept)), blank, other=len(kept) < len(counts))
    return Found(column, notes=tuple(notes))


def _counts_rows(name: str, x: np.ndarray) -> bool:
    """Whether whole numbers only tell rows apart: 0, 1, 2, … or an id that never comes twice."""
    if len(x) < _FEW_ROWS or (x != np.round(x)).any() or len(np.unique(x)) < len(x):
        return False
    words = _WORDS.findall(name)
    named = bool(words) and words[-1].lower() in ("id", "uuid", "guid")
    return named or (x.min() in (0, 1) and np.ptp(x) == len(x) - 1)


def _reader(kind: str, layout: str, decimal_comma: bool) -> Reader:
    if kind == "boolean":
        return boolean
    return date_reader(layout) if kind == "date" else number_reader(decimal_comma)


def _words(values: np.ndarray) -> np.ndarray:
    """Numbers as the text they would be written in."""
    if values.dtype == object:
        return values
    return np.array([None if np.isnan(v) else f"{v:.15g}" for v in values], dtype=object)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
