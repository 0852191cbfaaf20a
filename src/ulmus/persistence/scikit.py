"""Checks of scikit-learn's objects in a file, before `load` returns them.

Their compiled loops do not check that arrays fit each other, and would read or write beyond them.
The parameters of a fitted object are also checked by scikit-learn's own constraints.
"""

from collections.abc import Container
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.impute import SimpleImputer
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from ulmus.persistence.layouts import COLUMNS
from ulmus.persistence.rules import Layout, Sizes, Spec, fits

# Most columns that a transformer may make of a row.
_WIDEST = 2**22
_HIGHEST_DEGREE = 64
# Most steps of NMF's transform, whose components are fixed.
_MOST_STEPS = 10**5
# Number types of sparse matrices; float16 is not one of them.
_SPARSE = "?bBhHiIlLqQfdg"
# Arguments that a function of arrays may have; not ``out`` or ``where``, which leave parts of the
# result uninitialised.
_HARMLESS = {"casting", "dtype", "order", "subok"}
# Types of an imputer; which of them there are depends on the version of scikit-learn.
_FILL_TYPES = vars(SimpleImputer().fit([[0.0]])).keys() & {"_fit_dtype", "_fill_dtype"}
_TRANSFORMER = "a BaseEstimator transform | word passthrough"
_WEIGHTS = "none | numbers"
_FLAG, _K_BY_D, _EACH = "flag", "moderate k d", "moderate d | none"


def _fitted(more: Any = None, fresh: Any = None, **fields: Spec) -> Layout:
    """A layout of columns, these fields, and parameters that scikit-learn accepts."""

    def valid(made: Any, sizes: Sizes) -> bool:
        made._validate_params()
        numbers = [x for x in made.get_params(deep=False).values() if isinstance(x, int)]
        sound = all(fits(float(x), "number", {}) for x in numbers)
        return sound and (more is None or more(made, sizes))

    return Layout({**COLUMNS, **fields}, valid, fresh=fresh or {})


def _parameters_alone(made: Any) -> bool:
    """Whether the object is not fitted."""
    if any(name.strip("_") != name for name in vars(made)):
        raise ValueError(
            f"a fitted {type(made).__name__} holds what compiled code searches without a check; "
            "no file does, and one that is not fitted may be a parameter"
        )
    return fits(made.n_jobs, "jobs", {})


# ---------------------------------------------------------------- numbers
def _scaler(made: Any, sizes: Sizes) -> bool:
    """Whether the parts that the parameters require are there, and no scale is zero."""
    parameters = ("with_mean", "mean_"), ("with_centering", "center_"), ("with_std", "scale_")
    for parameter, part in (*parameters, ("with_scaling", "scale_")):
        if getattr(made, parameter, False) and getattr(made, part) is None:
            return False
    scale = np.ones(1) if made.scale_ is None else made.scale_
    return bool((np.abs(scale) > max(1e-150, np.finfo(scale.dtype).tiny)).all())


def _clipped(made: Any, sizes: Sizes) -> bool:
    """Whether the range that rows are clipped to is valid."""
    if not made.clip:
        return True
    least, most = made.feature_range
    return all(fits(end, "number", {}) for end in (least, most)) and bool(least < most)


def _powers(made: Any, sizes: Sizes) -> bool:
    """Whether the counts are those of a fit; other counts leave output columns uninitialised."""
    if sizes["d"] > _WIDEST or np.max(made.degree) > _HIGHEST_DEGREE:
        return False
    counted = clone(made).fit(sp.csr_array((1, sizes["d"])))
    names = ("_min_degree", "_max_degree", "_n_out_full", "n_output_features_")
    # Compared as text, because 1 is equal to 1.0 and True.
    same = all(repr(getattr(made, name)) == repr(getattr(counted, name)) for name in names)
    return same and counted._n_out_full <= _WIDEST


def _filled(made: Any, sizes: Sizes) -> bool:
    """Whether the fills can have the types that they are filled in with."""
    indicator = made.indicator_
    for name in _FILL_TYPES:
        if not isinstance(kind := getattr(made, name), np.dtype):
            return False
        with np.errstate(invalid="ignore"):
            made.statistics_.astype(kind)  # raises ValueError for words
    if indicator is None or not made.add_indicator:
        return indicator is None and not made.add_indicator
    return bool((indicator._n_features, indicator.sparse) == (sizes["d"], "auto"))


