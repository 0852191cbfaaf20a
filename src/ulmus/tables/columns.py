"""One column of a table: what it holds, by its cells, and how it becomes columns of a matrix.

Numbers are centred and scaled. A column that reaches far beyond its bulk, as incomes do, is
squashed into ±3 by z / √(1 + z²/9); otherwise a few far values would take up the whole range. In a
table of few numbers, each also gets its rank among the training values, from −1 to 1: a hidden unit
can then bend where the data are.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ulmus.arguments import counted, listed, quoted
from ulmus.exceptions import TableError
from ulmus.tables.cells import (
    PLAIN,
    has_comma,
    layout_of,
    layout_words,
    part_columns,
    part_names,
    read_cells,
    reader,
    useful_parts,
    words_of,
)
from ulmus.tables.text_columns import Text, text_of
from ulmus.typing import Rows

# Larger numbers count as missing: they are no measurements, and their squares may overflow.
LARGEST = 1e100
# Scaled values are clipped to this distance from the centre.
FARTHEST = 1e6
# A column with a value more standard deviations than these from its mean is squashed.
_FAR = 4.0
_LIMIT = 3.0
_KNOTS = 256
# Ranks of fewer different values add little to the values.
_FEWEST_VALUES = 10
# A column holds numbers if this share of its filled cells does, and the others have few spellings.
_NUMBERS = 0.95
_MOST_SPELLINGS = 10
# In fewer rows than these, all values may differ by chance.
_FEW_ROWS = 20
# Blanks get a column of their own from this share of the rows on.
_INDICATED = 0.01
# A column has at most so many categories of its own; the rarer ones are one, "other".
_MOST_CATEGORIES = 50
# In a column with more values than that, a category is in at least so many rows.
_FEWEST_ROWS = 10
# Categories of up to so many rows are zeros and ones without a sparse matrix on the way.
_FEW_CELLS = 64
# Where more rows than this share have a rarer value, the column is read as text.
_TAIL = 0.2
KINDS = ("number", "boolean", "date", "category", "text")
_BLANK = "is missing in every row"
_CONSTANT = "has the same value in every row"

_HOLDS = {"number": "numbers", "boolean": "yes or no", "date": "dates"}

# Centre, scale, and whether far values are squashed.
Frame = tuple[float, float, bool]


# ---------------------------------------------------------------------- numbers
def usable(x: np.ndarray) -> np.ndarray:
    """Which numbers are neither NaN nor infinite nor nearly so; the others count as missing."""
    with np.errstate(invalid="ignore"):
        # No finite number of float32 is so large.
        found: np.ndarray = np.isfinite(x) if x.dtype == np.float32 else np.abs(x) < LARGEST
    return found


def unusable(x: np.ndarray) -> str:
    """How many of the others there are, and of which kind, in words.

    Examples
    --------
    >>> unusable(np.array([1.0, np.nan, np.inf, 1e200, -1e300]))
    '1 missing value, 1 infinite value and 2 values beyond 1e+100'
    """
    blank, infinite = int(np.isnan(x).sum()), int(np.isinf(x).sum())
    large = int((~usable(x)).sum()) - blank - infinite
    found = [
        counted(n, what)
        for n, what in ((blank, "missing value"), (infinite, "infinite value"))
        if n
    ]
    if large:
        found.append(f"{counted(large, 'value')} beyond {LARGEST:g}")
    return " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))


def frame_of(x: np.ndarray) -> Frame:
    """Centre, scale, and whether far values are squashed."""
    middle, mean, deviation = float(np.median(x)), float(np.mean(x)), float(np.std(x))
    if not deviation > 0 or np.abs(x - mean).max() <= _FAR * deviation:
        return middle, deviation or 1.0, False
    low, high = np.quantile(x, [0.25, 0.75])
    # Where most values are the same, the scale is that of the others.
    spread = high - low or np.median(np.abs(x[x != middle] - middle))
    return middle, float(spread), True


def framed(x: np.ndarray, frame: Frame) -> np.ndarray:
    """The numbers centred, scaled and, where the frame says so, squashed."""
    center, scale, squash = frame
    with np.errstate(over="ignore"):
        z = np.clip((x - center) / scale, -FARTHEST, FARTHEST)
    return z / np.hypot(1.0, z / _LIMIT) if squash else z


def varied(x: np.ndarray) -> bool:
    """Whether there are so many different values that their ranks add to them."""
    # The first rows nearly always settle it.
    return any(len(np.unique(part)) > _FEWEST_VALUES for part in (x[:1000], x))


def ranks_of(x: np.ndarray) -> np.ndarray:
    """Values and their ranks from −1 to 1, in two rows of at most 257; none of few values."""
    if not varied(x):
        return np.zeros((2, 0))
    share = np.linspace(-1, 1, _KNOTS + 1)
    values, place = np.unique(np.quantile(x, (share + 1) / 2), return_inverse=True)
    # Equal values share the mean of their ranks.
    return np.stack([values, np.bincount(place, share) / np.bincount(place)])


@dataclass(frozen=True)
class Number:
    """How a column becomes numbers.

    ``layout`` is a date's, ``parts`` are those of the calendar that are columns too, ``comma`` says
    whether numbers have a decimal comma, ``spellings`` are words among numbers that count as
    missing, ``fill`` takes the place of missing values, ``indicator`` says whether they have a
    column of their own.
    """

    kind: str
    layout: str = ""
    parts: tuple[str, ...] = ()
    comma: bool = False
    spellings: tuple[str, ...] = ()
    fill: float = 0.0
    indicator: bool = False
    frame: Frame = (0.0, 1.0, False)
    ranks: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        ranked = [f"rank of {name}"] * bool(self.ranks.size)
        parts = [column for part in self.parts for column in part_names(name, part)]
        return [name, *ranked, *parts, *[f"{name} is missing"] * self.indicator]

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool, notes: list[str]
    ) -> np.ndarray:
        """The matrix' columns; cells that training did not have are listed in ``notes``."""
        x = self.numbers(name, values, decimal_comma)
        blank = ~usable(x)
        if blank.any() and not self.indicator:
            notes.append(f"{name!r}: {unusable(x)} filled by {self.fill:g}.")
        x = np.where(blank, self.fill, x)
        columns = [framed(x, self.frame)]
        if self.ranks.size:
            columns.append(np.interp(x, *self.ranks))
        columns += [part_columns(x, part) for part in self.parts]
        if self.indicator:
            columns.append(blank)
        return np.column_stack(columns).astype(np.float32)

    def numbers(self, name: str, values: np.ndarray, decimal_comma: bool) -> np.ndarray:
        """The cells as numbers, blanks as NaN; a word among them is an error."""
        if values.dtype != object and self.kind == "number":
            return values
        cells = words_of(values)
        comma = self.comma or has_comma(set(cells), decimal_comma)
        x, bad = read_cells(cells, reader(comma, self.kind, self.layout))
        bad &= [cell not in self.spellings for cell in cells]
        if bad.any():
            row = int(np.argmax(bad))
            more = f" ({counted(bad.sum() - 1, 'more row')} like it)" if bad.sum() > 1 else ""
            raise TableError(
                f"The column {name!r} holds {_HOLDS[self.kind]}, and row {row + 1} below the "
                f"header has {quoted(cells[row])}{more}; correct it, or leave the cell empty."
            )
        return x


