"""What scikit-learn's objects in a file must be like before they are handed out.

Their compiled loops trust that arrays fit each other, and would read or write beyond them. The
parameters of a fitted object are held against scikit-learn's own constraints as well.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import MissingIndicator, SimpleImputer

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
    whole,
    word,
)

__all__ = ["LAYOUTS"]

# A row may not become wider than the widest table.
_WIDEST = 2**22
# More steps than these are never needed to find a row's place among fixed components.
_MOST_STEPS = 10**5
# Arguments that a function of arrays may be given along with them; not ``out`` or ``where``, which
# leave parts of the result as they were in memory.
_HARMLESS = {"casting", "dtype", "order", "subok"}


def _jobs(made: Any) -> bool:
    """A number of processes, or None."""
    return made.n_jobs is None or (whole(-(2**62), 2**62)(made.n_jobs, {}) and made.n_jobs != 0)


def _parameters_alone(made: Any) -> bool:
    """Whether there is nothing but parameters."""
    if any(name.startswith("_") or name.endswith("_") for name in vars(made)):
        raise ValueError(
            f"a fitted {type(made).__name__} holds what compiled code searches without a check; "
            "no file does, and one that is not fitted may be a parameter"
        )
    return _jobs(made)


def _valid(more: Callable[[Any, Sizes], bool] | None = None) -> Callable[[Any, Sizes], bool]:
    """The parameters are what scikit-learn allows, and ``more`` holds."""

    def check(made: Any, sizes: Sizes) -> bool:
        made._validate_params()
        return more is None or more(made, sizes)

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


# ---------------------------------------------------------------- categories
def _sorted(kinds: np.ndarray) -> bool:
    """Numbers ascend, and a NaN is the last; they are searched by halves."""
    if kinds.dtype.kind in "OUS":
        return True
    known = kinds[kinds == kinds]
    at_end = not (kinds[: len(known)] != kinds[: len(known)]).any()
    return at_end and len(kinds) - len(known) <= 1 and bool((known[1:] > known[:-1]).all())


def _each_category(value: Any, sizes: Sizes) -> bool:
    if type(value) is not list or len(value) != sizes.get("d"):
        return False
    return all(
        array("biufOUS", "?")(kinds, {}) and len(kinds) and _sorted(kinds) for kinds in value
    )


def _grouped(made: Any, sizes: Sizes) -> list[int] | None:
    """How many groups each column's categories make; None where that cannot be."""
    if not made._infrequent_enabled:
        return [len(kinds) for kinds in made.categories_]
    reaches = []
    rare, maps = made._infrequent_indices, made._default_to_infrequent_mappings
    for kinds, indices, mapping in zip(made.categories_, rare, maps, strict=True):
        if (indices is None) != (mapping is None):
            return None
        inside = {"n": len(kinds)}
        if mapping is None:
            reaches.append(len(kinds))
            continue
        mapped = places("n", within="n")(mapping, inside)
        if not (mapped and places("i", within="n")(indices, inside) and len(indices)):
            return None
        reaches.append(int(mapping.max()) + 1)
    return reaches


def _one_hot(made: Any, sizes: Sizes) -> bool:
    # It writes a one into each row at a place that these say, and nothing looks at the place again.
    reaches, drops = _grouped(made, sizes), made._drop_idx_after_grouping
    if reaches is None or np.dtype(made.dtype).kind not in "biuf":
        return False
    if drops is not None:
        if not array("iuO", "d")(drops, sizes):
            return False
        pairs = list(zip(drops.tolist(), reaches, strict=True))
        if any(drop is not None and not whole(0, reach - 1)(drop, {}) for drop, reach in pairs):
            return False
        reaches = [reach - (drop is not None) for drop, reach in pairs]
    return bool(made._n_features_outs == reaches)


def _ordinal(made: Any, sizes: Sizes) -> bool:
    missing = made._missing_indices
    known = type(missing) is dict and all(whole(0, sizes["d"] - 1)(key, {}) for key in missing)
    return known and _grouped(made, sizes) is not None and np.dtype(made.dtype).kind in "iuf"


# ---------------------------------------------------------------- missing values
@cache
def _types_of_fills() -> list[str]:
    """Attributes for types that this version of scikit-learn has."""
    found = SimpleImputer().fit([[0.0]])
    return [name for name in ("_fit_dtype", "_fill_dtype") if hasattr(found, name)]


def _filled(made: Any, sizes: Sizes) -> bool:
    types = [getattr(made, name, None) for name in _types_of_fills()]
    plain = all(isinstance(kind, np.dtype) for kind in types)
    indicator = made.indicator_
    fits = indicator is None or getattr(indicator, "_n_features", None) == sizes["d"]
    return plain and fits and (indicator is not None) == made.add_indicator


