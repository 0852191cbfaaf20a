"""Cells of text as numbers: plain ones, amounts, per cent, measures, yes and no, and dates.

Dates, in one layout or several, are days since 1970, which have a calendar.
"""

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from itertools import islice

import numpy as np

Reader = Callable[[str], float | None]

# No two parts that follow each other may match the same letters: a long cell of them would take
# time in the square of its length or more, which a stranger's file or request must not.
_CODE = re.compile(r"[+-]?0\d")
_LONG = re.compile(r"[+-]?\d{16,}")
PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d*)?(e[+-]?\d+)?", re.IGNORECASE)
# 1.234,5, 1,5 and 0,123 have a decimal comma for certain, 1,234.5 has none, 1,234 may be either.
_SURELY_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+,\d*|\d*,(\d{1,2}|\d{4,})|0,\d+)")
_SURELY_POINT = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d*|[+-]?\d{1,3}(,\d{3}){2,}")
_CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|INR|CAD|AUD|kr)"
_MARKED = re.compile(
    rf"([+-]?)\s*(?:{_CURRENCY}\s*)?(?:([+-])\s*)?"
    rf"((?:[\d.,'][\d.,' \u00a0\u202f]*)?\d[.,]?)\s*(?:{_CURRENCY}|%)?",
    re.IGNORECASE,
)
_SPACED = re.compile(r"\d{1,3}(?:[' \u00a0\u202f]\d{3})+(?:[.,]\d*)?")
# A number and what it counts: 12 cm, 1,234.5 km/h, 35 m², 20 °C; no time of day such as 10:30, and
# no code such as 12A.
_MEASURED = re.compile(
    r"([+\-\u2212]?[\d.,' \u00a0\u202f]*?\d[.,]?)\s*"
    r"(?!(?<=\d)[A-Z]\Z)((?:[^\W\d_]|[°℃℉‰′″'\"]).{0,19})"
)
# Words that among numbers or dates stand for a missing one, in small letters.
BLANKS = frozenset((
    "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "none", "missing", "unknown", "n.a.",
    "not available", "tbd", "#value!", "#div/0!", "#ref!", "#num!", "#name?",
))  # fmt: skip
_YES_OR_NO = {
    **dict.fromkeys(("true", "yes", "t", "y", "on", "1"), 1.0),
    **dict.fromkeys(("false", "no", "f", "n", "off", "0"), 0.0),
}
# In the order they are tried.
DATE_LAYOUTS = {
    "iso": "year-month-day",
    "%Y/%m/%d": "year/month/day",
    "%d.%m.%Y": "day.month.year",
    "%m/%d/%Y": "month/day/year",
    "%d/%m/%Y": "day/month/year",
    "%d-%m-%Y": "day-month-year",
    "%d %b %Y": "1 Jan 2020",
    "%d-%b-%Y": "1-Jan-2020",
    "%b %d, %Y": "Jan 1, 2020",
    "%d %B %Y": "1 January 2020",
    "%B %d, %Y": "January 1, 2020",
    "%m/%d/%y": "month/day/20",
    "%d/%m/%y": "day/month/20",
    "%d.%m.%y": "day.month.20",
    "%d-%b-%y": "1-Jan-20",
}
_JOINED = "|"
_EITHER = ("%m/%d", "%d/%m")
# Cells that are looked at first: most columns of text are no dates, and reading dates is slow.
_LOOK = 20
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")
_TIMED = re.compile(r"(.*\d{2}),? (\d{1,2}:\d{2}(?::\d{2})?)(?: ?([AaPp][Mm]))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Days in which each part of the calendar comes round, and those that dates must span to use it.
TURNS = {"week": 7.0, "year": 365.2425, "day": 1.0}
_SPANS = {"week": 14, "year": 366, "day": 1}


def reader(comma: bool, kind: str = "number", layout: str = "", unit: str = "") -> Reader:
    """A function from a cell to its number, or to None where it is none.

    ``kind`` is "number", "boolean" or "date", ``layout`` that of the dates; ``comma`` says whether
    numbers have a decimal comma, ``unit`` what may follow them.
    """
    if kind == "boolean":
        return lambda cell: _YES_OR_NO.get(cell.lower())
    if kind == "date":
        return lambda cell: days(cell, layout)
    return lambda cell: _number(_without(cell, unit), comma)


def unit_of(cells: Collection[str]) -> str:
    """What follows each number, as cm in 12 cm; empty where it is not the same or a number is bare.

    Cells that are no numbers are passed over. One cell alone may be a word, such as 3D.
    """
    found = ""
    for cell in cells:
        measured = _MEASURED.fullmatch(cell)
        if measured is None:
            if PLAIN.fullmatch(cell):
                return ""
            continue
        unit = _singular(measured[2])
        if unit != (found or unit):
            return ""
        found = unit
    return found if len(cells) > 1 else ""


def _singular(unit: str) -> str:
    """1 year and 2 years are of one unit, mW and MW are not."""
    unit = unit.rstrip(".")
    return unit[:-1] if len(unit) > 2 and unit.endswith("s") else unit


def _without(cell: str, unit: str) -> str:
    measured = _MEASURED.fullmatch(cell) if unit else None
    return measured[1] if measured and _singular(measured[2]) == unit else cell


def has_comma(cells: Collection[str | None], decimal_comma: bool, unit: str = "") -> bool:
    """Whether the numbers of a column have a decimal comma.

    Where ``decimal_comma`` says that the file's numbers may, any comma is one; elsewhere some
    number must be sure to have one, and none sure to have a point.
    """
    with_comma = [bare(_without(cell, unit)) for cell in cells if cell and "," in cell]
    if decimal_comma:
        return bool(with_comma)
    if any(map(_SURELY_POINT.fullmatch, with_comma)):
        return False
    return any(map(_SURELY_COMMA.fullmatch, with_comma))


def bare(cell: str) -> str:
    """An amount without its currency, per cent sign and spaces, else the cell as it is."""
    cell = cell.replace("\u2212", "-")  # the minus sign of typesetting
    negative = cell.startswith("(") and cell.endswith(")")
    found = _MARKED.fullmatch(cell[1:-1] if negative else cell)
    if found is None or (found[1] and found[2]) or (negative and (found[1] or found[2])):
        return cell
    digits = found[3]
    if re.search(r"[' \u00a0\u202f]", digits):
        if not _SPACED.fullmatch(digits):
            return cell
        digits = re.sub(r"[' \u00a0\u202f]", "", digits)
    return ("-" if negative else found[1] or found[2] or "") + digits


def read_cells(cells: np.ndarray, read: Reader) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of cells of text, NaN where there is none, and which cells could not be read."""
    found = {cell: read(cell) for cell in set(cells) if cell is not None}
    x = np.array([found.get(cell) for cell in cells], dtype=float)
    return x, np.array([cell in found and found[cell] is None for cell in cells], dtype=bool)


def _number(cell: str, comma: bool) -> float | None:
    """Read 12, -1.5e3, 1,234.5, $5 or 12 %; with a decimal comma 1.234,5; no code such as 007."""
    if _CODE.match(cell):
        return None
    if not PLAIN.fullmatch(cell):
        cell = bare(cell)
    if comma and _COMMA.fullmatch(cell):
        cell = cell.replace(".", "").replace(",", ".")
    elif not comma and _GROUPED.fullmatch(cell):
        cell = cell.replace(",", "")
    return float(cell) if PLAIN.fullmatch(cell) and not _CODE.match(cell) else None


def are_ids(cells: Collection[str]) -> bool:
    """Whether most cells are whole numbers so long that a float rounds some of them."""
    long = [cell for cell in cells if _LONG.fullmatch(cell)]
    return 2 * len(long) > len(cells) and any(int(float(cell)) != int(cell) for cell in long)


def words_of(values: np.ndarray) -> np.ndarray:
    """Cells as text, numbers as they would be written."""
    if values.dtype == object:
        return values
    return np.array([None if np.isnan(v) else f"{v:.15g}" for v in values], dtype=object)


# ---------------------------------------------------------------------- dates
def layout_of(cells: Collection[str]) -> str:
    """The layout that reads all cells, or the fewest that do, joined; empty where none do."""
    every = _JOINED.join(DATE_LAYOUTS)
    if any(days(cell, every) is None for cell in islice(cells, _LOOK)):
        return ""
    for layout in DATE_LAYOUTS:
        if all(days(cell, layout) is not None for cell in cells):
            return layout
    return _mixed_layout(set(cells))


def _mixed_layout(left: set[str]) -> str:
    reads = {
        layout: {cell for cell in left if days(cell, layout) is not None} for layout in DATE_LAYOUTS
    }
    # Of month/day and day/month it is the one that reads more.
    months, days_first = (sum(len(reads[f"{way}/{y}"]) for y in ("%Y", "%y")) for way in _EITHER)
    worse = _EITHER[months >= days_first]
    found = list[str]()
    for layout in sorted(reads, key=lambda layout: -len(reads[layout])):
        if not layout.startswith(worse) and reads[layout] & left:
            found.append(layout)
            left = left - reads[layout]
    return "" if left else _JOINED.join(found)


def other_way(layout: str, cells: Collection[str]) -> str:
    """The layout with month and day changed over, if it reads all cells too, else nothing."""
    for way, other in (_EITHER, _EITHER[::-1]):
        changed = layout.replace(way, other)
        if changed != layout and all(days(cell, changed) is not None for cell in cells):
            return changed
    return ""


def is_layout(text: str) -> bool:
    """Whether a text is a layout, or some joined."""
    return all(part in DATE_LAYOUTS for part in text.split(_JOINED))


def layout_words(layout: str) -> str:
    """A layout as people write it."""
    return " or ".join(DATE_LAYOUTS[part] for part in layout.split(_JOINED))


def days(cell: str, layout: str) -> float | None:
    """A date as days since 1970, with the time of day as a fraction; None of other cells."""
    for part in layout.split(_JOINED):
        try:
            moment = _moment(cell, part)
        except ValueError:
            continue
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (zoned - _EPOCH).total_seconds() / 86400
    return None


def _moment(cell: str, layout: str) -> datetime:
    if layout == "iso":
        if not _ISO.fullmatch(cell):
            raise ValueError(cell)
        return datetime.fromisoformat(cell)
    timed = _TIMED.fullmatch(cell)
    if timed is None:
        return datetime.strptime(cell, layout)
    clock = "%H:%M" if timed[3] is None else "%I:%M"
    clock += ":%S" * (timed[2].count(":") - 1)
    text = f"{timed[1]} {timed[2]}{timed[3] or ''}"
    return datetime.strptime(text, f"{layout} {clock}{'%p' if timed[3] else ''}")


# ---------------------------------------------------------------------- the calendar
def useful_parts(x: np.ndarray) -> tuple[str, ...]:
    """Parts of the calendar in which dates, given as days, differ."""
    differ = {
        "week": len(np.unique(np.floor(x) % 7)) > 1,
        "year": True,
        "day": len(np.unique(x % 1)) > 1,
    }
    return tuple(part for part in TURNS if differ[part] and np.ptp(x) >= _SPANS[part])


def part_names(name: str, part: str) -> list[str]:
    """Names of the matrix' columns of a part."""
    if part == "week":
        return [f"{name}: {day}" for day in WEEK]
    return [f"{name}: {wave} of the {part}" for wave in ("sine", "cosine")]


def part_columns(x: np.ndarray, part: str) -> np.ndarray:
    """Zeros and ones for the days of a week, or sine and cosine of the time in a day or a year."""
    if part == "week":
        # The first day of 1970 was a Thursday.
        return ((np.floor(x) + 3) % 7)[:, None] == np.arange(7)
    turn = 2 * np.pi * (x % TURNS[part] / TURNS[part])
    return np.column_stack([np.sin(turn), np.cos(turn)])
