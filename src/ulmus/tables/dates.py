"""Dates as text, in one layout or several, as days since 1970, and the calendar of those days."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from itertools import islice

import numpy as np

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
}
_JOINED = "|"
# Cells that are looked at first: most columns of text are no dates, and reading dates is slow.
_LOOK = 20
_EITHER = {"%m/%d/%Y", "%d/%m/%Y"}
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")
_TIMED = re.compile(r"(.*\d{4}),? (\d{1,2}:\d{2}(?::\d{2})?)(?: ?([AaPp][Mm]))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR = 365.2425
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("week", "year", "day")
# A part of the calendar is used where dates span so many days.
_SPANS = {"week": 14, "year": 366, "day": 1}


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
    worse = min(_EITHER, key=lambda layout: (len(reads[layout]), layout == "%m/%d/%Y"))
    found = list[str]()
    for layout in sorted(reads, key=lambda layout: -len(reads[layout])):
        if layout != worse and reads[layout] & left:
            found.append(layout)
            left = left - reads[layout]
    return "" if left else _JOINED.join(found)


def is_layout(text: str) -> bool:
    """Whether a text is a layout, or some joined."""
    return all(part in DATE_LAYOUTS for part in text.split(_JOINED))


def layout_words(layout: str) -> str:
    """A layout as people write it."""
    return " or ".join(DATE_LAYOUTS[part] for part in layout.split(_JOINED))


def days(cell: str, layout: str) -> float | None:
    """A date as days since 1970, with the time of day as a fraction; None where it is no date."""
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
    return tuple(part for part in PARTS if differ[part] and np.ptp(x) >= _SPANS[part])


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
    turn = 2 * np.pi * (x % 1 if part == "day" else x % _YEAR / _YEAR)
    return np.column_stack([np.sin(turn), np.cos(turn)])


def turn_of(part: str) -> float:
    """Days in which a part comes round."""
    return {"week": 7.0, "year": _YEAR, "day": 1.0}[part]
