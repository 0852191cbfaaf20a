"""The header of a text file: which row it is, if any, and the columns' names.

The first row is data where it looks like the rows below it, names where it does not, and where
neither is certain the question goes back to whoever gave the file: a row is never lost in silence.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

from ulmus.arguments import listed, quoted
from ulmus.commanded import option
from ulmus.exceptions import TableError
from ulmus.tables.cells import layout_of, reader

# Cells that count as missing, in small letters.
MISSING = ["", "?", "na", "n/a", "#n/a", "<na>", "nan", "null"]
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
PLACE = re.compile(r"column_\d+")
# Rows below the header in which all filled cells of a column must have a type.
_ROWS = 20
# What columns of text are called; a name such as first_name ends in one.
_CALLED = re.compile(
    r"([A-Za-z]\w*_)?(address|age|amount|answer|body|category|city|class|code|colou?r|comments?|country|"
    r"date|day|description|email|gender|group|id|item|key|kind|label|language|message|month|name|phone|"
    r"price|product|question|review|score|sentence|sentiment|sex|size|species|state|status|subject|tag|"
    r"target|text|time|title|topic|type|url|user|value|word|year)", re.IGNORECASE
)  # fmt: skip
# A first row is names where one cell of it would be so new among data in fewer cases.
_BY_CHANCE = 0.05


def titles_above(rows: list[list[str]], known: Collection[str]) -> int:
    """How many rows above the header are titles.

    They are one word or sentence, alone in its line or, where a row below has the names that are
    known, alone among empty fields; sep= is Excel's.
    """
    width = Counter(map(len, rows)).most_common(1)[0][0]
    named = next((k for k, row in enumerate(rows) if set(row) & set(known)), 0)
    count = 0
    for row in rows[:-1] if width > 1 else ():
        words = [field for field in row if field]
        # Above two columns one word is the name of the second: R writes none of the rows' names.
        line = len(row) == 1 and (width > 2 or " " in row[0])
        alone = line or count < named or words == ["sep="]
        if len(words) > 1 or not alone or NUMBER.fullmatch("".join(words)):
            break
        count += 1
    return count


def has_names(path: Path, rows: list[list[str]], known: Collection[str], notes: list[str]) -> bool:
    """Whether the first row has the columns' names; where that is uncertain, an error asks."""
    first = rows[0]
    if set(first) & set(known):
        return True
    if known and all(map(PLACE.fullmatch, known)):
        return False
    named = _looks_like_names(first, [row for row in rows[1:] if row != first])
    if named is None:
        raise TableError(
            f"{path}: does the first row ({listed(first)}) have the columns' names? Give "
            f"{_header(True)} if it does, {_header(False)} if it is data."
        )
    if not named:
        what = "is all numbers" if all(map(NUMBER.fullmatch, first)) else "looks like the others"
        notes.append(
            f"The first row {what}, so it was taken as data, and the columns are called column_1, "
            f"column_2, …; if it has the names, give {_header(True)}."
        )
    return named


def _header(there: bool) -> str:
    return option("--header" if there else "--no-header", f"header={there}")


def _looks_like_names(first: list[str], below: list[list[str]]) -> bool | None:
    """Whether a first row is names, judged by the rows below it; None where that is not certain."""
    # Programs that have no names write 0, 1, 2, …
    if len(first) > 1 and first in [[str(j + k) for j in range(len(first))] for k in (0, 1)]:
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


def _is_new(field: str, column: list[str]) -> bool:
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


def _is_typed(column: list[str]) -> bool:
    """Whether the filled cells below a word are all numbers, amounts or dates."""
    filled = [cell for cell in column if cell.lower() not in MISSING]
    readers: list[Callable[[str], object]] = [NUMBER.fullmatch, reader(False), reader(True)]
    if all(any(read(cell) is not None for read in readers) for cell in filled):
        return bool(column)
    return bool(layout_of(filled))


def names_of(first: list[str], notes: list[str]) -> tuple[str, ...]:
    """The columns' names by a header: each once, blank ones by their place."""
    names = [field or f"column_{j + 1}" for j, field in enumerate(first)]
    blank = [name for name, field in zip(names, first, strict=True) if not field]
    if blank:
        notes.append(f"Columns without a name are called by their place: {listed(blank)}.")
    found = each_once(names)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        later = next(name for name in found if name.startswith(f"{twice[0]}_"))
        notes.append(
            f"More than one column is called {listed(twice)}; the later ones are called "
            f"{quoted(later)} and so on."
        )
    return tuple(found)


def each_once(names: list[str]) -> list[str]:
    """The same with _2, _3, … after a name that was there before."""
    taken, found = set(names), dict[str, None]()
    for name in names:
        new, k = name, 2
        while new in found or (new != name and new in taken):
            new, k = f"{name}_{k}", k + 1
        found[new] = None
    return list(found)
