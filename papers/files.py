"""The rows behind the published tables."""

from ulmus.datasets import load
from ulmus.exceptions import MissingDatasetError

__all__ = ["benchmark_rows"]


def benchmark_rows(name):
    """X in double precision, sparse where it is, and y, of a data set's published rows."""
    data = load(name)
    if not data.published:
        raise MissingDatasetError(
            f"The published rows of {name} are not on this machine, and a new draw would not give "
            f"the published figures. Put {name}.npz into the directory that ULMUS_DATA names."
        )
    return data.data.astype(float), data.target
