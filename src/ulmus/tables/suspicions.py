"""What makes a score too good to be true, or a class hard to learn, in sentences.

A column that nearly determines the target, rows that come twice, a column that counts the rows,
classes of one row, and classes that are spelt in two ways; and which rows a model was fitted to.

A row is hashed to 64 bits, and of the fitted rows the least hashes are kept, at most 4096 different
ones. A later row's hash, if it is not larger than those, is either among them or the row is new: so
the share of known rows is measured on a sample of them, and exactly where no more were fitted.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ulmus.arguments import counted, figure, listed
from ulmus.commanded import option, without_flag
from ulmus.tables.cells import has_comma, read_cells, reader, unit_of
from ulmus.tables.columns import usable
from ulmus.tables.kinds import Target, as_text, names_rows
from ulmus.tables.table import Table
from ulmus.typing import Rows

# A column is reported if a model of it alone has at most this share of the baseline's error.
_DETERMINED = 0.01
_FEWEST_ROWS, _MOST_ROWS = 30, 2000
# Copies are reported from this share of the rows on.
_COPIES = 0.05
# A column has many values from so many on, and from this share of the rows.
_FEW_VALUES, _MANY_VALUES = 10, 0.2
# Hashes that are kept, and rows that are hashed at a time.
_KEPT, _AT_ONCE = 4096, 10_000
_SEED = 20


def suspicions(table: Table, goal: Target, X: Rows, widths: dict[str, int]) -> list[str]:
    """Sentences about the rows that have a target, by the columns that are used.

    X is the table's matrix; ``widths`` says how many columns of it each column in use becomes, and
    is empty where the table was a matrix.
    """
    known = np.flatnonzero(goal.known)
    found = _class_notes(goal.values[known]) if goal.task == "classification" else []
    Z, parts = with_target(X[known], goal.values[known], [*widths.values()])
    copied = copies(row_hashes(Z))
    told = copied >= max(2, _COPIES * len(known)) and beyond_chance(Z, parts, copied)
    if told:
        found.append(
            f"{copied:,} of {counted(len(known), 'row')} are equal to another row, the target too: "
            "a left-out row then has a copy among the others, which makes scores too good. Take "
            f"copies out{option(', or split by --group in ulmus evaluate', '')}."
        )
    if table.matrix is None and len(known) >= _FEWEST_ROWS:
        if told:
            # Copies of a row give its target away by any column: one of each is enough.
            known = known[np.sort(np.unique(row_hashes(X[known]), return_index=True)[1])]
        found += _column_notes(table.rows(known), goal.values[known], goal, list(widths))
    return found


def with_target(X: Rows, values: np.ndarray, widths: list[int]) -> tuple[Rows, list[int]]:
    """Rows with a number for each value of their target, and the widths of what they are made of.

    Rows that differ in the target are no copies of each other.
    """
    plain = values.astype(str) if values.dtype == object else values
    last = np.unique(plain, return_inverse=True)[1].astype(np.float32)[:, None]
    stack = sp.hstack([X, last], format="csr") if sp.issparse(X) else np.hstack([X, last])
    return stack, [*widths, 1] if widths else []


def beyond_chance(X: Rows, widths: list[int], copied: int) -> bool:
    """Whether more rows are equal than can be the same by chance.

    Where rows of few values are equal by chance, others differ in one column alone: copies are
    clearly more rows than those. Columns of many values are not exchanged for this, for nearly all
    that there is to know of a row may be in one. ``widths`` are those of the columns of a table in
    X, if there were any.
    """
    if not copied or not widths or sp.issparse(X):
        return bool(copied)
    _, first, counts = np.unique(row_hashes(X), return_index=True, return_counts=True)
    ends = np.cumsum(widths)
    factors = np.random.default_rng(_SEED).integers(1, 2**63, len(widths), dtype=np.uint64)
    sums, near = np.zeros(len(first), dtype=np.uint64), np.zeros(len(first), dtype=bool)

    def part(j: int) -> np.ndarray:
        hashes = row_hashes(X[first, ends[j] - widths[j] : ends[j]])
        return hashes * (2 * factors[j] + np.uint64(1))

    for j in range(len(widths)):
        sums += part(j)
    for j in range(len(widths)):
        own = part(j)
        if len(np.unique(own)) < max(_FEW_VALUES, _MANY_VALUES * len(first)):
            _, place, alike = np.unique(sums - own, return_inverse=True, return_counts=True)
            near |= alike[place] > 1
    return copied > counts[near].sum() + _COPIES * len(X)


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
    if goal.task == "regression":
        targets = (y[rows] - y[rows].mean())[:, None]
    else:
        codes = np.unique(as_text(y[rows]), return_inverse=True)[1]
        targets = np.eye(codes.max() + 1)[codes]
    found = [_id_note(name, table[name]) for name in names]
    for name in names if len(names) > 1 else ():
        values = table[name][rows]
        share = error_alone(_places(values), targets)
        if goal.task == "regression":
            share = min(share, _error_of_line(values, targets[:, 0], table.decimal_comma))
        if share <= _DETERMINED:
            found.append(
                f"{name!r} alone nearly determines {goal.name!r}: it leaves {share:.1%} of the "
                f"baseline's error. If it is not known before {goal.name!r} is, leave it out"
                f"{option(f', with {without_flag(name)}', '')}."
            )
    return [sentence for sentence in found if sentence]


def _id_note(name: str, values: np.ndarray) -> str:
    """A sentence about an id: by its name, or whole numbers without a gap, as serials are."""
    way = option(f", with {without_flag(name)}", "")
    if names_rows(name):
        return (
            f"{name!r} has the name of an id, and the model learns from it; if its values say "
            f"nothing about new rows, leave it out{way}."
        )
    if values.dtype == object or len(values) < _FEWEST_ROWS:
        return ""
    if len(np.unique(values)) < len(values) or np.ptp(values) != len(values) - 1:
        return ""
    if values.min() in (0, 1) or (values != np.round(values)).any():
        return ""
    first = figure(values.min())
    return f"{name!r} counts the rows from {first} on; if it is an id, leave it out{way}."


def _places(values: np.ndarray) -> np.ndarray:
    """Values as whole numbers in the same order; blanks are a value."""
    plain = values if values.dtype != object else np.array([word or "" for word in values])
    return np.unique(plain, return_inverse=True)[1]


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
    others = max(n - float(T.sum(axis=0).max()), 1.0)
    # A row at the border of two classes has a neighbour of each; few rows prove nothing.
    borders = min(T.shape[1], 0.1 * others)
    wrong = int((F.argmax(axis=1) != T.argmax(axis=1)).sum())
    return max(wrong - borders, 0.0) / others


def _error_of_line(values: np.ndarray, t: np.ndarray, decimal_comma: bool) -> float:
    """The error of a straight line through one column, as a share of the baseline's.

    Neighbours miss a column that equals the target where values are few or far apart.
    """
    x = values
    if x.dtype == object:
        filled = {cell for cell in x if cell is not None}
        unit = unit_of(filled)
        x = read_cells(x, reader(has_comma(filled, decimal_comma, unit), unit=unit))[0]
    known = usable(x)
    if known.sum() < _FEWEST_ROWS or not np.ptp(x[known]) or not np.ptp(t[known]):
        return 1.0
    return float(1 - known.mean() * np.corrcoef(x[known], t[known])[0, 1] ** 2)


# ---------------------------------------------------------------------- rows
def row_hashes(X: Rows) -> np.ndarray:
    """A hash for each row of a matrix, the same for dense and sparse rows: uint64."""
    factors = np.random.default_rng(_SEED).integers(1, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    found = np.zeros(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        found[rows] = _products(X[rows], factors)
    # The last step of SplitMix64: every bit depends on all.
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))


def _products(X: Rows, factors: np.ndarray) -> np.ndarray:
    """Sums of each row's bits times the columns' factors, modulo 2⁶⁴."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        parts = _bits(X.data) * factors[X.indices]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(parts, dtype=np.uint64)])
        return np.asarray(np.diff(sums[X.indptr]), dtype=np.uint64)
    return np.asarray((_bits(np.asarray(X)) * factors).sum(axis=1, dtype=np.uint64))


def _bits(x: np.ndarray) -> np.ndarray:
    # The sum makes −0 a 0, whose bits are 0.
    single = np.ascontiguousarray(x, dtype=np.float32) + np.float32(0)
    return single.view(np.uint32).astype(np.uint64)


def fingerprint(hashes: np.ndarray) -> np.ndarray:
    """What a model keeps of its rows: the least of their hashes, in order."""
    return np.unique(hashes)[:_KEPT]


def known_share(hashes: np.ndarray, kept: np.ndarray) -> float | None:
    """The share of rows that a model was fitted to, or None where too few rows are kept to know."""
    if not len(kept):
        return None
    sampled = hashes if len(kept) < _KEPT else hashes[hashes <= kept[-1]]
    return float(np.isin(sampled, kept).mean()) if len(sampled) else None


def copies(hashes: np.ndarray) -> int:
    """How many of the rows have an equal one among the others."""
    _, place, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return int((counts[place] > 1).sum())
