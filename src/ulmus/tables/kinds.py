"""What a column of a table holds, by its cells: how it is encoded, or the target that it is."""

import re
import shlex
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ulmus.arguments import check_known, counted, listed, quoted
from ulmus.commanded import option
from ulmus.exceptions import InvalidInputError, TableError
from ulmus.tables.cells import (
    BLANKS,
    DATE_LAYOUTS,
    PLAIN,
    Reader,
    are_ids,
    has_comma,
    layout_of,
    layout_words,
    other_way,
    read_cells,
    reader,
    unit_of,
    words_of,
)
from ulmus.tables.columns import HOLDS, LARGEST, Category, Number, Text, text_of, unusable, usable
from ulmus.tables.table import Table
from ulmus.validation import missing

# A column holds numbers if this share of its filled cells does, and the others have few spellings.
_NUMBERS = 0.95
_MOST_SPELLINGS = 10
# Up to this share of words a note says why a column is not read as numbers.
_NOTED = 0.2
# In fewer rows than these, all values may differ by chance.
_FEW_ROWS = 20
# A column has at most so many categories of its own; the rarer ones are one, "other".
_MOST_CATEGORIES = 50
# In a column with more values than that, a category is in at least so many rows.
_FEWEST_ROWS = 10
# Where more rows than this share have a rarer value, the column is read as text.
_TAIL = 0.2
_BLANK = "is missing in every row"
_CONSTANT = "has the same value in every row"
# Whole numbers are labels if there are at most so many, and this many rows of each on average.
_MOST_LABELS = 20
_ROWS_OF_EACH = 5


def column_of(
    name: str,
    values: np.ndarray,
    decimal_comma: bool,
    ranked: bool,
    notes: list[str],
    kind: str | None = None,
) -> Number | Category | Text | str:
    """How a column is encoded, or the reason why it is of no use.

    ``ranked`` says whether numbers get their ranks too; ``notes`` is added to. ``kind`` is what a
    user says the column holds.
    """
    if kind in ("category", "text"):
        cells = words_of(values)
        return _category(name, cells, notes, whole=True) if kind == "category" else text_of(cells)
    if values.dtype != object:
        return _number(name, values, Number("number"), ranked, notes)
    distinct = {cell for cell in values if cell is not None}
    if not distinct:
        return _BLANK
    column = _as_numbers(name, values, distinct, decimal_comma, notes)
    if column is not None and kind in (None, column.kind):
        x = column.numbers(name, values, decimal_comma)
        return _number(name, x, column, ranked, notes)
    if kind is not None:
        raise TableError(_not_all(name, kind, distinct, decimal_comma))
    return _category(name, values, notes)


def _not_all(name: str, kind: str, distinct: set[str], decimal_comma: bool) -> str:
    """What is wrong with a column that a user says holds numbers, yes or no, or dates."""
    every = "|".join(DATE_LAYOUTS)
    read = reader(has_comma(distinct, decimal_comma), kind, every, unit_of(distinct))
    words = [cell for cell in distinct if read(cell) is None] or distinct
    return (
        f"{_as(name, kind)}: not all cells of the column are {HOLDS[kind]}, for instance "
        f"{quoted(sorted(words)[0])}; correct the cells, or give {_as(name, 'category')}."
    )


def numbers_of(name: str, values: np.ndarray, decimal_comma: bool) -> tuple[np.ndarray, str] | None:
    """A column's numbers, also those in text, and dates as days, with its kind; None of others."""
    if values.dtype != object:
        return values, "number"
    column = column_of(name, values, decimal_comma, False, [])
    if not isinstance(column, Number):
        return None
    return column.numbers(name, values, decimal_comma), column.kind


