"""What a data set is before any of it is read, and how its name is looked up."""

from dataclasses import dataclass

from ulmus.arguments import hint
from ulmus.exceptions import UnknownDatasetError

__all__ = ["Facts", "OpenML", "lookup"]


@dataclass(frozen=True)
class OpenML:
    """Where OpenML keeps a data set: its number, and the name that number must lead to."""

    id: int
    name: str


@dataclass(frozen=True)
class Facts:
    """All that is known of a data set beforehand; whatever comes is held against it.

    One name is one data set, wherever it comes from.

    Parameters
    ----------
    about, licence, citation : str
        For people.
    shape : tuple of int
        Rows and columns.
    classes : int
        How many classes; 0 for a target of numbers.
    dtype : str
        What the values are stored as.
    sha256, size : str, int
        Hash and length of the benchmark file; empty where there is none.
    labels : str
        Start of the hash of the labels in their published order, which tells whether a copy from
        elsewhere still has that order, and with it the published split.
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
    size: int = 0
    labels: str = ""
    counts: tuple[int, ...] = ()
    span: tuple[float, float] | None = None
    n_train: int = 0
    stored: int = 0
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    openml: OpenML | None = None


def lookup(name: str, table: dict[str, Facts]) -> Facts:
    """The facts of a data set, or an error that names the nearest."""
    if isinstance(name, str) and name in table:
        return table[name]
    raise UnknownDatasetError(f"There is no data set {name!r}; {hint(name, table)}")
