"""Centre and scale of the inputs, estimated in one pass and stored in the map.

Columns are centred and divided by their standard deviation, or by a third of their largest distance
from the mean where that is more: a pixel that is nearly always blank has a tiny deviation, and its
few other values would dominate all columns. Then all rows are divided by their root mean square
length, which is √d for standardised data. That costs n·d operations; the map itself costs n·d·h.
"""

import warnings
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    floating,
    forget_pages,
    from_numpy,
    is_numpy,
    is_sparse,
    itemsize,
    namespace,
    on_host,
    placed,
    take,
    to_numpy,
)
from ulmus.backends.threads import over_strips
from ulmus.exceptions import ConstantColumnWarning, InvalidInputError, InvalidParameterError
from ulmus.hidden import block_rows, blocks_of, sample_rows
from ulmus.kernels.pairs import Shifted
from ulmus.targets import numeric
from ulmus.typing import Array, DType, Rows

_REACH = 3.0
# Rows that a thread scales at a time.
_STRIP = 512
# A value is an outlier at this many times the range of the middle 98 % of its column (of few rows:
# of all but one at each end) away from that range, which is taken over a sample of this many rows.
# One outlier in one column cost up to 2.8 points of accuracy.
_FAR, _SAMPLE = 10.0, 2000
# Scales differ where a column's width differs by this part, or its centre by this part of that.
_CLOSE = 0.05
# A column that varies by less is treated as constant: the reciprocal would overflow.
_CONSTANT = 1e-304
_SINGLE = float(np.finfo(np.float32).max)
# Largest unscaled inputs, by the bytes of a number: their squares do not overflow, nor in float64
# the squares of these.
_FARTHEST = {4: 1e18, 8: 1e75}


