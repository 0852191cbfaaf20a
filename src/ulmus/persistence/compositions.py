"""What scikit-learn's objects that are made of others in a file must be like: see `scikit`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from ulmus.persistence.rules import Sizes, fits

# Arguments that a function of arrays may be given along with them; not ``out`` or ``where``, which
# leave parts of the result as they were in memory.
_HARMLESS = {"casting", "dtype", "order", "subok"}
_TRANSFORMER = "a BaseEstimator transform | word passthrough"
_WEIGHTS = "none | numbers"


def functions(made: Any) -> bool:
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


def union(made: Any) -> bool:
    """Transformers side by side."""
    named = _named(made.transformer_list, 2, f"{_TRANSFORMER} | word drop")
    return named and fits(made.transformer_weights, _WEIGHTS, {}) and fits(made.n_jobs, "jobs", {})


def steps(made: Any) -> bool:
    """Transformers, and anything at the end."""
    every = _named(made.steps, 2, "a BaseEstimator | word passthrough")
    return every and bool(made.steps) and _named(made.steps[:-1], 2, _TRANSFORMER)


# ---------------------------------------------------------------- columns of a table
def columns(made: Any, sizes: Sizes) -> bool:
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


# ---------------------------------------------------------------- targets
def target(made: Any, sizes: Sizes) -> bool:
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