# ---------------------------------------------------------------- categories
# Encoders look categories up and write at the positions that they find, without a check.
def _categories(value: Any, sizes: Sizes) -> bool:
    """Whether every column has categories; numbers ascend, NaN last, for a binary search."""
    if type(value) is not list or len(value) != sizes["d"]:
        return False
    for kinds in value:
        if not fits(kinds, "array biufOUS n", {}) or not len(kinds):
            return False
        known = kinds[:-1] if kinds[-1] != kinds[-1] else kinds
        if kinds.dtype.kind in "biuf" and np.isnan(known).any() | (known[1:] <= known[:-1]).any():
            return False
    return True


def _is_grouped(made: Any, missing: Container[int] = ()) -> bool:
    """Whether rare categories, if any, share the last group; NaN of ``missing`` is in none."""
    if not made._infrequent_enabled:
        return True
    rare, maps = made._infrequent_indices, made._default_to_infrequent_mappings
    for j, (kinds, own, mapping) in enumerate(zip(made.categories_, rare, maps, strict=True)):
        n = len(kinds) - (j in missing)
        if own is None and mapping is None:
            continue
        if not (fits(own, "places i below n", {"n": n}) and fits(mapping, "array iu n", {"n": n})):
            return False
        groups = np.full(n, n - len(own))
        groups[np.delete(np.arange(n), own)] = np.arange(n - len(own))
        if not len(own) or (groups != mapping).any():
            return False
    return True


def _one_hot(made: Any, sizes: Sizes) -> bool:
    """Whether there are as many columns as groups, in one of which a row has a one."""
    drops, dtype, outs = made._drop_idx_after_grouping, np.dtype(made.dtype), made._n_features_outs
    if dtype.char not in _SPARSE or not dtype.isnative or not _is_grouped(made):
        return False
    if type(outs) is not list or outs != made._compute_n_features_outs():
        return False
    return drops is None or (
        fits(drops, "array iuO d", sizes)
        and all(
            fits(drop, f"whole 0 {count} | none", {})
            for drop, count in zip(drops.tolist(), outs, strict=True)
        )
    )


def _ordinal(made: Any, sizes: Sizes) -> bool:
    """Whether the output type can hold the codes, and the numbers for missing and unknown."""
    dtype, lasts = np.dtype(made.dtype), enumerate(kinds[-1] for kinds in made.categories_)
    # NaN is the last category of a column.
    columns = [j for j, x in lasts if isinstance(x, float | np.floating) and x != x]
    missing = {j: len(made.categories_[j]) - 1 for j in columns}
    # Compared as text, because 0 is equal to 0.0 and False, which are no column numbers.
    if repr(made._missing_indices) != repr(missing) or dtype.kind not in "iuf":
        return False
    unknown = made.handle_unknown == "use_encoded_value"
    codes = [made.unknown_value] * unknown + [made.encoded_missing_value] * bool(missing)
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    held = f"{'number' if dtype.kind == 'f' else 'whole'} {limits.min} {limits.max}"
    return _is_grouped(made, missing) and all(
        dtype.kind == "f" if type(code) is float and code != code else fits(code, held, {})
        for code in codes
    )


# ---------------------------------------------------------------- made of others
def _functions(made: Any) -> bool:
    """Whether there are known functions of arrays, with harmless arguments."""
    made._validate_params()
    return (
        all((some or {}).keys() <= _HARMLESS for some in (made.kw_args, made.inv_kw_args))
        and all(fits(one, "function | none", {}) for one in (made.func, made.inverse_func))
        and fits(made.feature_names_out, "word one-to-one | none", {})
    )


def _named(parts: Any, length: int, spec: str) -> bool:
    """Whether there is a list of tuples, of a name and a part that meets the specification."""
    return type(parts) is list and all(
        type(part) is tuple
        and len(part) == length
        and type(part[0]) is str
        and fits(part[1], spec, {})
        for part in parts
    )


def _columns(made: Any, sizes: Sizes) -> bool:
    """Whether the column numbers of each part are those of its columns."""
    n, names = sizes["d"], getattr(made, "feature_names_in_", ())
    places = {name: place for place, name in enumerate(names)}
    if len(places) < len(names) or not fits(made.transformer_weights, _WEIGHTS, {}):
        return False
    inputs = made._transformer_to_input_indices
    if not all(fits(x, f"whole 0 {n - 1}", {}) for numbers in inputs.values() for x in numbers):
        return False
    return _named(made.transformers_, 3, f"{_TRANSFORMER} | word drop") and all(
        _numbers(some, n, places) == inputs[name] for name, _, some in made.transformers_
    )


def _numbers(columns: Any, n: int, places: dict[str, int]) -> Any:
    """The numbers of columns that are given by number, by name or by a mask."""
    every = np.arange(n)
    if isinstance(columns, slice):
        start, stop = (
            places[end] if type(end) is str else end for end in (columns.start, columns.stop)
        )
        stop = stop + 1 if type(columns.stop) is str else stop  # names include the last
        return every[start : stop : columns.step].tolist()
    each = list(columns) if isinstance(columns, list | np.ndarray) else [columns]
    return every[[places[x] if isinstance(x, str) else x for x in each]].tolist()


