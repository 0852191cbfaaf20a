"""A neighbour graph over the blocks of a Dask collection, and HᵀΛH as a sum over its edges.

Neighbours are found exactly, by pairs of blocks. The edges, a few for every row, are put together
in this process. Each block then fetches the rows its edges lead to and gives its part of
HᵀΛH = Σ hᵢᵀ (ΛH)ᵢ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import take
from ulmus.distributed.blocks import joined
from ulmus.distributed.rows import BlockRows
from ulmus.exceptions import InvalidParameterError
from ulmus.features.hidden_layer import layer_of, scaled_rows
from ulmus.graphs import KNNGraph, Laplacian, affinity_of, as_laplacian, laplacian
from ulmus.hidden import block_rows, row_blocks
from ulmus.typing import DType, Rows

# A row has about ten neighbours, whose hidden rows are there with it.
_NEIGHBORS = 10


def laplacian_over_blocks(graph: Any, features: Any, rows: BlockRows) -> Laplacian:
    """Λ of rows that lie in blocks; ``graph`` is as in memory, but for transformers."""
    graph = KNNGraph(5) if graph is None else graph
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
    parts = rows.parts()
    wanted = min(graph.n_neighbors, len(rows) - 1)
    scaled = [(start, length, rows.task(scaled_rows, features, X)) for start, length, X in parts]
    found = [
        rows.task(
            _closest,
            [
                rows.task(_between, here, there, start, other, wanted, graph.metric)
                for other, _, there in scaled
            ],
            wanted,
        )
        for start, _, here in scaled
    ]
    distances, columns = (np.concatenate(each) for each in zip(*rows.compute(*found), strict=True))
    row = np.repeat(np.arange(len(rows)), wanted)
    n = len(rows)
    D = sp.coo_array((distances.ravel(), (row, columns.ravel())), shape=(n, n))
    W = affinity_of(D, graph.weights, graph.width)
    return _first_power(laplacian(W, graph.normalized, graph.power))


def _first_power(found: Laplacian) -> Laplacian:
    if found.power > 1:
        raise InvalidParameterError(
            f"power={found.power} leads to neighbours of neighbours, which are in too many blocks; "
            "use power=1 on a Dask collection."
        )
    return found


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
    """The nearest of what the blocks gave."""
    distances, columns = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    nearest = np.argpartition(distances, wanted - 1, axis=1)[:, :wanted]
    return np.take_along_axis(distances, nearest, 1), np.take_along_axis(columns, nearest, 1)


@dataclass(frozen=True)
class EdgeSums:
    """BᵀΛB, BᵀΛ1 and 1ᵀΛ1 of hidden rows B that are short of a constant."""

    product: np.ndarray
    slope: np.ndarray
    total: float

    def __add__(self, other: "EdgeSums") -> "EdgeSums":
        return EdgeSums(
            self.product + other.product, self.slope + other.slope, self.total + other.total
        )

    def gram(self, offset: float) -> np.ndarray:
        """HᵀΛH with the constant given back."""
        s = self.slope[:, None]
        M = self.product + offset * (s + s.T) + offset**2 * self.total
        return np.asfortranarray((M + M.T) / 2)


def manifold_gram_over_blocks(
    features: Any, rows: BlockRows, found: Laplacian, dtype: DType
) -> np.ndarray:
    """M = HᵀΛH (h × h, float64)."""
    matrix, parts = found.matrix.tocsr(), rows.parts()
    starts = np.array([start for start, _, _ in parts])
    sums = []
    for start, length, here in parts:
        edges = matrix[start : start + length]
        ends = np.unique(edges.indices)
        owner = np.searchsorted(starts, ends, side="right") - 1
        fetched = [
            rows.task(take, parts[block][2], ends[owner == block] - starts[block])
            for block in np.unique(owner)
        ]
        # A row without edges needs no other.
        neighbors = rows.task(joined, fetched) if fetched else here
        local = sp.csr_array(
            (edges.data, np.searchsorted(ends, edges.indices), edges.indptr),
            (length, max(len(ends), 1)),
        )
        sums.append(rows.task(_edge_sums, here, neighbors, local, features, dtype))
    offset = layer_of(features, rows.example, dtype).offset
    return rows.compute(rows.added(sums))[0].gram(offset)


def _edge_sums(X: Rows, neighbors: Rows, edges: Any, features: Any, dtype: DType) -> EdgeSums:
    """A block's part, some rows at a time."""
    layer = layer_of(features, X, dtype)
    h, total = layer.width, 0.0
    product, slope = np.zeros((h, h)), np.zeros(h)
    size = max(1, block_rows(h, 8) // _NEIGHBORS)
    for part in row_blocks(X.shape[0], size):
        some = edges[part]
        ends = np.unique(some.indices)
        if not len(ends):
            continue
        some = sp.csr_array(
            (some.data, np.searchsorted(ends, some.indices), some.indptr),
            (some.shape[0], len(ends)),
        )
        B = layer(take(X, part))
        level = np.asarray(some.sum(axis=1)).ravel()
        product += matmul(B.T, some.astype(B.dtype) @ layer(take(neighbors, ends)))
        slope += B.T.astype(float) @ level
        total += float(level.sum())
    return EdgeSums(product, slope, total)
