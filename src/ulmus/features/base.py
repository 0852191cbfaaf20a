"""What every feature map shares: the scikit-learn transformer around a hidden layer."""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_arguments, check_whole
from ulmus.backends.namespace import floating, is_collection, placed, take
from ulmus.distributed import BlockRows, by_blocks
from ulmus.features.scaling import ColumnStatistics, Scaling, check_scaling, given_weights
from ulmus.fitted import atomic, finite_outputs
from ulmus.summary import html_of, mimebundle_of
from ulmus.typing import DType, Layer, Rows
from ulmus.validation import valid_rows


class FeatureMap(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta
):
    """A transformer whose rows can also be made one block at a time.

    A subclass draws its units in ``_draw`` and states them as a ``layer``.
    ``_units`` names its fitted arrays that have one entry per unit.

    Parameters
    ----------
    n_hidden : int, default=1000
        Number of hidden units.
    dtype : float32, float64 or None, default=None
        Precision of the result; None follows the input.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Attributes
    ----------
    scaling_ : Scaling
        ``center`` and ``factor`` of each column.
    """

    n_hidden: int
    column_weights: Any = None
    scaling: str | None
    dtype: DType
    random_state: Any
    scaling_: Scaling
    _columns: ColumnStatistics | None
    _units: ClassVar[tuple[str, ...]] = ()
    # Whether units have so much in common that sums of their products need float64.
    alike: ClassVar[bool] = False
    _repr_html_inner, _repr_mimebundle_ = html_of, mimebundle_of

    @abstractmethod
    def layer(self, like: Rows, dtype: DType = None) -> Layer:
        """The fitted units as a function of rows that live where ``like`` lives."""

    @abstractmethod
    def _draw(self, X: Rows, rng: np.random.RandomState, weight: np.ndarray | None) -> None:
        """Draw the units, from rows of this weight."""

    @atomic
    def fit(self, X: Rows, y: Any = None, *, client: Any = None) -> Self:
        """Learn the inputs' scale and draw the units.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows whose scale is learned.
        """
        self.check_parameters()
        if is_collection(X):
            rows = BlockRows(self, X, client=client)
            return self.settle(rows, merged(rows.survey(column_statistics)))
        return self.learn(valid_rows(self, X, reset=True))

    @atomic
    def partial_fit(self, X: Rows, y: Any = None) -> Self:
        """Add rows to what the inputs' scale is learned from.

        The units themselves are drawn at the first call and stay. Many calls
        are one `fit` on all the rows, but for what is drawn from the rows
        themselves (centres and their width), which the first batch settles.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            More rows.
        """
        first = not hasattr(self, "scaling_")
        self.check_parameters()
        return self.learn(valid_rows(self, X, reset=first), more=not first)

    def learn(self, X: Rows, weight: np.ndarray | None = None, more: bool = False) -> Self:
        """`fit`, or `partial_fit`, on rows that are checked and count ``weight`` times each.

        Centres are drawn from all rows alike, whatever they weigh.
        """
        columns = self._statistics(X, weight) if more else ColumnStatistics.of(X, weight)
        if more and self._columns is not None:
            columns = self._columns.merge(columns)
        return self.settle(X, columns, weight, draw=not more)

    def settle(
        self,
        X: Rows,
        columns: ColumnStatistics,
        weight: np.ndarray | None = None,
        draw: bool = True,
    ) -> Self:
        """Take the scale from ``columns``, and draw units from X, if only from some of its rows."""
        self.n_features_in_ = X.shape[1]
        if draw:
            self.scaling_, columns = self._first_scale(X, columns, weight)
            self._drawn(X, weight)
        else:
            ends: Any = {"least": self.scaling_.least, "greatest": self.scaling_.greatest}
            self.scaling_ = replace(self._scale(X, columns), **ends)
        self._columns = columns if self._rescales else None
        return self

    def _drawn(self, X: Rows, weight: np.ndarray | None) -> None:
        """Draw the units, and take them where X lives."""
        self._draw(X, check_random_state(self.random_state), weight)
        self._place(X)

    def _place(self, like: Rows) -> None:
        """Take the units, which are drawn on the host to be the same everywhere, to a device."""
        for name in self._units:
            setattr(self, name, placed(getattr(self, name), like))

    def _first_scale(
        self, X: Rows, columns: ColumnStatistics, weight: np.ndarray | None
    ) -> tuple[Scaling, ColumnStatistics]:
        """The scale of X before the first draw, and the statistics that it is from."""
        return self._scale(X, columns), columns

    def _scale(self, X: Rows, columns: ColumnStatistics) -> Scaling:
        """The scale of X, from its statistics."""
        weights = self._weights(X.shape[1])
        if self._rescales:
            return Scaling.auto(columns).weighed(weights)
        return Scaling.none(columns, self._precision(X, None)).weighed(weights)

    def _weights(self, d: int) -> np.ndarray:
        """What the scaled columns are multiplied by."""
        weights = given_weights(self.column_weights, d)
        return np.ones(d) if weights is None else weights

    def moves(self, X: Rows, weight: np.ndarray | None = None) -> bool:
        """Whether the inputs' scale would be another if these rows had been learned too."""
        if self._columns is None:
            return False
        columns = self._columns.merge(self._statistics(X, weight))
        return not self._scale(X, columns).close_to(self.scaling_)

    def _statistics(self, X: Rows, weight: np.ndarray | None) -> ColumnStatistics:
        """Of rows as they are taken: far values count as the ends of their columns."""
        return ColumnStatistics.of(self.scaling_.within(X), weight)

    @by_blocks
    def transform(self, X: Rows) -> Any:
        """The hidden layer's output for these rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows to map.

        Returns
        -------
        H : array of shape (n_samples, n_hidden)
            One column per hidden unit.
        """
        check_is_fitted(self)
        return self._mapped(valid_rows(self, X, reset=False))

    @finite_outputs
    def _mapped(self, X: Rows) -> Any:
        layer = self.layer(X)
        H = layer(X)
        H += layer.offset
        return H

    def truncate(self, n_hidden: int) -> Self:
        """The same map with only its first ``n_hidden`` units."""
        narrow = copy(self)
        for name in self._units:
            setattr(narrow, name, take(getattr(self, name), slice(0, n_hidden)))
        return narrow

    def check_parameters(self) -> None:
        """Refuse arguments that cannot be used."""
        check_arguments(self)
        check_whole("n_hidden", self.n_hidden, least=1)
        check_scaling(self.scaling)
        given_weights(self.column_weights)

    @property
    def _rescales(self) -> bool:
        """Whether the inputs are scaled."""
        return self.scaling == "auto"

    def _precision(self, like: Rows, dtype: DType) -> DType:
        return floating(like, self.dtype if dtype is None else dtype)

    @property
    def _n_features_out(self) -> int:
        return int(getattr(self, self._units[0]).shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags


def column_statistics(X: Rows, y: Any, weight: np.ndarray | None, of: Any) -> ColumnStatistics:
    """The statistics of a block's columns; ``y`` and ``of`` are not used."""
    return ColumnStatistics.of(X, weight)


def merged(parts: Iterable[ColumnStatistics]) -> ColumnStatistics:
    """The statistics of all blocks together."""
    return reduce(ColumnStatistics.merge, parts)
