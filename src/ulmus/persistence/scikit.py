"""What scikit-learn's objects in a file must be like before they are handed out.

Their compiled loops trust that arrays fit each other, and would read or write beyond them. The
parameters of a fitted object are held against scikit-learn's own constraints as well.
"""

from collections.abc import Callable, Container, Sequence
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.impute import SimpleImputer
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from ulmus.persistence.layouts import COLUMNS
from ulmus.persistence.rules import Layout, Sizes, Spec, fits

# A row may not become wider than the widest table.
_WIDEST = 2**22
_HIGHEST_DEGREE = 64
# More steps than these are never needed to find a row's place among fixed components.
_MOST_STEPS = 10**5
# Types of numbers that a sparse matrix can have, which float16 is none of.
_SPARSE = "?bBhHiIlLqQfdg"
# Arguments that a function of arrays may be given along with them; not ``out`` or ``where``, which
# leave parts of the result as they were in memory.
_HARMLESS = {"casting", "dtype", "order", "subok"}
_TRANSFORMER = "a BaseEstimator transform | word passthrough"
_WEIGHTS = "none | numbers"
_FLAG, _K_BY_D, _EACH = "flag", "moderate k d", "moderate d | none"


def _fitted(
    more: Callable[[Any, Sizes], bool] | None = None,
    fresh: dict[str, Callable[[], Any]] | None = None,
    **fields: Spec,
) -> Layout:
    """Columns, these fields, and parameters that scikit-learn allows."""

    def valid(made: Any, sizes: Sizes) -> bool:
        made._validate_params()
        numbers = [x for x in made.get_params(deep=False).values() if isinstance(x, int)]
        return all(fits(float(x), "number", {}) for x in numbers) and (
            more is None or more(made, sizes)
        )

    return Layout({**COLUMNS, **fields}, valid, fresh=fresh or {})


def _parameters_alone(made: Any) -> bool:
    """Whether there is nothing but parameters."""
    if any(name.strip("_") != name for name in vars(made)):
        raise ValueError(
            f"a fitted {type(made).__name__} holds what compiled code searches without a check; "
            "no file does, and one that is not fitted may be a parameter"
        )
    return fits(made.n_jobs, "jobs", {})


# ---------------------------------------------------------------- numbers
def _scaler(**parts: str) -> Callable[[Any, Sizes], bool]:
    """Each part is there where its parameter asks for it, and rows are not divided by zero."""

    def check(made: Any, sizes: Sizes) -> bool:
        asked = [part for parameter, part in parts.items() if getattr(made, parameter)]
        scale = np.ones(1) if made.scale_ is None else made.scale_
        least = max(1e-150, np.finfo(scale.dtype).tiny)
        return all(getattr(made, part) is not None for part in asked) and bool(
            (np.abs(scale) > least).all()
        )

    return check


def _clipped(made: Any, sizes: Sizes) -> bool:
    """Rows are held within a range that is one."""
    if not made.clip:
        return True
    least, most = made.feature_range
    return all(fits(end, "number", {}) for end in (least, most)) and bool(least < most)


def _whitened(made: Any, sizes: Sizes) -> bool:
    """Rows are divided by the roots of variances."""
    return not made.whiten or bool((made.explained_variance_ >= 0).all())


def _powers(made: Any, sizes: Sizes) -> bool:
    """The counts are those of a fit, for the array that columns are put in is not blanked."""
    if sizes["d"] > _WIDEST or np.max(made.degree) > _HIGHEST_DEGREE:
        return False
    counted = clone(made).fit(sp.csr_array((1, sizes["d"])))
    names = ("_min_degree", "_max_degree", "_n_out_full", "n_output_features_")
    # Compared as text, because 1 is equal to 1.0 and True.
    same = all(repr(getattr(made, name)) == repr(getattr(counted, name)) for name in names)
    return same and counted._n_out_full <= _WIDEST


@cache
def _types_of_fills() -> list[str]:
    """Attributes for types that this version of scikit-learn has."""
    found = SimpleImputer().fit([[0.0]])
    return [name for name in ("_fit_dtype", "_fill_dtype") if hasattr(found, name)]


