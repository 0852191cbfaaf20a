"""Data sets from OpenML, by number: description, file, and whether they are what was meant.

The description states the file's address and its hash; a file is only believed if it has that
hash, the data set's name, and the shape, classes and range of values that are known beforehand.
"""

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from ulmus.datasets.archive import check
from ulmus.datasets.arff import read_arff
from ulmus.datasets.download import downloaded, page
from ulmus.datasets.registry import Facts, OpenML
from ulmus.exceptions import CorruptFileError

__all__ = ["from_openml"]

ADDRESS = "https://www.openml.org/api/v1/json/data/{}"
_DESCRIPTION_LIMIT = 2**20
# The longest a number is written, with its comma.
_FIELD = 26


def from_openml(facts: Facts, place: OpenML, folder: Path) -> dict[str, Any]:
    """The arrays of a data set, as `ulmus.datasets.archive` packs them."""
    address = ADDRESS.format(place.id)
    told = _description(address, place)
    limit = _FIELD * (facts.shape[0] + 2) * (facts.shape[1] + 3) + 2**20
    digest = ("md5", told["md5_checksum"].lower())
    with downloaded(_safe(told["url"], address), folder, place.name, digest, limit) as path:
        ignored = _names(told.get("row_id_attribute")) | _names(told.get("ignore_attribute"))
        target = str(told["default_target_attribute"])
        X, labels, names = read_arff(path, target, ignored, facts.shape)
    arrays: dict[str, Any] = {"X": X, "y": _codes(labels), "feature_names": np.array(names)}
    check(arrays, facts, address)
    _resembles(arrays, facts, address)
    arrays["X"] = _stored(X, facts, address)
    if facts.n_train and _hash(arrays["y"]) == facts.labels:
        arrays["n_train"] = np.array(facts.n_train)
    arrays["origin"] = np.array(f"OpenML {place.id}")
    return arrays


def _description(address: str, place: OpenML) -> dict[str, Any]:
    try:
        told = json.loads(page(address, _DESCRIPTION_LIMIT))["data_set_description"]
        wanted = ("url", "md5_checksum", "default_target_attribute", "name", "format")
        complete = all(isinstance(told[key], str) for key in wanted)
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptFileError(f"{address} does not describe a data set.") from error
    if not complete or told["format"].upper() != "ARFF":
        raise CorruptFileError(f"{address} does not describe a dense table with a target.")
    if _letters(told["name"]) != _letters(place.name):
        raise CorruptFileError(
            f"{address} describes {told['name']!r} and not {place.name!r}; the number is wrong."
        )
    result: dict[str, Any] = told
    return result


def _safe(url: str, address: str) -> str:
    """The file's address, which must be at the site that described it, and no less secret."""
    home, there = urlsplit(address), urlsplit(url)
    site = ".".join((home.hostname or "").split(".")[-2:])
    host = there.hostname or ""
    if host != home.hostname and not host.endswith(f".{site}") and host != site:
        raise CorruptFileError(f"{address} points to a file at {host!r}, which is another site.")
    return urlunsplit(there._replace(scheme=home.scheme))


def _codes(labels: np.ndarray) -> np.ndarray:
    """0, 1, … for the labels in the order of their numbers, or of the alphabet."""
    names, codes = np.unique(labels, return_inverse=True)
    try:
        order = np.argsort(np.argsort(names.astype(float)))
    except ValueError:
        return codes.astype(np.int64)
    return order[codes].astype(np.int64)


def _resembles(arrays: dict[str, Any], facts: Facts, address: str) -> None:
    """Refuse other data of the same shape, and the same data on another scale."""
    counts = sorted(np.bincount(arrays["y"], minlength=facts.classes))
    if facts.counts and counts != sorted(facts.counts):
        raise CorruptFileError(f"{address} has other numbers of rows in its classes: {counts}.")
    found = (float(arrays["X"].min()), float(arrays["X"].max()))
    if facts.span and not np.allclose(found, facts.span, rtol=1e-3, atol=1e-6):
        raise CorruptFileError(
            f"{address} has values from {found[0]:g} to {found[1]:g} and not from "
            f"{facts.span[0]:g} to {facts.span[1]:g}."
        )


def _stored(X: np.ndarray, facts: Facts, address: str) -> np.ndarray:
    """X as the benchmark file stores it."""
    dtype = np.dtype(facts.dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        whole = bool((np.rint(X) == X).all()) and X.min() >= limits.min and X.max() <= limits.max
        if not whole:
            raise CorruptFileError(f"{address} has values that are not whole numbers of {dtype}.")
    return X.astype(dtype)


def _hash(y: np.ndarray) -> str:
    """How `Facts.labels` is made; the order of the rows shows in it."""
    return hashlib.sha256(y.astype("<i8").tobytes()).hexdigest()[:16]


def _names(value: Any) -> frozenset[str]:
    """OpenML gives one name, several with commas, or a list."""
    if value is None:
        return frozenset()
    parts = value if isinstance(value, list) else str(value).split(",")
    return frozenset(str(part).strip().strip("'\"") for part in parts if str(part).strip())


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
