"""Data sets by name, from wherever they are nearest."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.utils import Bunch

from papers.datasets.cache import cached, candidates, downloaded, own_file, store
from papers.datasets.facts import DATASETS, Facts, lookup
from papers.datasets.generated import (
    make_g50c,
    make_synthetic_control,
    make_waveform,
    tic_tac_toe,
)
from papers.datasets.npz import pack, unpack
from papers.datasets.openml import from_openml
from papers.errors import CorruptFileError, MissingDatasetError

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
    "waveform": make_waveform,
}
# What is generated for these is another draw than the one that was published.
_REDRAWN = ("g50c", "synthetic_control", "waveform")


@dataclass(frozen=True)
class Entry:
    """A line of the catalogue.

    ``classes`` is 0 for regression; ``source`` is where the data would come from now:
    "ULMUS_DATA", "cache", "bundled", "generated", "network" or "absent".
    """

    name: str
    rows: int
    columns: int
    classes: int
    source: str
    licence: str


def load(name: str, *, download: bool = True) -> Bunch:
    """A data set by name.

    It is looked for in the user's directory of data files, then in the cache. What is not there
    comes from scikit-learn or is generated where that is possible, and from the network where it
    is not. Its hash, shape and classes must be those that are known beforehand.

    Parameters
    ----------
    name : str
        One of those that `catalogue` lists.
    download : bool, default=True
        Whether the network may be asked.

    Returns
    -------
    data : Bunch
        Always with ``data`` (a CSR array if sparse), ``target`` (classes from 0, or numbers),
        ``name``, ``description``, ``licence``, ``citation``, ``source`` (as in `Entry`),
        ``filename`` (None where there is no file) and ``published`` (False for a new draw from the
        same distribution). Where they exist: ``train`` and ``test``, the row numbers of the
        official split; ``labelled`` and ``unlabelled``, those of published splits, one in each
        row; ``feature_names``, ``target_names``, ``image_shape``.
    """
    facts = lookup(name)
    found = _from_disk(name, facts)
    if found is None:
        if name in _BUNDLED:
            return _bundled(name, facts)
        if name in _GENERATED:
            X, y = _GENERATED[name]()
            return _bunch(name, facts, {"X": X, "y": y}, "generated")
        path = _fetched(name, facts, download)
        found = "network", path, unpack(path.read_bytes(), facts, str(path))
    source, path, arrays = found
    return _bunch(name, facts, arrays, source, path)


def benchmark_rows(name: str) -> tuple[Any, np.ndarray]:
    """X in double precision, sparse where it is, and y, of a data set's published rows."""
    data = load(name)
    if not data.published:
        raise MissingDatasetError(
            f"The published rows of {name} are not on this machine, and a new draw would not give "
            f"the published figures. Put {name}.npz into the directory that ULMUS_DATA names."
        )
    return data.data.astype(float), data.target


def fetch(name: str) -> Path | None:
    """The published file of a data set, fetched if it is not here.

    None for data that come with scikit-learn or are always generated: there is nothing to fetch.
    """
    facts = lookup(name)
    found = _from_disk(name, facts)
    if found is not None:
        return found[1]
    if name in _BUNDLED or (name in _GENERATED and not _has_address(facts)):
        return None
    return _fetched(name, facts)


def catalogue() -> list[Entry]:
    """Every data set in the order of the names, and where it would come from now.

    A source of "absent" means that no address is known: only a file in the user's directory helps.
    """
    return [
        Entry(name, *facts.shape, facts.classes, _source(name, facts), facts.licence)
        for name, facts in sorted(DATASETS.items())
    ]


def _source(name: str, facts: Facts) -> str:
    if own_file(name, facts):
        return "ULMUS_DATA"
    if candidates(name, facts):
        return "cache"
    if name in _BUNDLED or name in _GENERATED:
        return "bundled" if name in _BUNDLED else "generated"
    return "network" if _has_address(facts) else "absent"


def _from_disk(name: str, facts: Facts) -> tuple[str, Path, dict[str, Any]] | None:
    """Source, path and arrays of a file that is here already."""
    own = own_file(name, facts)
    if own is not None:
        return "ULMUS_DATA", own, unpack(_own_bytes(name, facts, own), facts, str(own))
    for path, blob in cached(name, facts):
        try:
            return "cache", path, unpack(blob, facts, str(path))
        except CorruptFileError:
            continue  # another data set's file under this name; the network has the right one
    return None


def _own_bytes(name: str, facts: Facts, path: Path) -> bytes:
    blob = path.read_bytes()
    found = hashlib.sha256(blob).hexdigest()
    if found != facts.sha256:
        raise CorruptFileError(
            f"{path} is not the data set {name}: its sha256 is {found} and not {facts.sha256}. "
            "Replace the file, or move it away to have the data from elsewhere."
        )
    return blob


def _has_address(facts: Facts) -> bool:
    return bool(facts.openml or (facts.sha256 and os.environ.get("ULMUS_MIRROR")))


def _fetched(name: str, facts: Facts, download: bool = True) -> Path:
    """The file in the cache, from the mirror if one is named and has it, or else from OpenML."""
    ways = _ways(name, facts)
    if not (download and _has_address(facts)):
        why = ", and no public address of it is known" if download else ""
        raise MissingDatasetError(f"{name} is not on this machine{why}. {ways}")
    try:
        path = _from_mirror(name, facts)
        return path or store(name, pack(from_openml(facts)))
    except MissingDatasetError as error:
        raise MissingDatasetError(f"{name} is not on this machine, and {error} {ways}") from error


def _from_mirror(name: str, facts: Facts) -> Path | None:
    """The benchmark file, from the address in ULMUS_MIRROR; None where OpenML is asked next."""
    mirror = os.environ.get("ULMUS_MIRROR")
    if not (mirror and facts.sha256):
        return None
    try:
        return downloaded(f"{mirror.rstrip('/')}/{name}.npz", name, facts.sha256)
    except MissingDatasetError:
        if facts.openml:
            return None
        raise


def _ways(name: str, facts: Facts) -> str:
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
    """scikit-learn's copy, under the names that `load` gives."""
    theirs = _BUNDLED[name]()
    arrays = {"X": theirs.data, "y": theirs.target}
    for key in ("feature_names", "target_names"):
        arrays[key] = np.asarray(theirs[key])
    return _bunch(name, facts, arrays, "bundled")


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
    for key in ("feature_names", "target_names"):
        if key in arrays or getattr(facts, key):
            bunch[key] = np.asarray(arrays.get(key, getattr(facts, key)))
    if facts.image_shape:
        bunch.image_shape = facts.image_shape
    return bunch
