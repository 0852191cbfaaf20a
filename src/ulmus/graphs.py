"""Neighbour graphs and their Laplacians, sparse throughout.

W is the affinity (n × n, symmetric, no self-loops), D its row sums; Λ is D − W, or
I − D^(−½) W D^(−½), or a power of either, which is applied and never formed.
"""

import importlib.util
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import VALID_METRICS

from ulmus.arguments import check_arguments, check_known, check_whole
from ulmus.backends.gram import sparse_operator
from ulmus.backends.namespace import is_away, is_numpy, is_sparse, on_host
from ulmus.backends.neighbors import (
    approximate_neighbors,
    exact_cosines,
    exact_neighbors,
    has_zero_row,
    joined_copies,
    leading_components,
    searched_neighbors,
)
from ulmus.backends.threads import held_threads
from ulmus.edges import affinity_of, check_edges, nearest_edges
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.typing import Array, DType, Rows, Seed
from ulmus.validation import check_square, plain_rows, sound

__all__ = ["KNNGraph", "Laplacian", "affinity_of", "all_laplacians", "as_laplacian", "laplacian"]

_LOG = logging.getLogger(__name__)
# Most rows for which an exact search is faster than building an index: by scikit-learn, and by
# products of blocks.
_EXACT_ROWS, _PRODUCT_ROWS = 20_000, 100_000
# Largest power of a Laplacian: each power is a product.
_HIGHEST = 100


@dataclass(frozen=True)
class Laplacian:
    """Λ of an affinity, as an operator: ``laplacian @ F`` for F of n rows.

    Parameters
    ----------
    matrix : sparse matrix of shape (n, n)
        D − W or I − D^(−½) W D^(−½).
    power : int
        The number of times that the matrix is applied.
    degree : ndarray of shape (n,) or None
        D, where the matrix is I − D^(−½) W D^(−½).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from ulmus.graphs import Laplacian
    >>> path = sp.csr_array(np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]))
    >>> Laplacian(path, power=2) @ np.array([1.0, 2.0, 4.0])
    array([ 0., -3.,  3.])
    """

    matrix: Any
    power: int = 1
    degree: np.ndarray | None = None

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __matmul__(self, F: Array) -> Array:
        for _ in range(self.power):
            F = self.matrix @ F
        return F

    def placed(self, like: Rows, dtype: DType) -> "Laplacian":
        """The same for arrays on the device of ``like``."""
        return replace(self, matrix=sparse_operator(self.matrix, like, dtype))


def laplacian(W: Any, normalized: bool = True, power: int = 1) -> Laplacian:
    """The Laplacian of a symmetric affinity.

    Parameters
    ----------
    W : sparse matrix of shape (n, n)
        Symmetric, not negative. The diagonal is ignored.
    normalized : bool, default=True
        I − D^(−½) W D^(−½) rather than D − W.
    power : int, default=1
        The power of Λ: the number of times that it is applied.

    Returns
    -------
    laplacian : Laplacian
        An operator; a row without neighbours has a row of zeros.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from ulmus.graphs import laplacian
    >>> W = sp.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> laplacian(W) @ np.array([1.0, 2.0, 5.0])
    array([-1.,  1.,  0.])
    """
    check_whole("power", power, least=1, most=_HIGHEST)
    W = _checked(W)
    degree = np.asarray(W.sum(axis=1)).ravel()
    if not normalized:
        return Laplacian((sp.diags_array(degree) - W).tocsr(), power)
    root = np.zeros_like(degree)
    np.divide(1.0, np.sqrt(degree), out=root, where=degree > 0)
    W.data *= np.repeat(root, np.diff(W.indptr)) * root[W.indices]
    present = sp.diags_array((degree > 0).astype(float))
    return Laplacian((present - W).tocsr(), power, degree)