def _outputs(model: Any) -> int | None:
    """The number of columns that a model predicts; None where it is not known."""
    if hasattr(model, "steps"):
        return _outputs(model.steps[-1][1])
    if not hasattr(model, "transformer_"):
        outputs = None if not hasattr(model, "intercept_") else len(model.intercept_)
        return 1 if hasattr(model, "classes_") else outputs
    width = _outputs(model.regressor_)
    row = None if width is None else np.zeros((1, width))
    # ``inverse_transform`` does not check the number of columns.
    for _, part in reversed(getattr(model.transformer_, "steps", [("", model.transformer_)])):
        if part == "passthrough" or row is None:
            continue
        with np.errstate(all="ignore"):
            row = part.inverse_transform(row)
        if row.ndim != 2 or row.shape[1] != getattr(part, "n_features_in_", row.shape[1]):
            raise ValueError(f"{type(part).__name__} inverts another number of columns")
    return None if row is None else int(row.shape[1])


LAYOUTS: dict[str, Layout] = {
    "sklearn.cluster.KMeans": _fitted(
        lambda made, sizes: bool(made.cluster_centers_.flags.c_contiguous),
        # The number of threads of the machine that reads the file.
        fresh={"_n_threads": _openmp_effective_n_threads},
        cluster_centers_=_K_BY_D, n_clusters="size k",
    ),
    "sklearn.decomposition.NMF": _fitted(
        components_=_K_BY_D, n_components_="size k", _n_components="size k",
        max_iter=f"whole 1 {_MOST_STEPS}", alpha_W="number 0 1e100",
    ),
    "sklearn.decomposition.PCA": _fitted(
        lambda made, sizes: not made.whiten or bool((made.explained_variance_ >= 0).all()),
        components_=_K_BY_D, n_components_="size k", mean_="moderate d",
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
        # With a function as kernel, Nystroem would call it for two rows at a time.
        n_jobs="jobs", kernel="text", kernel_params="none | numbers", components_=_K_BY_D,
        normalization_="moderate k k",
    ),
    "sklearn.kernel_approximation.RBFSampler": _fitted(
        n_components="size k", random_weights_="moderate d k", random_offset_="moderate k"
    ),
    "sklearn.preprocessing.MaxAbsScaler": _fitted(_scaler, scale_="moderate d"),
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
    "sklearn.preprocessing.RobustScaler": _fitted(_scaler, center_=_EACH, scale_=_EACH),
    "sklearn.preprocessing.StandardScaler": _fitted(_scaler, mean_=_EACH, scale_=_EACH),
    "sklearn.neighbors.KNeighborsTransformer": Layout(always=_parameters_alone),
    "sklearn.neighbors.RadiusNeighborsTransformer": Layout(always=_parameters_alone),
    "sklearn.compose.make_column_selector": Layout(),
    "sklearn.compose.ColumnTransformer": _fitted(
        _columns, n_jobs="jobs", transformers_="a list", sparse_output_=_FLAG,
        _transformer_to_input_indices="a dict",
    ),
    "sklearn.compose.TransformedTargetRegressor": _fitted(
        # `_outputs` raises where the transformer cannot invert what the predictor gives.
        lambda made, sizes: (
            (is_regressor(made.regressor_) or is_classifier(made.regressor_))
            and _outputs(made) != 0
        ),
        n_features_in_="absent", regressor_="has predict",
        transformer_="has inverse_transform", _training_dim="whole 1 2",
    ),
    "sklearn.frozen.FrozenEstimator": Layout(
        always=lambda made: fits(made.estimator, "a BaseEstimator", {})
    ),
    "sklearn.pipeline.FeatureUnion": Layout(
        always=lambda made: (
            _named(made.transformer_list, 2, f"{_TRANSFORMER} | word drop")
            and fits(made.transformer_weights, _WEIGHTS, {})
            and fits(made.n_jobs, "jobs", {})
        )
    ),
    # A folder of cached results is not taken from a file.
    "sklearn.pipeline.Pipeline": Layout(
        always=lambda made: (
            _named(made.steps, 2, "a BaseEstimator | word passthrough")
            and bool(made.steps)
            and _named(made.steps[:-1], 2, _TRANSFORMER)
        ),
        fresh={"memory": lambda: None},
    ),
    "sklearn.preprocessing.FunctionTransformer": Layout(COLUMNS, always=_functions),
}  # fmt: skip