def _filled(made: Any, sizes: Sizes) -> bool:
    types, indicator = [getattr(made, name) for name in _types_of_fills()], made.indicator_
    with np.errstate(invalid="ignore"):
        for kind in types:
            made.statistics_.astype(kind)  # which raises where these are words and no numbers
    if (indicator is not None) != made.add_indicator:
        return False
    suits = indicator is None or (indicator._n_features, indicator.sparse) == (sizes["d"], "auto")
    return suits and all(isinstance(kind, np.dtype) for kind in types)


# ---------------------------------------------------------------- categories
# Encoders search among categories and write at the places that they find, and nothing looks at
# these again.
def _is_sorted(kinds: np.ndarray) -> bool:
    """Numbers ascend, and a NaN is the last; they are searched by halves."""
    if kinds.dtype.kind in "OUS":
        return True
    known = kinds[:-1] if kinds[-1] != kinds[-1] else kinds
    return bool((known == known).all() and (known[1:] > known[:-1]).all())


def _categories(value: Any, sizes: Sizes) -> bool:
    """Categories for every column, those that are numbers in order."""
    if type(value) is not list or len(value) != sizes["d"]:
        return False
    return all(
        fits(kinds, "array biufOUS n", {}) and len(kinds) and _is_sorted(kinds) for kinds in value
    )


def _groups(made: Any, missing: Container[int] = ()) -> list[int]:
    """How many groups each column's categories make; NaN is in none where ``missing`` has it."""
    if not made._infrequent_enabled:
        return [len(kinds) for kinds in made.categories_]
    groups = []
    rare, maps = made._infrequent_indices, made._default_to_infrequent_mappings
    columns = enumerate(zip(made.categories_, rare, maps, strict=True))
    for j, (kinds, indices, mapping) in columns:
        sizes = {"n": len(kinds) - (j in missing)}
        if indices is None and mapping is None:
            groups.append(len(kinds))
            continue
        mapped = fits(mapping, "places n below n", sizes)
        if not (mapped and fits(indices, "places i below n", sizes) and len(indices)):
            raise ValueError("its rare categories are not grouped")
        groups.append(int(mapping.max()) + 1)
    return groups


def _one_hot(made: Any, sizes: Sizes) -> bool:
    """As many columns as the groups make, for each row gets a one at the place of its group."""
    groups, drops, dtype = _groups(made), made._drop_idx_after_grouping, np.dtype(made.dtype)
    if dtype.char not in _SPARSE or not dtype.isnative:
        return False
    if drops is not None:
        if not fits(drops, "array iuO d", sizes):
            return False
        pairs = list(zip(drops.tolist(), groups, strict=True))
        if not all(fits(drop, f"whole 0 {count - 1} | none", {}) for drop, count in pairs):
            return False
        groups = [count - (drop is not None) for drop, count in pairs]
    return type(made._n_features_outs) is list and made._n_features_outs == groups


def _ordinal(made: Any, sizes: Sizes) -> bool:
    """Codes, and numbers for what is missing or unknown, that the type of the answer can hold."""
    dtype, lasts = np.dtype(made.dtype), enumerate(kinds[-1] for kinds in made.categories_)
    # NaN is the last category of a column.
    columns = [j for j, x in lasts if isinstance(x, float | np.floating) and x != x]
    missing = {j: len(made.categories_[j]) - 1 for j in columns}
    # Compared as text, because 0 is equal to 0.0 and False, by which no column is found.
    if repr(made._missing_indices) != repr(missing) or dtype.kind not in "iuf":
        return False
    _groups(made, missing)
    unknown = made.handle_unknown == "use_encoded_value"
    codes = [made.unknown_value] * unknown + [made.encoded_missing_value] * bool(missing)
    return all(_is_held(code, dtype) for code in codes)


def _is_held(value: Any, dtype: np.dtype) -> bool:
    """Whether a type has this number; NaN is one of those with a point."""
    if type(value) is float and value != value:
        return dtype.kind == "f"
    if dtype.kind == "f":
        largest = float(np.finfo(dtype).max)
        return fits(value, f"number {-largest!r} {largest!r}", {})
    return fits(value, f"whole {np.iinfo(dtype).min} {np.iinfo(dtype).max}", {})


