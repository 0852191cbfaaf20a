"""Every single change: each value in the file of each model in turn is one of a list, or missing.

The seed changes nothing: the cases are all there are.
"""

import json
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from attack.bases import NAMES, model
from attack.documents import (
    NUMBERS,
    SHAPES,
    TYPES,
    VALUES,
    WORDS,
    of_type,
    packed,
    places,
    with_value,
)
from attack.files import LIMIT, MEMORY, judged
from attack.outcomes import Result

__all__ = ["LIMIT", "MEMORY", "attack"]

# What is neither a number nor a word.
_OTHERS = (
    {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"array": 0}, {"tuple": []}, [],
    {"dict": []}, {"scalar": ["<f8", 1.0]}, {"scalar": ["<f4", 1e308]}, {"dtype": "<f8"},
)  # fmt: skip

Change = tuple[str, int, Any]


def __getattr__(name: str) -> int:
    if name != "COUNT":
        raise AttributeError(name)
    return _ends()[-1]


def attack(seed: int, number: int) -> Result:
    """Case ``number``: refused with a sentence, or harmless."""
    base = next(i for i, end in enumerate(_ends()) if number < end)
    kind, place, value = _changes(NAMES[base])[number - (_ends()[base - 1] if base else 0)]
    outcome, detail = judged(NAMES[base], _changed(NAMES[base], kind, place, value), False)
    return Result(f"one {kind}", outcome, detail)


@cache
def _ends() -> list[int]:
    """The number after the last case of each model."""
    return list(accumulate(len(_changes(name)) for name in NAMES))


@lru_cache(2)
def _changes(name: str) -> list[Change]:
    return [*_of_document(name), *_of_arrays(name)]


def _of_document(name: str) -> Iterator[Change]:
    found = places([json.loads(model(name).text)["model"]])
    words = sorted({holder[key] for holder, key in found if isinstance(holder[key], str)})
    for place, (holder, key) in enumerate(found):
        old, values = holder[key], [*NUMBERS, *WORDS, *_OTHERS]
        if isinstance(old, str):
            values += [old[:-1], old + "x", old.upper(), *words]
        elif isinstance(old, int | float) and not isinstance(old, bool):
            values += [old + 1, old - 1, -old, old * 10, old / 2]
        yield from (("value", place, value) for value in values)
        yield "part missing", place, None


def _of_arrays(name: str) -> Iterator[Change]:
    for place, array in enumerate(model(name).arrays):
        if array.dtype.kind in "biuf" and array.size:
            wheres = (slice(None), array.size // 2, slice(0, None, 2), slice(-1, None))
            yield from (("number", place, (v, where)) for v in VALUES for where in wheres)
        yield from (("type", place, kind) for kind in TYPES if kind != "|O")
        if array.ndim:
            yield from (("shape", place, way) for way in range(len(SHAPES)))


def _changed(name: str, kind: str, place: int, value: Any) -> bytes:
    """The file with this one change."""
    base = model(name)
    document, arrays = json.loads(base.text), list(base.arrays)
    if kind in ("value", "part missing"):
        holder, key = places([document["model"]])[place]
        if kind == "value":
            holder[key] = value
        else:
            del holder[key]
    else:
        with np.errstate(all="ignore"):
            arrays[place] = _array(arrays[place], kind, value)
    return packed(document, arrays)


def _array(array: np.ndarray, kind: str, value: Any) -> np.ndarray:
    if kind == "number":
        return with_value(array, *value)
    return of_type(array, value) if kind == "type" else SHAPES[value](array)
