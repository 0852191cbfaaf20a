"""Cells of text as numbers: plain ones, amounts of money, per cent, yes and no, dates."""

import re
from collections.abc import Callable, Collection

import numpy as np

from ulmus.tables.dates import days

Reader = Callable[[str], float | None]

_CODE = re.compile(r"[+-]?0\d")
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d*)?(e[+-]?\d+)?", re.IGNORECASE)
# 1.234,5, 1,5 and 0,123 have a decimal comma for certain, 1,234.5 has none, 1,234 may be either.
_SURELY_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+,\d*|\d*,(\d{1,2}|\d{4,})|0,\d+)")
_SURELY_POINT = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d*|[+-]?\d{1,3}(,\d{3}){2,}")
_CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|INR|CAD|AUD|kr)"
_MARKED = re.compile(
    rf"([+-]?)\s*{_CURRENCY}?\s*([+-]?)\s*([\d.,' \u00a0\u202f]*\d[.,]?)\s*(?:{_CURRENCY}|%)?",
    re.IGNORECASE,
)
_SPACED = re.compile(r"\d{1,3}(?:[' \u00a0\u202f]\d{3})+(?:[.,]\d*)?")
_YES_OR_NO = {
    **dict.fromkeys(("true", "yes", "t", "y", "on", "1"), 1.0),
    **dict.fromkeys(("false", "no", "f", "n", "off", "0"), 0.0),
}


def reader(comma: bool, kind: str = "number", layout: str = "") -> Reader:
    """A function from a cell to its number, or to None where it is none.

    ``kind`` is "number", "boolean" or "date", ``layout`` that of the dates; ``comma`` says whether
    numbers have a decimal comma.
    """
    if kind == "boolean":
        return lambda cell: _YES_OR_NO.get(cell.lower())
    if kind == "date":
        return lambda cell: days(cell, layout)
    return lambda cell: _number(cell, comma)


def has_comma(cells: Collection[str | None], decimal_comma: bool) -> bool:
    """Whether the numbers of a column have a decimal comma.

    Where ``decimal_comma`` says that the file's numbers may, any comma is one; elsewhere some
    number must be sure to have one, and none sure to have a point.
    """
    with_comma = [bare(cell) for cell in cells if cell and "," in cell]
    if decimal_comma:
        return bool(with_comma)
    if any(map(_SURELY_POINT.fullmatch, with_comma)):
        return False
    return any(map(_SURELY_COMMA.fullmatch, with_comma))


def bare(cell: str) -> str:
    """An amount without its currency, per cent sign and spaces, else the cell as it is."""
    negative = cell.startswith("(") and cell.endswith(")")
    found = _MARKED.fullmatch(cell[1:-1] if negative else cell)
    if found is None or (found[1] and found[2]) or (negative and (found[1] or found[2])):
        return cell
    digits = found[3].strip()
    if re.search(r"[' \u00a0\u202f]", digits):
        if not _SPACED.fullmatch(digits):
            return cell
        digits = re.sub(r"[' \u00a0\u202f]", "", digits)
    return ("-" if negative else found[1] or found[2]) + digits


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


def words_of(values: np.ndarray) -> np.ndarray:
    """Cells as text, numbers as they would be written."""
    if values.dtype == object:
        return values
    return np.array([None if np.isnan(v) else f"{v:.15g}" for v in values], dtype=object)
