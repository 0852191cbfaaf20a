"""CSV, TSV and their like: the delimiter and the header of a text file, and its columns.

The first row is data where it looks like the rows below it, names where it does not, and where
neither is certain the question goes back to whoever gave the file: a row is never lost in silence.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ulmus.arguments import counted, listed, quoted
from ulmus.backends.arrow import OddRows, column_values, delimited_cells
from ulmus.exceptions import InvalidParameterError, TableError
from ulmus.tables import text_file
from ulmus.tables.cells import reader
from ulmus.tables.dates import layout_of
from ulmus.tables.text_file import TextFile, chunks, look_at

# Cells that count as missing, in small letters.
MISSING = ["", "?", "na", "n/a", "#n/a", "<na>", "nan", "null"]
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
PLACE = re.compile(r"column_\d+")
_LONGEST_NAME = 1000
# Rows that the delimiter is found by, and those that the first row is compared with.
_ROWS, _COMPARED = 20, 200
# What columns of text are called; a name such as first_name ends in one.
_CALLED = re.compile(
    r"([A-Za-z]\w*_)?(address|age|amount|answer|body|category|city|class|code|colou?r|comments?|country|"
    r"date|day|description|email|gender|group|id|item|key|kind|label|language|message|month|name|phone|"
    r"price|product|question|review|score|sentence|sentiment|sex|size|species|state|status|subject|tag|"
    r"target|text|time|title|topic|type|url|user|value|word|year)", re.IGNORECASE
)  # fmt: skip
# A first row is names where one cell of it would be so new among data in fewer cases.
_BY_CHANCE = 0.05
_DELIMITERS = (",", ";", "\t", "|")
# Fields between any number of spaces and tabs.
_SPACES = " "
_GAP = re.compile(r'("[^"]*")|[ \t]+')
_COMMENT = "#"
_OPEN_QUOTE = 'a quote " is opened and never closed'


Row = Sequence[str]


class Reading(NamedTuple):
    """What a user says of a text file; what is None is found out.

    ``known`` are names that the header is expected to have, ``skip_bad_lines`` leaves out rows with
    more or fewer fields than there are columns.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    known: Collection[str] = ()
    skip_bad_lines: bool = False


class _Shape(NamedTuple):
    """The columns' names, how many lines there are above the data, and the delimiter."""

    names: tuple[str, ...]
    above: int
    delimiter: str


def read_delimited(path: Path, how: Reading) -> dict[str, Any]:
    """The fields of a `Table` of a text file whose rows are lines."""
    file = look_at(path, how.encoding)
    notes = list(file.notes)
    shape = _shape(path, file, how, notes)
    spaced = shape.delimiter == _SPACES
    cells, odd = delimited_cells(
        _spaced_source(path, file.encoding) if spaced else _source(path, file),
        delimiter="\t" if spaced else shape.delimiter,
        encoding="utf-8" if spaced or file.whole else file.encoding,
        width=len(shape.names),
        above=shape.above,
        block=2 * text_file.LONGEST_LINE,
    )
    if odd.numbers and not how.skip_bad_lines:
        raise TableError(_odd_row(path, odd, shape))
    if not len(cells[0]):
        raise TableError(f"{path} has a row of names and no rows below it.")
    if "\n" in str(cells[-1][-1]) and file.last != '"':
        raise TableError(f"{path}: {_OPEN_QUOTE}, in row {len(cells[0])} of the file or before.")
    if odd.numbers:
        notes.append(f"{counted(len(odd.numbers), 'bad line')} skipped, as --skip-bad-lines says.")
    if odd.comments:
        notes.append(f"{counted(len(odd.comments), 'comment line')} skipped.")
    comma = shape.delimiter == ";"
    columns = {
        name: column_values(column, MISSING, comma)
        for name, column in zip(shape.names, cells, strict=True)
    }
    fields = {"names": shape.names, "columns": columns, "decimal_comma": comma}
    return {**fields, "notes": tuple(notes), "numbers": _numbers(len(cells[0]), odd)}


def _source(path: Path, file: TextFile) -> Path | bytes:
    # Arrow wants an end of line after a row that is the only one.
    if not file.whole:
        return path
    return (file.head if file.head.endswith(("\n", "\r")) else f"{file.head}\n").encode()


def _spaced_source(path: Path, encoding: str) -> bytes:
    text = b"".join(chunks(path)).decode("utf-8-sig" if encoding == "utf-8" else encoding)
    return f"{_with_tabs(_plain_ends(text))}\n".encode()


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _odd_row(path: Path, odd: OddRows, shape: _Shape) -> str:
    more = f" ({counted(len(odd.numbers) - 1, 'more row')} like it)" if odd.numbers[1:] else ""
    quote = f" Perhaps {_OPEN_QUOTE}." if "\n" in odd.text else ""
    fields = counted(odd.fields, "field")
    return (
        f"{path}: row {odd.numbers[0]} below the header has {fields}, and there are "
        f"{counted(len(shape.names), 'column')}: {quoted(odd.text)}{more}.{quote} "
        f"Fields are separated by {shape.delimiter!r}; give another --delimiter, put quotes around "
        "fields that contain it, or leave such rows out with --skip-bad-lines."
    )


