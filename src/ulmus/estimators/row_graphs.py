"""The graphs of an estimator's rows, given or default, and how outputs are coupled to them.

A coupling says whether outputs on the fitted rows are Hβ, or follow the graph alone.
"""

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from ulmus.arguments import is_whole
from ulmus.backends.namespace import is_numpy, is_sparse
from ulmus.exceptions import InvalidParameterError
from ulmus.features.random_units import RandomFeatures
from ulmus.graphs import KNNGraph, Laplacian, as_laplacian
from ulmus.hidden import Hidden
from ulmus.machine import available_memory, in_words
from ulmus.methods.candidates import NEIGHBORS, nested_laplacians
from ulmus.typing import Rows

COUPLINGS = ("auto", "tight", "free")
# Default graphs. `python -m benchmarks hundred` measures the second, with a width for each row.
GRAPHS = {"tight": KNNGraph(5), "free": KNNGraph(10, width="local")}
# With fewer rows, or fewer rows a unit, Hβ fits labels spread over the graph as well.
_ROWS, _TIMES = 10_000, 5
# Columns from which on rows are words, where this part of the entries at most is not zero.
_WORDS, _FILLED = 200, 0.05
# Bytes of an entry of a Laplacian, its number and its column, and how many times as much of one
# is held besides while it is built (measured with 50 and 1000 neighbours).
_ENTRY, _BUILDING = 16, 3


def coupling_for(H: Hidden) -> tuple[str, str]:
    """The coupling for as many rows and units, and why."""
    if len(H) < max(_ROWS, _TIMES * H.width):
        return "tight", f"{H.width} units suffice for {len(H)} rows"
    return "free", f"{len(H)} rows are more than {H.width} units can follow"


def laplacians(graph: Any, coupling: str, X: Rows) -> list[Laplacian]:
    """The Laplacians of these rows; ``graph`` is the estimator's."""
    given = graphs_of(graph, coupling)
    check_memory(given, X.shape[0])
    if graph is None and coupling != "tight":
        return nested_laplacians(X)
    return [as_laplacian(each, X) for each in given]


def graphs_of(graph: Any, coupling: str) -> list[Any]:
    """The graphs that are asked for."""
    if graph is None and coupling != "tight":
        return [KNNGraph(k, width="local") for k in NEIGHBORS]
    given = graph if isinstance(graph, list | tuple) else [graph]
    if not given:
        raise InvalidParameterError(f"graph={graph!r} is empty; give a graph, or None.")
    if len(given) != 1 and coupling == "tight":
        raise InvalidParameterError(
            f"coupling={coupling!r} takes one graph, and {len(given)} are given; use "
            "coupling='auto', which weighs them, or one of them."
        )
    return [GRAPHS["tight"] if each is None else each for each in given]


def check_memory(graphs: list[Any], n: int) -> None:
    """Refuse graphs of n rows that are larger than the memory, before they are built."""
    entries = [_entries(each, n) for each in graphs]
    needed, available = _ENTRY * (sum(entries) + _BUILDING * max(entries)), available_memory()
    if needed > available:
        s, verb = ("", "needs") if len(graphs) == 1 else ("s", "need")
        raise InvalidParameterError(
            f"{len(graphs)} graph{s} of {n} rows {verb} about {in_words(needed)} of memory, and "
            f"{in_words(available)} are available; use fewer graphs, a smaller n_neighbors or "
            "fewer rows."
        )


def _entries(graph: Any, n: int) -> int:
    """About how many entries the Laplacian has: a row names its neighbours and is named by others.

    That of a Laplacian that is given is there already.
    """
    if isinstance(graph, Laplacian):
        return 0
    k: Any = getattr(graph, "n_neighbors", None)
    return 2 * n * min(int(k), n) if is_whole(k) else int(getattr(graph, "nnz", 0))


def are_words(X: Rows) -> bool:
    """Whether columns are many and nearly all entries zero, as in counts of words."""
    if not (is_numpy(X) or is_sparse(X)) or X.shape[1] < _WORDS:
        return False
    entries = X.count_nonzero() if is_sparse(X) else np.count_nonzero(X)
    return bool(entries < _FILLED * X.shape[0] * X.shape[1])


def map_of_words(width: int, dtype: Any, random_state: Any) -> Any:
    """Random units of rows of unit length: which words occur says more than how many."""
    units = RandomFeatures(width, scaling=None, dtype=dtype, random_state=random_state)
    return make_pipeline(Normalizer(), units)