def _as_numbers(
    name: str, values: np.ndarray, distinct: set[str], decimal_comma: bool, notes: list[str]
) -> Number | None:
    """How the cells are read where all are numbers, yes or no, or dates, or nearly all numbers."""
    if are_ids(distinct):
        return None
    blanks = _blank_words(values, distinct)
    filled = distinct - blanks
    unit = unit_of(filled)
    number = Number("number", comma=has_comma(filled, decimal_comma, unit), unit=unit)
    read = reader(number.comma, unit=unit)
    column = _wholly(filled, number)
    if column is None:
        _, bad = read_cells(values, read)
        blanks = set(values[bad])
        share = bad.sum() / sum(cell is not None for cell in values)
        if share > 1 - _NUMBERS or len(blanks) > _MOST_SPELLINGS:
            if share <= _NOTED:
                which = f"{listed(sorted(blanks))}, in {counted(bad.sum(), 'row')}"
                notes.append(
                    f"{name!r} holds numbers and words ({which}), so it is not read as numbers; "
                    "correct the words, or leave their cells empty."
                )
            return None
        column = number
    marked = sorted(cell for cell in filled - blanks if not PLAIN.fullmatch(cell))
    if column.kind == "number" and marked:
        words = f"{quoted(marked[0])} is {read(marked[0]):.10g}"
        notes.append(f"{name!r} holds numbers in text: {words}.")
    if other := other_way(column.layout, filled):
        notes.append(
            f"{name!r}: all dates fit {layout_words(column.layout)}, which was taken, and "
            f"{layout_words(other)}; if that is right, write them as year-month-day."
        )
    if blanks:
        verb = "counts" if len(blanks) == 1 else "count"
        what = f"{listed(sorted(blanks))} among them {verb} as missing"
        notes.append(f"{name!r} holds {HOLDS[column.kind]}, and {what}.")
    return replace(column, spellings=tuple(sorted(blanks)))


def _blank_words(values: np.ndarray, distinct: set[str]) -> set[str]:
    """Words for a missing value, unless they are most of the filled cells."""
    found = {cell for cell in distinct if cell.lower() in BLANKS}
    if not found:
        return found
    counts = Counter(values)
    filled = counts.total() - counts[None]
    return found if 2 * sum(counts[cell] for cell in found) <= filled else set()


def _wholly(cells: set[str], number: Number) -> Number | None:
    """How cells are read that are all numbers, yes or no, or dates, or all numbers with a unit."""
    for kind in ("number", "boolean"):
        if _reads(reader(number.comma, kind), cells):
            return replace(number, kind=kind, unit="")
    layout = layout_of(cells)
    if layout:
        return Number("date", layout)
    return number if _reads(reader(number.comma, unit=number.unit), cells) else None


def _reads(read: Reader, cells: set[str]) -> bool:
    return all(read(cell) is not None for cell in cells)


def _number(
    name: str, x: np.ndarray, column: Number, ranked: bool, notes: list[str]
) -> Number | str:
    seen = x[usable(x)]
    blanks = len(x) - len(seen)
    if not len(seen):
        return _BLANK if np.isnan(x).all() else f"has no number below {LARGEST:g} in any row"
    if not blanks and _tells_rows_apart(name, seen):
        return "is a number of the row, different in each"
    column = column.fitted(x, ranked)
    if seen.min() == seen.max() and not column.indicator:
        return _CONSTANT
    if column.kind == "date":
        also = f", and the time of the {' and of the '.join(column.parts)}" if column.parts else ""
        notes.append(f"{name!r} holds dates ({layout_words(column.layout)}): days{also}.")
    if blanks:
        also = "; a column of its own says where" if column.indicator else ""
        notes.append(f"{name!r}: {unusable(x)} filled by the median, {column.filler}{also}.")
    return column


