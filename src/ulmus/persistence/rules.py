"""A small language for the attributes of an object from a file: one specification for each.

``beta_="floats h m"`` is a matrix of finite numbers of shape h × m. Every h in the specifications
of one object must be the same number. ``|`` separates alternatives. The words are the keys of the
table at the end; a specification that they cannot express is a function of value and sizes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

Sizes = dict[str, int]
Spec = str | Callable[[Any, Sizes], bool]
_ABSENT = object()
_LARGEST = float(np.finfo(float).max)
# Products of two numbers up to this size are finite.
_MODERATE = 1e150
# What set_output of scikit-learn's transformers leaves: a word for each method.
_CONTAINERS = ("default", "pandas", "polars", None)
_OUTPUT_CONFIG = "_sklearn_output_config"


@dataclass(frozen=True)
class Layout:
    """What objects of one class must look like.

    ``fields`` are specifications of the attributes of a fitted object and of the parameters that
    it uses after the fit, or a function from an object to these; ``more`` checks them against each
    other. ``always`` also checks objects that are not fitted. ``fresh`` are attributes that are
    not stored but created by the reader.
    """

    fields: Mapping[str, Spec] | Callable[[Any], Mapping[str, Spec]] = field(default_factory=dict)
    more: Callable[[Any, Sizes], bool] | None = None
    always: Callable[[Any], bool] | None = None
    fresh: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    def check(self, made: Any) -> None:
        """Raise ValueError for an object that does not fit."""
        kind, state, sizes = type(made).__name__, vars(made), Sizes()
        whole = f"the parts of {kind} do not fit each other"
        _require(whole, _is_output_config, state.get(_OUTPUT_CONFIG, {}))
        if self.always is not None:
            _require(whole, self.always, made)
        fitted = [name for name in state if name.strip("_") != name and name != _OUTPUT_CONFIG]
        if not (is_dataclass(made) or fitted):
            return
        fields = self.fields(made) if callable(self.fields) else self.fields
        for name, spec in fields.items():
            why = f"{name} of {kind} does not fit the rest of it"
            _require(why, fits, state.get(name, _ABSENT), spec, sizes)
        if self.more is not None:
            _require(whole, self.more, made, sizes)


def fits(value: Any, spec: Spec, sizes: Sizes) -> bool:
    """Whether a value meets a specification; sizes that are new are added to ``sizes``."""
    if not isinstance(spec, str):
        return spec(value, sizes)
    return any(rule(value, sizes, *words) for rule, words in _alternatives(spec))


@lru_cache(2**10)
def _alternatives(spec: str) -> list[tuple[Callable[..., bool], list[str]]]:
    return [(_RULES[kind], words) for kind, *words in map(str.split, spec.split("|"))]


def _require(why: str, rule: Callable[..., bool], *args: Any) -> None:
    """Raise ValueError where a rule is false or cannot be evaluated."""
    try:
        sound = rule(*args)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{why} ({str(error)[:200]})") from error
    if not sound:
        raise ValueError(why)


def _is_output_config(value: Any) -> bool:
    return type(value) is dict and all(
        type(method) is str and kind in _CONTAINERS for method, kind in value.items()
    )


def _number(value: Any, sizes: Sizes, least: str = "-inf", most: str = "inf") -> bool:
    number = isinstance(value, int | float | np.integer | np.floating)
    # A whole number of Python's may be larger than any float.
    if not number or isinstance(value, bool) or not abs(value) <= _LARGEST:
        return False
    return float(least) <= float(value) <= float(most)


def _whole(value: Any, sizes: Sizes, least: str, most: str) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and int(least) <= value <= int(most)


def _array(value: Any, sizes: Sizes, kinds: str, *dims: str) -> bool:
    sound = isinstance(value, np.ndarray) and value.dtype.kind in kinds
    return sound and _has_shape(value.shape, dims, sizes)


def _floats(value: Any, sizes: Sizes, *dims: str, most: float = np.inf) -> bool:
    if not _array(value, sizes, "f", *dims) or value.dtype.itemsize not in (4, 8):
        return False
    return bool((np.abs(value) <= min(most, np.finfo(value.dtype).max)).all())


def _csr(value: Any, sizes: Sizes, types: str, *dims: str) -> bool:
    if not (sp.issparse(value) and value.format == "csr" and _has_shape(value.shape, dims, sizes)):
        return False
    return value.dtype.char in types and bool(np.isfinite(value.data).all())


def _has_shape(shape: tuple[int, ...], dims: tuple[str, ...], sizes: Sizes) -> bool:
    return len(shape) == len(dims) and all(
        n == (int(dim) if dim.isdigit() else sizes.setdefault(dim, n))
        for n, dim in zip(shape, dims, strict=True)
    )


_RULES: dict[str, Callable[..., bool]] = {
    "absent": lambda value, sizes: value is _ABSENT,
    "none": lambda value, sizes: value is None,
    "anything": lambda value, sizes: value is not _ABSENT,
    "flag": lambda value, sizes: isinstance(value, bool | np.bool_),
    "text": lambda value, sizes: type(value) is str,
    "word": lambda value, sizes, *words: type(value) is str and value in words,
    "function": lambda value, sizes: isinstance(value, np.ufunc | FunctionType),
    # Finite, from the least to the most.
    "number": _number,
    "positive": lambda value, sizes: _number(value, sizes) and bool(value > 0),
    "whole": _whole,
    # A whole number from 1 up, by its name.
    "size": lambda value, sizes, name: (
        _whole(value, sizes, "1", str(2**62)) and _has_shape((int(value),), (name,), sizes)
    ),
    # A number of processes.
    "jobs": lambda value, sizes: (
        value is None or (_whole(value, sizes, str(-(2**62)), str(2**62)) and value != 0)
    ),
    # A type of single or double precision.
    "precision": lambda value, sizes: (
        isinstance(value, str | type | np.dtype)
        and np.dtype(value) in (np.dtype("f4"), np.dtype("f8"))
    ),
    # An object of the class, or one that is derived from it, with these attributes.
    "a": lambda value, sizes, name, *attributes: (
        name in [base.__name__ for base in type(value).__mro__]
        and all(hasattr(value, attribute) for attribute in attributes)
    ),
    # An object, and not a class, with these attributes.
    "has": lambda value, sizes, *names: (
        not isinstance(value, type) and all(hasattr(value, name) for name in names)
    ),
    # Of any length; the rest is the specification of each part.
    "tuple": lambda value, sizes, *words: (
        type(value) is tuple and all(fits(part, " ".join(words), sizes) for part in value)
    ),
    # A dict of numbers by words.
    "numbers": lambda value, sizes: all(
        type(key) is str and _number(each, sizes) for key, each in value.items()
    ),
    # Of NumPy's kinds and of this shape.
    "array": _array,
    # Finite, in single or double precision.
    "floats": _floats,
    # The same for compiled code: products of two are finite, and the byte order is native.
    "moderate": lambda value, sizes, *dims: (
        _floats(value, sizes, *dims, most=_MODERATE) and value.dtype.isnative
    ),
    # Whole numbers, each from 0 up and below a size.
    "places": lambda value, sizes, dim, _, within: (
        _array(value, sizes, "iu", dim) and bool(((value >= 0) & (value < sizes[within])).all())
    ),
    # Finite numbers, text, or both as Python has them.
    "labels": lambda value, sizes, dim: (
        _array(value, sizes, "biufUO", dim)
        and len(value) > 0
        and (value.dtype.kind != "f" or bool(np.isfinite(value).all()))
    ),
    "names": lambda value, sizes, dim: (
        _array(value, sizes, "OU", dim) and all(isinstance(x, str) for x in value.tolist())
    ),
    # A sparse matrix of finite numbers of these types, which are NumPy's letters.
    "csr": _csr,
}