# ---------------------------------------------------------------- made of others
def _functions(made: Any) -> bool:
    """Functions of arrays, and no argument that would leave results unwritten."""
    made._validate_params()
    return (
        all((some or {}).keys() <= _HARMLESS for some in (made.kw_args, made.inv_kw_args))
        and all(fits(one, "function | none", {}) for one in (made.func, made.inverse_func))
        and fits(made.feature_names_out, "word one-to-one | none", {})
    )


def _named(parts: Any, length: int, spec: str) -> bool:
    """A list of tuples of a name, what the spec says, and what else there is."""
    return type(parts) is list and all(
        type(part) is tuple
        and len(part) == length
        and type(part[0]) is str
        and fits(part[1], spec, {})
        for part in parts
    )


def _union(made: Any) -> bool:
    """Transformers side by side."""
    named = _named(made.transformer_list, 2, f"{_TRANSFORMER} | word drop")
    return named and fits(made.transformer_weights, _WEIGHTS, {}) and fits(made.n_jobs, "jobs", {})


def _steps(made: Any) -> bool:
    """Transformers, and anything at the end."""
    every = _named(made.steps, 2, "a BaseEstimator | word passthrough")
    return every and bool(made.steps) and _named(made.steps[:-1], 2, _TRANSFORMER)


def _columns(made: Any, sizes: Sizes) -> bool:
    """Parts with names and columns, whose numbers are those that a fit found."""
    n, names = sizes["d"], getattr(made, "feature_names_in_", ())
    places = {name: place for place, name in enumerate(names)}
    if len(places) < len(names) or not fits(made.transformer_weights, _WEIGHTS, {}):
        return False
    inputs = made._transformer_to_input_indices
    if not all(fits(x, f"whole 0 {n - 1}", {}) for numbers in inputs.values() for x in numbers):
        return False
    return _named(made.transformers_, 3, f"{_TRANSFORMER} | word drop") and all(
        len(found := _numbers(some, n, places)) == len(inputs[name]) and list(found) == inputs[name]
        for name, _, some in made.transformers_
    )


def _numbers(columns: Any, n: int, places: dict[str, int]) -> Sequence[int]:
    """The numbers of columns that are given by number, by name or by a mask."""
    if isinstance(columns, slice):
        start, stop = (
            places[end] if type(end) is str else end for end in (columns.start, columns.stop)
        )
        stop = stop + 1 if type(columns.stop) is str else stop  # names include the last
        return range(n)[start:stop] if columns.step in (None, 1) else ()
    each = list(columns) if isinstance(columns, list | np.ndarray) else [columns]
    if str in map(type, each) and len(set(each)) < len(each):
        raise ValueError("a column is named twice")
    if each and all(isinstance(x, bool | np.bool_) for x in each):
        return np.arange(n)[np.array(each)].tolist() if len(each) == n else ()
    return [places[x] if type(x) is str else range(n)[x] for x in each]


def _target(made: Any, sizes: Sizes) -> bool:
    """A predictor that gives as many columns as the transformer takes back."""
    # `_outputs` raises where the transformer cannot take them back.
    predicts = is_regressor(made.regressor_) or is_classifier(made.regressor_)
    return predicts and _outputs(made) != 0


def _outputs(model: Any) -> int | None:
    """How many columns a model predicts; None where that cannot be told."""
    if hasattr(model, "steps"):
        return _outputs(model.steps[-1][1])
    if hasattr(model, "transformer_"):
        width = _outputs(model.regressor_)
        return None if width is None else _taken_back(np.zeros((1, width)), model.transformer_)
    if hasattr(model, "classes_"):
        return 1
    return len(model.intercept_) if hasattr(model, "intercept_") else None


def _taken_back(row: Any, transformer: Any) -> int:
    """How many columns ``inverse_transform``, which does not count them, makes of a row."""
    for _, part in reversed(getattr(transformer, "steps", [("", transformer)])):
        if part == "passthrough":
            continue
        with np.errstate(all="ignore"):
            row = part.inverse_transform(row)
        if row.ndim != 2 or row.shape[1] != getattr(part, "n_features_in_", row.shape[1]):
            raise ValueError(f"{type(part).__name__} takes back another number of columns")
    return int(row.shape[1])