def _category(
    name: str, values: np.ndarray, notes: list[str], whole: bool = False
) -> Category | Text | str:
    """Categories, or text where many rows have a rare one, unless categories are asked for."""
    counts = Counter(values)
    blanks, distinct = counts.pop(None, 0), len(counts)
    if distinct == 1 and not blanks:
        return _CONSTANT
    kept = set(counts)
    if distinct > _MOST_CATEGORIES:
        often = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CATEGORIES]
        kept = {word for word, count in often if count >= _FEWEST_ROWS}
    tail = sum(count for word, count in counts.items() if word not in kept)
    if not whole and tail > _TAIL * len(values) and _is_text(counts):
        column = text_of(values)
        width = len(column.components)
        notes.append(f"{name!r} is read as text: {counted(width, 'column')} of letters' patterns.")
        return column
    if distinct == len(values) >= _FEW_ROWS:
        return "has different text in each row"
    if not kept and not blanks:
        return "has different text in nearly every row"
    other = len(kept) < distinct
    if other:
        some = f"{len(kept)} of {counted(distinct, 'value')}"
        verb = "is a category" if len(kept) == 1 else "are categories"
        notes.append(f"{name!r}: {some} {verb}, the rarer ones are other.")
    if blanks:
        notes.append(
            f"{name!r}: missing values, in {counted(blanks, 'row')}, are a category of their own."
        )
    return Category(tuple(sorted(kept)), blanks > 0, other)


def _is_text(cells: Counter[str]) -> bool:
    """Whether cells are words, not codes: mostly letters, and where none repeats several words."""
    some = list(cells)[:1000]
    letters = sum(char.isalpha() for cell in some for char in cell)
    total = sum(not char.isspace() for cell in some for char in cell)
    words = sum(len(cell.split()) for cell in some) / len(some)
    return letters > 0.5 * total and (words > 1.5 or cells.total() > 2 * len(cells))


def _tells_rows_apart(name: str, x: np.ndarray) -> bool:
    """Whether whole numbers count the rows from 0 or 1, or are an id that never comes twice."""
    if len(x) < _FEW_ROWS or (x != np.round(x)).any() or len(np.unique(x)) < len(x):
        return False
    return names_rows(name) or bool(x.min() in (0, 1) and np.ptp(x) == len(x) - 1)


def names_rows(name: str) -> bool:
    """Whether a column is called as an id is: id, customer_id, PassengerId."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)
    return bool(parts) and parts[-1].lower() in ("id", "uuid", "guid")


# ---------------------------------------------------------------------- the target
@dataclass(frozen=True)
class Target:
    """A column to learn: words, whole numbers or numbers; those not ``known`` are not used."""

    name: str
    task: str
    values: np.ndarray
    known: np.ndarray
    notes: tuple[str, ...] = ()


def _as(name: str, kind: str) -> str:
    return option(f"--as {shlex.quote(f'{name}={kind}')}", f"kinds={{{name!r}: {kind!r}}}")


def _task(name: str) -> str:
    return option(f"--task {name}", f"task={name!r}")


def separated(table: Table, name: str | None) -> tuple[np.ndarray, str, Table]:
    """The target's cells, its name, and the table without it."""
    if name is not None:
        return table[name], name, table.without(name)
    if table.target is None:
        names = ", ".join(table.names[:10]) + (", …" if len(table.names) > 10 else "")
        raise InvalidInputError(
            f"Which column is to be learnt? Name it with {option('--target', 'target=')}; there "
            f"are {names}."
        )
    return table.target, "y", table