def _numbers(rows: int, odd: OddRows) -> np.ndarray | None:
    """The rows' places in the file where some were skipped, else None."""
    if not odd.numbers:
        return None
    return np.delete(np.arange(1, rows + len(odd.numbers) + 1), np.array(odd.numbers) - 1)


# ---------------------------------------------------------------------- delimiter and columns
def _shape(path: Path, file: TextFile, how: Reading, notes: list[str]) -> _Shape:
    """How the file is laid out, by its first lines."""
    skipped, head = _without_comments(_plain_ends(file.head), notes)
    delimiter = _sniffed(head) if how.delimiter is None else _character(how.delimiter)
    rows, lines = _first_rows(head, delimiter, file.whole)
    first = rows[0]
    if any("\n" in field and len(field) > _LONGEST_NAME for field in first):
        raise TableError(f"{path}: {_OPEN_QUOTE}, in the first row.")
    named = has_names(path, rows, how.known, notes) if how.header is None else how.header
    if not named:
        return _Shape(tuple(f"column_{j + 1}" for j in range(len(first))), skipped, delimiter)
    first = _completed(first, rows[1:])
    return _Shape(called(first, len(first), notes), skipped + lines, delimiter)


def _completed(first: list[str], below: Sequence[list[str]]) -> list[str]:
    """The header with a blank name where all rows have one field more.

    It is the first where rows have names, as R writes them, or the last where rows end in a
    delimiter.
    """
    if not below or {len(row) for row in below} != {len(first) + 1}:
        return first
    return [*first, ""] if not any(row[-1] for row in below) else ["", *first]


def _without_comments(head: str, notes: list[str]) -> tuple[int, str]:
    """How many lines there are above the first row where some are comments, and what is below.

    The last comment is the header if it has as many fields as the row below it.
    """
    lines = head.split("\n")
    top = next((k for k, line in enumerate(lines) if line.strip()[:1] not in ("", _COMMENT)), 0)
    comments = [k for k in range(top) if lines[k].strip()]
    if not comments:
        return 0, head
    last = comments[-1]
    if any(lines[last].count(mark) == lines[top].count(mark) > 0 for mark in _DELIMITERS):
        top = comments.pop()
        lines[top] = lines[top].strip().lstrip(_COMMENT)
    if comments:
        notes.append(f"{counted(len(comments), 'comment line')} above the header skipped.")
    return top, "\n".join(lines[top:])


def _character(delimiter: str) -> str:
    delimiter = {"tab": "\t", "\\t": "\t", "space": _SPACES}.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InvalidParameterError(
            f"delimiter={delimiter!r} must be one character, such as ',' or ';', or 'tab' or "
            "'space'."
        )
    return delimiter


def _sniffed(head: str) -> str:
    """The delimiter that cuts the most of the first rows into as many fields, two at least.

    Of several that cut all rows alike it is the one with the most fields. Spaces are taken only
    where no other is found and they make columns of numbers.
    """
    best, most = ",", (0.0, 1)
    for delimiter in _DELIMITERS:
        counts = Counter(map(len, _sample(head, delimiter)))
        fields, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        score = rows / max(counts.total(), 1), fields
        if fields > 1 and score[0] > 0.5 and score > most:
            best, most = delimiter, score
    return _SPACES if most[1] == 1 and _is_spaced(_sample(head, _SPACES)) else best


def _is_spaced(rows: list[list[str]]) -> bool:
    if len({len(row) for row in rows}) != 1 or len(rows[0]) < 2 or len(rows) < 2:
        return False
    columns = zip(*rows[1:], strict=True)
    return any(all(map(NUMBER.fullmatch, column)) for column in columns)


def _sample(head: str, delimiter: str) -> list[list[str]]:
    """The first rows that are not empty."""
    rows = [row for _, row in islice(_rows(head[: text_file.HEAD], delimiter), _ROWS)]
    # The last one may have been cut off.
    return [row for row in (rows[:-1] if 1 < len(rows) < _ROWS else rows) if row]


def _first_rows(head: str, delimiter: str, whole: bool) -> tuple[list[list[str]], int]:
    """The first rows that are not empty, and how many lines end with the first of them."""
    found = list(islice(((line, row) for line, row in _rows(head, delimiter) if row), _COMPARED))
    if not found:
        raise TableError("The file begins with too many empty lines; take them out.")
    # The last one may have been cut off.
    found = found if whole or len(found) in (1, _COMPARED) else found[:-1]
    return [[field.strip() for field in row] for _, row in found], found[0][0]


