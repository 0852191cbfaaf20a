"""Whether outputs on the fitted rows are tied to the hidden layer, or follow the graph alone."""

from ulmus.graphs import KNNGraph
from ulmus.hidden import Hidden

COUPLINGS = ("auto", "tight", "free")
# Default graphs. `python -m benchmarks hundred` measures the second, with a width for each row.
GRAPHS = {"tight": KNNGraph(5), "free": KNNGraph(10, width="local")}
# With fewer rows, or fewer rows a unit, Hβ fits labels spread over the graph as well.
_ROWS, _TIMES = 10_000, 5


def coupling_for(H: Hidden) -> tuple[str, str]:
    """The coupling for as many rows and units, and why."""
    if len(H) < max(_ROWS, _TIMES * H.width):
        return "tight", f"{H.width} units suffice for {len(H)} rows"
    return "free", f"{len(H)} rows are more than {H.width} units can follow"
