"""What scikit-learn's encoders of categories in a file must be like: see `scikit`.

They search among categories and write at the places that they find, and nothing looks at these
again.
"""

from typing import Any

import numpy as np

from ulmus.persistence.rules import Sizes, array, number, places, whole

__all__ = ["each_category", "one_hot", "ordinal"]

# Types of numbers that a sparse matrix can have, which float16 is none of.
_SPARSE = "?bBhHiIlLqQfdg"


def _sorted(kinds: np.ndarray) -> bool:
    """Numbers ascend, and a NaN is the last; they are searched by halves."""
    if kinds.dtype.kind in "OUS":
        return True
    known = kinds[kinds == kinds]
    at_end = not (kinds[: len(known)] != kinds[: len(known)]).any()
    return at_end and len(kinds) - len(known) <= 1 and bool((known[1:] > known[:-1]).all())


def each_category(value: Any, sizes: Sizes) -> bool:
    """Categories for every column, those that are numbers in order."""
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


def one_hot(made: Any, sizes: Sizes) -> bool:
    """As many columns as the groups make, for each row gets a one at the place of its group."""
    reaches, drops = _grouped(made, sizes), made._drop_idx_after_grouping
    dtype = np.dtype(made.dtype)
    if reaches is None or dtype.char not in _SPARSE or not dtype.isnative:
        return False
    if drops is not None:
        if not array("iuO", "d")(drops, sizes):
            return False
        pairs = list(zip(drops.tolist(), reaches, strict=True))
        if any(drop is not None and not whole(0, reach - 1)(drop, {}) for drop, reach in pairs):
            return False
        reaches = [reach - (drop is not None) for drop, reach in pairs]
    outs = made._n_features_outs
    return type(outs) is list and outs == reaches


def ordinal(made: Any, sizes: Sizes) -> bool:
    """Codes, and numbers for what is missing or unknown, that the type of the answer can hold."""
    dtype, missing = np.dtype(made.dtype), _missing(made)
    if made._missing_indices != missing or _grouped(made, sizes) is None or dtype.kind not in "iuf":
        return False
    # 0 is equal to 0.0 and False, by which no column is found.
    if not all(type(number) is int for pair in made._missing_indices.items() for number in pair):
        return False
    unknown = made.handle_unknown == "use_encoded_value"
    return (not missing or _held(made.encoded_missing_value, dtype)) and (
        not unknown or _held(made.unknown_value, dtype)
    )


def _missing(made: Any) -> dict[int, int]:
    """The place of NaN in each column that has one, which is the last."""
    lasts = {j: kinds[-1] for j, kinds in enumerate(made.categories_)}
    return {
        j: len(made.categories_[j]) - 1
        for j, last in lasts.items()
        if isinstance(last, float | np.floating) and last != last
    }


def _held(value: Any, dtype: np.dtype) -> bool:
    """Whether a type has this number; NaN is one of those with a point."""
    if dtype.kind == "f":
        largest = float(np.finfo(dtype).max)
        return (isinstance(value, float) and value != value) or number(-largest, largest)(value, {})
    limits = np.iinfo(dtype)
    return whole(int(limits.min), int(limits.max))(value, {})
