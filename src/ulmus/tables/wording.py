"""Words for counts and cells, in notes and errors."""

from collections.abc import Iterable

__all__ = ["counted", "listed", "quoted"]

_LONGEST = 60
_MOST = 5


def counted(number: int, noun: str) -> str:
    """1 row, 2,000 rows."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def quoted(cell: str) -> str:
    """A cell in quotes, cut off where it is long."""
    return repr(cell if len(cell) <= _LONGEST else cell[: _LONGEST - 3] + "...")


def listed(cells: Iterable[str]) -> str:
    """The first few of some cells, in quotes."""
    found = [quoted(cell) for cell in cells]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return ", ".join(found[:_MOST]) + more
