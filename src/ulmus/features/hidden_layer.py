"""The hidden layer of an estimator: a fitted map, a layer of row blocks, and outputs from it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import device as device_of
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, normalize
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_whole, is_number
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    all_finite,
    cast,
    floating,
    is_array_api_obj,
    is_numpy,
    is_sparse,
    namespace,
    on_host,
    placed,
    same_place,
    take,
)
from ulmus.backends.threads import over_shares
from ulmus.distributed import BlockRows
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.features.random_units import RandomFeatures
from ulmus.features.scaling import ColumnStatistics
from ulmus.fitted import OnDevice, finite_outputs, light_state
from ulmus.hidden import Hidden, UnderLayer
from ulmus.summary import html_of, mimebundle_of
from ulmus.typing import Array, DType, Layer, Rows, Seed
from ulmus.validation import valid_rows

# The part of the columns that must share a unit for all to be left in it.
_ALIKE = 0.7
# Squared distances between rows that reach farther, or not so far, are no float64.
_FARTHEST = 1e75


def fitted_map(
    estimator: Any,
    X: Rows,
    y: Any = None,
    weight: np.ndarray | None = None,
    default_width: int = 1000,
    default: Callable[..., FeatureMap] = RandomFeatures,
    random_state: Seed = None,
    columns: ColumnStatistics | None = None,
) -> Any:
    """The feature map of an estimator, fitted to rows that are checked.

    ``random_state`` stands for the estimator's own where that may not be drawn from again, and
    ``columns`` are the statistics of all rows where X is a sample of them, or has them in blocks.
    """
    features = _unfitted(estimator, default_width, default, random_state)
    if isinstance(features, FeatureMap):
        features.check_parameters()
        if columns is None:
            return features.learn(X, weight)
        return features.settle(X, columns, weight)
    if isinstance(X, BlockRows) and not isinstance(features, FrozenEstimator):
        raise InvalidParameterError(
            f"{type(features).__name__} cannot be fitted over the blocks of a Dask collection; fit "
            "it on some of the rows and pass features=FrozenEstimator(...)."
        )
    return features.fit(X, y)


def _unfitted(
    estimator: Any, default_width: int, default: Callable[..., FeatureMap], random_state: Seed
) -> Any:
    """The map to fit: a copy of ``features``, or the default one."""
    features, n_hidden, dtype = estimator.features, _width(estimator), estimator.dtype
    random_state = estimator.random_state if random_state is None else random_state
    if features is None:
        width = default_width if n_hidden is None else n_hidden
        return default(width, dtype=dtype, random_state=random_state)
    if n_hidden is not None:
        raise InvalidParameterError(
            f"n_hidden={n_hidden!r} sets the width of the default map, and features= replaces it; "
            "give the width to the map instead."
        )
    if is_number(features):
        raise InvalidParameterError(
            f"features={features!r} is a number, and features= is a map of the inputs; write "
            f"n_hidden={features!r} for so many hidden units."
        )
    if not hasattr(features, "transform") or not hasattr(features, "get_params"):
        raise InvalidParameterError(
            f"features={features!r} has no transform; use a feature map or a scikit-learn "
            "transformer."
        )
    features = clone(features)
    # As scikit-learn's ensembles do: the outer seed reaches a part that has none.
    if "random_state" in features.get_params() and features.get_params()["random_state"] is None:
        features.set_params(random_state=random_state)
    return features


def _width(estimator: Any) -> int | None:
    """The width that was given, if any; "loo" is for an estimator that chooses among widths."""
    chosen = isinstance(estimator.n_hidden, str) and estimator.n_hidden == "loo"
    if estimator.n_hidden is None or (chosen and hasattr(estimator, "_widths")):
        return None
    check_whole("n_hidden", estimator.n_hidden, least=1)
    return int(estimator.n_hidden)


def takes_devices(features: Any) -> bool:
    """Whether stage one takes rows on a device: a map of ours does, a transformer says so."""
    if features is None or isinstance(features, FeatureMap):
        return True
    return hasattr(features, "__sklearn_tags__") and get_tags(features).array_api_support


def layer_to_fit(features: Any, X: Rows, dtype: DType = None) -> Layer:
    """The same for a fit: in float64 where the map says that its units are much alike.

    What they have in common is then most of HᵀH, and sums in float32 round the rest away: on 40 000
    rows of covtype with C = 1 the outputs were off by 0.1.
    """
    own = _thawed(features)
    if dtype is None and isinstance(own, FeatureMap) and own.dtype is None and own.alike:
        dtype = np.float64
    return layer_of(features, X, dtype)


def layer_of(features: Any, X: Rows, dtype: DType = None) -> Layer:
    """The fitted map as a function of blocks of rows like X."""
    features = _thawed(features)
    if isinstance(features, FeatureMap):
        _check_map(features, X)
        return features.layer(X, dtype)
    steps = [step for _, step in features.steps] if isinstance(features, Pipeline) else []
    if len(steps) == 2 and type(steps[0]) is Normalizer and isinstance(steps[1], FeatureMap):
        return NormalizedLayer(layer_of(steps[1], X, dtype), steps[0].norm)
    probe = dense(features.transform(take(X, slice(0, 1))))
    return TransformerLayer(features, probe.shape[1], floating(probe, dtype))


def _thawed(features: Any) -> Any:
    return features.estimator if isinstance(features, FrozenEstimator) else features


def _check_map(features: FeatureMap, X: Rows) -> None:
    """Refuse a map of other columns; a frozen one, or one from a file, may be of any."""
    check_is_fitted(features)
    if X.shape[1] != features.n_features_in_:
        raise InvalidInputError(
            f"X has {X.shape[1]} columns, and features={type(features).__name__} was fitted to "
            f"{features.n_features_in_}; fit it to the same columns."
        )


def comparable_rows(features: Any, X: Rows, columns: ColumnStatistics | None = None) -> Rows:
    """X as its rows are best compared: in the columns' own unit where they share one.

    Pixels do, and scaling each by itself would make much of those that hardly vary; ages and
    incomes do not. Columns that reach about as far as the farthest are taken to have its unit.
    A unit whose squares overflow, or are lost, is no unit to compare in. Where the map weighs its
    columns, so do distances. ``columns`` are the statistics of all rows where X is a block of them.
    """
    weighed = getattr(features, "column_weights", None) is not None
    if not weighed and share_a_unit(ColumnStatistics.of(X) if columns is None else columns):
        return X if is_sparse(X) else cast(X, floating(X))
    return scaled_rows(features, X)


def share_a_unit(columns: ColumnStatistics) -> bool:
    """Whether most columns reach about as far as the farthest."""
    with np.errstate(over="ignore"):
        reach = columns.greatest - columns.least
    alike = np.count_nonzero(reach >= reach.max() / 2.0)
    comparable = 1.0 / _FARTHEST < reach.max() < _FARTHEST
    return bool(comparable and alike >= _ALIKE * np.count_nonzero(reach))


def scaled_rows(features: Any, X: Rows) -> Rows:
    """X as the map scales it, which is how far apart rows are to the graph too."""
    features = _thawed(features)
    if getattr(features, "scaling", None) != "auto":
        return X
    if is_sparse(X):
        return features.scaling_.sparse(X, floating(X))
    scaled = namespace(X).empty(X.shape, dtype=floating(X), device=device_of(X))
    features.scaling_.dense(X, scaled)
    return scaled


@dataclass(frozen=True)
class NormalizedLayer(UnderLayer):
    """A layer of rows that are scaled to unit length first.

    Its weights are placed once. As part of a transformer they would be for every block of rows,
    and for words they are far larger than a block.
    """

    layer: Layer
    norm: str

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H − offset for these rows."""
        return self.layer(normalize(X, self.norm), out)

    def units(self, columns: slice) -> "NormalizedLayer":
        """Some of the hidden units, as a layer of their own."""
        return replace(self, layer=self.layer.units(columns))


