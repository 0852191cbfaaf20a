"""What is known of each data set before any of it is read."""

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from papers.errors import UnknownDatasetError
from ulmus.arguments import hint


@dataclass(frozen=True)
class OpenML:
    """Where OpenML keeps a data set: its number, and the name that number must lead to."""

    id: int
    name: str


@dataclass(frozen=True)
class Facts:
    """One data set, wherever it comes from; what comes is compared with this.

    Parameters
    ----------
    about, licence, citation : str
        For people.
    shape : tuple of int
        Rows and columns.
    classes : int
        Number of classes; 0 for regression.
    dtype : str
        What the values are stored as.
    sha256 : str
        Hash of the benchmark file; empty where there is none.
    labels : str
        First 16 digits of the hash of the labels in their published order. A copy from elsewhere
        has the published split only where its labels have this hash.
    counts : tuple of int
        Rows in each class.
    span : tuple of float or None
        Least and greatest value.
    n_train : int
        The first so many rows are for training; 0 where no split is published.
    stored : int
        Values that a sparse file stores; 0 for a dense one.
    """

    about: str
    shape: tuple[int, int]
    classes: int
    licence: str
    citation: str
    dtype: str = "float32"
    sha256: str = ""
    labels: str = ""
    counts: tuple[int, ...] = ()
    span: tuple[float, float] | None = None
    n_train: int = 0
    stored: int = 0
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    openml: OpenML | None = None


def _facts(entry: dict[str, Any]) -> Facts:
    known: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()
    }
    if "openml" in known:
        known["openml"] = OpenML(**known["openml"])
    return Facts(**known)


def _read() -> dict[str, Facts]:
    text = resources.files("papers.datasets").joinpath("facts.toml").read_text(encoding="utf-8")
    return {name: _facts(entry) for name, entry in tomllib.loads(text).items()}


DATASETS = _read()


def lookup(name: str) -> Facts:
    """The facts of a data set, or an error that names the nearest."""
    if isinstance(name, str) and name in DATASETS:
        return DATASETS[name]
    raise UnknownDatasetError(f"There is no data set {name!r}; {hint(name, DATASETS)}")
