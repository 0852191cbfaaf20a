"""Targets and weights that no estimator was made for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from attack.rows import EQUAL, FINITE, REFUSED

__all__ = ["TARGETS", "WEIGHTS", "HostileTarget"]


@dataclass(frozen=True)
class HostileTarget:
    """A target, for which families of estimators, and what must become of it."""

    make: Callable[[np.ndarray], Any]
    must: str
    families: tuple[str, ...]


_CLASSES = ("classes", "few classes")
_VALUES = ("values", "few values")
_ALL = (*_CLASSES, *_VALUES)


def _objects(entries: list) -> np.ndarray:
    made = np.empty(len(entries), dtype=object)
    made[:] = entries
    return made


def _entry(value: Any, place: int = 4) -> Callable[[np.ndarray], Any]:
    def make(y: np.ndarray) -> np.ndarray:
        y = y.astype(object)
        y[place] = value
        return y

    return make


def _words(y: np.ndarray) -> list:
    return [None if label < 0 else "abc"[label] for label in y]


_ANY = {
    "nothing": (lambda y: None, REFUSED),
    "a number": (lambda y: 3, REFUSED),
    "a word": (lambda y: "y", REFUSED),
    "empty": (lambda y: y[:0], REFUSED),
    "too short": (lambda y: y[:-1], REFUSED),
    "too long": (lambda y: np.r_[y, y[:1]], REFUSED),
    "three dimensions": (lambda y: y[:, None, None], REFUSED),
    "complex": (lambda y: y + 1j, REFUSED),
    "a column": (lambda y: y[:, None], EQUAL),
    "a frame": (lambda y: pd.DataFrame({"y": y}), EQUAL),
    "a series with another index": (lambda y: pd.Series(y, index=range(90, 90 + len(y))), EQUAL),
    "list": (lambda y: y.tolist(), EQUAL),
    "objects": (lambda y: y.astype(object), EQUAL),
    "other byte order": (lambda y: y.astype(y.dtype.newbyteorder()), EQUAL),
    "negative strides": (lambda y: y[::-1].copy()[::-1], EQUAL),
    "lists": (lambda y: _objects([[v] * (1 + i % 2) for i, v in enumerate(y.tolist())]), REFUSED),
    "dicts": (lambda y: _objects([{"a": v} for v in y.tolist()]), REFUSED),
    "infinity": (lambda y: np.where(np.arange(len(y)) == 4, np.inf, y.astype(float)), REFUSED),
    "sparse column": (lambda y: sp.csr_array(y[:, None].astype(float)), REFUSED),
    "no column": (lambda y: np.empty((len(y), 0)), REFUSED),
}
_SUPERVISED = {
    "NaN": (lambda y: np.where(np.arange(len(y)) == 4, np.nan, y.astype(float)), REFUSED),
    "None": (_entry(None), REFUSED),
    "NA": (_entry(pd.NA), REFUSED),
    "all missing": (lambda y: np.full(len(y), np.nan), REFUSED),
}
_OF_CLASSES = {
    "one class": (lambda y: np.where(y < 0, y, 1), REFUSED),
    "numbers": (lambda y: np.linspace(0, 1, len(y)), REFUSED),
    "one-hot": (lambda y: np.eye(3)[y], REFUSED),
    "two columns": (lambda y: np.column_stack([y, y]), REFUSED),
    "whole floats": (lambda y: y.astype(float), EQUAL),
    "int8": (lambda y: y.astype(np.int8), EQUAL),
    "float16": (lambda y: y.astype(np.float16), EQUAL),
    "longdouble": (lambda y: y.astype(np.longdouble), EQUAL),
    "decimals": (lambda y: _objects([Decimal(int(v)) for v in y]), FINITE),
    "words": (_words, EQUAL),
    "bytes": (lambda y: _objects([None if v < 0 else b"abc"[v : v + 1] for v in y]), FINITE),
    "categories": (lambda y: pd.Series(_words(y), dtype="category"), EQUAL),
    "nullable words": (lambda y: pd.Series(_words(y), dtype="string"), EQUAL),
    "mixed types": (lambda y: _objects([None if v < 0 else (0, "a", 2.5)[v] for v in y]), FINITE),
    "numbers, named": (lambda y: _objects([-1 if v < 0 else (0, "0", "1")[v] for v in y]), FINITE),
    "tuples": (lambda y: _objects([None if v < 0 else (int(v), 1) for v in y]), FINITE),
    "huge labels": (lambda y: np.where(y < 0, y, y * 2**60), EQUAL),
    "datetimes": (lambda y: _objects([datetime(2020, 1, 1 + abs(int(v))) for v in y]), FINITE),
    "empty words": (lambda y: [None if v < 0 else ("", " ", "nan")[v] for v in y], FINITE),
}  # fmt: skip
_OF_FULL_CLASSES = {
    "moments": (lambda y: y.astype("datetime64[D]"), EQUAL),
    "a class for each row": (lambda y: np.arange(len(y)), FINITE),
    "two classes": (lambda y: y > 0, FINITE),
    "a class of one row": (lambda y: np.where(np.arange(len(y)) == 4, 7, y), FINITE),
    "negative labels": (lambda y: y - 5, EQUAL),
    "uint64": (lambda y: y.astype(np.uint64), EQUAL),
}
_OF_FEW_CLASSES = {
    "no labels": (lambda y: np.full(len(y), -1), REFUSED),
    "all missing": (lambda y: np.full(len(y), np.nan), REFUSED),
    "NaN for none": (lambda y: np.where(y < 0, np.nan, y), EQUAL),
    "None for none": (lambda y: _objects([None if v < 0 else int(v) for v in y]), EQUAL),
    "NA for none": (lambda y: _objects([pd.NA if v < 0 else int(v) for v in y]), EQUAL),
    "masked for none": (lambda y: np.ma.MaskedArray(np.abs(y), mask=y < 0), EQUAL),
    "one label of each class": (lambda y: np.where(np.arange(len(y)) < 3, y, -1), FINITE),
    "every label": (lambda y: np.arange(len(y)) % 3, FINITE),
}
_OF_VALUES = {
    "moments": (lambda y: np.arange(len(y)).astype("datetime64[D]"), REFUSED),
    "text": (lambda y: np.full(len(y), "a"), REFUSED),
    "numbers as text": (lambda y: np.array([f"{v}" for v in y]), REFUSED),
    "numbers as objects of text": (lambda y: _objects([f"{v}" for v in y]), REFUSED),
    "text among numbers": (_entry("a"), REFUSED),
    "constant": (lambda y: np.where(np.isnan(y), y, 2.5), FINITE),
    "zero": (lambda y: np.where(np.isnan(y), y, 0.0), FINITE),
    "times 1e300": (lambda y: 1e300 * y, FINITE),
    "times 1e160": (lambda y: 1e160 * y, FINITE),
    "times 1e-310": (lambda y: 1e-310 * y, FINITE),
    "offset 1e15": (lambda y: y + 1e15, FINITE),
    "two columns": (lambda y: np.column_stack([y, 2 * y]), FINITE),
    "longdouble": (lambda y: y.astype(np.longdouble), EQUAL),
    "decimals": (lambda y: _objects([Decimal(v) for v in y]), EQUAL),
    "frame of Float64": (lambda y: pd.DataFrame({"y": y}).astype("Float64"), EQUAL),
}


def _for(families: tuple[str, ...], found: dict[str, Any]) -> dict[str, HostileTarget]:
    ending = "" if len(families) > 2 else f" ({families[0]})"
    return {f"target: {name}{ending}": HostileTarget(*how, families) for name, how in found.items()}


TARGETS: dict[str, HostileTarget] = {
    **_for(_ALL, _ANY),
    **_for(("classes",), _SUPERVISED),
    **_for(("values",), _SUPERVISED),
    **_for(_CLASSES, _OF_CLASSES),
    **_for(("classes",), _OF_FULL_CLASSES),
    **_for(("few classes",), _OF_FEW_CLASSES),
    **_for(_VALUES, _OF_VALUES),
}

# Weights of n rows, and what must become of them; EQUAL ones all say that every row counts once.
WEIGHTS: dict[str, tuple[Callable[[int], Any], str]] = {
    "weight: negative": (lambda n: np.where(np.arange(n) == 4, -1.0, 1.0), REFUSED),
    "weight: all negative": (lambda n: -np.ones(n), REFUSED),
    "weight: NaN": (lambda n: np.where(np.arange(n) == 4, np.nan, 1.0), REFUSED),
    "weight: infinity": (lambda n: np.where(np.arange(n) == 4, np.inf, 1.0), REFUSED),
    "weight: zeros": (np.zeros, REFUSED),
    "weight: too short": (lambda n: np.ones(n - 1), REFUSED),
    "weight: too long": (lambda n: np.ones(n + 1), REFUSED),
    "weight: empty": (lambda n: np.ones(0), REFUSED),
    "weight: two columns": (lambda n: np.ones((n, 2)), REFUSED),
    "weight: text": (lambda n: np.full(n, "a"), REFUSED),
    "weight: None among objects": (lambda n: _objects([None] * n), REFUSED),
    "weight: NA": (lambda n: pd.Series([1, None] * (n // 2), dtype="Int64"), REFUSED),
    "weight: complex": (lambda n: np.ones(n) + 0j, REFUSED),
    "weight: moments": (lambda n: np.arange(n).astype("datetime64[D]"), REFUSED),
    "weight: a dict": (lambda n: {0: 1.0}, REFUSED),
    "weight: one row": (lambda n: (np.arange(n) == 4).astype(float), FINITE),
    "weight: 1e-300": (lambda n: np.full(n, 1e-300), FINITE),
    "weight: 1e300": (lambda n: np.full(n, 1e300), FINITE),
    "weight: 1e-300 and 1e300": (lambda n: np.where(np.arange(n) % 2, 1e-300, 1e300), FINITE),
    "weight: denormal": (lambda n: np.full(n, 1e-310), FINITE),
    "weight: booleans": (lambda n: np.ones(n, dtype=bool), EQUAL),
    "weight: integers": (lambda n: np.ones(n, dtype=int), EQUAL),
    "weight: list": (lambda n: [1.0] * n, EQUAL),
    "weight: float16": (lambda n: np.ones(n, dtype=np.float16), EQUAL),
    "weight: series": (lambda n: pd.Series(np.ones(n), index=range(90, 90 + n)), EQUAL),
    "weight: a number": (lambda n: 1.0, FINITE),
}
