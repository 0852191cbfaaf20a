"""What the attributes of an object from a file must be: rules, and layouts made of them.

A rule takes a value and the sizes met so far, and says whether the value will do. Sizes are named:
``floats("h", "d")`` is a matrix whose numbers of rows and columns are called h and d, and wherever
else in the same layout h stands, it must be the same number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = [
    "Layout",
    "Rule",
    "Sizes",
    "any_of",
    "array",
    "flag",
    "floats",
    "has",
    "is_a",
    "labels",
    "maybe",
    "names",
    "nothing",
    "number",
    "places",
    "precision",
    "size",
    "sparse_rows",
    "text",
    "tuple_of",
    "whole",
    "word",
]

Sizes = dict[str, int]
Rule = Callable[[Any, Sizes], bool]
_ABSENT = object()
# What scikit-learn's transformers can be told to give.
_CONTAINERS = ("default", "pandas", "polars", None)


@dataclass(frozen=True)
class Layout:
    """The rules for the attributes of one class.

    ``fitted`` are for the attributes that a fit sets; an object has all of them, or is not fitted.
    ``read`` are for parameters that a fitted object goes on reading, and ``more`` says of a fitted
    object whether its attributes fit each other. ``always`` says of every object whether it will
    do.
    """

    fitted: Mapping[str, Rule] = field(default_factory=dict)
    read: Mapping[str, Rule] = field(default_factory=dict)
    more: Callable[[Any, Sizes], bool] | None = None
    always: Callable[[Any], bool] | None = None

    def check(self, made: Any) -> None:
        """Refuse an object that does not obey."""
        whole = f"the parts of {type(made).__name__} do not fit each other"
        state = vars(made)
        if self.always is not None and not self.always(made):
            raise ValueError(whole)
        if not _is_output_config(state.get("_sklearn_output_config", {})):
            raise ValueError(whole)
        if not any(name in state for name in self.fitted) and not _looks_fitted(state):
            return
        sizes: Sizes = {}
        for name, rule in {**self.fitted, **self.read}.items():
            if not rule(state.get(name, _ABSENT), sizes):
                raise ValueError(f"{name} of {type(made).__name__} does not fit the rest of it")
        if self.more is not None and not self.more(made, sizes):
            raise ValueError(whole)


def _is_output_config(value: Any) -> bool:
    """What ``set_output`` of any transformer leaves: a word for each method."""
    return type(value) is dict and all(
        type(method) is str and kind in _CONTAINERS for method, kind in value.items()
    )


def _looks_fitted(state: Mapping[str, Any]) -> bool:
    """Whether scikit-learn would take an object for fitted."""
    return any(name.endswith("_") and not name.startswith("__") for name in state)


# ---------------------------------------------------------------- one value
def nothing(value: Any, sizes: Sizes) -> bool:
    """None."""
    return value is None


def flag(value: Any, sizes: Sizes) -> bool:
    """True or False."""
    return isinstance(value, bool | np.bool_)


def maybe(rule: Rule) -> Rule:
    """What the rule says, or None, or nothing at all."""
    return lambda value, sizes: value is _ABSENT or value is None or rule(value, sizes)


def any_of(*rules: Rule) -> Rule:
    """What one of the rules says."""
    return lambda value, sizes: any(rule(value, sizes) for rule in rules)


def word(*words: str | None) -> Rule:
    """One of these words."""
    return lambda value, sizes: (value is None or type(value) is str) and value in words


def text(value: Any, sizes: Sizes) -> bool:
    """Any text."""
    return type(value) is str


def tuple_of(rule: Rule) -> Rule:
    """A tuple of what the rule says."""
    return lambda value, sizes: type(value) is tuple and all(rule(part, sizes) for part in value)


def number(least: float = -np.inf, most: float = np.inf, *, above: bool = False) -> Rule:
    """A finite number from ``least`` to ``most``; ``above`` excludes the least."""

    def rule(value: Any, sizes: Sizes) -> bool:
        # A whole number of Python's may be larger than any float.
        if not _is_number(value) or not abs(value) <= np.finfo(float).max:
            return False
        return bool(least < value <= most if above else least <= value <= most)

    return rule


def whole(least: int, most: int) -> Rule:
    """A whole number from ``least`` to ``most``."""
    return lambda value, sizes: _is_whole(value) and least <= value <= most


def size(name: str) -> Rule:
    """A whole number from 1 up, which is the size of that name."""
    return lambda value, sizes: (
        _is_whole(value) and value >= 1 and _fits((int(value),), (name,), sizes)
    )


def precision(value: Any, sizes: Sizes) -> bool:
    """A type of floating-point numbers, or None for that of the input."""
    if value is None:
        return True
    known = isinstance(value, str | type | np.dtype)
    return known and np.dtype(value) in (np.dtype(np.float32), np.dtype(np.float64))


def is_a(*classes: type, **attributes: str) -> Rule:
    """An object of one of the classes; ``attributes`` says which of its numbers are which size."""

    def rule(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, classes) and all(
            size(name)(getattr(value, attribute, None), sizes)
            for attribute, name in attributes.items()
        )

    return rule


def has(*methods: str) -> Rule:
    """An object, and not a class, with these methods."""
    return lambda value, sizes: (
        not isinstance(value, type) and all(hasattr(value, name) for name in methods)
    )


# ---------------------------------------------------------------- arrays
def array(kinds: str, *dims: str | int) -> Rule:
    """An array of numbers or text of these kinds and of this shape."""

    def rule(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            return False
        return _fits(value.shape, dims, sizes)

    return rule


def floats(*dims: str | int, most: float = np.inf) -> Rule:
    """An array of finite float32 or float64 of this shape, none of them larger than ``most``."""

    def rule(value: Any, sizes: Sizes) -> bool:
        if not array("f", *dims)(value, sizes) or value.dtype.itemsize not in (4, 8):
            return False
        return bool((np.abs(value) <= min(most, np.finfo(value.dtype).max)).all())

    return rule


def places(*dims: str | int, within: str) -> Rule:
    """An array of whole numbers, each from 0 up and below the size ``within``."""

    def rule(value: Any, sizes: Sizes) -> bool:
        if not array("iu", *dims)(value, sizes) or within not in sizes:
            return False
        return not value.size or (int(value.min()) >= 0 and int(value.max()) < sizes[within])

    return rule


def labels(dim: str) -> Rule:
    """A row of labels: finite numbers, text, or both as Python has them."""

    def rule(value: Any, sizes: Sizes) -> bool:
        if not array("biufUO", dim)(value, sizes) or len(value) == 0:
            return False
        return value.dtype.kind != "f" or bool(np.isfinite(value).all())

    return rule


def names(dim: str) -> Rule:
    """A row of text."""

    def rule(value: Any, sizes: Sizes) -> bool:
        return array("OU", dim)(value, sizes) and all(isinstance(x, str) for x in value.tolist())

    return rule


def sparse_rows(*dims: str, types: str = "fd") -> Rule:
    """A CSR matrix of finite numbers of these types, which are NumPy's letters."""

    def rule(value: Any, sizes: Sizes) -> bool:
        if not (sp.issparse(value) and value.format == "csr" and _fits(value.shape, dims, sizes)):
            return False
        return value.dtype.char in types and bool(np.isfinite(value.data).all())

    return rule


def _is_number(value: Any) -> bool:
    kinds = int | float | np.integer | np.floating
    return isinstance(value, kinds) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _fits(shape: tuple[int, ...], dims: tuple[str | int, ...], sizes: Sizes) -> bool:
    """Whether a shape has these sizes; one that is new gets its number here."""
    if len(shape) != len(dims):
        return False
    return all(
        n == (sizes.setdefault(dim, n) if isinstance(dim, str) else dim)
        for n, dim in zip(shape, dims, strict=True)
    )