@dataclass(frozen=True)
class TransformerLayer:
    """Any scikit-learn transformer as a hidden layer."""

    transformer: Any
    width: int
    dtype: Any
    offset: float = 0.0
    columns: slice | None = None

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H for these rows."""
        H = dense(self.transformer.transform(X))
        xp = namespace(H)
        H = xp.astype(H, self.dtype, copy=False)
        H = H if self.columns is None else H[:, self.columns]
        if not all_finite(H):
            raise InvalidInputError(
                f"{type(self.transformer).__name__}.transform gave values that are not finite."
            )
        # The solvers scale blocks in place, and a transformer may have returned its input, or a
        # frame that may not be written to.
        if out is None:
            own = is_numpy(H) and H.flags.writeable
            apart = own and not np.shares_memory(H, getattr(X, "data", X))
            return H if apart else xp.asarray(H, copy=True)
        out[...] = H
        return out

    def units(self, columns: slice) -> "TransformerLayer":
        """Some of the columns; the transformer still makes them all."""
        width = len(range(*columns.indices(self.width)))
        return replace(self, width=width, columns=columns)


def dense(H: Any) -> Array:
    """A block of a transformer's output, sparse or framed as it may be, as floats."""
    if not is_array_api_obj(H):
        H = np.asarray(H.toarray() if hasattr(H, "toarray") else H)
    return namespace(H).astype(H, floating(H), copy=False)


