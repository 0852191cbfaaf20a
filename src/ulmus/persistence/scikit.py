"""What scikit-learn's objects in a file must be like before they are handed out.

Their compiled loops trust that arrays fit each other, and would read or write beyond them. The
parameters of a fitted object are held against scikit-learn's own constraints as well.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import MissingIndicator, SimpleImputer

from ulmus.persistence.compositions import (
    columns,
    functions,
    jobs,
    steps,
    target,
    union,
)
from ulmus.persistence.encoders import each_category, one_hot, ordinal
from ulmus.persistence.rules import (
    Layout,
    Rule,
    Sizes,
    any_of,
    array,
    floats,
    has,
    is_a,
    maybe,
    names,
    nothing,
    number,
    places,
    size,
    text,
    whole,
)

__all__ = ["LAYOUTS"]

# A row may not become wider than the widest table.
_WIDEST = 2**22
# More steps than these are never needed to find a row's place among fixed components.
_MOST_STEPS = 10**5
_LARGEST = float(np.finfo(float).max)


def _parameters_alone(made: Any) -> bool:
    """Whether there is nothing but parameters."""
    if any(name.startswith("_") or name.endswith("_") for name in vars(made)):
        raise ValueError(
            f"a fitted {type(made).__name__} holds what compiled code searches without a check; "
            "no file does, and one that is not fitted may be a parameter"
        )
    return jobs(made)


def _valid(more: Callable[[Any, Sizes], bool] | None = None) -> Callable[[Any, Sizes], bool]:
    """The parameters are what scikit-learn allows, none larger than a float, ``more`` holds."""

    def check(made: Any, sizes: Sizes) -> bool:
        made._validate_params()
        numbers = [x for x in made.get_params(deep=False).values() if isinstance(x, int)]
        return all(abs(x) <= _LARGEST for x in numbers) and (more is None or more(made, sizes))

    return check


def _layout(
    more: Callable[[Any, Sizes], bool] | None = None,
    read: dict[str, Rule] | None = None,
    always: Callable[[Any], bool] | None = None,
    **fitted: Rule,
) -> Layout:
    return Layout({**_COLUMNS, **fitted}, read or {}, _valid(more), always)


def _floats(*dims: str) -> Rule:
    """Finite numbers whose products are finite: scikit-learn does not look at what comes out.

    Their bytes are in this machine's order, for compiled code takes no others.
    """
    rule = floats(*dims, most=1e150)
    return lambda value, sizes: rule(value, sizes) and value.dtype.isnative


_COLUMNS: dict[str, Rule] = {"n_features_in_": size("d"), "feature_names_in_": maybe(names("d"))}


def _numbers(value: Any, sizes: Sizes) -> bool:
    """A number for each of some words."""
    return type(value) is dict and all(
        type(key) is str and number()(each, sizes) for key, each in value.items()
    )


# ---------------------------------------------------------------- numbers
def _contiguous(kmeans: Any, sizes: Sizes) -> bool:
    return bool(kmeans.cluster_centers_.flags.c_contiguous)


def _scaler(**parts: str) -> Callable[[Any, Sizes], bool]:
    """Each part is there where its parameter asks for it, and rows are not divided by zero."""

    def check(made: Any, sizes: Sizes) -> bool:
        there = all(
            getattr(made, part) is not None for p, part in parts.items() if getattr(made, p)
        )
        scale = made.scale_
        return there and (
            scale is None or bool((np.abs(scale) > max(1e-150, np.finfo(scale.dtype).tiny)).all())
        )

    return check


def _clipped(made: Any, sizes: Sizes) -> bool:
    """Rows are held within a range that is one."""
    ends = made.feature_range
    sound = type(ends) is tuple and len(ends) == 2 and all(number()(end, {}) for end in ends)
    return not made.clip or (sound and bool(ends[0] < ends[1]))


def _whitened(made: Any, sizes: Sizes) -> bool:
    """Rows are divided by the roots of variances."""
    return not made.whiten or bool((made.explained_variance_ >= 0).all())


def _powers(made: Any, sizes: Sizes) -> bool:
    """Columns as many as there are products, for the array that they are put in is not blanked."""
    least, most = made._min_degree, made._max_degree
    asked = made.degree if isinstance(made.degree, Sequence) else (0, made.degree)
    if (least, most) != tuple(asked) or not whole(0, 64)(most, sizes):
        return False
    terms, only, bias = sizes["d"], made.interaction_only, int(made.include_bias)
    each = [
        math.comb(terms, k) if only else math.comb(terms + k - 1, k) for k in range(1, most + 1)
    ]
    full, kept = sum(each) + bias, sum(each[max(least, 1) - 1 :]) + bias
    return full <= _WIDEST and (made._n_out_full, made.n_output_features_) == (full, kept)


# ---------------------------------------------------------------- missing values
@cache
def _types_of_fills() -> list[str]:
    """Attributes for types that this version of scikit-learn has."""
    found = SimpleImputer().fit([[0.0]])
    return [name for name in ("_fit_dtype", "_fill_dtype") if hasattr(found, name)]


def _filled(made: Any, sizes: Sizes) -> bool:
    types: list[Any] = [getattr(made, name, None) for name in _types_of_fills()]
    plain = all(isinstance(kind, np.dtype) for kind in types)
    indicator = made.indicator_
    fits = indicator is None or (
        getattr(indicator, "_n_features", None) == sizes["d"] and indicator.sparse == "auto"
    )
    if not (plain and fits and (indicator is not None) == made.add_indicator):
        return False
    return all(_held_by(made.statistics_, kind) for kind in types)


def _held_by(values: np.ndarray, kind: np.dtype) -> bool:
    """Whether a type can hold these values; words are no numbers."""
    try:
        with np.errstate(invalid="ignore"):
            values.astype(kind)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


LAYOUTS: dict[str, Layout] = {
    "sklearn.cluster.KMeans": _layout(
        _contiguous, {"n_clusters": size("k")}, cluster_centers_=_floats("k", "d")
    ),
    "sklearn.compose.ColumnTransformer": _layout(
        columns,
        always=jobs,
        transformers_=is_a(list),
        sparse_output_=is_a(bool),
        _transformer_to_input_indices=is_a(dict),
    ),
    "sklearn.compose.TransformedTargetRegressor": Layout(
        {
            "regressor_": has("predict"),
            "transformer_": has("inverse_transform"),
            "_training_dim": whole(1, 2),
        },
        more=_valid(target),
    ),
    "sklearn.decomposition.NMF": _layout(
        None,
        {"max_iter": whole(1, _MOST_STEPS), "alpha_W": number(0, 1e100)},
        components_=_floats("k", "d"),
        n_components_=size("k"),
        _n_components=size("k"),
    ),
    "sklearn.decomposition.PCA": _layout(
        _whitened,
        components_=_floats("k", "d"),
        n_components_=size("k"),
        mean_=_floats("d"),
        explained_variance_=_floats("k"),
        _fit_svd_solver=maybe(is_a(str)),
    ),
    "sklearn.decomposition.TruncatedSVD": _layout(None, components_=_floats("k", "d")),
    "sklearn.impute.MissingIndicator": Layout(
        {
            "_n_features": size("d"),
            "n_features_in_": maybe(size("d")),
            "features_": places("f", within="d"),
            "_precomputed": is_a(bool),
        },
        more=_valid(),
    ),
    "sklearn.impute.SimpleImputer": _layout(
        _filled,
        statistics_=array("fiuOU", "d"),
        indicator_=maybe(is_a(MissingIndicator)),
    ),
    "sklearn.kernel_approximation.Nystroem": _layout(
        None,
        # Functions of the list take all rows at once, and this would give them two at a time.
        {"kernel": text, "kernel_params": maybe(_numbers)},
        always=jobs,
        components_=_floats("k", "d"),
        normalization_=_floats("k", "k"),
    ),
    "sklearn.kernel_approximation.RBFSampler": _layout(
        None,
        {"n_components": size("k")},
        random_weights_=_floats("d", "k"),
        random_offset_=_floats("k"),
    ),
    "sklearn.preprocessing.MaxAbsScaler": _layout(_scaler(), scale_=_floats("d")),
    "sklearn.preprocessing.MinMaxScaler": _layout(_clipped, scale_=_floats("d"), min_=_floats("d")),
    "sklearn.preprocessing.OneHotEncoder": _layout(
        one_hot, categories_=each_category, _infrequent_enabled=is_a(bool)
    ),
    "sklearn.preprocessing.OrdinalEncoder": _layout(
        ordinal, categories_=each_category, _infrequent_enabled=is_a(bool)
    ),
    "sklearn.preprocessing.PolynomialFeatures": _layout(
        _powers,
        n_output_features_=whole(1, _WIDEST),
        _n_out_full=whole(1, _WIDEST),
        _min_degree=whole(0, 64),
        _max_degree=whole(0, 64),
    ),
    "sklearn.preprocessing.RobustScaler": _layout(
        _scaler(with_centering="center_", with_scaling="scale_"),
        center_=any_of(nothing, _floats("d")),
        scale_=any_of(nothing, _floats("d")),
    ),
    "sklearn.preprocessing.StandardScaler": _layout(
        _scaler(with_mean="mean_", with_std="scale_"),
        mean_=any_of(nothing, _floats("d")),
        scale_=any_of(nothing, _floats("d")),
    ),
    "sklearn.compose.make_column_selector": Layout(),
    "sklearn.frozen.FrozenEstimator": Layout(
        always=lambda made: isinstance(made.estimator, BaseEstimator)
    ),
    "sklearn.neighbors.KNeighborsTransformer": Layout(always=_parameters_alone),
    "sklearn.neighbors.RadiusNeighborsTransformer": Layout(always=_parameters_alone),
    "sklearn.pipeline.FeatureUnion": Layout(always=union),
    "sklearn.pipeline.Pipeline": Layout(always=steps),
    "sklearn.preprocessing.FunctionTransformer": Layout(_COLUMNS, always=functions),
    "sklearn.preprocessing.Normalizer": _layout(),
}
