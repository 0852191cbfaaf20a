"""What a column is, by its cells."""

import re
from dataclasses import dataclass, replace

import numpy as np

from ulmus.tables.categories import Category
from ulmus.tables.cells import DATE_LAYOUTS, read_cells, reader
from ulmus.tables.numbers import Number
from ulmus.tables.shape import LARGEST, unusable, usable
from ulmus.tables.wording import counted, listed

__all__ = ["Choice", "chosen"]

# A column is numbers if this share of its filled cells are, and the others have few spellings.
_NUMBERS = 0.95
_MOST_SPELLINGS = 10
# In fewer rows than these, all values may differ by chance.
_FEW_ROWS = 20
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True)
class Choice:
    """What a column is, or why it is of no use, and what to tell of it."""

    column: Number | Category | None
    reason: str = ""
    notes: tuple[str, ...] = ()


def chosen(name: str, values: np.ndarray, *, decimal_comma: bool, ranked: bool) -> Choice:
    """What a column is: numbers, yes and no, dates, or categories.

    Parameters
    ----------
    name : str
        Its name.
    values : ndarray
        Its cells, numbers or text.
    decimal_comma : bool
        Whether 1,5 is a number.
    ranked : bool
        Whether numbers get their rank too.
    """
    if values.dtype != object:
        return _number(name, values, Number("number"), ranked)
    distinct = {cell for cell in values if cell is not None}
    if not distinct:
        return Choice(None, "is blank in every row")
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
    found = _number(name, x, replace(numbers, spellings=spellings), ranked)
    note = f"{name!r} holds numbers, and {listed(spellings)} among them count as blank."
    return replace(found, notes=(note, *found.notes))


def _number(name: str, x: np.ndarray, column: Number, ranked: bool) -> Choice:
    seen = x[usable(x)]
    blanks = len(x) - len(seen)
    if not len(seen):
        if np.isnan(x).all():
            return Choice(None, "is blank in every row")
        return Choice(None, f"has no number below {LARGEST:g} in any row")
    if not blanks and _tells_rows_apart(name, seen):
        return Choice(None, "is a number of the row, different in each")
    column = column.fitted(x, ranked)
    if seen.min() == seen.max() and not column.indicator:
        return Choice(None, "has the same value in every row")
    notes = []
    if column.kind == "date":
        layout = "year-month-day" if column.layout == "iso" else _spelt(column.layout)
        notes.append(f"{name!r} holds dates ({layout}), which become days.")
    if blanks:
        also = "; a column of its own says where" if column.indicator else ""
        filled = f"{unusable(x)} filled by the median, {column.fill:g}{also}"
        notes.append(f"{name!r}: {filled}.")
    return Choice(column, notes=tuple(notes))


def _category(name: str, values: np.ndarray, distinct: set[str]) -> Choice:
    blanks = sum(cell is None for cell in values)
    if len(distinct) == 1 and not blanks:
        return Choice(None, "has the same value in every row")
    if len(distinct) == len(values) >= _FEW_ROWS:
        return Choice(None, "has different text in each row")
    column = Category.of(values)
    if not column.categories and not blanks:
        return Choice(None, "has different text in nearly every row")
    notes = []
    if column.other:
        kept = f"{len(column.categories)} of {counted(len(distinct), 'value')}"
        notes.append(f"{name!r}: {kept} are categories, the rarer ones are other.")
    if blanks:
        notes.append(f"{name!r}: blanks, in {counted(blanks, 'row')}, are a category of their own.")
    return Choice(column, notes=tuple(notes))


def _tells_rows_apart(name: str, x: np.ndarray) -> bool:
    """Whether whole numbers count the rows from 0 or 1, or are an id that never comes twice."""
    if len(x) < _FEW_ROWS or (x != np.round(x)).any() or len(np.unique(x)) < len(x):
        return False
    parts = _WORDS.findall(name)
    named = bool(parts) and parts[-1].lower() in ("id", "uuid", "guid")
    return bool(named or (x.min() in (0, 1) and np.ptp(x) == len(x) - 1))


def _spelt(layout: str) -> str:
    return layout.replace("%Y", "year").replace("%m", "month").replace("%d", "day")
