"""How one column of a table becomes columns of a matrix: numbers, categories and text.

Numbers are centred and scaled. A column that reaches far beyond its bulk, as incomes do, is
squashed into ±3 by z / √(1 + z²/9); otherwise a few far values would take up the whole range. In a
table of few numbers, each also gets its rank among the training values, from −1 to 1: a hidden unit
can then bend where the data are.

Of text it is three and four letters in a row, weighed by how rare they are. They are hashed, so a
model holds no words, and no word is unknown. They read inflected and misspelt words, names and
codes as well as sentences; on docstrings and on names of functions they did better than words and
pairs of words (python -m benchmarks texts).
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from ulmus.arguments import counted, figure, listed, quoted
from ulmus.exceptions import TableError
from ulmus.tables.cells import (
    BLANKS,
    has_comma,
    part_columns,
    part_names,
    read_cells,
    reader,
    useful_parts,
    words_of,
)

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
# Blanks get a column of their own from this share of the rows on.
_INDICATED = 0.01
# Up to this part of a column's cells may be words where training had numbers: with more the column
# holds something else.
_FEW_WORDS = 0.1
# Columns that a sentence each tells what was met in them.
_FEW_MET = 3
HOLDS = {"number": "numbers", "boolean": "yes or no", "date": "dates"}
_BUCKETS = 2**13
# Columns of a text, at most, and rows for each of them.
_MOST, _ROWS_OF_EACH = 50, 20
# Rows that the columns of a text are found from, and cells that are hashed at a time.
_SAMPLE, _AT_ONCE = 20_000, 5000

# Centre, scale, and whether far values are squashed.
Frame = tuple[float, float, bool]


class Met(NamedTuple):
    """What a later table has in a column that training did not have.

    ``words`` say it of this column, ``what`` of several that have it.
    """

    name: str
    words: str
    what: str


def met_sentences(met: list[Met]) -> list[str]:
    """A sentence for each column, or one for all that met the same if they are more than a few."""
    alike: dict[str, list[Met]] = {}
    for one in met:
        alike.setdefault(one.what, []).append(one)
    found = list[str]()
    for what, ones in alike.items():
        if len(ones) <= _FEW_MET:
            found += [f"{one.name!r}: {one.words}." for one in ones]
        else:
            names = listed(one.name for one in ones)
            found.append(f"{counted(len(ones), 'column')} have {what}: {names}.")
    return found


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
    found = [counted(blank, "missing value")] * bool(blank)
    found += [counted(infinite, "infinite value")] * bool(infinite)
    found += [f"{counted(large, 'value')} beyond {LARGEST:g}"] * bool(large)
    return " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))


def _frame_of(x: np.ndarray) -> Frame:
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


def _ranks_of(x: np.ndarray) -> np.ndarray:
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
    whether numbers have a decimal comma, ``unit`` is what follows each, ``spellings`` are words
    among numbers that count as missing, ``fill`` takes the place of missing values, ``indicator``
    says whether they have a column of their own.
    """

    kind: str
    layout: str = ""
    parts: tuple[str, ...] = ()
    comma: bool = False
    unit: str = ""
    spellings: tuple[str, ...] = ()
    fill: float = 0.0
    indicator: bool = False
    frame: Frame = (0.0, 1.0, False)
    ranks: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))

    def fitted(self, x: np.ndarray, ranked: bool) -> "Number":
        """The same with what follows from the numbers, blanks among them, of the first table."""
        seen = x[usable(x)]
        blanks = len(x) - len(seen)
        indicator = blanks > 0 and blanks >= _INDICATED * len(x)
        made = replace(self, fill=float(np.median(seen)), indicator=indicator)
        if self.kind == "boolean":
            return made
        ranks = _ranks_of(seen) if ranked else self.ranks
        parts = useful_parts(seen) if self.kind == "date" else ()
        return replace(made, frame=_frame_of(seen), ranks=ranks, parts=parts)

    @property
    def filler(self) -> str:
        """What takes the place of missing values, in words."""
        if self.kind == "date":
            return str(np.datetime64(round(self.fill), "D"))
        return figure(self.fill)

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        ranked = [f"rank of {name}"] * bool(self.ranks.size)
        parts = [column for part in self.parts for column in part_names(name, part)]
        return [name, *ranked, *parts, *[f"{name} is missing"] * self.indicator]

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool, met: list[Met]
    ) -> np.ndarray:
        """The matrix' columns; what training did not have is added to ``met``."""
        x = self.numbers(name, values, decimal_comma, met)
        blank = ~usable(x)
        if blank.any() and not self.indicator:
            words = f"{unusable(x)} filled by {self.filler}"
            met.append(Met(name, words, "values filled by the median"))
        x = np.where(blank, self.fill, x)
        columns = [framed(x, self.frame)]
        if self.ranks.size:
            columns.append(np.interp(x, *self.ranks))
        columns += [part_columns(x, part) for part in self.parts]
        if self.indicator:
            columns.append(blank)
        return np.column_stack(columns).astype(np.float32)

    def numbers(
        self, name: str, values: np.ndarray, decimal_comma: bool, met: list[Met] | None = None
    ) -> np.ndarray:
        """The cells as numbers, blanks as NaN.

        A word among them is an error; with ``met`` few words are added to it, and are blanks.
        """
        if values.dtype != object and self.kind == "number":
            return values
        cells = words_of(values)
        comma = self.comma or has_comma(set(cells), decimal_comma, self.unit)
        x, bad = read_cells(cells, reader(comma, self.kind, self.layout, self.unit))
        known = {*self.spellings, *BLANKS}
        bad &= [cell is not None and not {cell, cell.lower()} & known for cell in cells]
        if not bad.any():
            return x
        row, count = int(np.argmax(bad)), int(bad.sum())
        what = f"{HOLDS[self.kind]} in {self.unit}" if self.unit else HOLDS[self.kind]
        if met is not None and count <= _FEW_WORDS * np.count_nonzero(bad | ~np.isnan(x)):
            first = f"the first is {quoted(cells[row])} in row {row + 1} below the header"
            words = f"{counted(count, 'cell')} cannot be read as {what}, taken as missing; {first}"
            met.append(Met(name, words, f"cells that cannot be read as {what}, taken as missing"))
            return x
        more = f" ({counted(count - 1, 'more row')} like it)" if count > 1 else ""
        raise TableError(
            f"The column {name!r} holds {what}, and row {row + 1} below the header "
            f"has {quoted(cells[row])}{more}; correct it, or leave the cell empty."
        )


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

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool, met: list[Met]
    ) -> np.ndarray:
        """The matrix' columns; what training did not have is added to ``met``."""
        cells = words_of(values)
        last, known = len(self.categories), self._codes
        new = Counter(cell for cell in cells if cell not in known)
        other = last if self.other else -1
        codes = np.array([known.get(cell, other) for cell in cells], dtype=np.int64)
        blanks = sum(cell is None for cell in cells)
        if blanks and not self.blank:
            words = f"{counted(blanks, 'missing value')}, but none in training"
            met.append(Met(name, words, "missing values, but none in training"))
        if new:
            what = "rare or new, taken as other" if self.other else "new, taken as none"
            which = listed(word for word, _ in new.most_common())
            words = f"categories of {counted(new.total(), 'row')} are {what}: {which}"
            met.append(Met(name, words, f"categories that are {what}"))
        X = np.zeros((len(cells), last + self.other + self.blank), dtype=np.float32)
        filled = np.flatnonzero(codes >= 0)
        X[filled, codes[filled]] = 1
        return X


