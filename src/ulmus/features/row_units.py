"""Hidden units that are drawn from the rows: between pairs of rows, and around rows.

Rows are drawn by their place along a random direction, at quantiles of their weight. So a row of
weight two is drawn as two rows are, their order does not matter, and rounding moves few of them.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from ulmus.arguments import check_known, check_whole
from ulmus.backends.namespace import (
    is_sparse,
    namespace,
    on_host,
    take,
)
from ulmus.distributed import BlockRows
from ulmus.docstrings import documented
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.features.scaling import ColumnStatistics, Scaling
from ulmus.features.unit_layers import (
    ACTIVATIONS,
    NODES,
    Activation,
    ProductLayer,
    RadialLayer,
)
from ulmus.fitted import OnDevice
from ulmus.hidden import sample_rows
from ulmus.slopes import Slopes, joined
from ulmus.typing import Array, DType, Rows, Seed

# Units are drawn from at most this many rows, or as many as there are units.
MOST_ROWS = 2000
# The part of an image that a unit sees at least.
_LEAST_FIELD = 0.05
# Which rows show what is far, where there are more than enough.
_SEED = 0
# Pairs of rows over which the distance between two rows is averaged, and most numbers in them.
_PAIRS, _PAIR_NUMBERS = 1000, 2**23
# How far units reach: z of a unit between rows has this deviation, and a peaked one around a row
# falls to exp(−0.7) at the mean distance.
_GAIN, _RATE = 0.3, 0.7
# Units around rows vary less than those between rows, and are larger by this.
_SIZE = 4.0
# What is added to squared distances, of which ½ is typical: a peak without a corner, where the
# rounding of a distance of zero would show.
_ROUND = 1e-3
# Steps of quantiles, of three sequences that fill a square or a line evenly for any number of units
# (Roberts, 2018).
_STEPS = (0.7548776662466927, 0.5698402909980532, 0.6180339887498949)


def _around(node: str, more: float = 0.0) -> Activation:
    """4 g(z + more), g being a node of `RBFFeatures`."""
    known = NODES[node]
    slope = known.slope
    assert slope is not None  # nodes have derivatives

    def apply(Z: Array) -> Array:
        Z += more
        Z = known.apply(Z)
        Z *= _SIZE
        return Z

    return Activation(
        apply,
        slope=lambda Z: _SIZE * slope(Z + more),
        onnx=lambda z: _SIZE * known.graph(z + more),
    )


_BETWEEN = ACTIVATIONS["tanh"]
# Units around rows: with a peak, or smooth.
AROUND = {"exponential": _around("exponential", _ROUND), "gaussian": _around("gaussian")}


@dataclass(frozen=True)
class RowLayer:
    """Units between pairs of rows and units around rows, by turns.

    ``start`` is 0 where the first unit is one between rows, 1 where it is one around a row.
    """

    between: ProductLayer
    around: RadialLayer
    start: int = 0
    offset: ClassVar[float] = 0.0
    shareable: ClassVar[bool] = True

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return self.between.width + self.around.width

    @property
    def dtype(self) -> DType:
        """Precision of the hidden rows."""
        return self.between.dtype

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H for these rows."""
        if out is None:
            W, shape = self.between.points, (X.shape[0], self.width)
            out = namespace(W).empty(shape, dtype=W.dtype, device=W.device)
        for start, part in ((self.start, self.between), (1 - self.start, self.around)):
            if part.width:
                out[:, start::2] = part(X)
        return out

    def slopes(self, X: Rows, coef: np.ndarray) -> Slopes:
        """The gradients of H coef at these rows, of NumPy."""
        between = self.between.slopes(X, coef[self.start :: 2])
        assert between is not None  # tanh has a derivative
        return joined(between, self.around.slopes(X, coef[1 - self.start :: 2]))

    def units(self, columns: slice) -> "RowLayer":
        """Some of the hidden units, as a layer of their own."""
        first, last, _ = columns.indices(self.width)
        own = [slice(_before(first - k), _before(last - k)) for k in (self.start, 1 - self.start)]
        between, around = self.between.units(own[0]), self.around.units(own[1])
        return RowLayer(between, around, (first + self.start) % 2)


