"""What commands write: results to standard output or a file, everything else to standard error."""

import json
import math
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ulmus.exceptions import InvalidInputError
from ulmus.files import replacing
from ulmus.progress import Bar

_ENDLESS = 10_000
# What makes a cell a formula when a spreadsheet opens the file, unless it is a number.
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_AMOUNT = re.compile(r"[+-][\d.,%]*")
_GAP = "  "


def say(*lines: object) -> None:
    """Lines of a result, or an empty one."""
    print(*lines, sep="\n", flush=True)


def note(text: str, quiet: bool = False, command: str | None = None) -> None:
    """A sentence that is no result, and a command that it ends in, whole on a line of its own."""
    if not quiet:
        for part in [*wrapped(text, width(sys.stderr)), *([f"  {command}"] if command else [])]:
            print(part, file=sys.stderr, flush=True)


def print_json(found: object) -> None:
    """A result for programs."""
    print(json.dumps(found, indent=2, ensure_ascii=False), flush=True)


def tell(options: Namespace, found: object, *lines: object) -> int:
    """A result, as JSON where that is wanted, else as lines if there are any; the exit status."""
    if options.json:
        print_json(found)
    elif lines:
        say(*lines)
    return 0


@contextmanager
def watching(title: str, quiet: bool, steps: int | None = None) -> Iterator[Callable[[str], None]]:
    """A line on standard error, on a terminal, that says what is being done.

    It gives a function to call with a few words before each step; ``steps`` is about how many.
    """
    if quiet:
        yield lambda words: None
        return
    with Bar(title) as bar:
        done = -1

        def step(words: str) -> None:
            nonlocal done
            done += 1
            bar.words = lambda *_: words
            bar.due_now()
            bar.update(min(done, steps) if steps else 0, steps)

        if steps is None:
            step("…")
        yield step


# ---------------------------------------------------------------------- files
def check_free(place: str | None, force: bool) -> None:
    """Refuse a file that is there, unless it may be replaced, or whose folder cannot be used."""
    if place is None:
        return
    if place == "-":
        raise InvalidInputError("This cannot go to standard output (-); name a file to write to.")
    path = Path(place)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InvalidInputError(f"There is no folder {folder}; name a folder that is there.")
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder; name a file to write to.")
    if not os.access(folder, os.W_OK):
        raise InvalidInputError(f"The folder {folder} cannot be written to; name another.")
    if path.exists() and not force:
        raise InvalidInputError(f"{path} is there already; --force replaces it.")


def stem_of(data: str) -> str:
    """What files made from DATA are called, without an ending."""
    name = Path(data).absolute().name
    for suffix in reversed(Path(name).suffixes[-2:]):
        name = name.removesuffix(suffix)
    return "model" if data == "-" or not name else name


@contextmanager
def drawing(path: str, size: tuple[float, float], dpi: int) -> Iterator[Any]:
    """A figure of Matplotlib to draw in, which is then written to a file."""
    from ulmus.backends.namespace import extra  # which waits for NumPy, as no help should

    Figure = extra("matplotlib.figure", "plot", "Drawing").Figure
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    yield figure
    with replacing(path) as stream:
        figure.savefig(stream, dpi=dpi, format=Path(path).suffix.lstrip(".").lower() or "png")


def harmless(cells: list[str]) -> list[str]:
    """Cells of text, with an apostrophe before those that a spreadsheet would take for formulas.

    Examples
    --------
    >>> harmless(["=1+1", "-5", "-1,5", "rose"])
    ["'=1+1", '-5', '-1,5', 'rose']
    """
    return [f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return bool(_AMOUNT.fullmatch(cell))  # with a decimal comma
    return True


# ---------------------------------------------------------------------- lines that fit
def width(stream: TextIO | None = None) -> int:
    """Columns of the terminal; a file or a pipe has no end."""
    stream = sys.stdout if stream is None else stream
    if "COLUMNS" not in os.environ and not stream.isatty():
        return _ENDLESS
    return max(shutil.get_terminal_size().columns, 20)


def wrapped(text: str, columns: int | None = None) -> list[str]:
    """The lines of a text, broken between words; a longer word stays whole."""
    lines = textwrap.wrap(
        text,
        width() if columns is None else columns,
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [""]


def facts(pairs: Iterable[tuple[str, object]], columns: int | None = None) -> list[str]:
    """Lines of a name and what there is to say of it, broken under itself."""
    columns = width() if columns is None else columns
    filled = [(name, str(value)) for name, value in pairs if value not in (None, "")]
    indent = max((shown_width(name) for name, _ in filled), default=0) + len(_GAP)
    if columns < 2 * indent:
        return [line for name, value in filled for line in wrapped(f"{name}: {value}", columns)]
    lines = []
    for name, value in filled:
        for k, line in enumerate(wrapped(value, columns - indent)):
            lines.append(_filled("" if k else name, indent) + line)
    return lines


def table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], columns: int | None = None
) -> list[str]:
    """Lines of a table, with columns of numbers set to the right.

    Where it is too wide, there is a name for each row, and a few facts under it.
    """
    columns = width() if columns is None else columns
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(shown_width, column)) for column in zip(headings, *cells, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > columns:
        lines = []
        for row in cells:
            pairs = zip(headings[1:], row[1:], strict=True)
            lines += wrapped(row[0], columns)
            lines += [f"{_GAP}{line}" for line in facts(pairs, columns - len(_GAP))]
        return lines
    right = [all(map(_numeric, column)) for column in zip(*cells, strict=True)]
    return [
        _GAP.join(map(_filled, row, widths, right)).rstrip() for row in [list(headings), *cells]
    ]


def aligned(values: Iterable[float], digits: int = 4) -> list[str]:
    """Numbers with as many decimals, so many that the largest has as many ``digits``.

    >>> aligned([0.04876, 0.957712]), aligned([2.5, -1204.21])
    (['0.0488', '0.9577'], ['2', '-1204'])
    """
    values = [*values]
    largest = max(map(abs, values), default=0.0)
    decimals = digits - 1 - math.floor(math.log10(largest)) if largest > 0 else 0
    return [f"{value:.{min(max(decimals, 0), 15)}f}" for value in values]


def shown_width(text: str) -> int:
    """Columns of a terminal that a text takes: letters of Chinese take two, accents none.

    >>> shown_width("naïve"), shown_width("東京"), shown_width("e\u0301")
    (5, 4, 1)
    """
    plain = (char for char in text if not unicodedata.combining(char))
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in plain)


def _filled(text: str, size: int, right: bool = False) -> str:
    """A text with spaces after it, or before it, to a width."""
    spaces = " " * (size - shown_width(text))
    return spaces + text if right else text + spaces


def _numeric(text: str) -> bool:
    return text.replace(",", "").removesuffix("%").lstrip("+-").replace(".", "", 1).isdigit()
