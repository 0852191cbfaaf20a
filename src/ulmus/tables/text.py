"""What is known of a text file before it is taken apart: encoding, delimiter, no line too long."""

import bz2
import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ulmus.exceptions import TableError

__all__ = ["DELIMITERS", "TextFile", "look_at"]

DELIMITERS = (",", ";", "\t", "|")
# A longer line is no row of a table; to read it would take its length in memory.
LONGEST_LINE = 2**24
_CHUNK = 2**20
_HEAD = 2**16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What files of other kinds begin with.
_MAGIC = (
    (b"PAR1", "a Parquet file; name it .parquet"),
    (
        b"PK\x03\x04",
        "a zip archive, such as an Excel workbook or .npz; save a workbook as CSV first",
    ),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save it as CSV first"),
    (b"\x1f\x8b", "compressed by gzip; let its name end in .gz"),
    (b"BZh", "compressed by bzip2; let its name end in .bz2"),
    (b"\x89PNG", "an image; name a folder of images to read them"),
    (b"\xff\xd8\xff", "an image; name a folder of images to read them"),
    (b"%PDF", "a PDF document"),
)
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True)
class TextFile:
    """Encoding, the beginning of the text, its last character that is no end of line, and notes."""

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
    with OPENERS.get(path.suffix.lower(), open)(path, "rb") as stream:
        try:
            start = stream.read(_HEAD)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{path} cannot be unpacked: {error}.") from error
    if not start.strip(b"\xef\xbb\xbf \t\r\n"):
        raise TableError(f"{path} is empty; a table needs a row of names and rows below it.")
    for magic, what in _MAGIC:
        if start.startswith(magic):
            raise TableError(f"{path} is no text but {what}.")
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    chosen = encoding or marked or "utf-8"
    try:
        return _scan(path, chosen)
    except UnicodeDecodeError as error:
        if encoding or marked:
            raise TableError(
                f"{path} is not text in {chosen} (byte {error.start}); give its encoding, such as "
                "utf-8, cp1252 or utf-16."
            ) from error
    try:
        found = _scan(path, "cp1252")
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path} is text neither in UTF-8 nor in Windows-1252; give its encoding, such as "
            "shift_jis or cp1251."
        ) from error
    note = (
        f"{path.name} is not in UTF-8 and was read as Windows-1252; if letters with accents look "
        "wrong, give its encoding."
    )
    return TextFile(found.encoding, found.head, found.last, (note,))


def _scan(path: Path, encoding: str) -> TextFile:
    """Decode the whole file, keeping its beginning only."""
    try:
        decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    except LookupError as error:
        raise TableError(
            f"encoding={encoding!r} is unknown; use a name such as utf-8, cp1252 or utf-16."
        ) from error
    head, last, run, ended = "", "", 0, False
    with OPENERS.get(path.suffix.lower(), open)(path, "rb") as stream:
        while not ended:
            try:
                chunk = stream.read(_CHUNK)
            except (OSError, EOFError, zlib.error) as error:
                raise TableError(f"{path} cannot be unpacked: {error}.") from error
            ended = not chunk
            text = decoder.decode(chunk, final=ended)
            if "\0" in text:
                raise TableError(
                    f"{path} has NUL characters, so it is binary, damaged, or text in an encoding "
                    "such as utf-16-le; give its encoding, or save it again as CSV in UTF-8."
                )
            run = _run(text, run)
            if run > LONGEST_LINE:
                raise TableError(
                    f"{path} has a line of more than {LONGEST_LINE:,} characters, which is no row "
                    "of a table; is it text with an end to its lines?"
                )
            head += text[: max(0, _HEAD - len(head))]
            last = text.rstrip("\r\n")[-1:] or last
    return TextFile(encoding, head, last)


def _run(text: str, run: int) -> int:
    """Characters since the last end of line."""
    end = max(text.rfind("\n"), text.rfind("\r"))
    return run + len(text) if end < 0 else len(text) - end - 1


def sniff(head: str) -> str:
    """The delimiter that cuts the first lines into the most fields, as many in each."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        rows = list(csv.reader(io.StringIO(head), delimiter=delimiter))[:20]
        # The last row may have been cut off by the end of the head.
        rows = [row for row in (rows[:-1] if len(rows) > 1 else rows) if row]
        counts = {len(row) for row in rows}
        if len(counts) == 1 and max(counts) > most:
            best, most = delimiter, max(counts)
    return best
