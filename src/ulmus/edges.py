"""From distances of neighbours to weights of edges."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import sort_graph_by_row_values

from ulmus.arguments import check_known, check_number
from ulmus.validation import check_square

# The part of the distance to the last neighbour that is the width "local": of 1/√2, ½, 0.35, ¼ and
# 0.17 it gave the most accurate spread labels (`python -m benchmarks hundred`).
_LOCAL = 0.25


def check_edges(weights: Any, width: Any) -> None:
    """Refuse unknown weights of edges, and widths that are not positive."""
    check_known("weights", weights, ("heat", "binary"))
    if not (isinstance(width, str) and width in ("mean", "local")):
        check_number("width", width, "'mean', 'local' or a positive number")


def affinity_of(
    distances: Any, weights: str = "heat", width: str | float = "mean", mutual: bool = False
) -> Any:
    """W from a graph of distances to neighbours, in which zeros must be stored.

    Parameters
    ----------
    distances : sparse matrix of shape (n, n)
        Row i holds the distances to the neighbours of row i.
    weights : {"heat", "binary"}, default="heat"
        exp(−dist² / 2t²), or 1 for every neighbour.
    width : "mean" or float, default="mean"
        t; "mean" is the mean of the distances.
    mutual : bool, default=False
        Whether two rows are joined only if each is among the other's neighbours; equal rows are
        always joined.

    Returns
    -------
    W : sparse array of shape (n, n)
        Symmetric; unless ``mutual``, two rows are joined if one is among the other's neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from ulmus.graphs import affinity_of
    >>> D = kneighbors_graph(np.array([[0.0], [1.0], [3.0]]), 1, mode="distance")
    >>> affinity_of(D, width=1.0).toarray().round(3)
    array([[0.   , 0.607, 0.   ],
           [0.607, 0.   , 0.135],
           [0.   , 0.135, 0.   ]])
    """
    check_edges(weights, width)
    check_square(distances, "The graph")
    D = sp.coo_array(distances)
    away = D.row != D.col
    row, column, distance = D.row[away], D.col[away], D.data[away].astype(float)
    if weights == "binary":
        data = np.ones_like(distance)
    else:
        t = _widths(row, column, distance, D.shape[0], width)
        # All rows equal: every distance is zero, and every weight is one.
        ratio = np.divide(distance, t, out=np.zeros_like(distance), where=t > 0)
        data = np.exp(-0.5 * ratio**2)
    W = sp.csr_array((data, (row, column)), shape=D.shape)
    if not mutual:
        return W.maximum(W.T).tocsr()
    same = sp.csr_array((data, (row, column)), shape=D.shape)
    same.data[distance != 0.0] = 0.0
    return W.minimum(W.T).maximum(same.maximum(same.T)).tocsr()


def _widths(
    row: np.ndarray, column: np.ndarray, distance: np.ndarray, n: int, width: str | float
) -> np.ndarray | float:
    """t of every edge, or of all of them."""
    if width == "mean":
        return np.full_like(distance, distance.mean() if len(distance) else 1.0)
    if width != "local":
        return np.full_like(distance, width)
    own = np.zeros(n)
    np.maximum.at(own, row, _LOCAL * distance)
    ends = np.stack([own[row], own[column]])  # zero where all neighbours are copies of the row
    return np.sqrt(np.where(ends > 0, ends, ends[::-1]).prod(axis=0))


def nearest_edges(distances: Any, k: int) -> Any:
    """Those to the k nearest neighbours of each row among the neighbours that were found."""
    D = sort_graph_by_row_values(sp.csr_array(distances), copy=True, warn_when_not_sorted=False)
    counts = np.diff(D.indptr)
    near = np.arange(D.nnz) - np.repeat(D.indptr[:-1], counts) < k
    ends = np.append(0, np.minimum(counts, k).cumsum())
    return sp.csr_array((D.data[near], D.indices[near], ends), shape=D.shape)
