"""The graphs of an estimator's rows, given or default, how outputs are coupled, and default maps.

A coupling says whether outputs on the fitted rows are Hβ, or follow the graph alone. Neighbours in
the blocks of a Dask collection are found exactly, by pairs of blocks; the edges, a few for every
row, are put together in this process.
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from ulmus.arguments import is_whole
from ulmus.backends.namespace import is_sparse
from ulmus.backends.neighbors import joined_copies
from ulmus.distributed import BlockRows
from ulmus.estimators.layer_choice import fitted_layer
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.hidden_layer import comparable_rows, scaled_rows, share_a_unit
from ulmus.features.kernel_space import KernelFeatures
from ulmus.features.row_units import RowFeatures, map_rows
from ulmus.features.scaling import ColumnStatistics
from ulmus.graphs import KNNGraph, Laplacian, all_laplacians
from ulmus.machine import available_memory, in_words
from ulmus.problem import Problem
from ulmus.sources.source import OnGraph
from ulmus.typing import Rows

# What makes rows of a block comparable.
Compare = Callable[[Rows], Rows]
COUPLINGS = ("auto", "tight", "free")
FEW_LABELS = ("auto", "published", "tight", "free")
# Default graphs. `python -m benchmarks hundred` measures the second, with a width for each row.
GRAPHS = {"tight": KNNGraph(5), "free": KNNGraph(10, width="local")}
# Neighbours of the graphs that are tried; their edges have a width for each row.
NEIGHBORS = (10, 20)
# With fewer rows, or fewer rows a unit, Hβ fits labels spread over the graph as well.
_ROWS, _TIMES = 10_000, 5
# Labels lie together where they have this many times the edges of random ones and a few more.
_TOGETHER, _FEW_EDGES, _CROWD = 2.0, 10.0, 4
# Units of a further layer: candidates have no more.
_ROW_UNITS = 1000
# The part of the cosine kernel that may be missing.
_ALL_DIRECTIONS = 1e-9
# Columns from which on rows are words, where this part of the entries at most is not zero.
_WORDS, _FILLED = 200, 0.05
# Bytes of an entry of a Laplacian, its number and its column, and how many times as much of one
# is held besides while it is built (measured with 50 and 1000 neighbours).
_ENTRY, _BUILDING = 16, 3


def coupling_for(n_rows: int, width: int) -> tuple[str, str]:
    """The coupling for as many rows and units, and why."""
    if n_rows < max(_ROWS, _TIMES * width):
        return "tight", f"{width} units suffice for {n_rows} rows"
    return "free", f"{n_rows} rows are more than {width} units can follow"


def coupling_of(model: Any, validation: Any) -> tuple[str, str]:
    """A semi-supervised model's coupling, asked for or meant by what else is given, and why."""
    if model.coupling == "published":
        return "published", "asked for"
    one_model = {"validation": validation is not None, "solver": model.solver != "auto"}
    if model.coupling == "auto":
        if any(one_model.values()) or not isinstance(model.lam, str):
            return "published", "lam, solver or validation was given"
        return "pool", ""
    for name, given in one_model.items():
        if given:
            raise InvalidParameterError(
                f"{name} belongs to coupling='published', which solves for one C and lam; leave it "
                f"out with coupling={model.coupling!r}, which averages candidates."
            )
    return model.coupling, ""


def laplacians(
    graph: Any, coupling: str, rows: Rows | BlockRows, compare: Compare
) -> list[Laplacian]:
    """The Laplacians of rows at hand or in blocks; ``graph`` is the estimator's.

    ``compare`` gives rows, or those of a block, as their distances are to be found.
    """
    n = rows.shape[0]
    given = graphs_of(graph, coupling, n)
    check_memory(given, n)
    if not isinstance(rows, BlockRows):
        return all_laplacians(given, compare(rows))
    for each in given:
        _check_for_blocks(each)
    return all_laplacians(given, rows, partial(_distances, rows=rows, compare=compare))


