"""A layout of the rows in two dimensions, for pictures.

Each row is beside its neighbours by PaCMAP, and new ones are among those that are there. The
settings were chosen on USPS, optdigits and COIL-20; `python -m benchmarks maps` shows them on
others.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_whole
from ulmus.backends.namespace import extra, is_sparse
from ulmus.backends.threads import held_numba
from ulmus.docstrings import documented
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.exceptions import InvalidInputError
from ulmus.features import RBFFeatures
from ulmus.features.hidden_layer import share_a_unit
from ulmus.features.scaling import ColumnStatistics, Scaling
from ulmus.fitted import OfRows, atomic, forget_fit
from ulmus.hidden import sample_rows
from ulmus.summary import html_of, mimebundle_of
from ulmus.typing import Rows, Seed
from ulmus.validation import on_host_alone, valid_rows

# Directions in which rows are compared, columns of the ELM embedding, and its hidden units.
_DIRECTIONS, _COLUMNS, _UNITS = 50, 30, 600
# Neighbours among which the nearest by local distance are chosen, for each one that is.
_CANDIDATES = 3
# Further pairs and mid-near pairs for each pair of neighbours. PaCMAP's own are 2 and 0.5; these
# gained .002 to .004 of trustworthiness and up to a point of 10-NN accuracy.
_FURTHER, _MIDDLE = 4.0, 0.2
# PaCMAP draws six rows at a time for a pair, and never ends where there are none left to draw.
_LEAST_ROWS = 30
# Rows of the layout a new row is placed among.
_AMONG = 5
# PaCMAP keeps the seed of the current layout in a global of its module.
_ONE_LAYOUT = Lock()


@documented
class ELMLayout(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A map of the rows in two dimensions: an ELM embedding that PaCMAP lays out.

    Rows are compared in their fifty leading principal components. US-ELM embeds their graph of
    neighbours in 30 dimensions. PaCMAP starts at its first two columns and brings neighbours
    together. A new row is embedded by the ELM, and goes to the mean place of the five rows that are
    nearest there.

    `ELMEmbedding` with two components is US-ELM itself, and keeps far less of the neighbourhoods.
    Use a layout only to look at the rows: distances between groups mean little, and areas nothing.
    It needs the extra ``maps``.

    Parameters
    ----------
    n_neighbors : int, default=7
        Number of neighbours of each row that are moved together, at most a sixth of the rows. More
        neighbours give a smoother map.
    max_rows : int or None, default=10_000
        Largest number of rows that are laid out. Of more rows a random sample is laid out, and the
        others are placed like new rows. None means all.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample, of the hidden units and of PaCMAP. The same seed gives the same layout.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, 2)
        The places of the training rows. Fewer than thirty are where US-ELM puts them.
    elm_ : ELMEmbedding
        The fitted embedding.
    spread_ : ndarray of shape (n_columns,)
        What its columns are multiplied by: those that change least along the graph count most.
    landmarks_, places_ : ndarray of shape (n_laid_out, n_columns) and (n_laid_out, 2)
        The rows that were laid out: their embedding, scaled, and their places.
    scaling_, pca_ : Scaling, PCA
        How rows are scaled, and the directions in which they are compared.

    See Also
    --------
    ELMEmbedding : US-ELM, for other uses than pictures.
    ulmus.plotting.EmbeddingDisplay : Draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ulmus import ELMLayout
    >>> X, y = load_digits(return_X_y=True)
    >>> layout = ELMLayout(random_state=0)
    >>> layout.fit_transform(X[:500]).shape, layout.transform(X[500:]).shape
    ((500, 2), (1297, 2))
    """

    embedding_: OfRows[np.ndarray]
    elm_: ELMEmbedding
    spread_: np.ndarray
    landmarks_: np.ndarray
    places_: np.ndarray
    scaling_: Scaling
    pca_: PCA
    _repr_html_inner, _repr_mimebundle_ = html_of, mimebundle_of

    def __init__(
        self,
        *,
        n_neighbors: int = 7,
        max_rows: int | None = 10_000,
        random_state: Seed = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_rows = max_rows
        self.random_state = random_state

    @atomic
    def fit(self, X: Rows, y: Any = None) -> Self:
        """Lay out the rows of X."""
        forget_fit(self)
        extra("pacmap", "maps", "ELMLayout")
        on_host_alone(self, X)
        X = valid_rows(self, X, reset=True, ensure_min_samples=2)
        check_whole("n_neighbors", self.n_neighbors, least=1)
        if self.max_rows is not None:
            check_whole("max_rows", self.max_rows, least=2)
        n = X.shape[0]
        # PaCMAP adds numbers of rows to this seed, and keeps the sum in 32 bits.
        seed = int(check_random_state(self.random_state).randint(2**30))
        m = n if self.max_rows is None else min(n, self.max_rows)
        chosen = np.arange(n) if m == n else np.sort(sample_rows(seed, m, n))
        self._lay_out(X if m == n else X[chosen], seed)
        self.embedding_ = self.places_.copy() if m == n else self._placed(X)
        self.embedding_[chosen] = self.places_
        return self

    def fit_transform(self, X: Rows, y: Any = None) -> np.ndarray:
        """Lay out the rows of X and return their places.

        Returns
        -------
        places : ndarray of shape (n_samples, 2)
            Two coordinates for each row, ``embedding_``.
        """
        return self.fit(X).embedding_

    def transform(self, X: Rows) -> np.ndarray:
        """The places of rows, seen before or not, among those of the rows that were laid out.

        Returns
        -------
        places : ndarray of shape (n_samples, 2)
            Two coordinates for each row.
        """
        check_is_fitted(self)
        on_host_alone(self, X)
        return self._placed(valid_rows(self, X, reset=False))

    def _lay_out(self, X: Rows, seed: int) -> None:
        self.scaling_ = _comparable(X, seed)
        n, rows = X.shape[0], self._scaled(X)
        self.pca_ = PCA(min(_DIRECTIONS, n - 1, X.shape[1]), random_state=seed).fit(rows)
        A = self.pca_.transform(rows)
        near = near_rows(A, self.n_neighbors)
        self.elm_ = ELMEmbedding(
            min(_COLUMNS, n - 1),
            features=RBFFeatures(min(_UNITS, n), scaling=None, random_state=seed),
            graph=graph_of(near),
            coupling="tight",
        )._fit_columns(A, None, min(_COLUMNS, n - 1), 0, fewer=True)
        self.spread_ = np.sqrt(self.elm_.eigenvalues_[0] / self.elm_.eigenvalues_)
        self.landmarks_ = self.elm_.transform(A) * self.spread_
        first = np.pad(self.landmarks_, ((0, 0), (0, 2)))[:, :2]
        self.places_ = first if n < _LEAST_ROWS else laid_out(self.landmarks_, near, seed)

    def _scaled(self, X: Rows) -> Rows:
        if is_sparse(X) and not self.scaling_.center.any():
            return self.scaling_.sparse(X, np.float64)
        X = X.toarray() if is_sparse(X) else X
        rows = np.empty(X.shape)
        self.scaling_.dense(X, rows)
        return rows

    def _placed(self, X: Rows) -> np.ndarray:
        F = self.elm_.transform(self.pca_.transform(self._scaled(X))) * self.spread_
        return placed_among(self.landmarks_, self.places_, F)

    @property
    def _n_features_out(self) -> int:
        return 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _comparable(X: Rows, seed: int) -> Scaling:
    """Columns in their own unit where they share one, as pixels do, else each in its own."""
    columns = ColumnStatistics.of(X)
    if not (columns.greatest > columns.least).any():
        raise InvalidInputError(
            "The rows of X are all the same, so there is nothing to lay out; give rows that differ."
        )
    scaling = Scaling.auto(columns)
    if share_a_unit(columns):
        length = np.sqrt(np.sum(columns.deviation**2))
        scaling = replace(scaling, factor=np.full(X.shape[1], 1.0 / length))
    elif not is_sparse(X):
        scaling, _ = Scaling.robust(X, columns, None, seed)
    # PCA subtracts the mean of sparse rows without making their zeros into numbers.
    wide = is_sparse(X) and X.shape[1] > _DIRECTIONS
    return replace(scaling, center=np.zeros(X.shape[1])) if wide else scaling


def near_rows(A: np.ndarray, k: int) -> np.ndarray:
    """The k nearest other rows of each row, as a matrix of indices.

    Nearness is d² / σᵢσⱼ, σ the mean distance to the fourth to sixth neighbour, so that rows in
    thin regions have neighbours as close as those in the crowd.
    """
    # With further and mid-near pairs there must be enough rows to draw from.
    k = max(1, min(k, (len(A) - 1) // 6))
    search = NearestNeighbors(n_neighbors=min(_CANDIDATES * k, len(A) - 1), algorithm="brute")
    distances, near = search.fit(A).kneighbors()
    spacing = np.maximum(distances[:, min(3, distances.shape[1] - 1) : 6].mean(axis=1), 1e-10)
    local = distances**2 / (spacing[:, None] * spacing[near])
    return np.take_along_axis(near, np.argsort(local, axis=1, kind="stable")[:, :k], axis=1)


def graph_of(near: np.ndarray) -> sp.csr_array:
    """The graph that joins each row to its near ones, as a symmetric matrix of ones."""
    n, k = near.shape
    W = sp.csr_array((np.ones(n * k), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return W.maximum(W.T)


def laid_out(E: np.ndarray, near: np.ndarray, seed: int) -> np.ndarray:
    """Two coordinates for each row, from the first two columns of E on.

    ``near`` rows attract each other. E says which of the rows that are drawn are mid-near.
    """
    n, k = near.shape
    pairs = np.stack([np.repeat(np.arange(n), k), near.ravel()], axis=1).astype(np.int32)
    pacmap = extra("pacmap", "maps", "ELMLayout")
    ratios = {"MN_ratio": _MIDDLE, "FP_ratio": _FURTHER}
    with _ONE_LAYOUT, _quiet("pacmap.pacmap"), held_numba():
        model = pacmap.PaCMAP(n_neighbors=k, pair_neighbors=pairs, random_state=seed, **ratios)
        places = model.fit_transform(E, init=np.ascontiguousarray(E[:, :2]), save_pairs=False)
    return np.asarray(places, dtype=np.float64)


def placed_among(E: np.ndarray, places: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Where rows F go among rows E with these places: the mean of the nearest, by 1/d²."""
    search = NearestNeighbors(n_neighbors=min(_AMONG, len(E)), algorithm="brute").fit(E)
    distances, near = search.kneighbors(F)
    # A row that is one of E, up to rounding, goes where that one is.
    weight = 1.0 / np.maximum(distances, 1e-6 * np.abs(E).max()) ** 2
    weight /= weight.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weight, places[near])


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Without what a library writes to its log while it does what it was asked for."""
    log = logging.getLogger(name)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