# ---------------------------------------------------------------------- text
@dataclass(frozen=True)
class Text:
    """How a column of text becomes numbers: (weighed letters) componentsᵀ, centred and scaled."""

    weights: np.ndarray = field(default_factory=lambda: np.ones(_BUCKETS, np.float32))
    components: np.ndarray = field(default_factory=lambda: np.zeros((0, _BUCKETS), np.float32))
    center: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    scale: float = 1.0
    kind: str = "text"

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        return [f"{name}: text {k + 1}" for k in range(len(self.components))]

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool, met: list[Met]
    ) -> np.ndarray:
        """The matrix' columns; a blank is a text without a word."""
        cells, place = _distinct(words_of(values))
        parts = [
            _weighed(_letters(cells[k : k + _AT_ONCE]), self.weights) @ self.components.T
            for k in range(0, len(cells), _AT_ONCE)
        ]
        found = (np.vstack(parts) - self.center) / self.scale
        return np.asarray(found[place], dtype=np.float32)


def text_of(values: np.ndarray) -> Text:
    """How a column of text is encoded."""
    rows = np.random.default_rng(0).permutation(len(values))[:_SAMPLE]
    cells, place = _distinct(values[rows])
    letters = _letters(cells)[place]
    weights = np.log((1 + len(rows)) / (1 + np.bincount(letters.indices, minlength=_BUCKETS))) + 1
    V = _weighed(letters, weights)
    width = max(1, min(_MOST, len(rows) // _ROWS_OF_EACH, len(cells) - 1))
    svd = TruncatedSVD(width, random_state=0).fit(V)
    Z = V @ svd.components_.T
    return Text(
        weights.astype(np.float32),
        svd.components_.astype(np.float32),
        Z.mean(axis=0).astype(np.float32),
        float(Z.std(axis=0).max()) or 1.0,
    )


def _distinct(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    cells, place = np.unique([cell or "" for cell in values], return_inverse=True)
    return cells.tolist(), place


def _letters(cells: list[str]) -> sp.csr_array:
    """How often each of the letters in a row is in each cell, damped."""
    hashing = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), n_features=_BUCKETS, alternate_sign=False, norm=None
    )
    counts = sp.csr_array(hashing.transform(cells))
    counts.data = 1 + np.log(counts.data)
    return counts


def _weighed(letters: sp.csr_array, weights: np.ndarray) -> sp.csr_array:
    return sp.csr_array(normalize(letters * weights.astype(float)))