class KNNGraph(BaseEstimator):
    """The graph that joins each row to its nearest neighbours.

    Two rows are joined if one of them is among the other's neighbours; with ``mutual``, if both
    are.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours of each row; at most all other rows.
    weights : {"heat", "binary"}, default="heat"
        exp(−dist² / 2t²), or 1 for every neighbour.
    width : "mean", "local" or float, default="mean"
        t of the heat weights; "mean" is the mean distance to a neighbour. "local" is √(tᵢtⱼ), where
        tᵢ is a quarter of the distance from row i to its last neighbour, so that weights do not
        depend on the density of the rows; if tᵢ is zero, it is tⱼ.
    metric : str or callable, default="euclidean"
        Any of scikit-learn's distances; pynndescent has most of them too.
    mutual : bool, default=False
        Whether two rows are joined only if each is among the other's neighbours. Isolated rows,
        such as noise between clusters, then have few edges or none.
    n_components : int or None, default=None
        Number of leading principal components in which neighbours are searched, which ignores noise
        of single columns. None searches among the rows themselves.
    normalized : bool, default=True
        Whether the Laplacian is I − D^(−½) W D^(−½) or D − W.
    power : int, default=1
        The Laplacian's power.
    method : {"auto", "exact", "pynndescent"}, default="auto"
        How neighbours are found. "auto" searches exactly up to 20 000 rows, or
        100 000 dense ones by Euclidean distance, and beyond them uses pynndescent where it
        is installed (the extra ``neighbors``). The choice is written to the log ``ulmus``, and
        `search` returns it.
    random_state : int, RandomState instance or None, default=0
        Seed of pynndescent.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.graphs import KNNGraph
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> KNNGraph(n_neighbors=1, weights="binary").affinity(X).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 1.],
           [0., 0., 1., 0.]])
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        weights: str = "heat",
        width: str | float = "mean",
        metric: Any = "euclidean",
        mutual: bool = False,
        n_components: int | None = None,
        normalized: bool = True,
        power: int = 1,
        method: str = "auto",
        random_state: Seed = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width
        self.metric = metric
        self.mutual = mutual
        self.n_components = n_components
        self.normalized = normalized
        self.power = power
        self.method = method
        self.random_state = random_state

    @held_threads()
    def affinity(self, X: Rows, groups: np.ndarray | None = None) -> Any:
        """W of these rows, a symmetric CSR array; with ``groups``, of edges within each group."""
        self._check_parameters()
        X = plain_rows(X)
        if X.shape[0] < 2:
            return sp.csr_array((X.shape[0], X.shape[0]))
        distances = self._distances(X) if groups is None else self._within(on_host(X), groups)
        return affinity_of(distances, self.weights, self.width, self.mutual)

    def laplacian(self, X: Rows) -> Laplacian:
        """Λ of these rows."""
        return laplacian(self.affinity(X), self.normalized, self.power)

    def search(self, X: Rows) -> str:
        """How the neighbours of these rows are found: "exact" or "pynndescent"."""
        if self.method != "auto":
            return self.method
        if is_away(X) or X.shape[0] <= (_PRODUCT_ROWS if self._by_products(X) else _EXACT_ROWS):
            return "exact"
        if importlib.util.find_spec("pynndescent") is None:
            _LOG.info(
                "%d rows are searched exactly, which is slow; pip install 'ulmus[neighbors]' for "
                "an approximate search.",
                X.shape[0],
            )
            return "exact"
        _LOG.info("Neighbours of %d rows by pynndescent, which is approximate.", X.shape[0])
        return "pynndescent"

    def _by_products(self, X: Rows) -> bool:
        """Whether products of blocks find the neighbours: faster, or on a device."""
        dense = not is_sparse(X) and str(X.dtype).endswith(("float32", "float64"))
        many = not is_numpy(X) or X.shape[0] > _EXACT_ROWS
        if not (dense and many and isinstance(self.metric, str)):
            return False
        return self.metric == "euclidean" or (self.metric == "cosine" and not has_zero_row(X))

    def _distances(self, X: Rows) -> Any:
        """Distances to each row's neighbours, zeros stored."""
        k = min(self.n_neighbors, X.shape[0] - 1)
        X = leading_components(X, self.n_components)
        by_products = self._by_products(X)
        X = X if by_products else on_host(X)
        if self.search(X) != "exact":
            found = approximate_neighbors(on_host(X), k, self.metric, self.random_state)
        elif by_products:
            found = (exact_cosines if self.metric == "cosine" else exact_neighbors)(X, k)
        else:
            found = searched_neighbors(X, k, self.metric)
        return joined_copies(found, X)

    def _within(self, X: Rows, groups: np.ndarray) -> Any:
        """Distances to neighbours of the same group."""
        parts, shape = [], (X.shape[0], X.shape[0])
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            if len(members) > 1:
                D = sp.coo_array(self._distances(X[members]))
                parts.append((members[D.row], members[D.col], D.data))
        if not parts:
            return sp.coo_array(shape)
        row, column, data = (np.concatenate(each) for each in zip(*parts, strict=True))
        return sp.coo_array((data, (row, column)), shape)

    def _check_parameters(self) -> None:
        check_arguments(self)
        check_whole("n_neighbors", self.n_neighbors, least=1)
        if not callable(self.metric):
            check_known("metric", self.metric, sorted(VALID_METRICS["brute"]))
        check_whole("power", self.power, least=1, most=_HIGHEST)
        if self.n_components is not None:
            check_whole("n_components", self.n_components, least=1)
        check_known("method", self.method, ("auto", "exact", "pynndescent"))
        check_edges(self.weights, self.width)


