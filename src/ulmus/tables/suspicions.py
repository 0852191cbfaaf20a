"""What makes a score too good to be true, or a class hard to learn, in sentences.

A column that nearly determines the target, rows that come twice, a column that counts the rows,
classes of one row, and classes that are spelt in two ways.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from ulmus.arguments import counted, listed
from ulmus.tables.cells import words_of
from ulmus.tables.encoder import Target, as_text
from ulmus.tables.fingerprint import copies, row_hashes
from ulmus.tables.table import Table

# A column is reported if a model of it alone has at most this share of the baseline's error.
_DETERMINED = 0.01
_FEWEST_ROWS, _MOST_ROWS = 30, 2000
# Copies are reported from this share of the rows on.
_COPIES = 0.05


def suspicions(
    table: Table, goal: Target, copied: int, names: Sequence[str] | None = None
) -> list[str]:
    """Sentences about the rows that have a target; ``copied`` of all have an equal one.

    ``names`` are the columns that are used, by default all.
    """
    known = np.flatnonzero(goal.known)
    found = _class_notes(goal.values[known]) if goal.task == "classification" else []
    used = table.names if names is None else names
    told = copied >= max(2, _COPIES * len(table)) and beyond_chance(table, used, copied)
    if told:
        found.append(
            f"{copied:,} of {counted(len(table), 'row')} are equal to another row in all columns "
            "that are used: a left-out row then has a copy among the others, which makes scores "
            "too good. Take copies out, or split by --group in ulmus evaluate."
        )
    if table.matrix is None and len(known) >= _FEWEST_ROWS:
        # Copies of a row give its target away by any column: one of each is enough.
        rows = known[_first_of_each(table.rows(known), used)] if told else known
        found += _column_notes(table.rows(rows), goal.values[rows], goal, used)
    return found


def beyond_chance(table: Table, names: Sequence[str], copied: int) -> bool:
    """Whether more rows are equal than if the columns knew nothing of each other.

    Rows of a few small categories are equal by chance.
    """
    if table.matrix is not None or not copied:
        return bool(copied)
    rng = np.random.default_rng(0)
    mixed = np.column_stack([rng.permutation(_places(table[name])) for name in names])
    chance = copies(row_hashes(mixed))
    return copied > chance + _COPIES * len(table) * bool(chance)


def _first_of_each(table: Table, names: Sequence[str]) -> np.ndarray:
    places = np.column_stack([_places(table[name]) for name in names])
    return np.sort(np.unique(row_hashes(places), return_index=True)[1])


# ---------------------------------------------------------------------- classes
def _class_notes(values: np.ndarray) -> list[str]:
    counts = Counter(as_text(values))
    found = []
    single = [name for name, count in counts.items() if count == 1]
    if single:
        what = "classes have" if len(single) > 1 else "class has"
        found.append(
            f"{len(single):,} {what} one row only ({listed(single)}): no left-out row can be "
            "predicted right. Add rows, or merge them into another class."
        )
    spelt = defaultdict(list)
    for name in counts:
        spelt["".join(name.split()).lower()].append(name)
    found += [
        f"The classes {listed(names)} differ in case or spaces only: write them the same."
        for names in spelt.values()
        if len(names) > 1
    ]
    return found


# ---------------------------------------------------------------------- columns
def _column_notes(table: Table, y: np.ndarray, goal: Target, names: Sequence[str]) -> list[str]:
    rows = np.random.default_rng(0).permutation(len(y))[:_MOST_ROWS]
    targets = _targets(y[rows], goal.task)
    found = [_counts_rows(name, table[name]) for name in names]
    for name in names if len(names) > 1 else ():
        share = error_alone(_places(table[name][rows]), targets)
        if share <= _DETERMINED:
            found.append(
                f"{name!r} alone nearly determines {goal.name!r}: it leaves {share:.1%} of the "
                f"baseline's error. If it is not known before {goal.name!r} is, give --without "
                f"{name}."
            )
    return [sentence for sentence in found if sentence]


def _counts_rows(name: str, values: np.ndarray) -> str:
    """A sentence about whole numbers without a gap, as serial numbers are."""
    if values.dtype == object or len(values) < _FEWEST_ROWS:
        return ""
    if len(np.unique(values)) < len(values) or np.ptp(values) != len(values) - 1:
        return ""
    if values.min() in (0, 1) or (values != np.round(values)).any():
        return ""
    return f"{name!r} counts the rows from {values.min():g} on; if it is an id, --without {name}."


def _targets(y: np.ndarray, task: str) -> np.ndarray:
    """A column of zeros and ones for each class, or of the centred numbers."""
    if task == "regression":
        return (y - y.mean())[:, None]
    codes = np.unique(as_text(y), return_inverse=True)[1]
    return np.eye(codes.max() + 1)[codes]


def _places(values: np.ndarray) -> np.ndarray:
    """Values as whole numbers in the same order; blanks are a value."""
    if values.dtype == object:
        return np.unique([w or "" for w in words_of(values)], return_inverse=True)[1]
    return np.unique(values, return_inverse=True)[1]


def error_alone(places: np.ndarray, T: np.ndarray) -> float:
    """The error of one column over left-out rows, as a share of the baseline's.

    A row is predicted by the others with the same value; where values hardly ever come twice, by
    the rows before and after it in the column's order.
    """
    n = len(T)
    counts = np.bincount(places)
    if 3 * len(counts) <= n:
        sums = np.zeros((len(counts), T.shape[1]))
        np.add.at(sums, places, T)
        F = (sums[places] - T) / np.maximum(counts[places] - 1, 1)[:, None]
    else:
        order = np.argsort(places, kind="stable")
        S = T[order]
        F = np.empty_like(T)
        F[order] = (np.vstack([S[1:2], S[:-1]]) + np.vstack([S[1:], S[-2:-1]])) / 2
    if T.shape[1] == 1:
        return float(((T - F) ** 2).mean() / max(float((T**2).mean()), 1e-300))
    # A row at the border of two classes has a neighbour of each.
    wrong = max(int((F.argmax(axis=1) != T.argmax(axis=1)).sum()) - T.shape[1], 0)
    return float(wrong / max(n - T.sum(axis=0).max(), 1))
