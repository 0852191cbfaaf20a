"""Whether a hidden layer has room for what a graph knows of so many rows."""

from ulmus.graphs import KNNGraph

__all__ = ["COUPLINGS", "GRAPHS", "coupling_for"]

COUPLINGS = ("auto", "tight", "free")
# On a free graph labels and clusters reach far; firm ties to the nearest keep them from straying.
GRAPHS = {"tight": KNNGraph(5), "free": KNNGraph(10, width="local")}
# Hβ is not short of room for this many rows, nor for this many times its units.
_ROWS, _TIMES = 10_000, 5


def coupling_for(H):
    """The coupling that the shape of H asks for, and why."""
    if len(H) < max(_ROWS, _TIMES * H.width):
        return "tight", f"{H.width} units suffice for {len(H)} rows"
    return "free", f"{len(H)} rows are more than {H.width} units can follow"
