"""Data sets from OpenML, by number, and whether they are what was meant.

scikit-learn compares OpenML's file with the hash that OpenML states. Here it is compared with the
name, the shape, the classes and the range of values that are known beforehand.
"""

import hashlib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from papers.datasets.facts import Facts, OpenML
from papers.datasets.npz import check
from papers.errors import CorruptFileError, MissingDatasetError

# What `urllib` opens addresses with, but for files, ftp and data in the address itself.
_WEB = (
    urllib.request.ProxyHandler,
    urllib.request.UnknownHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPRedirectHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
)


def from_openml(facts: Facts) -> dict[str, Any]:
    """The arrays of a data set, as `papers.datasets.npz` packs them."""
    assert facts.openml is not None
    where = f"OpenML {facts.openml.id}"
    told = _answer(facts.openml, where)
    try:
        X, y = _numbers(told), _codes(told.target)
    except (ValueError, TypeError) as error:
        raise CorruptFileError(f"{where} is no table of numbers with classes: {error}") from error
    arrays: dict[str, Any] = {"X": X, "y": y, "feature_names": np.array(told.feature_names)}
    check(arrays, facts, where)
    _check_resemblance(X, y, facts, where)
    arrays["X"] = X.astype(facts.dtype)
    if facts.n_train and _hash(y) == facts.labels:
        arrays["n_train"] = np.array(facts.n_train)
    return {**arrays, "origin": np.array(where)}


@contextmanager
def web_only() -> Iterator[None]:
    """Here `urlopen`, which scikit-learn uses, opens addresses of the web alone, redirects too."""
    opener = urllib.request.OpenerDirector()
    for handler in _WEB:
        opener.add_handler(handler())
    before = getattr(urllib.request, "_opener", None)
    urllib.request.install_opener(opener)
    try:
        yield
    finally:
        urllib.request.install_opener(before)


def _answer(place: OpenML, where: str) -> Bunch:
    """What scikit-learn reads of a data set, if it is a dense table of this name."""
    try:
        # scikit-learn's cache would write wherever the path of the file's address leads. Without
        # it the file is fetched twice, once to compare its hash and once to be read.
        with web_only():
            told = fetch_openml(data_id=place.id, cache=False, as_frame=False, parser="liac-arff")
    except (OSError, HTTPException) as error:
        raise MissingDatasetError(f"{where} could not be fetched: {error}.") from error
    except Exception as error:  # the reader's errors have no class in common
        raise CorruptFileError(f"{where} is no table that can be read: {error!r}.") from error
    if _letters(told.details["name"]) != _letters(place.name):
        raise CorruptFileError(f"{where} is {told.details['name']!r} and not {place.name!r}.")
    if told.details["format"].upper() != "ARFF":
        raise CorruptFileError(f"{where} is no dense table.")
    return told


def _numbers(told: Bunch) -> np.ndarray:
    """X, with the numbers that categories are named by in place of their places in a list."""
    X = np.array(told.data, dtype=float)
    for column, name in enumerate(told.feature_names):
        if name in told.categories:
            X[:, column] = np.array(told.categories[name], float)[X[:, column].astype(int)]
    return X


def _codes(labels: Any) -> np.ndarray:
    """0, 1, … for the labels in the order of their numbers, or of the alphabet."""
    names, codes = np.unique(np.asarray(labels).astype(str), return_inverse=True)
    try:
        order = np.argsort(np.argsort(names.astype(float)))
    except ValueError:
        return codes.astype(np.int64)
    return order[codes].astype(np.int64)


def _check_resemblance(X: np.ndarray, y: np.ndarray, facts: Facts, where: str) -> None:
    """Refuse other data of the same shape, and the same data on another scale."""
    counts = sorted(np.bincount(y, minlength=facts.classes).tolist())
    if facts.counts and counts != sorted(facts.counts):
        raise CorruptFileError(f"{where} has other numbers of rows in its classes: {counts}.")
    found = (X.min(), X.max())
    if facts.span and not np.allclose(found, facts.span, rtol=1e-3, atol=1e-6):
        low, high = facts.span
        raise CorruptFileError(
            f"{where} has values from {found[0]:g} to {found[1]:g}, not from {low:g} to {high:g}."
        )
    dtype = np.dtype(facts.dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if (np.rint(X) != X).any() or found[0] < limits.min or found[1] > limits.max:
            raise CorruptFileError(f"{where} has values that are not whole numbers of {dtype}.")


def _hash(y: np.ndarray) -> str:
    """How `Facts.labels` is made; the order of the rows shows in it."""
    return hashlib.sha256(y.astype("<i8").tobytes()).hexdigest()[:16]


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