def read_target(
    cells: np.ndarray,
    name: str,
    task: str = "auto",
    decimal_comma: bool = False,
    varied: bool = True,
) -> Target:
    """A column as a `Target`; blank cells are rows without one.

    ``varied`` says whether there must be two values at least, as there must to learn it.
    """
    check_known("task", task, ("auto", "classification", "regression"))
    notes = list[str]()
    numbers, bad = cells, np.zeros(len(cells), dtype=bool)
    if cells.dtype == object:
        numbers, bad = _target_numbers(cells, name, decimal_comma, notes)
    words = bool(bad.any())
    known = ~missing(cells) if words else usable(numbers)
    if not known.any():
        raise InvalidInputError(
            f"The target {name!r} is missing in every row; fill it in for some rows at least."
        )
    odd = numbers[~known & ~np.isnan(numbers)]
    if len(odd) and not words:
        verb = "counts" if len(odd) == 1 else "count"
        notes.append(f"{name!r}: {unusable(odd)} {verb} as missing.")
    if task == "auto":
        task = "classification" if words else _guessed(numbers[known], name, notes)
    if task == "regression" and words:
        advice = f"leave {_task('regression')} out" if varied else "correct it"
        raise InvalidInputError(
            f"The target {name!r} holds text, {quoted(str(cells[np.argmax(bad)]))} for instance, "
            f"and regression needs numbers; {advice}."
        )
    values = numbers.astype(float)
    if task == "classification":
        values = _labels(cells if words else np.where(known, values, 0))
    if varied:
        some = cells[bad] if 2 * bad.sum() <= known.sum() else cells[:0]
        _check_varied(values[known], name, task, some)
    return Target(name, task, values, known, tuple(notes))


def _target_numbers(
    cells: np.ndarray, name: str, decimal_comma: bool, notes: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """A target's numbers, and the cells that are none; words for a missing one among amounts."""
    filled = {cell for cell in cells if cell is not None}
    unit = unit_of(filled)
    read = reader(has_comma(filled, decimal_comma, unit), unit=unit)
    numbers, bad = read_cells(cells, read)
    blanks = _blank_words(cells, filled)
    # Few numbers and a word may all be classes.
    if blanks and blanks == set(cells[bad]) and len(filled) > _MOST_LABELS:
        notes.append(f"{name!r}: {listed(sorted(blanks))} counted as missing.")
        bad = np.zeros(len(cells), dtype=bool)
    if unit and not bad.any():
        some = min(filled - blanks)
        notes.append(f"{name!r} holds numbers in text: {quoted(some)} is {read(some):.10g}.")
    return numbers, bad


def _check_varied(values: np.ndarray, name: str, task: str, words: np.ndarray) -> None:
    """Refuse a target with too many classes or one; ``words`` are few among numbers."""
    distinct, rows = len(np.unique(values)), len(values)
    if task == "classification" and distinct > max(2, rows / 2):
        some = f" Most are numbers, but {quoted(words[0])} is not." if len(words) else ""
        raise InvalidInputError(
            f"The target {name!r} has {distinct:,} different values in {rows:,} rows; classes need "
            f"two rows or more on average.{some}"
        )
    if distinct < 2:
        raise InvalidInputError(
            f"The target {name!r} is {as_text(values[:1])[0]!r} in every row that has one; "
            "there is nothing to tell apart."
        )


def _guessed(values: np.ndarray, name: str, notes: list[str]) -> str:
    """The task that numbers suggest, and a note where they could suggest another."""
    if (values != np.round(values)).any():
        return "regression"
    distinct = len(np.unique(values))
    what = f"{name!r} holds {distinct:,} different whole numbers, taken as"
    if distinct <= 2:
        return "classification"
    if distinct <= _MOST_LABELS and _ROWS_OF_EACH * distinct <= len(values):
        notes.append(f"{what} classes; {_task('regression')} if they are amounts.")
        return "classification"
    if 2 * distinct <= len(values):  # more classes are refused
        notes.append(f"{what} amounts; {_task('classification')} if they are classes.")
    return "regression"


def _labels(values: np.ndarray) -> np.ndarray:
    """Whole numbers as integers, anything else as words."""
    if values.dtype == object:
        return np.array([cell if cell is not None else "" for cell in values], dtype=object)
    if (values == np.round(values)).all() and np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    return np.array([f"{value:.15g}" for value in values], dtype=object)


def as_text(values: np.ndarray) -> list[str]:
    """Labels or numbers as they are written to a file."""
    return [f"{value:.9g}" if values.dtype.kind == "f" else str(value) for value in values]
