"""CSV, TSV and their like."""

import csv
import io
import re
from collections import Counter
from pathlib import Path

from ulmus.backends.delimited import OddRow, column_values, delimited_cells
from ulmus.exceptions import TableError
from ulmus.tables.table import Table
from ulmus.tables.text import LONGEST_LINE, look_at, sniff

__all__ = ["MISSING", "read_delimited"]

# Cells that say that there is nothing, in lower case.
MISSING = ["", "?", "na", "n/a", "#n/a", "<na>", "nan", "null"]
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)


def read_delimited(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Table:
    """A table of a text file whose rows are lines and whose fields are set apart by a character."""
    text = look_at(path, encoding)
    if delimiter is None:
        delimiter = sniff(text.head)
    first = next(row for row in csv.reader(io.StringIO(text.head), delimiter=delimiter) if row)
    names, named, notes = _names(path, [name.strip() for name in first], header)
    cells, odd = delimited_cells(
        path,
        delimiter=delimiter,
        encoding=text.encoding,
        width=len(names),
        block=2 * LONGEST_LINE,
    )
    if odd:
        raise TableError(_ragged(path, odd, len(names), delimiter))
    if named:
        cells = [column.slice(1) for column in cells]
    if not len(cells[0]):
        raise TableError(f"{path} has a row of names and no rows below it.")
    comma = delimiter == ";"
    columns = {
        name: column_values(column, MISSING, comma)
        for name, column in zip(names, cells, strict=True)
    }
    return Table(names, columns, notes=text.notes + notes, decimal_comma=comma)


def _names(
    path: Path, first: list[str], header: bool | None
) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """The columns' names, whether the first row has them, and what was decided about it."""
    notes: tuple[str, ...] = ()
    numbers = [bool(_NUMBER.fullmatch(name)) for name in first]
    counted = first in ([str(j + k) for j in range(len(first))] for k in (0, 1))
    if header is None:
        header = counted or not all(numbers)
        if not header:
            notes = (
                "The first row is all numbers, so it was taken as data and the columns are called "
                "column_1, column_2, …; if it has names, say that there is a header.",
            )
        elif any(numbers) and not counted:
            notes = (
                f"The first row was taken as names, although {first[numbers.index(True)]!r} is a "
                "number; if it is data, say that there is no header.",
            )
    if not header:
        return tuple(f"column_{j + 1}" for j in range(len(first))), False, notes
    blank = [j for j, name in enumerate(first) if not name]
    names = tuple(name or f"column_{j + 1}" for j, name in enumerate(first))
    if blank:
        given = ", ".join(names[j] for j in blank)
        notes += (f"Columns without a name were called by their place: {given}.",)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"{path} has more than one column called {', '.join(map(repr, twice[:5]))}; rename "
            "all but one, for a model finds its columns by name."
        )
    return names, True, notes


def _ragged(path: Path, odd: list[OddRow], width: int, delimiter: str) -> str:
    first = odd[0]
    shown = first.text if len(first.text) < 60 else first.text[:57] + "..."
    more = f" {len(odd) - 1} more rows are odd." if len(odd) > 1 else ""
    open_quote = ' A quote " may be opened there and never closed.' if "\n" in first.text else ""
    return (
        f"{path}: row {first.number} has {first.fields} fields and the first row {width}: "
        f"{shown!r}.{more}{open_quote} Fields are set apart by {delimiter!r}; give another "
        "delimiter if that is wrong, or put quotes around fields that have it within."
    )
