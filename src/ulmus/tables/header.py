"""Whether the first row of a text file has the columns' names, and what the columns are called.

The first row is data where it looks like the rows below it, names where it does not, and where
neither is certain the question goes back to whoever gave the file: a row is never lost in silence.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from ulmus.arguments import listed, quoted
from ulmus.exceptions import TableError

# Cells that count as missing, in small letters.
MISSING = ["", "?", "na", "n/a", "#n/a", "<na>", "nan", "null"]
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
_PLACE = re.compile(r"column_\d+")

Row = Sequence[str]


def has_names(path: Path, rows: Sequence[Row], known: Collection[str], notes: list[str]) -> bool:
    """Whether the first of the rows has names; ``known`` are those that a model expects."""
    first = rows[0]
    if set(first) & set(known):
        return True
    if known and all(map(_PLACE.fullmatch, known)):
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
    if any(column and all(map(_is_numeric, column)) for _, column in words):
        return True
    again = sum(field in column for field, column in words)
    if any(numbers):
        return False if again else None
    return again == 0 if 2 * again >= len(words) or again == 0 else None


def _is_numeric(cell: str) -> bool:
    return bool(NUMBER.fullmatch(cell)) or cell.lower() in MISSING


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