@dataclass(frozen=True)
class ColumnStatistics:
    """Total weight of the rows; mean, deviation, least and greatest value of each column."""

    weight: float
    mean: np.ndarray
    deviation: np.ndarray
    least: np.ndarray
    greatest: np.ndarray

    @classmethod
    def of(cls, X: Rows, weight: np.ndarray | None = None) -> "ColumnStatistics":
        """The statistics of X, block by block, with sample weights."""
        found, part = {}, cls._of_sparse if is_sparse(X) else cls._of_dense

        def add(rows: slice, block: Rows) -> None:
            c = np.ones(rows.stop - rows.start) if weight is None else weight[rows]
            found[rows.start] = part(block, c)
            forget_pages(block)

        if is_numpy(X):
            # Few rows at a time on the host, so that they stay in the cache.
            strip = max(1, block_rows(X.shape[1], 8) // 16)
            numbers = 0 if is_sparse(X) else X.size
            over_strips(lambda rows: add(rows, take(X, rows)), X.shape[0], strip, numbers)
        else:
            for rows, block in blocks_of(X, block_rows(X.shape[1], 8, device=True)):
                add(rows, block)
        return reduce(cls.merge, (found[start] for start in sorted(found)))

    @classmethod
    def _of_dense(cls, X: Rows, c: np.ndarray) -> "ColumnStatistics":
        xp, X = namespace(X), cast(X, floating(X))
        ends = [to_numpy(doubles(end(X, axis=0))) for end in (xp.min, xp.max)]
        middle, unit = _frame(*ends)
        share = from_numpy((c / c.sum())[None, :], X, X.dtype)
        U = X - from_numpy(middle, X, X.dtype)
        U /= from_numpy(unit, X, X.dtype)
        first = matmul(share, U)
        U -= first
        U *= U
        moments = [to_numpy(doubles(moment))[0] for moment in (first, matmul(share, U))]
        return cls._from_frame(c, middle, unit, *moments, *ends)

    @classmethod
    def _of_sparse(cls, X: Rows, c: np.ndarray) -> "ColumnStatistics":
        X = sp.csc_array(X, dtype=float)
        least, greatest = min_max_axis(X, axis=0)
        size = np.maximum(-least, greatest)
        # In units of the largest value, whose squares do not overflow.
        unit = np.where(size > 0, size, 1.0)
        U = sp.csc_array(
            (X.data / np.repeat(unit, np.diff(X.indptr)), X.indices, X.indptr), X.shape
        )
        moments = mean_variance_axis(U, axis=0, weights=c)
        return cls._from_frame(c, 0.0 * unit, unit, *moments, least, greatest)

    @classmethod
    def _from_frame(
        cls, c: Array, middle: Array, unit: Array, first: Array, second: Array, *ends: Array
    ) -> "ColumnStatistics":
        least, greatest = ends
        deviation = np.where(greatest > least, unit * np.sqrt(np.maximum(second, 0.0)), 0.0)
        return cls(float(c.sum()), middle + unit * first, deviation, least, greatest)

    def merge(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """The statistics of both sets of rows together."""
        n = self.weight + other.weight
        a, b = self.weight / n, other.weight / n
        apart = np.sqrt(a * b) * (self.mean - other.mean)
        deviation = np.hypot(
            np.hypot(np.sqrt(a) * self.deviation, np.sqrt(b) * other.deviation), apart
        )
        return ColumnStatistics(
            n,
            a * self.mean + b * other.mean,
            deviation,
            np.minimum(self.least, other.least),
            np.maximum(self.greatest, other.greatest),
        )


@dataclass(frozen=True)
class Scaling:
    """x ↦ (x − center) · factor, column by column.

    Values are clipped to ``least`` and ``greatest``, if these are given.
    """

    center: Array
    factor: Array
    least: Array | None = None
    greatest: Array | None = None

    def __repr__(self) -> str:
        return f"Scaling({self.center.shape[0]} columns)"

    def onnx(self, x: Any) -> Any:
        """The same for the rows of an ONNX graph."""
        if self.least is not None:
            x = x.op("Max", self.least).op("Min", self.greatest)
        return x.scaled(self.center, self.factor)

    @classmethod
    def none(cls, columns: ColumnStatistics, dtype: DType) -> "Scaling":
        """No scaling; refuses inputs whose squares would overflow or underflow."""
        size = np.maximum(np.abs(columns.least), np.abs(columns.greatest))
        most = _FARTHEST[itemsize(dtype)]
        _refuse(
            size > most,
            f"has values beyond {most:g}, too large to be used as they are",
            "use scaling='auto', or divide the column",
        )
        _refuse(
            (size == size.max()) & (size > 0.0) & (size < 1.0 / most),
            f"has values up to {size.max():.3g} and no other column larger ones, too small to be "
            "used as they are",
            "use scaling='auto', or multiply the columns",
        )
        return cls(np.zeros(len(size)), np.ones(len(size)))

    @classmethod
    def auto(cls, columns: ColumnStatistics) -> "Scaling":
        """The default described at the top of this file."""
        with np.errstate(over="ignore", invalid="ignore"):
            reach = np.maximum(columns.greatest - columns.mean, columns.mean - columns.least)
        _refuse(
            ~np.isfinite(reach),
            "goes over a range that is more than float64 holds",
            "divide it by 10, or leave it out",
        )
        scale = np.maximum(columns.deviation, reach / _REACH)
        # A constant column gets a factor of zero. Rounding of its mean is not variation.
        varies = (columns.greatest > columns.least) & (scale > _CONSTANT)
        lost = ~varies & (columns.greatest > columns.least)
        if lost.any():
            warnings.warn(
                f"Column {int(np.argmax(lost))} of X (counted from 0) varies by less than "
                f"{_CONSTANT:g} and counts as constant. Multiply it by 1e300, or leave it out.",
                ConstantColumnWarning,
                stacklevel=2,
            )
        factor = np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
        length = np.sqrt(np.sum((columns.deviation * factor) ** 2))
        return cls(columns.mean, factor / length if length > 0 else factor)

    def weighed(self, weights: np.ndarray | float) -> "Scaling":
        """The same with each column multiplied by its weight."""
        return replace(self, factor=self.factor * weights)

    @classmethod
    def robust(
        cls, X: Array, columns: ColumnStatistics, weight: np.ndarray | None, seed: int
    ) -> tuple["Scaling", ColumnStatistics]:
        """The scale of dense rows with outliers clipped, and the statistics it is from.

        ``columns`` are the statistics of all rows, of which X may be some.
        """
        ends = _ordinary_ends(X, columns, seed)
        if ends is None:
            return cls.auto(columns), columns
        columns = _statistics_within(columns, X, weight, ends)
        return replace(cls.auto(columns), least=ends[0], greatest=ends[1]), columns

    def within(self, X: Rows) -> Rows:
        """Dense rows with values beyond the ends taken for these; sparse rows as they are."""
        return X if self.least is None or is_sparse(X) else _within(X, self.least, self.greatest)

    def close_to(self, other: "Scaling") -> bool:
        """Whether both scale every column nearly alike."""
        largest = np.maximum(self.factor, other.factor)
        wide = np.abs(self.factor - other.factor) > _CLOSE * largest
        # Scaled, a column deviates by about 1/√d from its centre.
        unit = _CLOSE / np.sqrt(max(len(largest), 1))
        return not (wide | (np.abs(self.center - other.center) * largest > unit)).any()

    @property
    def shift(self) -> np.ndarray:
        """The centre in scaled units: what is left to subtract from rows times ``factor``."""
        return self.center * self.factor

    def placed(self, like: Rows) -> "Scaling":
        """The same on the device of ``like``, so that it is not copied for every block."""
        if is_numpy(like) or not is_numpy(self.center):
            return self
        # Factors beyond float32's range are used in float64.
        dtype = floating(like, None if self._ordinary else np.float64)
        parts = self.center, self.factor, self.least, self.greatest
        there: Any = (None if x is None else from_numpy(x, like, dtype) for x in parts)
        return Scaling(*there)

    def dense(self, X: Array, out: Array) -> None:
        """Write the scaled rows into ``out``."""
        if is_numpy(X) and len(X) > _STRIP:
            over_strips(lambda rows: self.dense(X[rows], out[rows]), len(X), _STRIP, X.size)
            return
        X = self.within(X)
        if is_numpy(X):
            # Centred and scaled before the cast, so that timestamps keep their digits in float32.
            if X.dtype == out.dtype == np.float32 and self._ordinary:
                np.subtract(X, self.center.astype(np.float32), out=out)
                out *= self.factor.astype(np.float32)
            else:
                np.multiply(X - self.center, self.factor, out=out, casting="same_kind")
        else:
            xp, here = namespace(X), self.placed(X)
            X = xp.astype(X, here.center.dtype, copy=False)
            out[...] = xp.astype((X - here.center) * here.factor, out.dtype, copy=False)

    @property
    def _ordinary(self) -> bool:
        """Whether every factor is within float32's range."""
        used = self.factor[self.factor > 0]
        return bool(np.all((used > 1e-30) & (used < 1e30)))

    def sparse(self, X: Rows, dtype: DType) -> Rows:
        """The rows times ``factor``, still sparse; the caller subtracts the centre."""
        return (X @ sp.diags_array(self.factor)).tocsr().astype(dtype)

    def rows(self, X: Rows, dtype: DType) -> Any:
        """The scaled rows for kernels; sparse rows stay sparse (`Shifted`)."""
        xp = namespace(self.center)
        plain = self.least is None
        if plain and bool(xp.all((self.center == 0.0) & (self.factor == 1.0))):
            return cast(X, dtype)
        if is_sparse(X):
            return Shifted(self.sparse(X, dtype), self.shift.astype(dtype))
        rows = namespace(X).empty(X.shape, dtype=dtype, device=X.device)
        self.dense(X, rows)
        return rows


@np.errstate(over="ignore")  # a range that overflows is refused later, by its column
def _ordinary_ends(
    X: Array, columns: ColumnStatistics, seed: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The least and the greatest value of each column without outliers; None without any.

    ``columns`` are the statistics of all rows, of which X may be some.
    """
    n = X.shape[0]
    few = X if n <= _SAMPLE else take(X, np.sort(sample_rows(seed, _SAMPLE, n)))
    ordered = np.sort(to_numpy(few).astype(float), axis=0)
    beyond = min(-(-len(ordered) // 100), (len(ordered) - 1) // 2)
    low, high = ordered[beyond], ordered[-1 - beyond]
    room = np.where(high > low, _FAR * (high - low), np.inf)
    far = (columns.least < low - room) | (columns.greatest > high + room)
    if not far.any():
        return None
    inner = (ordered >= low - room) & (ordered <= high + room)
    least = np.min(np.where(inner, ordered, np.inf), axis=0)
    greatest = np.max(np.where(inner, ordered, -np.inf), axis=0)
    # Other columns end so far out that ordinary new rows stay as they are.
    most = np.maximum(_SINGLE, np.maximum(-columns.least, columns.greatest))
    margin = _FAR * (columns.greatest - columns.least)
    lowest = np.maximum(columns.least - margin, -most)
    highest = np.minimum(columns.greatest + margin, most)
    return np.where(far, least, lowest), np.where(far, greatest, highest)


def _statistics_within(
    columns: ColumnStatistics, X: Array, weight: np.ndarray | None, ends: tuple[Any, Any]
) -> ColumnStatistics:
    """The statistics of all rows, in columns with ends those of the rows X within them.

    One far value would else set the scale of its column, and make the others all but equal.
    """
    own = ColumnStatistics.of(_within(X, *ends), weight)
    far = (columns.least < ends[0]) | (columns.greatest > ends[1])
    names = "mean", "deviation", "least", "greatest"
    return replace(
        columns,
        **{name: np.where(far, getattr(own, name), getattr(columns, name)) for name in names},
    )


def _within(X: Array, least: Any, greatest: Any) -> Array:
    """X with every column clipped."""
    xp, dtype = namespace(X), floating(X)
    ends = [placed(end, X) for end in (least, greatest)]
    low, high = (xp.astype(end, dtype, copy=False) for end in ends)
    X = xp.astype(X, dtype, copy=False)
    return xp.minimum(xp.maximum(X, low), high)


def check_scaling(scaling: Any) -> None:
    """Refuse an unknown scaling."""
    if scaling is not None and not (isinstance(scaling, str) and scaling == "auto"):
        raise InvalidParameterError(
            f"scaling={scaling!r} is unknown; use 'auto', or None for the inputs as they are."
        )


def given_weights(column_weights: Any, d: int | None = None) -> np.ndarray | None:
    """The user's weights, checked to be d numbers; None where none are given."""
    if column_weights is None or isinstance(column_weights, str):
        return None
    given = np.asarray(on_host(column_weights))
    weights = numeric(given, "column_weights").astype(float)
    if weights.shape != (weights.size if d is None else d,):
        raise InvalidInputError(
            f"column_weights has the shape {weights.shape}, and X has {d} columns; give one number "
            "for each."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InvalidInputError(
            "column_weights must be finite and not negative, and one of them more than zero."
        )
    return weights


def _refuse(columns: np.ndarray, what: str, remedy: str) -> None:
    """Raise an error about the first marked column, if there is one."""
    if columns.any():
        raise InvalidInputError(
            f"Column {int(np.argmax(columns))} of X (counted from 0) {what}; {remedy}."
        )


def _frame(least: np.ndarray, greatest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half range; in these units squares of 1e300 and 1e-300 do not overflow."""
    half = greatest / 2 - least / 2
    return least / 2 + greatest / 2, np.where(half > 0, half, 1.0)