# ---------------------------------------------------------------- functions and compositions
def _is_function(value: Any) -> bool:
    return value is None or isinstance(value, np.ufunc | FunctionType)


def _functions(made: Any) -> bool:
    """Functions of arrays, and no argument that would leave results unwritten."""
    made._validate_params()
    for arguments in (made.kw_args, made.inv_kw_args):
        if arguments is not None and not arguments.keys() <= _HARMLESS:
            return False
    return _is_function(made.func) and _is_function(made.inverse_func)


def _named(parts: Any, length: int, words: tuple[str, ...]) -> bool:
    """A list of tuples of a name, a transformer or one of the words, and what else there is."""
    return isinstance(parts, list) and all(
        type(part) is tuple
        and len(part) == length
        and type(part[0]) is str
        and (isinstance(part[1], BaseEstimator) or word(*words)(part[1], {}))
        for part in parts
    )


def _weights(made: Any) -> bool:
    weights = made.transformer_weights
    return weights is None or all(number()(weight, {}) for weight in weights.values())


def _column_transformer(made: Any, sizes: Sizes) -> bool:
    """Parts with names and columns, every column that is a number within the table."""
    named = _named(made.transformers_, 3, ("drop", "passthrough"))
    if not (named and _transforms(made.transformers_) and _weights(made)):
        return False
    known = getattr(made, "feature_names_in_", np.array([])).tolist()
    inputs = made._transformer_to_input_indices
    lists = all(type(some) is list and _within(some, sizes["d"], ()) for some in inputs.values())
    return lists and all(
        name in inputs and _within(columns, sizes["d"], known)
        for name, _, columns in made.transformers_
    )


def _within(columns: Any, n: int, known: Sequence[str]) -> bool:
    """Whether columns that are given by number, by name or by a mask are among those there are."""
    if isinstance(columns, slice):
        ends = [end for end in (columns.start, columns.stop) if end is not None]
        return columns.step in (None, 1) and all(
            whole(-(2**62), 2**62)(end, {}) or (type(end) is str and end in known) for end in ends
        )
    if isinstance(columns, list | np.ndarray):
        each = list(columns)
        masked = len(each) == n and all(isinstance(x, bool | np.bool_) for x in each)
        return masked or all(not isinstance(x, list) and _within(x, n, known) for x in each)
    return columns in known if type(columns) is str else whole(-n, n - 1)(columns, {})


def _union(made: Any) -> bool:
    named = _named(made.transformer_list, 2, ("drop", "passthrough"))
    return named and _transforms(made.transformer_list) and _weights(made) and _jobs(made)


def _transforms(parts: Any) -> bool:
    return all(isinstance(part[1], str) or hasattr(part[1], "transform") for part in parts)


def _steps(made: Any) -> bool:
    """Transformers, and anything at the end."""
    if not _named(made.steps, 2, ("passthrough",)) or not made.steps:
        return False
    return all(step == "passthrough" or hasattr(step, "transform") for _, step in made.steps[:-1])


LAYOUTS: dict[str, Layout] = {
    "sklearn.cluster.KMeans": _layout(
        _contiguous, {"n_clusters": size("k")}, cluster_centers_=_floats("k", "d")
    ),
    "sklearn.compose.ColumnTransformer": _layout(
        _column_transformer,
        always=_jobs,
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
        more=_valid(),
    ),
    "sklearn.decomposition.NMF": _layout(
        None,
        {"max_iter": whole(1, _MOST_STEPS)},
        components_=_floats("k", "d"),
        n_components_=size("k"),
        _n_components=size("k"),
    ),
    "sklearn.decomposition.PCA": _layout(
        None,
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
        {"kernel": lambda value, sizes: type(value) is str or _is_function(value)},
        always=_jobs,
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
    "sklearn.preprocessing.MinMaxScaler": _layout(None, scale_=_floats("d"), min_=_floats("d")),
    "sklearn.preprocessing.OneHotEncoder": _layout(
        _one_hot, categories_=_each_category, _infrequent_enabled=is_a(bool)
    ),
    "sklearn.preprocessing.OrdinalEncoder": _layout(
        _ordinal, categories_=_each_category, _infrequent_enabled=is_a(bool)
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
    "sklearn.pipeline.FeatureUnion": Layout(always=_union),
    "sklearn.pipeline.Pipeline": Layout(always=_steps),
    "sklearn.preprocessing.FunctionTransformer": Layout(always=_functions),
    "sklearn.preprocessing.Normalizer": _layout(),
}
