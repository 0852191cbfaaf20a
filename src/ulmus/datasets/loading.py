"""Data sets by name, from wherever they are nearest."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.utils import Bunch

from ulmus.datasets import folders
from ulmus.datasets.archive import pack, unpack
from ulmus.datasets.download import downloaded
from ulmus.datasets.generated import (
    make_g50c,
    make_spirals,
    make_synthetic_control,
    make_waveform,
    tic_tac_toe,
)
from ulmus.datasets.openml import from_openml
from ulmus.datasets.pictures import PICTURES
from ulmus.datasets.registry import Facts, lookup
from ulmus.datasets.tables import TABLES
from ulmus.exceptions import CorruptFileError, MissingDatasetError

__all__ = ["DATASETS", "Entry", "catalogue", "fetch", "load"]

DATASETS: dict[str, Facts] = dict(sorted({**PICTURES, **TABLES}.items()))

Folder = str | os.PathLike[str] | None

_BUNDLED: dict[str, Callable[[], Bunch]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
_GENERATED: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "g50c": make_g50c,
    "synthetic_control": make_synthetic_control,
    "tic_tac_toe": tic_tac_toe,
    "two_moons": lambda: make_moons(500, noise=0.1, random_state=0),
    "two_spirals": make_spirals,
    "waveform": make_waveform,
}
# What is generated for these is another draw than the one that was published.
_REDRAWN = ("g50c", "synthetic_control", "waveform")


@dataclass(frozen=True)
class Entry:
    """A line of the catalogue; ``source`` is where the data would come from now.

    Parameters
    ----------
    name : str
        What `load` knows it by.
    rows, columns, classes : int
        Its shape; 0 classes are numbers to predict.
    source : str
        "ULMUS_DATA", "cache", "bundled", "generated", "network" or "absent".
    licence : str
        Under what terms it may be used.

    Examples
    --------
    >>> from ulmus.datasets import catalogue
    >>> entry = next(entry for entry in catalogue() if entry.name == "wine")
    >>> entry.rows, entry.columns, entry.classes
    (178, 13, 3)
    """

    name: str
    rows: int
    columns: int
    classes: int
    source: str
    licence: str


def load(
    name: str, *, data_dir: Folder = None, cache_dir: Folder = None, download: bool = True
) -> Bunch:
    """A data set by name.

    It is looked for in the user's directory of data files, then in the cache. What is not there
    comes from scikit-learn or is generated where that is possible, and from the network where it
    is not. Whatever comes is held against the hash, shape and classes that are known beforehand.

    Parameters
    ----------
    name : str
        One of those that `catalogue` lists.
    data_dir : str or path, default=None
        A directory of data files; the one in ``ULMUS_DATA`` if not given.
    cache_dir : str or path, default=None
        Where fetched files are kept; see `cache_directory`.
    download : bool, default=True
        Whether the network may be asked.

    Returns
    -------
    data : Bunch
        Always with ``data`` (a CSR array if sparse), ``target`` (classes from 0, or numbers),
        ``name``, ``description``, ``licence``, ``citation``, ``source`` ("ULMUS_DATA", "cache",
        "bundled", "generated" or "network"), ``filename`` (None where there is no file) and
        ``published`` (whether the rows are the published ones, and not a new draw of the same law).
        Where they exist: ``train`` and ``test``, the row numbers of the official split;
        ``labelled`` and ``unlabelled``, those of published splits, one in each row;
        ``feature_names``, ``target_names``, ``image_shape``.

    Examples
    --------
    >>> from ulmus.datasets import load
    >>> digits = load("digits")
    >>> digits.data.shape, digits.image_shape, digits.source
    ((1797, 64), (8, 8), 'bundled')
    """
    facts = lookup(name, DATASETS)
    found = _from_disk(name, facts, data_dir, cache_dir)
    if found is None:
        if name in _BUNDLED:
            return _bundled(name, facts)
        if name in _GENERATED:
            X, y = _GENERATED[name]()
            return _bunch(name, facts, {"X": X, "y": y}, "generated")
        path = _fetched(name, facts, folders.cache_directory(cache_dir), download)
        found = "network", path, unpack(path.read_bytes(), facts, str(path))
    source, path, arrays = found
    return _bunch(name, facts, arrays, source, path)


def fetch(name: str, *, data_dir: Folder = None, cache_dir: Folder = None) -> Path | None:
    """See to it that a data set's published file is on this machine.

    Parameters
    ----------
    name : str
        One of those that `catalogue` lists.
    data_dir, cache_dir : str or path, default=None
        As for `load`.

    Returns
    -------
    path : Path or None
        Where the file is; None for data that come with scikit-learn or are always generated, of
        which there is nothing to fetch.

    Examples
    --------
    >>> from ulmus.datasets import fetch
    >>> fetch("two_moons") is None
    True
    """
    facts = lookup(name, DATASETS)
    found = _from_disk(name, facts, data_dir, cache_dir)
    if found is not None:
        return found[1]
    if name in _BUNDLED or (name in _GENERATED and not _addresses(facts)):
        return None
    return _fetched(name, facts, folders.cache_directory(cache_dir), True)


def catalogue(*, data_dir: Folder = None, cache_dir: Folder = None) -> list[Entry]:
    """Every data set, and where it would come from now.

    Parameters
    ----------
    data_dir, cache_dir : str or path, default=None
        As for `load`.

    Returns
    -------
    entries : list of Entry
        In the order of the names. A source of "absent" means that no address is known and that
        only a file in the user's directory helps.

    Examples
    --------
    >>> from ulmus.datasets import catalogue
    >>> [entry.classes for entry in catalogue() if entry.name == "mnist"]
    [10]
    """
    folder, cache = folders.data_directory(data_dir), folders.cache_directory(cache_dir)

    def source(name: str, facts: Facts) -> str:
        if folder and facts.sha256 and (folder / f"{name}.npz").is_file():
            return "ULMUS_DATA"
        if folders.candidates(name, facts, cache):
            return "cache"
        if name in _BUNDLED or name in _GENERATED:
            return "bundled" if name in _BUNDLED else "generated"
        return "network" if _addresses(facts) else "absent"

    return [
        Entry(name, *facts.shape, facts.classes, source(name, facts), facts.licence)
        for name, facts in DATASETS.items()
    ]


def _from_disk(
    name: str, facts: Facts, data_dir: Folder, cache_dir: Folder
) -> tuple[str, Path, dict[str, Any]] | None:
    """A file that is here already, its source and its arrays."""
    own = folders.own_file(name, facts, folders.data_directory(data_dir))
    if own is not None:
        return "ULMUS_DATA", own[0], unpack(own[1], facts, str(own[0]))
    for path, blob in folders.cached(name, facts, folders.cache_directory(cache_dir)):
        try:
            return "cache", path, unpack(blob, facts, str(path))
        except CorruptFileError:
            continue  # something else's file under a name of ours; the network has the right one
    return None


def _addresses(facts: Facts) -> bool:
    return bool(facts.openml or (facts.sha256 and os.environ.get("ULMUS_MIRROR")))


def _fetched(name: str, facts: Facts, cache: Path, download: bool) -> Path:
    """The file in the cache, from the mirror if one is named and has it, or else from OpenML."""
    if not _addresses(facts):
        raise MissingDatasetError(
            f"{name} is not on this machine, and no public address of it is known. "
            f"{_help(name, facts)}"
        )
    if not download:
        raise MissingDatasetError(f"{name} is not on this machine. {_help(name, facts)}")
    try:
        with folders.writable(cache):
            return _from_mirror(name, facts, cache) or _from_openml(name, facts, cache)
    except MissingDatasetError as error:
        raise MissingDatasetError(
            f"{name} is not on this machine, and {error} {_help(name, facts)}"
        ) from error


def _from_mirror(name: str, facts: Facts, cache: Path) -> Path | None:
    """The benchmark file, from the address in ULMUS_MIRROR."""
    mirror = os.environ.get("ULMUS_MIRROR")
    if not (mirror and facts.sha256):
        return None
    url = f"{mirror.rstrip('/')}/{name}.npz"
    try:
        with downloaded(url, cache, name, ("sha256", facts.sha256), facts.size) as path:
            blob = path.read_bytes()
    except MissingDatasetError:
        if facts.openml:
            return None
        raise
    unpack(blob, facts, url)
    return folders.store(name, blob, cache)


def _from_openml(name: str, facts: Facts, cache: Path) -> Path:
    assert facts.openml is not None
    blob = pack(from_openml(facts, facts.openml, cache))
    return folders.store(name, blob, cache)


def _help(name: str, facts: Facts) -> str:
    """What gets a data set onto this machine."""
    ways = []
    if facts.sha256:
        ways.append(f"put {name}.npz into the directory that ULMUS_DATA names")
    if facts.openml:
        ways.append(f"run `ulmus data fetch {name}` where there is a network")
    if facts.sha256 and not facts.openml:
        ways.append("set ULMUS_MIRROR to an address that serves it")
    text = ", or ".join(ways)
    return f"{text[0].upper()}{text[1:]}."


def _bundled(name: str, facts: Facts) -> Bunch:
    """scikit-learn's copy, in our words."""
    theirs = _BUNDLED[name]()
    more = {
        "feature_names": np.asarray(theirs.feature_names),
        "target_names": np.asarray(theirs.target_names),
    }
    return _bunch(name, facts, {"X": theirs.data, "y": theirs.target, **more}, "bundled")


def _bunch(
    name: str, facts: Facts, arrays: dict[str, Any], source: str, path: Path | None = None
) -> Bunch:
    """The arrays with all that belongs to them."""
    published = not (source == "generated" and name in _REDRAWN)
    bunch = Bunch(
        data=arrays["X"],
        target=arrays["y"],
        name=name,
        description=facts.about if published else f"{facts.about} A new draw of the same law.",
        licence=facts.licence,
        citation=facts.citation,
        source=source,
        filename=None if path is None else str(path),
        published=published,
    )
    if "n_train" in arrays:
        rows = np.arange(facts.shape[0])
        bunch.train, bunch.test = rows[: facts.n_train], rows[facts.n_train :]
    for ours, theirs in (("labelled", "idxLabs"), ("unlabelled", "idxUnls"), ("date", "date")):
        if theirs in arrays:
            bunch[ours] = arrays[theirs]
    for key, fallback in (
        ("feature_names", facts.feature_names),
        ("target_names", facts.target_names),
    ):
        if key in arrays or fallback:
            bunch[key] = np.asarray(arrays.get(key, fallback))
    if facts.image_shape:
        bunch.image_shape = facts.image_shape
    return bunch