# ---------------------------------------------------------------------- categories
@dataclass(frozen=True)
class Category:
    """How a column of text becomes zeros and ones.

    ``blank`` says whether blanks are a category, ``other`` whether rare and new ones are.
    """

    categories: tuple[str, ...]
    blank: bool = False
    other: bool = False
    kind: str = "category"

    @cached_property
    def _codes(self) -> dict[str | None, int]:
        codes: dict[str | None, int] = {c: k for k, c in enumerate(self.categories)}
        codes[None] = len(codes) + self.other if self.blank else -1
        return codes

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        outputs = [f"{name}={category}" for category in self.categories]
        return [*outputs, *[f"{name} is other"] * self.other, *[f"{name} is missing"] * self.blank]

    def encoded(self, name: str, values: np.ndarray, decimal_comma: bool, notes: list[str]) -> Rows:
        """The matrix' columns; cells that training did not have are listed in ``notes``."""
        cells = words_of(values)
        last, known = len(self.categories), self._codes
        new = Counter(cell for cell in cells if cell not in known)
        other = last if self.other else -1
        codes = np.array([known.get(cell, other) for cell in cells], dtype=np.int64)
        blanks = sum(cell is None for cell in cells)
        if blanks and not self.blank:
            notes.append(
                f"{name!r}: {counted(blanks, 'missing value')}, of which the model knows none."
            )
        if new:
            what = "rare or new, taken as other" if self.other else "new, taken as none"
            count, which = (
                counted(new.total(), "row"),
                listed(word for word, _ in new.most_common()),
            )
            notes.append(f"{name!r}: categories of {count} are {what}: {which}.")
        rows = np.flatnonzero(codes >= 0)
        if len(cells) <= _FEW_CELLS:  # where making a sparse matrix takes longest
            dense = np.zeros((len(cells), last + self.other + self.blank), dtype=np.float32)
            dense[rows, codes[rows]] = 1
            return dense
        ones = np.ones(len(rows), dtype=np.float32)
        shape = (len(cells), last + self.other + self.blank)
        return sp.csr_array((ones, (rows, codes[rows])), shape=shape)