class HiddenModel(BaseEstimator):
    """An estimator with a hidden layer, whose outputs are Hβ + b.

    Parameters
    ----------
    features : feature map, transformer or None, default=None
        Feature map or transformer; None is ``RandomFeatures``. It is cloned and fitted.
    n_hidden : int or None, default=None
        Number of units of the default map; None means 1000.
    dtype : float32, float64 or None, default=None
        Precision of the hidden rows; None follows the input.

    Attributes
    ----------
    features_ : transformer
        The fitted map.
    n_hidden_ : int
        Number of hidden units.
    """

    features_: Any
    beta_: OnDevice[Array]
    intercept_: OnDevice[Array]
    n_hidden_: int
    _repr_html_inner, _repr_mimebundle_, __getstate__ = html_of, mimebundle_of, light_state

    def _outputs(self, X: Rows) -> Array:
        """Hβ + b for new rows (n × m)."""
        check_is_fitted(self)
        return self._map(valid_rows(self, X, reset=False))

    @finite_outputs
    def _map(self: Any, X: Rows) -> Array:
        """Hβ + b for rows that are checked."""
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        same_place(X=X, beta_=self.beta_)
        beta = placed(self.beta_, X)
        xp = namespace(beta)
        if H.width != beta.shape[0]:
            raise InvalidInputError(
                f"features_ gives {H.width} columns, and beta_ is for {beta.shape[0]}; fit the "
                "model again."
            )
        coef = xp.astype(beta, H.dtype, copy=False)
        F = xp.empty((len(H), coef.shape[1]), dtype=coef.dtype, device=device_of(coef))

        def fill(rows: slice) -> None:
            for block, h in H.share(rows).blocks():
                matmul(h, coef, F[rows, :][block, :])

        over_shares(fill, H.shares())
        F += xp.astype(placed(self.intercept_, X) + H.offset * xp.sum(beta, axis=0), coef.dtype)
        return F

    def _slopes(self, X: Rows) -> Any:
        """The gradients of the outputs at these rows; None where the map states none."""
        layer = layer_of(self.features_, X, np.float64)
        return layer.slopes(X, on_host(self.beta_)) if hasattr(layer, "slopes") else None

    def __sklearn_tags__(self: Any) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = takes_devices(self.features)
        return tags