def _rows(head: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows, and the number of the line on which each ends."""
    if delimiter == _SPACES:
        head, delimiter = _with_tabs(head), "\t"
    reader = csv.reader(io.StringIO(head), delimiter=delimiter)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise TableError(f"The first rows cannot be taken apart: {error}.") from error


def _with_tabs(text: str) -> str:
    """The text with a tab in place of the spaces between two fields."""
    lines = (_GAP.sub(lambda gap: gap[1] or "\t", line.strip()) for line in text.split("\n"))
    return "\n".join(lines)


# ---------------------------------------------------------------------- the header
def has_names(path: Path, rows: Sequence[Row], known: Collection[str], notes: list[str]) -> bool:
    """Whether the first of the rows has names; ``known`` are those that a model expects."""
    first = rows[0]
    if set(first) & set(known):
        return True
    if known and all(map(PLACE.fullmatch, known)):
        return False
    named = _looks_like_names(first, [row for row in rows[1:] if list(row) != list(first)])
    if named is None:
        raise TableError(
            f"{path}: does the first row ({listed(first)}) have the columns' names? --header if "
            "it does, --no-header if it is data; in Python header=True or header=False."
        )
    if not named:
        what = "is all numbers" if all(map(NUMBER.fullmatch, first)) else "looks like the others"
        notes.append(
            f"The first row {what}, so it was taken as data, and the columns are called column_1, "
            "column_2, …; if it has the names, give --header."
        )
    return named


def _looks_like_names(first: Row, below: Sequence[Row]) -> bool | None:
    """Whether a first row is names, judged by the rows below it; None where that is not certain."""
    # Programs that have no names write 0, 1, 2, …
    if len(first) > 1 and list(first) in [[str(j + k) for j in range(len(first))] for k in (0, 1)]:
        return True
    numbers = [bool(NUMBER.fullmatch(field)) for field in first]
    if all(numbers):
        return False
    columns = [[row[j] for row in below if j < len(row)] for j in range(len(first))]
    words = [(f, c) for f, c, n in zip(first, columns, numbers, strict=True) if not n]
    words = [(field, column) for field, column in words if field.lower() not in MISSING]
    if not below or any(map(_is_typed, (column[:_ROWS] for _, column in words))):
        return True
    again = sum(field in column for field, column in words)
    if any(numbers):
        return False if again else None
    if again:
        return False if 2 * again >= len(words) else None
    names = any(map(_CALLED.fullmatch, first)) or any(_is_new(*pair) for pair in words)
    return True if names else None


def _is_new(field: str, column: Sequence[str]) -> bool:
    """Whether a cell of data would hardly differ so from the others of its column.

    It differs in itself or in its shape (capitals, small letters, digits and other characters). As
    often as the column's own cells do so from each other, a cell of data would.
    """
    for cell, cells in ((field, column), (_outline(field), [*map(_outline, column)])):
        once = sum(count == 1 for count in Counter(cells).values())
        if cell not in cells and (once + 1) / (len(cells) + 2) < _BY_CHANCE:
            return True
    return False


def _outline(cell: str) -> str:
    cell = re.sub(r"\d+", "0", cell)
    return re.sub(r"[A-Z]+", "A", re.sub(r"[a-z]+", "a", cell))


def _is_typed(column: Sequence[str]) -> bool:
    """Whether the filled cells below a word are all numbers, amounts or dates."""
    filled = [cell for cell in column if cell.lower() not in MISSING]
    readers: list[Callable[[str], object]] = [NUMBER.fullmatch, reader(False), reader(True)]
    if all(any(read(cell) is not None for read in readers) for cell in filled):
        return bool(column)
    return bool(layout_of(filled))


def called(first: Row, width: int, notes: list[str]) -> tuple[str, ...]:
    """The columns' names by the first row, each once and none of them blank."""
    places = [f"column_{j + 1}" for j in range(width)]
    names = [field or place for field, place in zip(first, places, strict=True)]
    blank = [name for name, field in zip(names, first, strict=True) if not field]
    if blank:
        notes.append(f"Columns without a name are called by their place: {listed(blank)}.")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        names = each_once(names)
        notes.append(
            f"More than one column is called {listed(twice)}; the later ones are called "
            f"{quoted(_later(twice[0], names))} and so on."
        )
    return tuple(names)


def _later(name: str, names: list[str]) -> str:
    return next(found for found in names if found.startswith(f"{name}_"))


def each_once(names: list[str]) -> list[str]:
    """The same with _2, _3, … after a name that was there before."""
    taken, found = set(names), list[str]()
    for name in names:
        new, k = name, 2
        while new in found or (new != name and new in taken):
            new, k = f"{name}_{k}", k + 1
        found.append(new)
    return found
