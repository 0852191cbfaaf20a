"""CSV, TSV and their like."""

import re
from collections import Counter
from pathlib import Path

from ulmus.backends.delimited import OddRows, column_values, delimited_cells
from ulmus.exceptions import InvalidParameterError, TableError
from ulmus.tables import text as texts
from ulmus.tables.table import Table
from ulmus.tables.wording import counted, listed, quoted

__all__ = ["MISSING", "read_delimited"]

# Cells that say that there is nothing, in small letters.
MISSING = ["", "?", "na", "n/a", "#n/a", "<na>", "nan", "null"]
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
_LONGEST_NAME = 1000
_OPEN_QUOTE = 'a quote " is opened and never closed'


def read_delimited(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Table:
    """A table of a text file whose rows are lines and whose fields are set apart by a character."""
    file = texts.look_at(path, encoding)
    delimiter = texts.sniffed(file.head) if delimiter is None else _character(delimiter)
    before, first = texts.first_row(file.head, delimiter)
    if any("\n" in field and len(field) > _LONGEST_NAME for field in first):
        raise TableError(f"{path}: {_OPEN_QUOTE}, in the first row.")
    names, named, notes = _names(path, first, header)
    # Arrow wants an end of line after a row that is the only one.
    alone = "\n" not in file.head and "\r" not in file.head
    cells, odd = delimited_cells(
        f"{file.head}\n".encode() if alone else path,
        delimiter=delimiter,
        encoding="utf-8" if alone else file.encoding,
        width=len(names),
        block=2 * texts.LONGEST_LINE,
    )
    if odd:
        raise TableError(_ragged(path, odd, len(names), delimiter))
    if "\n" in str(cells[-1][-1]) and file.last != '"':
        raise TableError(f"{path}: {_OPEN_QUOTE}, in row {len(cells[0])} of the file or before.")
    # In a single column, empty lines above the header are cells too.
    above = named + (before if len(names) == 1 else 0)
    if len(cells[0]) <= above:
        raise TableError(f"{path} has a row of names and no rows below it.")
    comma = delimiter == ";"
    columns = {
        name: column_values(column.slice(above), MISSING, comma)
        for name, column in zip(names, cells, strict=True)
    }
    return Table(names, columns, notes=file.notes + notes, decimal_comma=comma)


def _character(delimiter: str) -> str:
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InvalidParameterError(
            f"delimiter={delimiter!r} must be one character, such as ',' or ';', or 'tab'."
        )
    return delimiter


def _names(
    path: Path, first: list[str], header: bool | None
) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """The columns' names, whether the first row has them, and what was decided about it."""
    places = tuple(f"column_{j + 1}" for j in range(len(first)))
    numbers = [field for field in first if _NUMBER.fullmatch(field)]
    # Programs that have no names write 0, 1, 2, …
    named = first in ([str(j + k) for j in range(len(first))] for k in (0, 1)) and len(first) > 1
    if header is None and len(numbers) == len(first) and not named:
        note = (
            "The first row is all numbers, so it was taken as data, and the columns are called "
            "column_1, column_2, …; if it has names, say that there is a header."
        )
        return places, False, (note,)
    if header is False:
        return places, False, ()
    notes: tuple[str, ...] = ()
    if header is None and numbers and not named:
        notes = (
            f"The first row was taken as names, although {quoted(numbers[0])} is a number; if it "
            "is data, say that there is no header.",
        )
    names = tuple(field or place for field, place in zip(first, places, strict=True))
    if "" in first:
        blank = listed(name for name, field in zip(names, first, strict=True) if not field)
        notes += (f"Columns without a name are called by their place: {blank}.",)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"{path} has more than one column called {listed(twice)}; rename all but one, for a "
            "model finds its columns by name."
        )
    return names, True, notes


def _ragged(path: Path, odd: OddRows, width: int, delimiter: str) -> str:
    more = f" ({counted(odd.count - 1, 'more row')} like it)" if odd.count > 1 else ""
    quote = f" Perhaps {_OPEN_QUOTE}." if "\n" in odd.text else ""
    return (
        f"{path}: row {odd.number} has {counted(odd.fields, 'field')} and the first row has "
        f"{width}: {quoted(odd.text)}{more}.{quote} Fields are set apart by {delimiter!r}; give "
        "another delimiter if that is wrong, or put quotes around fields that have it within."
    )