LAYOUTS: dict[str, Layout] = {
    "sklearn.cluster.KMeans": _fitted(
        lambda made, sizes: bool(made.cluster_centers_.flags.c_contiguous),
        # How many threads there are is the reader's affair.
        fresh={"_n_threads": _openmp_effective_n_threads},
        cluster_centers_=_K_BY_D, n_clusters="size k",
    ),
    "sklearn.decomposition.NMF": _fitted(
        components_=_K_BY_D, n_components_="size k", _n_components="size k",
        max_iter=f"whole 1 {_MOST_STEPS}", alpha_W="number 0 1e100",
    ),
    "sklearn.decomposition.PCA": _fitted(
        _whitened, components_=_K_BY_D, n_components_="size k", mean_="moderate d",
        explained_variance_="moderate k", _fit_svd_solver="text | none | absent",
    ),
    "sklearn.decomposition.TruncatedSVD": _fitted(components_=_K_BY_D),
    "sklearn.impute.MissingIndicator": _fitted(
        _n_features="size d", n_features_in_="size d | none | absent",
        features_="places f below d", _precomputed=_FLAG,
    ),
    "sklearn.impute.SimpleImputer": _fitted(
        _filled, statistics_="array fiuOU d", indicator_="a MissingIndicator | none | absent"
    ),
    "sklearn.kernel_approximation.Nystroem": _fitted(
        # Functions of the list take all rows at once, and this would give them two at a time.
        n_jobs="jobs", kernel="text", kernel_params="none | numbers", components_=_K_BY_D,
        normalization_="moderate k k",
    ),
    "sklearn.kernel_approximation.RBFSampler": _fitted(
        n_components="size k", random_weights_="moderate d k", random_offset_="moderate k"
    ),
    "sklearn.preprocessing.MaxAbsScaler": _fitted(_scaler(), scale_="moderate d"),
    "sklearn.preprocessing.MinMaxScaler": _fitted(
        _clipped, scale_="moderate d", min_="moderate d"
    ),
    "sklearn.preprocessing.Normalizer": _fitted(),
    "sklearn.preprocessing.OneHotEncoder": _fitted(
        _one_hot, categories_=_categories, _infrequent_enabled=_FLAG
    ),
    "sklearn.preprocessing.OrdinalEncoder": _fitted(
        _ordinal, categories_=_categories, _infrequent_enabled=_FLAG
    ),
    "sklearn.preprocessing.PolynomialFeatures": _fitted(_powers),
    "sklearn.preprocessing.RobustScaler": _fitted(
        _scaler(with_centering="center_", with_scaling="scale_"), center_=_EACH, scale_=_EACH
    ),
    "sklearn.preprocessing.StandardScaler": _fitted(
        _scaler(with_mean="mean_", with_std="scale_"), mean_=_EACH, scale_=_EACH
    ),
    "sklearn.neighbors.KNeighborsTransformer": Layout(always=_parameters_alone),
    "sklearn.neighbors.RadiusNeighborsTransformer": Layout(always=_parameters_alone),
    "sklearn.compose.make_column_selector": Layout(),
    "sklearn.compose.ColumnTransformer": _fitted(
        _columns, n_jobs="jobs", transformers_="a list", sparse_output_=_FLAG,
        _transformer_to_input_indices="a dict",
    ),
    "sklearn.compose.TransformedTargetRegressor": _fitted(
        _target, n_features_in_="absent", regressor_="has predict",
        transformer_="has inverse_transform", _training_dim="whole 1 2",
    ),
    "sklearn.frozen.FrozenEstimator": Layout(
        always=lambda made: fits(made.estimator, "a BaseEstimator", {})
    ),
    "sklearn.pipeline.FeatureUnion": Layout(always=_union),
    # A folder of cached results is the reader's affair.
    "sklearn.pipeline.Pipeline": Layout(
        always=_steps, fresh={"memory": lambda: None}
    ),
    "sklearn.preprocessing.FunctionTransformer": Layout(COLUMNS, always=_functions),
}  # fmt: skip
