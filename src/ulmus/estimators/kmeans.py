"""Clusters in the hidden layer by k-means."""

import logging
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import is_whole
from ulmus.backends.namespace import is_collection
from ulmus.distributed.mapped import by_blocks
from ulmus.docstrings import documented
from ulmus.estimators.kmeans_blocks import fit_blocks
from ulmus.exceptions import InvalidParameterError
from ulmus.features import RandomFeatures
from ulmus.features.hidden_layer import fitted_map, layer_of
from ulmus.fitted import OfRows, atomic, check_outputs, forget_fit, log_facts
from ulmus.hidden import Hidden, most_rows
from ulmus.summary import html_of, mimebundle_of
from ulmus.typing import Rows, Seed
from ulmus.validation import on_host_alone, valid_rows

_LOG = logging.getLogger(__name__)


class HiddenClustering(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """What both clusterers share: a hidden layer, rows that fit, and k-means at the end.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_hidden : int or None, default=None
        Width of the default map (None: 1000).
    n_init : int, default=10
        How often k-means starts; the tightest clustering is kept.
    dtype : float32, float64 or None, default=None
        Precision of the hidden rows; None follows the input.
    random_state : int, RandomState instance or None, default=None
        Seeds the default map and k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every training row.
    kmeans_ : KMeans
        The fitted k-means.
    features_ : transformer
        The fitted map.
    n_hidden_ : int
        Number of hidden units.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.
    """

    features_: Any
    n_hidden_: int
    kmeans_: KMeans
    cluster_centers_: np.ndarray
    inertia_: float
    labels_: OfRows[np.ndarray]
    _repr_html_inner, _repr_mimebundle_ = html_of, mimebundle_of

    @abstractmethod
    def _default(self, X: Rows) -> Callable[..., Any]:
        """The map to use where none is given."""

    @abstractmethod
    def _transformed(self, H: Any) -> np.ndarray:
        """What `transform` gives for these hidden rows."""

    def _coordinates(self, H: Any) -> Any:
        """The hidden rows as k-means sees them."""
        return H

    def _learn(self, H: Any, seed: int) -> None:
        """k-means on these hidden rows."""
        means = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed)
        self.kmeans_ = means.fit(self._coordinates(H))
        self.cluster_centers_ = self.kmeans_.cluster_centers_

    @atomic
    def fit(self, X: Rows, y: Any = None, *, client: Any = None) -> Self:
        """Find clusters of X.

        Where the hidden rows do not fit in scikit-learn's ``working_memory``, the clusters are
        found on a random sample that does, and every row is then given its own. On a Dask
        collection k-means starts on a sample and goes on over the blocks; ``labels_`` is then a
        Dask array that is not computed yet.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.
        y : None
            Not used; here for pipelines.
        client : distributed.Client or None, default=None
            The Dask client to compute with; None is the current one, or Dask's own scheduler.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        forget_fit(self)
        if is_collection(X):
            return fit_blocks(self, X, client)
        on_host_alone(self, X)
        X = valid_rows(self, X, reset=True)
        self._check_parameters(X.shape[0])
        self.features_ = fitted_map(self, X, default=self._default(X))
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        self.n_hidden_ = H.width
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self._learn(self._sample(H, seed), seed)
        self.labels_, self.inertia_ = self._assign(H)
        log_facts(self)
        return self

    @by_blocks
    def predict(self, X: Rows) -> np.ndarray:
        """The cluster of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows, seen before or not.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The nearest cluster.
        """
        return self._assign(self._hidden(X))[0]

    @by_blocks
    def transform(self, X: Rows) -> np.ndarray:
        """The distance of each row to every centre in the hidden layer, or its row of B (ELM NMF).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows, seen before or not.

        Returns
        -------
        D : ndarray of shape (n_samples, n_clusters)
            Distances, or how much of each component a row has.
        """
        H = self._hidden(X)
        D = np.empty((len(H), self.n_clusters), H.layer.dtype)
        for rows, h in self._blocks(H):
            D[rows] = self._transformed(h)
        return D

    def _hidden(self, X: Rows) -> Hidden:
        check_is_fitted(self)
        on_host_alone(self, X)
        X = valid_rows(self, X, reset=False)
        return Hidden(layer_of(self.features_, X, self.dtype), X)

    def _blocks(self, H: Any) -> Iterator[tuple[slice, Any]]:
        """Rows, and the hidden rows with nothing left out."""
        for rows, h in H.blocks():
            h += H.offset
            yield rows, check_outputs(h)

    def _sample(self, H: Any, seed: int) -> Any:
        """The hidden rows, or as many as fit."""
        most = max(self.n_clusters, most_rows(H.width, H.itemsize))
        if len(H) <= most:
            return H.all()
        _LOG.info("Clusters are found on %d of %d rows, as many as fit.", most, len(H))
        rows = np.random.RandomState(seed).permutation(len(H))[:most]
        return H.take(np.sort(rows)).all()

    def _assign(self, H: Any) -> tuple[np.ndarray, float]:
        """The nearest cluster of every row, and the sum of squared distances."""
        labels, inertia = np.empty(len(H), dtype=np.int32), 0.0
        for rows, h in self._blocks(H):
            # k-means takes rows in the precision of its centres alone.
            E = self._coordinates(h).astype(self.cluster_centers_.dtype, copy=False)
            labels[rows] = self.kmeans_.predict(E)
            inertia += float(np.sum((E - self.cluster_centers_[labels[rows]]) ** 2, dtype=float))
        return labels, inertia

    def _check_parameters(self, n_rows: int) -> None:
        check_clusters(self.n_clusters, n_rows)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags


def check_clusters(n_clusters: Any, n_rows: int) -> None:
    """Refuse a number of clusters that is none, or more than there are rows."""
    if not (is_whole(n_clusters) and 1 <= n_clusters <= n_rows):
        raise InvalidParameterError(
            f"n_clusters={n_clusters!r} must be a whole number from 1 to the number of rows, "
            f"{n_rows}."
        )


@documented
class ELMKMeans(HiddenClustering):
    """ELM k-means: k-means on the hidden layer's output.

    Parameters
    ----------
    features : feature map, transformer or None, default=None
        Feature map; None is ``RandomFeatures(gain=√n_features)``, sigmoid units that bend on
        columns of unit variance. It is cloned and fitted.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_hidden)
        The clusters' means in the hidden layer.
    inertia_ : float
        Sum of squared distances of the rows to their centres there.

    See Also
    --------
    ELMNMF : k-means on a factorisation of the hidden layer's output.
    ELMSpectralClustering : k-means on an embedding that follows a graph.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ulmus import ELMKMeans
    >>> from ulmus.metrics import clustering_accuracy
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ELMKMeans(3, random_state=0).fit(X)
    >>> bool(clustering_accuracy(y, model.labels_) > 0.9)
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        features: Any = None,
        n_hidden: int | str | None = None,
        n_init: int = 10,
        dtype: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.features = features
        self.n_hidden = n_hidden
        self.n_init = n_init
        self.dtype = dtype
        self.random_state = random_state

    def _default(self, X: Rows) -> Callable[..., Any]:
        # The map's scaling divides rows by their length, about √d; this takes it back.
        return partial(RandomFeatures, gain=float(np.sqrt(X.shape[1])))

    def _transformed(self, H: Any) -> np.ndarray:
        return self.kmeans_.transform(H)
