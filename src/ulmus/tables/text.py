"""What is known of a text file before it is taken apart: encoding, delimiter, no line too long."""

import bz2
import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ulmus.exceptions import TableError

__all__ = ["TextFile", "first_row", "look_at", "sniffed"]

# A longer line is no row of a table; to read it would take its length in memory.
LONGEST_LINE = 2**24
_CHUNK = 2**20
_HEAD = 2**16
_ROWS = 20
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
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


@dataclass(frozen=True)
class TextFile:
    """What was found out about a text file.

    ``head`` is its beginning, the first line and more, ``last`` the last character that is no end
    of a line.
    """

    encoding: str
    head: str
    last: str
    notes: tuple[str, ...] = ()


def look_at(path: Path, encoding: str | None) -> TextFile:
    """Go through a text file once, a little at a time, and refuse what is none.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str or None
        Its encoding; None finds it: a byte order mark says so, else UTF-8, else Windows-1252, the
        usual one of Western Europe, with a note.
    """
    start = next(_chunks(path), b"")
    if not start.strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"):
        raise TableError(f"{path} is empty; a table needs a row of names and rows below it.")
    for magic, what in _MAGIC:
        if start.startswith(magic):
            raise TableError(f"{path} is no text but {what}.")
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    given = _codec(encoding) if encoding else marked
    try:
        return _scan(path, given or "utf-8")
    except UnicodeError as error:
        if given:
            raise TableError(
                f"{path} is not text in {given} ({error}); give its encoding, such as utf-8, "
                "cp1252 or utf-16."
            ) from error
    try:
        found = _scan(path, "cp1252")
    except UnicodeError as error:
        raise TableError(
            f"{path} is text neither in UTF-8 nor in Windows-1252; give its encoding, such as "
            "shift_jis or cp1251, if it is text."
        ) from error
    note = (
        f"{path.name} is not in UTF-8 and was read as Windows-1252; if letters with accents look "
        "wrong, give its encoding."
    )
    return replace(found, notes=(note,))


def first_row(head: str, delimiter: str) -> tuple[int, list[str]]:
    """How many empty lines there are before the first row, and its fields."""
    for empty, row in enumerate(_rows(head, delimiter)):
        if row:
            return empty, [field.strip() for field in row]
    raise TableError("The file begins with too many empty lines; take them out.")


def sniffed(head: str) -> str:
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


def _rows(head: str, delimiter: str) -> Iterator[list[str]]:
    # Ends of lines of every kind are read as \n.
    try:
        yield from csv.reader(io.StringIO(head, newline=None), delimiter=delimiter)
    except csv.Error as error:
        raise TableError(f"The first rows cannot be taken apart: {error}.") from error


def _scan(path: Path, encoding: str) -> TextFile:
    """Decode the whole file, keeping its beginning only."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    head, last, run = "", "", 0
    for chunk in _chunks(path):
        text = decoder.decode(chunk, final=not chunk)
        if "\0" in text:
            raise TableError(
                f"{path} has NUL characters: it is no text, or damaged, or in an encoding such as "
                "utf-16-le; give its encoding, or save it again as CSV in UTF-8."
            )
        if len(head) < _HEAD or ("\n" not in head and "\r" not in head):
            head += text
        end = max(text.rfind("\n"), text.rfind("\r"))
        run = run + len(text) if end < 0 else len(text) - end - 1
        if run > LONGEST_LINE:
            raise TableError(
                f"{path} has a line of more than {LONGEST_LINE:,} characters, which is no row of a "
                "table; a table has an end of line after each row."
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
