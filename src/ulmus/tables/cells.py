"""Cells of text as numbers: plain ones, yes and no, dates."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import numpy as np

__all__ = ["DATE_LAYOUTS", "Reader", "read_cells", "reader", "words"]

Reader = Callable[[str], float | None]

_CODE = re.compile(r"[+-]?0\d")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_YES_OR_NO = {
    "true": 1.0, "yes": 1.0, "t": 1.0, "y": 1.0, "on": 1.0, "1": 1.0,
    "false": 0.0, "no": 0.0, "f": 0.0, "n": 0.0, "off": 0.0, "0": 0.0,
}  # fmt: skip
# In the order they are tried; the first that reads every date is taken.
DATE_LAYOUTS = ("iso", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def reader(kind: str, layout: str, cells: Iterable[str | None], decimal_comma: bool) -> Reader:
    """A function from one of the cells to its number, or to None where it is none.

    ``kind`` is "number", "boolean" or "date", ``layout`` that of the dates. A point sets thousands
    apart where ``decimal_comma`` is true and some cell has a comma, else it is a decimal point.
    """
    if kind == "boolean":
        return lambda cell: _YES_OR_NO.get(cell.lower())
    if kind == "date":
        return lambda cell: _days(cell, layout)
    comma = decimal_comma and any("," in cell for cell in cells if cell)
    return lambda cell: _number(cell, comma)


def read_cells(cells: np.ndarray, read: Reader) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of cells of text, NaN where there is none, and which cells could not be read."""
    found = {cell: read(cell) for cell in set(cells) if cell is not None}
    numbers = {cell: np.nan if x is None else x for cell, x in found.items()}
    x = np.array([numbers.get(cell, np.nan) for cell in cells], dtype=float)
    bad = np.array([cell is not None and found[cell] is None for cell in cells], dtype=bool)
    return x, bad


def words(values: np.ndarray) -> np.ndarray:
    """Cells as text, numbers as they would be written."""
    if values.dtype == object:
        return values
    return np.array([None if np.isnan(v) else f"{v:.15g}" for v in values], dtype=object)


def _number(cell: str, decimal_comma: bool) -> float | None:
    """Read 12, -1.5e3 or 1,234.5; with a decimal comma 1,5 and 1.234,5; no code such as 007."""
    if _CODE.match(cell):
        return None
    if decimal_comma and _COMMA.fullmatch(cell):
        cell = cell.replace(".", "").replace(",", ".")
    elif not decimal_comma and _GROUPED.fullmatch(cell):
        cell = cell.replace(",", "")
    return float(cell) if _PLAIN.fullmatch(cell) else None


def _days(cell: str, layout: str) -> float | None:
    """A date as days since 1970, with the time of day as a fraction."""
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
