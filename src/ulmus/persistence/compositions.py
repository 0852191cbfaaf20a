"""What scikit-learn's objects that are made of others in a file must be like: see `scikit`."""

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from ulmus.persistence.rules import Sizes, number, whole, word

__all__ = ["columns", "functions", "is_function", "jobs", "steps", "target", "union"]

# Arguments that a function of arrays may be given along with them; not ``out`` or ``where``, which
# leave parts of the result as they were in memory.
_HARMLESS = {"casting", "dtype", "order", "subok"}


def jobs(made: Any) -> bool:
    """A number of processes, or None."""
    return made.n_jobs is None or (whole(-(2**62), 2**62)(made.n_jobs, {}) and made.n_jobs != 0)


def is_function(value: Any) -> bool:
    """A function of arrays, or None."""
    return value is None or isinstance(value, np.ufunc | FunctionType)


def functions(made: Any) -> bool:
    """Functions of arrays, and no argument that would leave results unwritten."""
    made._validate_params()
    for arguments in (made.kw_args, made.inv_kw_args):
        if arguments is not None and not arguments.keys() <= _HARMLESS:
            return False
    named = word("one-to-one", None)(made.feature_names_out, {})
    return named and is_function(made.func) and is_function(made.inverse_func)


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


def columns(made: Any, sizes: Sizes) -> bool:
    """Parts with names and columns, every column that is a number within the table."""
    named = _named(made.transformers_, 3, ("drop", "passthrough"))
    if not (named and _transforms(made.transformers_) and _weights(made)):
        return False
    known = getattr(made, "feature_names_in_", np.array([])).tolist()
    if len(set(known)) < len(known):
        return False
    inputs = made._transformer_to_input_indices
    lists = all(type(some) is list and _within(some, sizes["d"], ()) for some in inputs.values())
    return lists and all(
        name in inputs
        and _within(columns, sizes["d"], known)
        and inputs[name] == _numbers(columns, sizes["d"], known)
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
        names = [x for x in each if type(x) is str]
        if len(set(names)) < len(names):
            return False
        return masked or all(not isinstance(x, list) and _within(x, n, known) for x in each)
    return columns in known if type(columns) is str else whole(-n, n - 1)(columns, {})


def _numbers(columns: Any, n: int, known: Sequence[str]) -> list[int]:
    """The numbers of columns that are among those there are; a slice of names includes its end."""
    if isinstance(columns, slice):
        start, stop = (
            known.index(x) if type(x) is str else x for x in (columns.start, columns.stop)
        )
        stop = stop + 1 if type(columns.stop) is str else stop
        return list(range(n))[start:stop]
    if isinstance(columns, list | np.ndarray):
        each = list(columns)
        if each and all(isinstance(x, bool | np.bool_) for x in each):
            return np.flatnonzero(each).tolist()
        return [number for x in each for number in _numbers(x, n, known)]
    return [known.index(columns) if type(columns) is str else int(columns) % n]


def union(made: Any) -> bool:
    """Transformers side by side."""
    named = _named(made.transformer_list, 2, ("drop", "passthrough"))
    return named and _transforms(made.transformer_list) and _weights(made) and jobs(made)


def _transforms(parts: Any) -> bool:
    return all(isinstance(part[1], str) or hasattr(part[1], "transform") for part in parts)


def steps(made: Any) -> bool:
    """Transformers, and anything at the end."""
    if not _named(made.steps, 2, ("passthrough",)) or not made.steps:
        return False
    return all(step == "passthrough" or hasattr(step, "transform") for _, step in made.steps[:-1])


def target(made: Any, sizes: Sizes) -> bool:
    """A predictor that gives as many columns as the transformer takes back."""
    if not (is_regressor(made.regressor_) or is_classifier(made.regressor_)):
        return False
    _taken_back(_outputs(made.regressor_), made.transformer_)
    return True


def _outputs(model: Any) -> int | None:
    """How many columns a model predicts; None where that cannot be told."""
    if isinstance(model, Pipeline):
        return _outputs(model.steps[-1][1])
    if isinstance(model, FrozenEstimator):
        return _outputs(model.estimator)
    if isinstance(model, TransformedTargetRegressor) and hasattr(model, "regressor_"):
        return _taken_back(_outputs(model.regressor_), model.transformer_)
    if hasattr(model, "classes_"):
        return 1
    return len(model.intercept_) if hasattr(model, "intercept_") else None


def _taken_back(width: int | None, transformer: Any) -> int | None:
    """How many columns are left of ``width`` by ``inverse_transform``, which does not count them.

    Raises a ValueError where it would fail.
    """
    for part in _backwards(transformer):
        takes, gives = _inverse_widths(part, width)
        if takes != width and None not in (takes, width):
            raise ValueError(
                f"{type(part).__name__} takes back {takes} columns and is given {width}"
            )
        width = gives
    return width


def _backwards(transformer: Any) -> list[Any]:
    """The transformers that ``inverse_transform`` calls, in its order."""
    if isinstance(transformer, FrozenEstimator):
        return _backwards(transformer.estimator)
    if not isinstance(transformer, Pipeline):
        return [transformer]
    each = [step for _, step in reversed(transformer.steps) if step != "passthrough"]
    return [part for step in each for part in _backwards(step)]


def _inverse_widths(part: Any, width: int | None) -> tuple[int | None, int | None]:
    """How many columns a transformer takes back and then gives."""
    if isinstance(part, FunctionTransformer):
        return width, width
    if isinstance(getattr(part, "components_", None), np.ndarray):
        return tuple(part.components_.shape)
    if hasattr(part, "scale_"):
        return part.n_features_in_, part.n_features_in_
    if type(part).__module__.startswith("sklearn."):
        raise ValueError(f"predictions cannot be taken back by {type(part).__name__}")
    return None, None
