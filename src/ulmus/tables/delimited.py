"""CSV, TSV and their like: the encoding, the delimiter and the columns of a text file."""

import bz2
import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.arguments import counted, listed, quoted
from ulmus.backends.arrow import column_values, delimited_cells
from ulmus.commanded import option
from ulmus.exceptions import InvalidParameterError, TableError
from ulmus.tables.header import MISSING, NUMBER, has_names, names_of, titles_above

_LONGEST_NAME = 1000
# Bytes of a line, at most: a longer one is no row of a table.
_LONGEST_LINE = 2**24
# Bytes that are read at a time, and letters that the header and the delimiter are found by.
_CHUNK, _HEAD = 2**20, 2**16
# Rows that the delimiter is found by, and those that the first row is compared with.
_ROWS, _COMPARED = 20, 200
_DELIMITERS = (",", ";", "\t", "|")
# Fields between any number of spaces and tabs.
_SPACES = " "
_GAP = re.compile(r'("[^"]*")|[ \t]+')
_COMMENT = "#"
_OPEN_QUOTE = 'a quote " is opened and never closed'
# Byte order marks; those of UTF-32 begin as those of UTF-16 do, and so come first.
_MARKS = {
    "utf-8": (codecs.BOM_UTF8,),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
_IMAGE = "an image; name a folder of images to read them"
# Open quotes that are taken out one after another.
_MOST_QUOTES = 20
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
    path: Path,
    encoding: str | None,
    delimiter: str | None,
    header: bool | None,
    known: Collection[str],
    skip_bad_lines: bool,
) -> dict[str, Any]:
    """The fields of a `Table` of a text file whose rows are lines."""
    notes: list[str] = []
    text = file_text(path, encoding, notes)
    names, above, delimiter = _shape(path, text, delimiter, header, known, notes)
    spaced = delimiter == _SPACES
    text = _with_tabs(_plain_ends(text)) if spaced else text
    # Arrow wants an end of line after a row that is the only one.
    data = (text if text.endswith(("\n", "\r")) else f"{text}\n").encode()
    del text  # as large as the file
    how = "\t" if spaced else delimiter, len(names), above, 2 * _LONGEST_LINE
    cells, odd = delimited_cells(data, *how)
    for _ in range(_MOST_QUOTES if skip_bad_lines else 0):
        wide = [text for _, _, text in odd if "\n" in text and '"' in text]
        if not wide:
            break
        # An open quote takes in the lines below: without it only its own line may be bad.
        for text in wide:
            line, _, below = text.partition("\n")
            plain = line.replace('"', "") + "\n" + below
            data = data.replace(text.encode(), plain.encode(), 1)
        notes.append(f"{counted(len(wide), 'line')} with an open quote read without it.")
        cells, odd = delimited_cells(data, *how)
    comments, bad = 0, []
    for number, fields, line in odd:
        if line.startswith(_COMMENT):
            comments += 1
        else:
            bad.append((number - comments, fields, line))
    if bad and not skip_bad_lines:
        raise TableError(f"{path}: {_odd_rows(bad, len(names), delimiter)}")
    rows = len(cells[0])
    if not rows:
        raise TableError(f"{path} has a row of names and no rows below it.")
    if "\n" in str(cells[-1][-1]) and not data.rstrip(b"\r\n").endswith(b'"'):
        raise TableError(f"{path}: {_OPEN_QUOTE}, in row {rows} of the file or before.")
    numbers = None
    if bad:
        notes.append(f"{counted(len(bad), 'bad line')} skipped, as {_skip()} says.")
        skipped = np.array([number for number, _, _ in bad])
        numbers = np.delete(np.arange(1, rows + len(bad) + 1), skipped - 1)
    if comments:
        notes.append(f"{counted(comments, 'comment line')} skipped.")
    comma = delimiter == ";"
    columns = {
        name: column_values(column, MISSING, comma)
        for name, column in zip(names, cells, strict=True)
    }
    found = {"names": names, "columns": columns, "decimal_comma": comma}
    return {**found, "notes": tuple(notes), "numbers": numbers}


def _odd_rows(bad: list[tuple[int, int, str]], width: int, delimiter: str) -> str:
    number, fields, line = bad[0]
    more = f" ({counted(len(bad) - 1, 'more row')} like it)" if bad[1:] else ""
    quote = f" Perhaps {_OPEN_QUOTE}." if "\n" in line else ""
    return (
        f"row {number} below the header has {counted(fields, 'field')}, and there are "
        f"{counted(width, 'column')}: {quoted(line)}{more}.{quote} "
        f"Fields are separated by {delimiter!r}; give another "
        f"{option('--delimiter', 'delimiter=')}, put quotes around fields that contain it, or "
        f"leave such rows out with {_skip()}."
    )


def _skip() -> str:
    return option("--skip-bad-lines", "skip_bad_lines=True")


# ---------------------------------------------------------------------- text
def _encoding() -> str:
    return option("--encoding", "encoding=")