# ---------------------------------------------------------------------- what a column holds
def column_of(
    name: str,
    values: np.ndarray,
    decimal_comma: bool,
    ranked: bool,
    notes: list[str],
    kind: str | None = None,
) -> Number | Category | Text | str:
    """How a column is encoded, or the reason why it is of no use.

    ``ranked`` says whether numbers get their ranks too; ``notes`` is added to. ``kind`` is what a
    user says the column holds.
    """
    if kind in ("category", "text"):
        cells = words_of(values)
        return _category(name, cells, notes, whole=True) if kind == "category" else text_of(cells)
    if values.dtype != object:
        return _number(name, values, Number("number"), ranked, notes)
    distinct = {cell for cell in values if cell is not None}
    if not distinct:
        return _BLANK
    column = _as_numbers(name, values, distinct, decimal_comma, notes)
    if column is not None and kind in (None, column.kind):
        x = column.numbers(name, values, decimal_comma)
        return _number(name, x, column, ranked, notes)
    if kind is not None:
        raise TableError(
            f"--as {name}={kind}: not every cell of the column is {_HOLDS[kind]}, for instance "
            f"{quoted(sorted(distinct)[0])}; correct the cells, or give --as {name}=category."
        )
    return _category(name, values, notes)


def numbers_of(name: str, values: np.ndarray, decimal_comma: bool) -> tuple[np.ndarray, str] | None:
    """A column's numbers, also those in text, and dates as days, with its kind; None of others."""
    if values.dtype != object:
        return values, "number"
    column = column_of(name, values, decimal_comma, False, [])
    if not isinstance(column, Number):
        return None
    return column.numbers(name, values, decimal_comma), column.kind


def _as_numbers(
    name: str, values: np.ndarray, distinct: set[str], decimal_comma: bool, notes: list[str]
) -> Number | None:
    """How the cells are read where all are numbers, yes or no, or dates, or nearly all numbers."""
    comma = has_comma(distinct, decimal_comma)
    for kind in ("number", "boolean"):
        read = reader(comma, kind)
        if all(read(cell) is not None for cell in distinct):
            _tell_marked(name, distinct, comma, kind, notes)
            return Number(kind, comma=comma)
    layout = layout_of(distinct)
    if layout:
        return Number("date", layout)
    _, bad = read_cells(values, reader(comma))
    spellings = tuple(sorted(set(values[bad])))
    few = bad.sum() <= (1 - _NUMBERS) * sum(cell is not None for cell in values)
    if not few or len(spellings) > _MOST_SPELLINGS:
        return None
    notes.append(f"{name!r} holds numbers, and {listed(spellings)} among them count as missing.")
    return Number("number", comma=comma, spellings=spellings)


