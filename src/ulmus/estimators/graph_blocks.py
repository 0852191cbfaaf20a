"""Neighbour graphs over the blocks of a Dask collection.

Neighbours are found exactly, by pairs of blocks. The edges, a few for every row, are put together
in this process.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from ulmus.backends.neighbors import joined_copies
from ulmus.distributed.rows import BlockRows
from ulmus.estimators.row_graphs import check_memory, graphs_of
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.graphs import KNNGraph, Laplacian, affinity_of, as_laplacian, laplacian
from ulmus.methods.candidates import NEIGHBORS, laplacians_of
from ulmus.typing import Rows

# What makes rows of a block comparable.
Compare = Callable[[Rows], Rows]


def laplacians_over_blocks(
    graph: Any, coupling: str, rows: BlockRows, compare: Compare
) -> list[Laplacian]:
    """The Laplacians of rows that lie in blocks; ``graph`` is as in memory, but for transformers.

    ``compare`` gives a block's rows as their distances are to be found.
    """
    given = graphs_of(graph, coupling)
    check_memory(given, len(rows))
    if graph is None and coupling != "tight":
        return laplacians_of(_distances(KNNGraph(max(NEIGHBORS)), rows, compare))
    return [_laplacian(each, rows, compare) for each in given]


def _laplacian(graph: Any, rows: BlockRows, compare: Compare) -> Laplacian:
    if not isinstance(graph, KNNGraph):
        if hasattr(graph, "fit_transform"):
            raise InvalidParameterError(
                f"{type(graph).__name__} cannot be fitted over the blocks of a Dask collection; "
                "use a KNNGraph, or a sparse matrix between all rows."
            )
        return _first_power(as_laplacian(graph, rows))
    if graph.method == "pynndescent":
        raise InvalidParameterError(
            "method='pynndescent' needs all rows at once; neighbours in blocks are found exactly: "
            "use method='exact'."
        )
    graph._check_parameters()
    W = affinity_of(_distances(graph, rows, compare), graph.weights, graph.width)
    return _first_power(laplacian(W, graph.normalized, graph.power))


def _first_power(found: Laplacian) -> Laplacian:
    if found.power > 1:
        raise InvalidParameterError(
            f"power={found.power} leads to neighbours of neighbours, which are in too many blocks; "
            "use power=1 on a Dask collection."
        )
    return found


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
