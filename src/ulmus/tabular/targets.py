"""What is to be learnt: which column it is, whether labels or numbers, and which rows have it."""

from dataclasses import dataclass

import numpy as np

from ulmus.arguments import check_known
from ulmus.exceptions import InvalidInputError
from ulmus.missing import missing
from ulmus.tables.cells import read_cells, reader
from ulmus.tables.shape import unusable, usable

__all__ = ["TASKS", "Target", "as_text", "read_target", "separated"]

TASKS = ("auto", "classification", "regression")
# Whole numbers are labels if there are at most so many, and this many rows of each on average.
_MOST_LABELS = 20
_ROWS_OF_EACH = 5


@dataclass(frozen=True)
class Target:
    """A column to learn.

    ``values`` are words, whole numbers or numbers; where ``known`` is false they mean nothing.
    ``note`` says what was decided and could have been decided otherwise.
    """

    name: str
    task: str
    values: np.ndarray
    known: np.ndarray
    note: str = ""

    def rows(self, index):
        """The values of these rows."""
        return self.values[index]


def separated(table, name):
    """The target's cells, its name, and the table without it."""
    if name is not None:
        return table[name], name, table.without(name)
    if table.target is None:
        names = ", ".join(table.names[:10]) + (", …" if len(table.names) > 10 else "")
        raise InvalidInputError(
            f"Which column is to be learnt? Name it as the target; there are {names}."
        )
    return table.target, "y", table


def read_target(cells, name, task="auto", decimal_comma=False, varied=True):
    """A column as a `Target`; blank cells are rows without one.

    ``varied`` says whether there must be two values at least, as there must to learn it.
    """
    check_known("task", task, TASKS)
    numbers = _numbers(cells, decimal_comma)
    known = ~missing(cells) if numbers is None else usable(numbers)
    if not known.any():
        raise InvalidInputError(
            f"The target {name!r} is blank in every row; fill it in for some rows at least."
        )
    notes = [] if numbers is None else _no_measurements(numbers, name)
    if task == "auto":
        task, note = _guessed(numbers, known, name)
        notes += [note] if note else []
    if task == "regression":
        if numbers is None:
            read = reader("number", "", cells, decimal_comma)
            word = next(cell for cell in cells[known] if read(cell) is None)
            raise InvalidInputError(
                f"The target {name!r} holds text, {str(word)[:40]!r} for instance, and regression "
                "needs numbers; make the task classification."
            )
        values = numbers
    else:
        values = _labels(cells, numbers, known)
    distinct, rows = len(np.unique(values[known])), int(known.sum())
    if varied and task == "classification" and distinct > max(2, rows / 2):
        raise InvalidInputError(
            f"The target {name!r} has {distinct:,} different values in {rows:,} rows; classes need "
            "two rows or more on average."
        )
    if varied and distinct < 2:
        raise InvalidInputError(
            f"The target {name!r} is {as_text(values[known][:1])[0]!r} in every row that has one; "
            "there is nothing to tell apart."
        )
    return Target(name, task, values, known, " ".join(notes))


def as_text(values):
    """Labels or numbers as they are written to a file."""
    values = np.asarray(values)
    if values.dtype.kind == "f":
        return [f"{value:.9g}" for value in values]
    return [str(value) for value in values]


def _numbers(cells, decimal_comma):
    """The cells as numbers, NaN where blank; None where some are words."""
    if cells.dtype != object:
        return np.asarray(cells, dtype=float)
    values, bad = read_cells(cells, reader("number", "", cells, decimal_comma))
    return None if bad.any() else values


def _no_measurements(numbers, name):
    """A note about numbers that are there and count as blank nonetheless."""
    odd = numbers[~usable(numbers) & ~missing(numbers)]
    verb = "counts" if len(odd) == 1 else "count"
    return [f"{name!r}: {unusable(odd)} {verb} as blank."] if len(odd) else []


def _guessed(numbers, known, name):
    """The task that the cells suggest, and a note where they could suggest another."""
    if numbers is None:
        return "classification", ""
    values = numbers[known]
    distinct = len(np.unique(values))
    whole = bool((values == np.round(values)).all())
    few = distinct <= _MOST_LABELS and (distinct <= 2 or _ROWS_OF_EACH * distinct <= len(values))
    if whole and few:
        note = f"{name!r} holds {distinct} different whole numbers, taken as classes"
        return "classification", f"{note}; --task regression if they are amounts."
    if whole:
        note = f"{name!r} holds {distinct:,} different whole numbers, taken as amounts"
        return "regression", f"{note}; --task classification if they are classes."
    return "regression", ""


def _labels(cells, numbers, known):
    """Whole numbers as integers, anything else as words."""
    if numbers is None:
        words = [cell if cell is not None else "" for cell in cells]
        return np.array(words, dtype=object)
    values = np.where(known, numbers, 0)
    if (values == np.round(values)).all() and np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    return np.array([f"{value:.15g}" for value in values], dtype=object)
