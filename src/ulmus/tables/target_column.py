"""The target of a table: which column it is, whether labels or numbers, and which rows have it."""

from dataclasses import dataclass

import numpy as np

from ulmus.arguments import check_known
from ulmus.exceptions import InvalidInputError
from ulmus.tables.columns import read_cells, reader, unusable, usable
from ulmus.tables.table import Table
from ulmus.validation import missing

# Whole numbers are labels if there are at most so many, and this many rows of each on average.
_MOST_LABELS = 20
_ROWS_OF_EACH = 5


@dataclass(frozen=True)
class Target:
    """A column to learn: words, whole numbers or numbers; those not ``known`` mean nothing."""

    name: str
    task: str
    values: np.ndarray
    known: np.ndarray
    notes: tuple[str, ...] = ()


def separated(table: Table, name: str | None) -> tuple[np.ndarray, str, Table]:
    """The target's cells, its name, and the table without it."""
    if name is not None:
        return table[name], name, table.without(name)
    if table.target is None:
        names = ", ".join(table.names[:10]) + (", …" if len(table.names) > 10 else "")
        raise InvalidInputError(
            f"Which column is to be learnt? Name it as the target; there are {names}."
        )
    return table.target, "y", table


def read_target(
    cells: np.ndarray,
    name: str,
    task: str = "auto",
    decimal_comma: bool = False,
    varied: bool = True,
) -> Target:
    """A column as a `Target`; blank cells are rows without one.

    ``varied`` says whether there must be two values at least, as there must to learn it.
    """
    check_known("task", task, ("auto", "classification", "regression"))
    numbers, bad = cells, np.zeros(len(cells), dtype=bool)
    if cells.dtype == object:
        numbers, bad = read_cells(cells, reader(cells, decimal_comma))
    words = bool(bad.any())
    known = ~missing(cells) if words else usable(numbers)
    if not known.any():
        raise InvalidInputError(
            f"The target {name!r} is blank in every row; fill it in for some rows at least."
        )
    notes = []
    odd = numbers[~known & ~np.isnan(numbers)]
    if len(odd) and not words:
        verb = "counts" if len(odd) == 1 else "count"
        notes.append(f"{name!r}: {unusable(odd)} {verb} as blank.")
    if task == "auto":
        task = "classification" if words else _guessed(numbers[known], name, notes)
    if task == "regression" and words:
        word = str(cells[np.argmax(bad)])[:40]
        raise InvalidInputError(
            f"The target {name!r} holds text, {word!r} for instance, and regression needs numbers; "
            "make the task classification."
        )
    values = numbers.astype(float)
    if task == "classification":
        values = _labels(cells if words else np.where(known, values, 0))
    if varied:
        _check_varied(values[known], name, task)
    return Target(name, task, values, known, tuple(notes))


def _check_varied(values: np.ndarray, name: str, task: str) -> None:
    distinct, rows = len(np.unique(values)), len(values)
    if task == "classification" and distinct > max(2, rows / 2):
        raise InvalidInputError(
            f"The target {name!r} has {distinct:,} different values in {rows:,} rows; classes need "
            "two rows or more on average."
        )
    if distinct < 2:
        raise InvalidInputError(
            f"The target {name!r} is {as_text(values[:1])[0]!r} in every row that has one; "
            "there is nothing to tell apart."
        )


def _guessed(values: np.ndarray, name: str, notes: list[str]) -> str:
    """The task that numbers suggest, and a note where they could suggest another."""
    if (values != np.round(values)).any():
        return "regression"
    distinct = len(np.unique(values))
    what = f"{name!r} holds {distinct:,} different whole numbers, taken as"
    if distinct <= _MOST_LABELS and (distinct <= 2 or _ROWS_OF_EACH * distinct <= len(values)):
        notes.append(f"{what} classes; --task regression if they are amounts.")
        return "classification"
    notes.append(f"{what} amounts; --task classification if they are classes.")
    return "regression"


def _labels(values: np.ndarray) -> np.ndarray:
    """Whole numbers as integers, anything else as words."""
    if values.dtype == object:
        return np.array([cell if cell is not None else "" for cell in values], dtype=object)
    if (values == np.round(values)).all() and np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    return np.array([f"{value:.15g}" for value in values], dtype=object)


def as_text(values: np.ndarray) -> list[str]:
    """Labels or numbers as they are written to a file."""
    return [f"{value:.9g}" if values.dtype.kind == "f" else str(value) for value in values]