def crowded_labels(laplacian: Laplacian, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Which labelled rows are left out because labelled neighbours of their class stand for them.

    Labels that were drawn at random are all kept. Where far more of them are neighbours, as those
    of a lasso are, their number does not show how large their class is, and all of them would
    outweigh the others: one with four or more such neighbours is kept only if none of these is.
    """
    W = laplacian.matrix
    among = sp.csr_array(W[rows][:, rows])
    by_chance = (W.nnz - W.shape[0]) * (len(rows) / W.shape[0]) ** 2
    counts = np.ones(len(rows), dtype=bool)
    if among.nnz - len(rows) <= _TOGETHER * (by_chance + _FEW_EDGES):
        return ~counts
    counts[:] = False
    for i in np.random.default_rng(0).permutation(W.shape[0])[rows].argsort().tolist():
        beside = among.indices[among.indptr[i] : among.indptr[i + 1]]
        alike = beside[(codes[beside] == codes[i]) & (beside != i)]
        counts[i] = len(alike) < _CROWD or not counts[alike].any()
    return ~counts


def graphs_of(graph: Any, coupling: str, n: int) -> list[Any]:
    """The graphs of n rows that are asked for; numbers of neighbours from n − 1 on are one."""
    if graph is None and coupling != "published":
        sizes = sorted({max(1, min(k, n - 1)) for k in NEIGHBORS})
        return [KNNGraph(k, width="local") for k in sizes]
    given = graph if isinstance(graph, list | tuple) else [graph]
    if not given:
        raise InvalidParameterError(f"graph={graph!r} is empty; give a graph, or None.")
    if len(given) != 1 and coupling == "published":
        raise InvalidParameterError(
            f"The published form takes one graph, and {len(given)} are given; use one of them, or "
            "coupling='tight' or 'auto', which weigh them, without lam, solver and validation."
        )
    return [GRAPHS["tight"] if each is None else each for each in given]


def finds_neighbors(graph: Any) -> bool:
    """Whether neighbours are sought, by graphs that are given or the default ones."""
    given = graph if isinstance(graph, list | tuple) else [graph]
    return all(each is None or isinstance(each, KNNGraph) for each in given)


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


def entries_of(X: Rows) -> int:
    """How many entries of rows on the host are not zero."""
    return int(X.count_nonzero() if is_sparse(X) else np.count_nonzero(X))


def are_words(entries: int, shape: tuple[int, int]) -> bool:
    """Whether columns are many and nearly all entries zero, as in counts of words."""
    return shape[1] >= _WORDS and 0 < entries < _FILLED * shape[0] * shape[1]


def map_of_words(width: int, dtype: Any, random_state: Any) -> KernelFeatures:
    """Rows by the angles between them: which words occur matters more than how often.

    Few rows have fewer directions than there are units, and then all of them.
    """
    options = {"scaling": None, "dtype": dtype, "random_state": random_state}
    return KernelFeatures("cosine", width, tol=_ALL_DIRECTIONS, **options)


def units_from_rows(default: Any, X: Rows | BlockRows) -> RowFeatures:
    """A further layer beside the default one, drawn from the rows.

    It follows from the rows alone, so that other labels can have it made again.
    """
    units = RowFeatures(min(default.n_hidden, _ROW_UNITS), random_state=0)
    if not isinstance(X, BlockRows):
        return units.learn(X)
    rows = map_rows(0, len(X), units.n_hidden)
    some = X.take(slice(None) if rows is None else rows)[0]
    return units.settle(some, default._columns)


def units_from_labelled(model: Any, source: OnGraph) -> RowFeatures:
    """The layer that a supervised ELM would fit to the labelled rows.

    Columns that vary among all rows but not among these, such as rare categories, say nothing
    there.
    """
    targets, weight = source.targets, source.weight
    rows = source.some.X, np.arange(len(weight)), None
    # Targets are asked for by the numbers of labelled rows.
    known = SimpleNamespace(problem=lambda some, _: Problem(None, targets.take(some), weight[some]))
    units: RowFeatures = fitted_layer(model, known, rows, None, 0)
    return units if units.n_hidden <= _ROW_UNITS else units.truncate(_ROW_UNITS)


def comparison(
    features: Any, words: bool, coupling: str, columns: ColumnStatistics | None = None
) -> Compare:
    """What makes rows comparable; ``columns`` are the statistics of all rows of several blocks."""
    if words:
        return normalize
    if coupling == "published":
        return partial(scaled_rows, features)
    return partial(comparable_rows, features, columns=columns)


def one_unit(rows: Rows | BlockRows, coupling: str, columns: ColumnStatistics | None) -> bool:
    """Whether the columns share a unit; the published form does not ask."""
    return coupling == "published" or share_a_unit(columns or ColumnStatistics.of(rows))


def _check_for_blocks(graph: Any) -> None:
    """Refuse graphs that need all rows at once."""
    if not isinstance(graph, KNNGraph) and hasattr(graph, "fit_transform"):
        raise InvalidParameterError(
            f"{type(graph).__name__} cannot be fitted over the blocks of a Dask collection; "
            "use a KNNGraph, or a sparse matrix between all rows."
        )
    if getattr(graph, "method", None) == "pynndescent":
        raise InvalidParameterError(
            "method='pynndescent' needs all rows at once; neighbours in blocks are found exactly: "
            "use method='exact'."
        )
    if getattr(graph, "n_components", None) is not None:
        raise InvalidParameterError(
            "n_components needs all rows at once; use KNNGraph(n_components=None) on a Dask "
            "collection."
        )
    power = getattr(graph, "power", 1)
    if isinstance(graph, KNNGraph | Laplacian) and power > 1:
        raise InvalidParameterError(
            f"power={power} leads to neighbours of neighbours, which are in too many blocks; "
            "use power=1 on a Dask collection."
        )


def _distances(graph: KNNGraph, rows: BlockRows, compare: Compare) -> Any:
    """Those to each row's neighbours, zeros stored, as a CSR array."""
    n, wanted = len(rows), min(graph.n_neighbors, len(rows) - 1)
    if n < 2:
        raise InvalidInputError("X has one row, which has no neighbours; a graph needs two.")
    shared = rows.shared(compare)
    parts = [(start, rows.task(_compared, X, shared)) for start, _, X in rows.parts()]
    found = [
        rows.task(
            _closest,
            [
                rows.task(_between, here, there, start, other, wanted, graph.metric)
                for other, there in parts
            ],
            wanted,
        )
        for start, here in parts
    ]
    distances, columns = (np.concatenate(each) for each in zip(*rows.compute(*found), strict=True))
    ends = np.arange(0, n * wanted + 1, wanted)
    return joined_copies(sp.csr_array((distances.ravel(), columns.ravel(), ends), (n, n)), rows)


def _compared(X: Rows, compare: Compare) -> Rows:
    return compare(X)


def _between(
    here: Rows, there: Rows, start: int, other: int, wanted: int, metric: str
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest rows of another block, or of the same but for the row itself."""
    own = start == other
    k = min(wanted, there.shape[0] - own)
    if k == 0:
        empty = np.empty((here.shape[0], 0))
        return empty, empty.astype(np.int64)
    search = NearestNeighbors(n_neighbors=k, metric=metric).fit(there)
    distances, columns = search.kneighbors(None if own else here)
    return distances, columns + other


def _closest(parts: list[Any], wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest of what the blocks gave, the nearest first."""
    distances, columns = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :wanted]
    return np.take_along_axis(distances, nearest, 1), np.take_along_axis(columns, nearest, 1)
