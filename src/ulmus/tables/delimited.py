"""CSV, TSV and their like: the encoding, delimiter and header of a text file, and its columns."""

import bz2
import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ulmus.arguments import counted, listed, quoted
from ulmus.backends.arrow import column_values, delimited_cells
from ulmus.exceptions import InvalidParameterError, TableError

# Cells that count as blank, in small letters.
MISSING = ["", "?", "na", "n/a", "#n/a", "<na>", "nan", "null"]
# A longer line is no row of a table; to read it would take its length in memory.
LONGEST_LINE = 2**24
_LONGEST_NAME = 1000
_CHUNK = 2**20
_HEAD = 2**16
_ROWS = 20
_DELIMITERS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
_OPEN_QUOTE = 'a quote " is opened and never closed'
# Byte order marks; those of UTF-32 begin as those of UTF-16 do, and so come first.
_MARKS = {
    "utf-8": (codecs.BOM_UTF8,),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
_IMAGE = "an image; name a folder of images to read them"
# What files of other kinds begin with.
_MAGIC = (
    (b"PAR1", "a Parquet file; let its name end in .parquet"),
    (b"PK\x03\x04", "a zip archive, as .npz and Excel's are; save a workbook as CSV first"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save it as CSV first"),
    (b"\x1f\x8b", "compressed by gzip; let its name end in .gz"),
    (b"BZh", "compressed by bzip2; let its name end in .bz2"),
    (b"\x89PNG", _IMAGE),
    (b"\xff\xd8\xff", _IMAGE),
    (b"%PDF", "a PDF document"),
)
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


def read_delimited(
    path: Path, encoding: str | None, delimiter: str | None, header: bool | None
) -> dict[str, Any]:
    """The fields of a `Table` of a text file whose rows are lines; what is None is found out."""
    file = look_at(path, encoding)
    delimiter = _sniffed(file.head) if delimiter is None else _character(delimiter)
    before, first = _first_row(file.head, delimiter)
    if any("\n" in field and len(field) > _LONGEST_NAME for field in first):
        raise TableError(f"{path}: {_OPEN_QUOTE}, in the first row.")
    notes = list(file.notes)
    names, named = _names(path, first, header, notes)
    # Arrow wants an end of line after a row that is the only one.
    alone = "\n" not in file.head and "\r" not in file.head
    cells, odd = delimited_cells(
        f"{file.head}\n".encode() if alone else path,
        delimiter=delimiter,
        encoding="utf-8" if alone else file.encoding,
        width=len(names),
        block=2 * LONGEST_LINE,
    )
    if odd:
        text, fields = odd[0].text, counted(odd[0].actual_columns, "field")
        more = f" ({counted(len(odd) - 1, 'more row')} like it)" if len(odd) > 1 else ""
        quote = f" Perhaps {_OPEN_QUOTE}." if "\n" in text else ""
        raise TableError(
            f"{path}: row {odd[0].number} has {fields} and the first row has {len(names)}: "
            f"{quoted(text)}{more}.{quote} Fields are separated by {delimiter!r}; give another "
            "delimiter, or put quotes around fields that contain it."
        )
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
    return {"names": names, "columns": columns, "notes": tuple(notes), "decimal_comma": comma}


# ---------------------------------------------------------------------- the text
class TextFile(NamedTuple):
    """A text file's encoding, its first lines, and its last character that is no end of a line."""

    encoding: str
    head: str
    last: str
    notes: tuple[str, ...] = ()


def look_at(path: Path, encoding: str | None) -> TextFile:
    """Go through a text file once, a little at a time, and refuse what is none.

    An encoding of None is that of a byte order mark, else UTF-8, else Windows-1252, with a note.
    """
    start = next(_chunks(path), b"")
    if not start.strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"):
        raise TableError(f"{path} is empty; a table needs a row of names and rows below it.")
    for magic, what in _MAGIC:
        if start.startswith(magic):
            raise TableError(f"{path} is no text but {what}.")
    marked = next((name for name, marks in _MARKS.items() if start.startswith(marks)), None)
    given = _codec(encoding) if encoding else marked
    note = f"{path.name} is not in UTF-8 and was read as Windows-1252; if letters look wrong, give"
    tried = {given: ()} if given else {"utf-8": (), "cp1252": (f"{note} its encoding.",)}
    for name, notes in tried.items():
        with suppress(UnicodeError):
            return _scan(path, name)._replace(notes=notes)
    raise TableError(
        f"{path} is not text in {' or '.join(tried)}; give its encoding, such as utf-8, cp1252, "
        "utf-16 or shift_jis."
    )


def _scan(path: Path, encoding: str) -> TextFile:
    """Decode the whole file, keeping its beginning only."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    head, last, run = "", "", 0
    for chunk in _chunks(path):
        text = decoder.decode(chunk, final=not chunk)
        if "\0" in text:
            raise TableError(
                f"{path} has NUL characters: if it is text in utf-16-le or the like, give its "
                "encoding; else save it again as CSV in UTF-8."
            )
        if len(head) < _HEAD or ("\n" not in head and "\r" not in head):
            head += text
        end = max(text.rfind("\n"), text.rfind("\r"))
        run = run + len(text) if end < 0 else len(text) - end - 1
        if run > LONGEST_LINE:
            raise TableError(
                f"{path} has a line of more than {LONGEST_LINE:,} characters; a table has an end "
                "of line after each row."
            )
        last = text.rstrip("\r\n")[-1:] or last
    return TextFile(encoding, head, last)


def _chunks(path: Path) -> Iterator[bytes]:
    """The file's bytes, unpacked, and no bytes at the end."""
    with _OPENERS.get(path.suffix.lower(), open)(path, "rb") as stream:
        while True:
            try:
                chunk = stream.read(_CHUNK)
            except (gzip.BadGzipFile, EOFError, zlib.error, OSError) as error:
                raise TableError(f"{path} cannot be read to its end: {error}.") from error
            yield chunk
            if not chunk:
                return


def _codec(encoding: str) -> str:
    """A name of an encoding of text, as Python spells it."""
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise TableError(
            f"encoding={encoding!r} is unknown; use a name such as utf-8, cp1252 or utf-16."
        ) from error
    return "utf-8" if found.name == "utf-8-sig" else found.name


# ---------------------------------------------------------------------- delimiter and header
def _character(delimiter: str) -> str:
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InvalidParameterError(
            f"delimiter={delimiter!r} must be one character, such as ',' or ';', or 'tab'."
        )
    return delimiter


def _sniffed(head: str) -> str:
    """The delimiter that cuts the first rows into the most fields, as many in each."""
    best, most = ",", 1
    for delimiter in _DELIMITERS:
        rows = list(islice(_rows(head[:_HEAD], delimiter), _ROWS))
        # The last one may have been cut off.
        rows = [row for row in (rows[:-1] if 1 < len(rows) < _ROWS else rows) if row]
        counts = {len(row) for row in rows}
        if len(counts) == 1 and max(counts) > most:
            best, most = delimiter, max(counts)
    return best


def _first_row(head: str, delimiter: str) -> tuple[int, list[str]]:
    """How many empty lines there are before the first row, and its fields."""
    for empty, row in enumerate(_rows(head, delimiter)):
        if row:
            return empty, [field.strip() for field in row]
    raise TableError("The file begins with too many empty lines; take them out.")


def _rows(head: str, delimiter: str) -> Iterator[list[str]]:
    # Ends of lines of every kind are read as \n.
    try:
        yield from csv.reader(io.StringIO(head, newline=None), delimiter=delimiter)
    except csv.Error as error:
        raise TableError(f"The first rows cannot be taken apart: {error}.") from error


def _names(
    path: Path, first: list[str], header: bool | None, notes: list[str]
) -> tuple[tuple[str, ...], bool]:
    """The columns' names, and whether the first row has them."""
    places = tuple(f"column_{j + 1}" for j in range(len(first)))
    if header is False:
        return places, False
    numbers = [field for field in first if _NUMBER.fullmatch(field)]
    # Programs that have no names write 0, 1, 2, …
    counted_up = [[str(j + k) for j in range(len(first))] for k in (0, 1)]
    unsure = header is None and not (len(first) > 1 and first in counted_up)
    if unsure and len(numbers) == len(first):
        notes.append(
            "The first row is all numbers, so it was taken as data, and the columns are called "
            "column_1, column_2, …; if it has names, say that there is a header."
        )
        return places, False
    if unsure and numbers:
        notes.append(
            f"The first row was taken as names, although {quoted(numbers[0])} is a number; if it "
            "is data, say that there is no header."
        )
    names = tuple(field or place for field, place in zip(first, places, strict=True))
    if "" in first:
        blank = listed(name for name, field in zip(names, first, strict=True) if not field)
        notes.append(f"Columns without a name are called by their place: {blank}.")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"{path} has more than one column called {listed(twice)}; rename them.")
    return names, True
