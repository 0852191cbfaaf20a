"""What commands print: results on standard output, everything else on standard error."""

import csv
import io
import json
import os
import re
import shutil
import sys

__all__ = [
    "csv_text",
    "facts",
    "harmless",
    "note",
    "print_json",
    "say",
    "table",
    "width",
    "wrapped",
    "write_csv",
]

_ENDLESS = 10_000
# What makes a cell a formula when a spreadsheet opens the file.
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_GAP = "  "


def say(text=""):
    """A line of a result."""
    print(text)


def note(text, quiet=False, command=None):
    """A sentence that is no result, and a command that it ends in, whole on a line of its own."""
    if not quiet:
        for part in [*wrapped(text, width(sys.stderr)), *([f"  {command}"] if command else [])]:
            print(part, file=sys.stderr, flush=True)


def print_json(found):
    """A result for programs."""
    print(json.dumps(found, indent=2, ensure_ascii=False))


def write_csv(stream, headings, rows):
    """Lines of CSV, each ended by one newline."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)


def csv_text(headings, rows):
    """The same as one text."""
    stream = io.StringIO()
    write_csv(stream, headings, rows)
    return stream.getvalue()


def harmless(cells):
    """Cells of text, with an apostrophe before those that a spreadsheet would take for formulas.

    Examples
    --------
    >>> harmless(["=1+1", "-5", "rose"])
    ["'=1+1", '-5', 'rose']
    """
    return [f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell for cell in cells]


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def width(stream=None):
    """Columns there are to print in; a file or a pipe has no end."""
    stream = sys.stdout if stream is None else stream
    if "COLUMNS" not in os.environ and not stream.isatty():
        return _ENDLESS
    return max(shutil.get_terminal_size().columns, 20)


def wrapped(text, columns):
    """The lines of a text, broken between words; a longer word stays whole."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def facts(pairs, columns=None):
    """Lines of a name and what there is to say of it, broken under itself."""
    columns = width() if columns is None else columns
    pairs = [(name, str(value)) for name, value in pairs if value not in (None, "")]
    indent = max(len(name) for name, _ in pairs) + len(_GAP)
    if columns < 2 * indent:
        return [line for name, value in pairs for line in wrapped(f"{name}: {value}", columns)]
    lines = []
    for name, value in pairs:
        first, *rest = wrapped(value, columns - indent)
        lines.append(f"{name:<{indent}}{first}")
        lines += [" " * indent + line for line in rest]
    return lines


def table(headings, rows, columns=None, right=None):
    """Lines of a table; one fact a line where it is too wide for that.

    Columns of numbers are set to the right, or those of the numbers in ``right``.
    """
    columns = width() if columns is None else columns
    cells = [[str(cell) for cell in row] for row in rows]
    if right is None:
        right = [k for k in range(len(headings)) if all(_numeric(row[k]) for row in cells)]
    widths = [max(len(row[k]) for row in [headings, *cells]) for k in range(len(headings))]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > columns:
        return _stacked(headings, cells, columns)
    return [
        _GAP.join(
            text.rjust(size) if k in right else text.ljust(size)
            for k, (text, size) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [list(headings), *cells]
    ]


def _stacked(headings, cells, columns):
    """Each row as a name and a few facts under it."""
    lines = []
    for row in cells:
        lines += wrapped(row[0], columns)
        pairs = zip(headings[1:], row[1:], strict=True)
        filled = [(name, text) for name, text in pairs if text]
        lines += [f"{_GAP}{line}" for line in facts(filled, columns - len(_GAP))] if filled else []
    return lines


def _numeric(text):
    return text.replace(",", "").removesuffix("%").lstrip("-").replace(".", "", 1).isdigit()
