"""A stored model in terms of JSON alone, for `describe`."""

import math
from typing import Any

from ulmus.persistence.archive import Archive
from ulmus.persistence.budget import Budget

__all__ = ["words"]

# Entries of an array that are shown.
_FEW = 20
# Charged for a list and each of its values, for a dict, and for a header that is read; see
# `ulmus.persistence.budget`.
_LIST, _VALUE, _DICT, _HEADER = 72, 8, 256, 512


def words(data: Any, opened: Archive, budget: Budget) -> Any:
    """Stored data in terms of JSON alone."""
    if isinstance(data, list):
        budget.spend(_LIST + _VALUE * len(data))
        return [words(part, opened, budget) for part in data]
    if not isinstance(data, dict):
        return data
    ((kind, inside),) = data.items()
    budget.spend(_DICT)
    if kind == "object":
        state = {key: words(part, opened, budget) for key, part in inside["state"].items()}
        fitted = {key: part for key, part in state.items() if key.endswith("_") and key[0] != "_"}
        params = {k: part for k, part in state.items() if not (k in fitted or k.startswith("_"))}
        return {"class": inside["class"], "params": params, "fitted": fitted}
    if kind == "dict":
        return {str(key): words(part, opened, budget) for key, part in inside}
    if kind == "array":
        shape, dtype = opened.header(inside)
        few = math.prod(shape) <= _FEW and dtype.kind != "S"
        # A file may refer to one array, and a text in it may be long, any number of times.
        budget.spend(_HEADER + (math.prod(shape) * dtype.itemsize if few else 0))
        return opened.array(inside).tolist() if few else f"{dtype} array of shape {shape}"
    if kind == "symmetric":
        return f"array of shape {(inside[1], inside[1])}"
    if kind == "sparse":
        return f"{inside['class']} of shape {tuple(inside['shape'])}"
    if kind == "scalar":
        return words(inside[1], opened, budget)
    if kind == "objects":
        return words(inside[1], opened, budget)
    return str(inside) if kind not in ("tuple", "slice") else words(inside, opened, budget)