def _tell_marked(name: str, distinct: set[str], comma: bool, kind: str, notes: list[str]) -> None:
    """A note on numbers such as $1,234.50 and 1.234,5, and how the first was read."""
    marked = sorted(cell for cell in distinct if not PLAIN.fullmatch(cell))
    if kind == "number" and marked:
        number = reader(comma)(marked[0])
        notes.append(f"{name!r} holds numbers in text: {quoted(marked[0])} is {number:.10g}.")


def _number(
    name: str, x: np.ndarray, column: Number, ranked: bool, notes: list[str]
) -> Number | str:
    seen = x[usable(x)]
    blanks = len(x) - len(seen)
    if not len(seen):
        return _BLANK if np.isnan(x).all() else f"has no number below {LARGEST:g} in any row"
    if not blanks and _tells_rows_apart(name, seen):
        return "is a number of the row, different in each"
    indicator = blanks > 0 and blanks >= _INDICATED * len(x)
    if seen.min() == seen.max() and not indicator:
        return _CONSTANT
    column = replace(column, fill=float(np.median(seen)), indicator=indicator)
    if column.kind != "boolean":
        ranks = ranks_of(seen) if ranked else column.ranks
        column = replace(column, frame=frame_of(seen), ranks=ranks)
    if column.kind == "date":
        parts = useful_parts(seen)
        column = replace(column, parts=parts)
        also = f", and the time of the {' and of the '.join(parts)}" if parts else ""
        notes.append(f"{name!r} holds dates ({layout_words(column.layout)}): days{also}.")
    if blanks:
        also = "; a column of its own says where" if indicator else ""
        notes.append(f"{name!r}: {unusable(x)} filled by the median, {column.fill:g}{also}.")
    return column


def _category(
    name: str, values: np.ndarray, notes: list[str], whole: bool = False
) -> Category | Text | str:
    """Categories, or text where many rows have a rare one, unless categories are asked for."""
    counts = Counter(values)
    blanks, distinct = counts.pop(None, 0), len(counts)
    if distinct == 1 and not blanks:
        return _CONSTANT
    kept = set(counts)
    if distinct > _MOST_CATEGORIES:
        often = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CATEGORIES]
        kept = {word for word, count in often if count >= _FEWEST_ROWS}
    tail = sum(count for word, count in counts.items() if word not in kept)
    if not whole and tail > _TAIL * len(values) and _is_text(counts):
        column = text_of(values)
        width = len(column.components)
        notes.append(f"{name!r} is read as text: {counted(width, 'column')} of letters' patterns.")
        return column
    if distinct == len(values) >= _FEW_ROWS:
        return "has different text in each row"
    if not kept and not blanks:
        return "has different text in nearly every row"
    other = len(kept) < distinct
    if other:
        some = f"{len(kept)} of {counted(distinct, 'value')}"
        notes.append(f"{name!r}: {some} are categories, the rarer ones are other.")
    if blanks:
        notes.append(
            f"{name!r}: missing values, in {counted(blanks, 'row')}, are a category of their own."
        )
    return Category(tuple(sorted(kept)), blanks > 0, other)


def _is_text(cells: Counter[str]) -> bool:
    """Whether cells are words, not codes: mostly letters, and where none repeats several words."""
    some = list(cells)[:1000]
    letters = sum(char.isalpha() for cell in some for char in cell)
    total = sum(not char.isspace() for cell in some for char in cell)
    words = sum(len(cell.split()) for cell in some) / len(some)
    return letters > 0.5 * total and (words > 1.5 or cells.total() > 2 * len(cells))


def _tells_rows_apart(name: str, x: np.ndarray) -> bool:
    """Whether whole numbers count the rows from 0 or 1, or are an id that never comes twice."""
    if len(x) < _FEW_ROWS or (x != np.round(x)).any() or len(np.unique(x)) < len(x):
        return False
    return names_rows(name) or bool(x.min() in (0, 1) and np.ptp(x) == len(x) - 1)


def names_rows(name: str) -> bool:
    """Whether a column is called as an id is: id, customer_id, PassengerId."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)
    return bool(parts) and parts[-1].lower() in ("id", "uuid", "guid")