def file_text(path: Path, encoding: str | None, notes: list[str]) -> str:
    """The text of a file; a file that is none is refused.

    An encoding of None is that of a byte order mark, else UTF-8, else Windows-1252, with a note.
    """
    data = _unpacked(path)
    if not data[:_CHUNK].strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"):
        raise TableError(f"{path} is empty; a table needs a row of names and rows below it.")
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise TableError(f"{path} is not text but {what}.")
    marked = next((name for name, marks in _MARKS.items() if data.startswith(marks)), None)
    found = encoding or marked
    tried = [found] if found else ["utf-8", "cp1252"]
    for name in tried:
        try:
            text = data.decode(name).removeprefix("\ufeff")
            break
        except UnicodeError:
            continue
        except (LookupError, ValueError) as error:
            raise TableError(
                f"{option(f'--encoding {encoding}', f'encoding={encoding!r}')} is unknown; use a "
                "name such as utf-8, cp1252 or utf-16."
            ) from error
    else:
        raise TableError(
            f"{path} is not text in {' or '.join(tried)}; give its {_encoding()}, such as utf-8, "
            "cp1252, utf-16 or shift_jis."
        )
    if name == "cp1252" and not found:
        notes.append(
            f"{path.name} is not in UTF-8 and was read as Windows-1252; if letters look wrong, "
            f"give {_encoding()}."
        )
    if "\0" in text:
        raise TableError(
            f"{path} has NUL characters: if it is text in utf-16-le or the like, give that "
            f"as {_encoding()}; else save it again as CSV in UTF-8."
        )
    return text


def _unpacked(path: Path) -> bytearray:
    """The file's bytes; those of a line without an end are not read to theirs."""
    data, line = bytearray(), 0
    with _OPENERS.get(path.suffix.lower(), open)(path, "rb") as stream:
        try:
            while part := stream.read(_CHUNK):
                end = max(part.rfind(b"\n"), part.rfind(b"\r"))
                line = len(part) - end - 1 + (line if end < 0 else 0)
                if line > _LONGEST_LINE:
                    raise TableError(
                        f"{path} has a line of more than {_LONGEST_LINE:,} bytes; a table has an "
                        "end of line after each row."
                    )
                data += part
        except (EOFError, zlib.error, OSError) as error:
            raise TableError(f"{path} cannot be read to its end: {error}.") from error
    return data


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ---------------------------------------------------------------------- delimiter and columns
def _shape(
    path: Path,
    text: str,
    delimiter: str | None,
    header: bool | None,
    known: Collection[str],
    notes: list[str],
) -> tuple[tuple[str, ...], int, str]:
    """The columns' names, how many lines there are above the data, and the delimiter."""
    # A little more than the sample, or all where the first line alone is longer.
    some = text[: 16 * _HEAD]
    whole = len(some) == len(text) or not ("\n" in some or "\r" in some)
    skipped, head = _without_comments(_plain_ends(text if whole else some), notes)
    delimiter = _sniffed(head) if delimiter is None else _character(delimiter)
    found = _first_rows(head, delimiter, _COMPARED, whole)
    if not found:
        raise TableError(f"{path} begins with too many empty lines; take them out.")
    rows = [[field.strip() for field in row] for _, row in found]
    titles = 0 if header is False else titles_above(rows, known)
    if titles:
        which = listed(" ".join(filter(None, row)) for row in rows[:titles])
        notes.append(f"{counted(titles, 'line')} above the header skipped: {which}.")
    ends, rows = [0, *(end for end, _ in found)], rows[titles:]
    first = rows[0]
    if any("\n" in field and len(field) > _LONGEST_NAME for field in first):
        raise TableError(f"{path}: {_OPEN_QUOTE}, in the first row.")
    if not (has_names(path, rows, known, notes) if header is None else header):
        return (
            tuple(f"column_{j + 1}" for j in range(len(first))),
            skipped + ends[titles],
            delimiter,
        )
    below = rows[1:]
    if below and {len(row) for row in below} == {len(first) + 1}:
        # Rows have names, as R writes them, or end in a delimiter.
        first = ["", *first] if any(row[-1] for row in below) else [*first, ""]
    return names_of(first, notes), skipped + ends[titles + 1], delimiter


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
            f"{option(f'--delimiter {delimiter}', f'delimiter={delimiter!r}')} must be one "
            "character, such as ',' or ';', or 'tab' or 'space'."
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
    return any(all(map(NUMBER.fullmatch, column)) for column in zip(*rows[1:], strict=True))


def _sample(head: str, delimiter: str) -> list[list[str]]:
    return [row for _, row in _first_rows(head[:_HEAD], delimiter, _ROWS, whole=False)]


def _first_rows(head: str, delimiter: str, most: int, whole: bool) -> list[tuple[int, list[str]]]:
    """The first rows that are not empty, each with the number of the line on which it ends."""
    if delimiter == _SPACES:
        head, delimiter = _with_tabs(head), "\t"
    rows = csv.reader(io.StringIO(head), delimiter=delimiter)
    try:
        found = list(islice(((rows.line_num, row) for row in rows if row), most))
    except csv.Error as error:
        raise TableError(f"The first rows cannot be taken apart: {error}.") from error
    # The last one may have been cut off.
    return found if whole or len(found) in (1, most) else found[:-1]


def _with_tabs(text: str) -> str:
    lines = (_GAP.sub(lambda gap: gap[1] or "\t", line.strip()) for line in text.split("\n"))
    return "\n".join(lines)