def all_laplacians(
    graphs: list[Any], X: Rows, search: Callable[[KNNGraph], Any] | None = None
) -> list[Laplacian]:
    """The Laplacian of each graph; those of nearest neighbours that differ in nothing but number,
    weights and whether they are mutual come from one search.

    Parameters
    ----------
    graphs : list
        What estimators take as ``graph=``.
    X : array-like or sparse matrix of shape (n, n_features)
        The rows.
    search : callable or None, default=None
        Finds the distances of a `KNNGraph`; None searches X.

    Returns
    -------
    laplacians : list of Laplacian
        One for each graph.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.graphs import KNNGraph, all_laplacians
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> [len(each) for each in all_laplacians([KNNGraph(1), KNNGraph(2)], X)]
    [4, 4]
    """
    rows = X if search else plain_rows(X)
    searched, found = dict[str, Any](), list[Laplacian]()
    alike = [graph for graph in graphs if isinstance(graph, KNNGraph)]
    for graph in alike:
        graph._check_parameters()
    most = max((graph.n_neighbors for graph in alike), default=1)
    for graph in graphs:
        if not isinstance(graph, KNNGraph) or (rows.shape[0] < 2 and search is None):
            found.append(as_laplacian(graph, X))
            continue
        widest = clone(graph).set_params(
            n_neighbors=most, weights="heat", width="mean", mutual=False, normalized=True, power=1
        )
        if repr(widest) not in searched:
            searched[repr(widest)] = search(widest) if search else widest._distances(rows)
        near = nearest_edges(searched[repr(widest)], graph.n_neighbors)
        W = affinity_of(near, graph.weights, graph.width, graph.mutual)
        found.append(laplacian(W, graph.normalized, graph.power))
    return found


def as_laplacian(graph: Any, X: Rows) -> Laplacian:
    """The Laplacian of ``graph`` for the rows X.

    Parameters
    ----------
    graph : None, KNNGraph, Laplacian, sparse matrix or transformer
        What estimators take as ``graph=``: None is a default `KNNGraph`; a matrix is an affinity,
        or a graph of distances in scikit-learn's format (its diagonal is stored, and zero); a
        transformer is one of scikit-learn's neighbours transformers.
    X : array-like or sparse matrix of shape (n, n_features)
        The rows.

    Returns
    -------
    laplacian : Laplacian
        Of n rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsTransformer
    >>> from ulmus.graphs import as_laplacian
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> L = as_laplacian(KNeighborsTransformer(n_neighbors=2), X)
    >>> len(L), L.matrix.diagonal()
    (4, array([1., 1., 1., 1.]))
    """
    graph = KNNGraph() if graph is None else graph
    sound(graph, "The graph")
    if isinstance(graph, KNNGraph):
        return graph.laplacian(X)
    if hasattr(graph, "fit_transform"):
        graph = sp.csr_array(clone(graph).fit_transform(on_host(X)))
        # Two rows are joined if either is a neighbour of the other.
        graph = graph if _is_distances(graph) else graph.maximum(graph.T)
    if isinstance(graph, Laplacian):
        result = graph
    elif sp.issparse(graph):
        result = laplacian(affinity_of(graph) if _is_distances(graph) else graph)
    else:
        raise InvalidParameterError(
            f"graph={graph!r} is not a graph; use a KNNGraph, a Laplacian, a sparse matrix or a "
            "neighbours transformer."
        )
    if len(result) != X.shape[0]:
        raise InvalidInputError(
            f"The graph has {len(result)} rows, and X has {X.shape[0]}; they must be the same rows."
        )
    return result


def _is_distances(graph: Any) -> bool:
    """Whether the diagonal is stored and zero, as in scikit-learn's graphs of distances."""
    G = sp.coo_array(graph)
    diagonal = G.data[G.row == G.col]
    return len(diagonal) == G.shape[0] > 0 and not diagonal.any()


def _checked(W: Any) -> Any:
    """W as a symmetric float CSR array without self-loops; refuses other graphs."""
    check_square(W, "The graph")
    W = sp.csr_array(W, dtype=float)
    if W.nnz and W.data.min() < 0:
        raise InvalidInputError(
            "The graph has negative weights; use affinities, which are larger for rows that are "
            "more alike."
        )
    gap = abs(W - W.T)
    if gap.nnz and gap.data.max() > 1e-8 * W.data.max():
        raise InvalidInputError("The graph is not symmetric; W.maximum(W.T) makes it so.")
    W = W - sp.diags_array(W.diagonal())
    W.eliminate_zeros()
    return W.tocsr()
