"""Cells of text as numbers: plain ones, yes and no, dates."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

__all__ = ["DATE_FORMATS", "Reader", "boolean", "date_reader", "number_reader", "parsed"]

Reader = Callable[[str], float | None]

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_WORDS = {
    "true": 1.0, "yes": 1.0, "t": 1.0, "y": 1.0, "on": 1.0, "1": 1.0,
    "false": 0.0, "no": 0.0, "f": 0.0, "n": 0.0, "off": 0.0, "0": 0.0,
}  # fmt: skip
# In the order they are tried; the first that reads every date is taken.
DATE_FORMATS = ("iso", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")


def number_reader(decimal_comma: bool) -> Reader:
    """Read 12, -1.5e3 or 1,234.5, or where there is a decimal comma 1,5 and 1.234,5."""

    def read(cell: str) -> float | None:
        if decimal_comma and any(map(str.isdigit, cell)) and _COMMA.fullmatch(cell):
            return float(cell.replace(".", "").replace(",", "."))
        if not decimal_comma and _GROUPED.fullmatch(cell):
            cell = cell.replace(",", "")
        return float(cell) if _PLAIN.fullmatch(cell) else None

    return read


def boolean(cell: str) -> float | None:
    """Read true, false, yes, no, t, f, y, n, on, off, in small letters or large."""
    return _WORDS.get(cell.lower())


def date_reader(layout: str) -> Reader:
    """Read dates of one format as days since 1970, with the time of day as a fraction."""

    def read(cell: str) -> float | None:
        try:
            if layout != "iso":
                moment = datetime.strptime(cell, layout)
            elif _ISO.fullmatch(cell):
                moment = datetime.fromisoformat(cell)
            else:
                return None
        except ValueError:
            return None
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (zoned - _EPOCH).total_seconds() / 86400

    return read


def parsed(texts: np.ndarray, read: Reader) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of cells of text, NaN where there is none, and which cells could not be read."""
    known: dict[str | None, float | None] = {cell: read(cell) for cell in set(texts) - {None}}
    values = np.array([np.nan if known.get(cell) is None else known[cell] for cell in texts], float)
    filled = np.array([cell is not None for cell in texts], dtype=bool)
    return values, filled & np.isnan(values)
