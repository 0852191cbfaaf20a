"""A text file, gone through once: its encoding, its first lines, and whether it is text at all."""

import bz2
import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ulmus.exceptions import TableError

# A longer line is no row of a table; to read it would take its length in memory.
LONGEST_LINE = 2**24
HEAD = 2**16
_CHUNK = 2**20
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


class TextFile(NamedTuple):
    """A text file's encoding, its first lines, and its last character that is no end of a line.

    ``whole`` says whether the first lines are all there are.
    """

    encoding: str
    head: str
    last: str
    whole: bool
    notes: tuple[str, ...] = ()


def look_at(path: Path, encoding: str | None) -> TextFile:
    """Go through a text file once, a little at a time, and refuse what is none.

    An encoding of None is that of a byte order mark, else UTF-8, else Windows-1252, with a note.
    """
    start = next(chunks(path), b"")
    if not start.strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"):
        raise TableError(f"{path} is empty; a table needs a row of names and rows below it.")
    for magic, what in _MAGIC:
        if start.startswith(magic):
            raise TableError(f"{path} is no text but {what}.")
    marked = next((name for name, marks in _MARKS.items() if start.startswith(marks)), None)
    given = _codec(encoding) if encoding else marked
    note = f"{path.name} is not in UTF-8 and was read as Windows-1252; if letters look wrong, give"
    tried = {given: ()} if given else {"utf-8": (), "cp1252": (f"{note} --encoding.",)}
    for name, notes in tried.items():
        with suppress(UnicodeError):
            return _scan(path, name)._replace(notes=notes)
    raise TableError(
        f"{path} is not text in {' or '.join(tried)}; give its --encoding, such as utf-8, cp1252, "
        "utf-16 or shift_jis."
    )


def _scan(path: Path, encoding: str) -> TextFile:
    """Decode the whole file, keeping its beginning only."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    head, last, run, total = "", "", 0, 0
    for chunk in chunks(path):
        text = decoder.decode(chunk, final=not chunk)
        if "\0" in text:
            raise TableError(
                f"{path} has NUL characters: if it is text in utf-16-le or the like, give that "
                "as --encoding; else save it again as CSV in UTF-8."
            )
        if len(head) < HEAD or ("\n" not in head and "\r" not in head):
            head += text
        total += len(text)
        end = max(text.rfind("\n"), text.rfind("\r"))
        run = run + len(text) if end < 0 else len(text) - end - 1
        if run > LONGEST_LINE:
            raise TableError(
                f"{path} has a line of more than {LONGEST_LINE:,} characters; a table has an end "
                "of line after each row."
            )
        last = text.rstrip("\r\n")[-1:] or last
    return TextFile(encoding, head, last, total == len(head))


def chunks(path: Path) -> Iterator[bytes]:
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