def _before(column: int) -> int:
    """How many of every second column, counted from 0, come before this one."""
    return max(0, (column + 1) // 2)


@documented
class RowFeatures(FeatureMap):
    """Hidden units drawn from the rows, the default layer of `ELMClassifier` and `ELMRegressor`.

    Half of the units lie between two rows: tanh(aᵀx + b), with a along the difference of the rows
    and b such that the unit is zero half-way. The other half lie around one row: 4 exp(−√(r²‖x −
    c‖² + 0.001)). So the units follow columns that vary together.

    Parameters
    ----------
    node : {"exponential", "gaussian"}, default="exponential"
        Units around rows: 4 exp(−√(z + 0.001)), which has a peak, or 4 exp(−z), which is smooth, of
        z = r²‖x − c‖². `ELMClassifier` and `ELMRegressor` choose between them.
    column_weights : array-like of shape (n_features,) or None, default=None
        Factors of the scaled columns. `ELMClassifier` and `ELMRegressor` choose them.
    image_shape : tuple of two ints or None, default=None
        Height and width of images whose pixels, row by row, are the columns. Units between rows
        then see a random rectangle each, their receptive field.
    scaling : {"auto", None}, default="auto"
        As in `RandomFeatures`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw. The same seed draws the same rows in every precision, and the first k
        units of a wider draw.

    Attributes
    ----------
    weights_ : ndarray of shape (n_hidden - n_hidden // 2, n_features)
        a of each unit between rows, for scaled columns.
    biases_ : ndarray of shape (n_hidden - n_hidden // 2,)
        b of these units.
    centers_ : ndarray of shape (n_hidden // 2, n_features)
        c of each unit around a row, in scaled columns.
    rates_ : ndarray of shape (n_hidden // 2,)
        r² of these units; the same for all.
    selection_ : str
        How the column weights were chosen, in words.

    See Also
    --------
    RandomFeatures : Units that do not depend on the rows but for their scale.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus import RowFeatures
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    >>> RowFeatures(n_hidden=4, random_state=0).fit_transform(X).shape
    (3, 4)
    """

    biases_: OnDevice[Array]
    weights_: OnDevice[Array]
    centers_: OnDevice[Array]
    rates_: OnDevice[Array]
    selection_: str
    _units = ("biases_", "weights_", "centers_", "rates_")
    alike: ClassVar[bool] = True

    def __init__(
        self,
        n_hidden: int = 1000,
        *,
        node: str = "exponential",
        column_weights: Any = None,
        image_shape: tuple[int, int] | None = None,
        scaling: str | None = "auto",
        dtype: DType = None,
        random_state: Seed = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.node = node
        self.column_weights = column_weights
        self.image_shape = image_shape
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state

    def layer(self, like: Rows, dtype: DType = None) -> RowLayer:
        """The fitted units as a function of rows that live where ``like`` lives."""
        dtype = self._precision(like, dtype)
        between = ProductLayer.of(self, _BETWEEN, like, dtype)
        return RowLayer(between, RadialLayer.of(self, AROUND[self.node], like, dtype))

    def onnx(self, x: Any) -> Any:
        """H as nodes of an ONNX graph with rows x."""
        s = self.scaling_.onnx(x)
        between = _BETWEEN.graph(s @ self.weights_.T + self.biases_)
        around = AROUND[self.node].graph(s.squared_distances(self.centers_, self.rates_))
        turns = np.argsort(np.r_[: len(self.biases_) : 1.0, 0.5 : len(self.rates_) : 1.0])
        return between.op("Concat", around, axis=1).op("Gather", turns, axis=1)

    def truncate(self, n_hidden: int) -> Self:
        """The same map with only its first ``n_hidden`` units."""
        narrow = super().truncate(n_hidden - n_hidden // 2)
        for name in ("centers_", "rates_"):
            setattr(narrow, name, take(getattr(self, name), slice(0, n_hidden // 2)))
        return narrow

    def reweighed(
        self,
        weights: np.ndarray | None,
        X: Rows,
        weight: np.ndarray | None,
        drawn: "DrawnRows | None" = None,
    ) -> Self:
        """The same, which has no column weights, with these, and with units from the same rows."""
        other = copy(self)
        other.column_weights = weights
        other.scaling_ = self.scaling_.weighed(other._weights(X.shape[1]))
        other._set_units(self.drawn(X, weight) if drawn is None else drawn)
        other._place(X)
        return other

    def _first_scale(
        self, X: Rows, columns: ColumnStatistics, weight: np.ndarray | None
    ) -> tuple[Scaling, ColumnStatistics]:
        """With far values clipped, where units are drawn from dense rows."""
        if not self._rescales or is_sparse(X) or isinstance(X, BlockRows):
            return super()._first_scale(X, columns, weight)
        scaling, columns = Scaling.robust(X, columns, weight, _SEED)
        return scaling.weighed(self._weights(X.shape[1])), columns

    def _draw(self, X: Rows, rng: np.random.RandomState, weight: np.ndarray | None) -> None:
        if self.image_shape is not None:
            _check_shape(self.image_shape, X.shape[1])
        given = self.column_weights is not None
        self.selection_ = "column weights as given" if given else "columns as they are scaled"
        self._set_units(self.drawn(X, weight, rng))

    def drawn(
        self, X: Rows, weight: np.ndarray | None, rng: np.random.RandomState | None = None
    ) -> "DrawnRows":
        """The rows that units are drawn from, as the map's columns are scaled."""
        rng = check_random_state(self.random_state) if rng is None else rng
        seed, h, (n, d) = rng.randint(np.iinfo(np.int32).max), self.n_hidden, X.shape
        some = map_rows(seed, n, h)
        if some is not None:
            X, weight = take(X, some), None if weight is None else weight[some]
        # Rows are drawn by their place before columns are weighed, so that weights change no draw.
        weights = self._weights(d)
        usable = np.divide(1.0, weights, out=np.zeros(d), where=weights > 0)
        scaling = self.scaling_.weighed(usable)
        rows = scaling.within(on_host(X))
        rows = rows.astype(float) if is_sparse(rows) else np.asarray(rows, dtype=float)
        scaled = scaling.rows(rows, np.dtype(float))
        direction = np.random.RandomState(seed).standard_normal(d)
        products = np.asarray(getattr(scaled, "rows", scaled) @ direction)
        pairs = max(h - h // 2, _compared(d))
        numbers = _drawn_rows(products, weight, seed + 1, (pairs, pairs, h // 2))
        one, other, centers = (_dense_rows(scaling, rows, some) for some in numbers)
        unit = ColumnStatistics.of(rows, weight).deviation * scaling.factor
        fields = None
        if self.image_shape is not None:
            fields = receptive_fields(seed + 2, h - h // 2, self.image_shape)
        return DrawnRows(one, other, centers, unit, fields)

    def _set_units(self, drawn: "DrawnRows") -> None:
        """The units of these rows, with columns weighed."""
        h, d = self.n_hidden, len(drawn.unit)
        weights = self._weights(d)
        one, other, self.centers_ = (
            part * weights for part in (drawn.one, drawn.other, drawn.centers)
        )
        difference = one - other
        apart = float(np.sqrt(np.sum(difference[: _compared(d)] ** 2, axis=1)).mean())
        one, other, difference = (part[: h - h // 2] for part in (one, other, difference))
        if drawn.fields is not None:
            difference *= drawn.fields
        size = np.sqrt(np.sum((difference * drawn.unit * weights) ** 2, axis=1, keepdims=True))
        self.weights_ = np.divide(_GAIN * difference, size, out=0.0 * one, where=size > 0)
        self.biases_ = -0.5 * np.sum(self.weights_ * (one + other), axis=1)
        self.rates_ = np.full(h // 2, (_RATE / (apart if apart > 0 else 1.0)) ** 2)

    @property
    def _n_features_out(self) -> int:
        return int(self.weights_.shape[0] + self.centers_.shape[0])

    def check_parameters(self) -> None:
        """Refuse arguments that cannot be used."""
        super().check_parameters()
        check_known("node", self.node, tuple(AROUND))
        if self.image_shape is not None:
            _check_shape(self.image_shape, None)


@dataclass(frozen=True)
class DrawnRows:
    """Rows that units are drawn from, scaled and not weighed.

    Units lie between ``one`` and ``other`` and around ``centers``; ``unit`` is the deviation of
    each column, and ``fields`` is what each unit between rows sees (None: all columns).
    """

    one: np.ndarray
    other: np.ndarray
    centers: np.ndarray
    unit: np.ndarray
    fields: np.ndarray | None


def _compared(columns: int) -> int:
    """How many pairs of rows show how far apart two rows are."""
    return max(1, min(_PAIRS, _PAIR_NUMBERS // columns))


def _dense_rows(scaling: Scaling, rows: Rows, numbers: np.ndarray) -> np.ndarray:
    """Some of the rows, scaled and written out."""
    some = take(rows, numbers)
    dense: np.ndarray = scaling.rows(some.toarray() if is_sparse(some) else some, np.dtype(float))
    return dense


def receptive_fields(seed: int, count: int, shape: tuple[int, int]) -> np.ndarray:
    """A random rectangle of an image for each unit, ones among zeros (count × pixels).

    Sides are drawn alike from all lengths, but for rectangles of less than a twentieth of the
    pixels.
    """
    rng, fields = np.random.RandomState(seed), np.zeros((count, *shape))
    for field in fields:
        part: Any = (slice(0, 0),)
        while field[part].size < _LEAST_FIELD * field.size:
            part = tuple(slice(*np.sort(rng.randint(0, side + 1, 2))) for side in shape)
        field[part] = 1.0
    return fields.reshape(count, -1)


def _check_shape(shape: Any, columns: int | None) -> None:
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise InvalidParameterError(
            f"image_shape={shape!r} must be two whole numbers, height and width, or None."
        )
    for side in shape:
        check_whole("image_shape", side, least=1)
    if columns is not None and shape[0] * shape[1] != columns:
        raise InvalidInputError(
            f"image_shape={shape!r} has {shape[0] * shape[1]} pixels, and X has {columns} columns; "
            "give the height and width of the images, or None."
        )


def map_rows(seed: int, n: int, n_hidden: int) -> np.ndarray | None:
    """The rows that units are drawn from, in rising order; None for all n."""
    most = max(MOST_ROWS, n_hidden)
    return None if n <= most else np.sort(sample_rows(seed, most, n))


def _drawn_rows(
    products: np.ndarray, weight: np.ndarray | None, seed: int, counts: tuple[int, ...]
) -> list[np.ndarray]:
    """So many rows by each of the sequences: at quantiles of the weight, in order of products."""
    rows = np.argsort(products, kind="stable")
    total = np.cumsum(np.ones(len(rows)) if weight is None else weight[rows])
    starts = np.random.RandomState(seed).uniform(size=len(_STEPS))
    drawn = []
    for count, start, step in zip(counts, starts, _STEPS, strict=True):
        quantiles = (start + step * np.arange(count)) % 1.0
        drawn.append(rows[np.searchsorted(total / total[-1], quantiles, side="right")])
    return drawn
