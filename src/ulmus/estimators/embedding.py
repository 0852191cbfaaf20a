"""US-ELM: a map of the rows when none has a label, and clusters on it."""

from numbers import Integral, Real

import numpy as np
from sklearn import config_context
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.namespace import from_numpy, gathered, namespace, placed, to_numpy, zeros
from ulmus.distributed.blocks import computed, is_collection
from ulmus.distributed.mapped import by_blocks
from ulmus.distributed.rows import BlockRows
from ulmus.estimators.atomic import atomic
from ulmus.estimators.graph_blocks import laplacian_over_blocks, manifold_gram_over_blocks
from ulmus.estimators.outputs import HiddenOutputs
from ulmus.estimators.stage import fitted_map, layer_of, map_over_blocks, scaled_rows
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import column_statistics, merged
from ulmus.graphs import KNNGraph, as_laplacian
from ulmus.hidden import Hidden
from ulmus.solvers.embedding import embedding, embedding_of, hidden_gram
from ulmus.summary import Summary
from ulmus.validation import valid_rows

__all__ = ["ELMEmbedding", "ELMSpectralClustering"]


class ELMEmbedding(
    Summary, HiddenOutputs, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """US-ELM: an embedding that keeps neighbours together and takes new rows.

    The columns of the embedding Hβ are orthonormal over the training rows and minimise
    ‖β‖² + λ tr (Hβ)ᵀΛ(Hβ): they solve (I + λHᵀΛH) v = γ HᵀH v for the smallest γ, of which the
    first is all but constant and is left out.

    Parameters
    ----------
    features : feature map, transformer or None, default=None
        Stage one; None is ``RandomFeatures``. It is cloned and fitted.
    n_components : int, default=2
        Columns of the embedding.
    n_hidden : int or None, default=None
        Width of the default map (None: 2000).
    graph : KNNGraph, Laplacian, sparse matrix, neighbours transformer or None, default=None
        Who is whose neighbour; None is ``KNNGraph(5)``. Rows are compared as the map scales them.
    lam : float, default=10.0
        How far to trust the graph against ‖β‖².
    row_normalize : bool, default=False
        Whether every row of the embedding is divided by its length.
    dtype : dtype, default=None
        Precision of the hidden rows; None follows the input.
    random_state : int, RandomState instance or None, default=None
        Seeds the default map.

    Attributes
    ----------
    coef_ : ndarray of shape (n_hidden, n_components)
        The output weights β; each column's largest entry is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        γ of each column, ascending.
    features_ : transformer
        The fitted map.
    n_hidden_ : int
        Number of hidden units.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.

    See Also
    --------
    ELMSpectralClustering : k-means on this embedding.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMEmbedding
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMEmbedding(random_state=0).fit(X[::2])
    >>> model.transform(X[1::2]).shape
    (75, 2)
    """

    def __init__(
        self,
        features=None,
        *,
        n_components=2,
        n_hidden=None,
        graph=None,
        lam=10.0,
        row_normalize=False,
        dtype=None,
        random_state=None,
    ):
        self.features = features
        self.n_components = n_components
        self.n_hidden = n_hidden
        self.graph = graph
        self.lam = lam
        self.row_normalize = row_normalize
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X, y=None, *, client=None):
        """Find the embedding of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.
        y : None
            Not used; here for pipelines.
        client : distributed.Client or None, default=None
            Who works on a Dask collection; None is whoever Dask would ask.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with atomic(self):
            self._check_parameters()
            if is_collection(X):
                self._fit_blocks(X, client)
            else:
                self._fit(X)
            return self

    def fit_transform(self, X, y=None):
        """Find the embedding of X and return it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Not used; here for pipelines.

        Returns
        -------
        E : ndarray of shape (n_samples, n_components)
            The embedding.
        """
        return self.fit(X).transform(X)

    @by_blocks
    def transform(self, X):
        """The embedding of these rows: one product with the output weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows, seen before or not.

        Returns
        -------
        E : ndarray of shape (n_samples, n_components)
            The embedding.
        """
        E = self._outputs(X)
        if self.row_normalize:
            xp = namespace(E)
            lengths = xp.linalg.vector_norm(E, axis=1, keepdims=True)
            E /= xp.where(lengths > 0, lengths, 0.0 * lengths + 1.0)
        return E

    def _fit(self, X):
        X = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
        self.features_ = fitted_map(self, X, default_width=2000)
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        self._check_components(len(H), H.width)
        graph = KNNGraph(5) if self.graph is None else self.graph
        laplacian = as_laplacian(graph, scaled_rows(self.features_, X))
        self._accept(embedding(H, laplacian, float(self.lam), self.n_components))

    def _fit_blocks(self, X, client):
        """HᵀΛH and HᵀH as sums over blocks, the eigenvectors in this process."""
        rows = BlockRows(self, X, client=client)
        columns = merged(rows.survey(column_statistics))
        self.features_ = map_over_blocks(self, rows, columns, default_width=2000)
        self._check_components(len(rows), layer_of(self.features_, rows.example, self.dtype).width)
        laplacian = laplacian_over_blocks(self.graph, self.features_, rows)
        M = manifold_gram_over_blocks(self.features_, rows, laplacian, self.dtype)
        (B,) = rows.compute(rows.total(_hidden_gram))
        self._accept(embedding_of(M, B, float(self.lam), self.n_components))

    def _checked_rows(self, X, y, weight, reset):
        """A block's rows, for `BlockRows`."""
        return valid_rows(self, X, reset), None, None

    def _accept(self, found):
        self.coef_, self.eigenvalues_ = found.coef, found.values
        self.intercept_ = zeros(found.coef.shape[1], found.coef)
        self.n_hidden_ = int(found.coef.shape[0])

    def _check_components(self, n_rows, width):
        most = min(n_rows, width) - 1
        if self.n_components > most:
            raise InvalidInputError(
                f"n_components={self.n_components} is too many: {n_rows} rows and {width} hidden "
                f"units give at most {most}."
            )

    def _check_parameters(self):
        if not isinstance(self.n_components, Integral) or self.n_components < 1:
            raise InvalidParameterError(
                f"n_components={self.n_components!r} must be a whole number of at least 1."
            )
        if not isinstance(self.lam, Real) or not 0 <= self.lam < np.inf:
            raise InvalidParameterError(f"lam={self.lam!r} must be a number that is zero or more.")

    @property
    def _n_features_out(self):
        return self.coef_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags


class ELMSpectralClustering(Summary, ClusterMixin, BaseEstimator):
    """US-ELM clustering: k-means on the embedding, with a prediction for new rows.

    The embedding is found where the rows are; k-means is scikit-learn's and runs on the host.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    features : feature map, transformer or None, default=None
        Stage one; None is ``RandomFeatures``. It is cloned and fitted.
    n_components : int or None, default=None
        Columns of the embedding (None: ``n_clusters``).
    n_hidden : int or None, default=None
        Width of the default map (None: 2000).
    graph : KNNGraph, Laplacian, sparse matrix, neighbours transformer or None, default=None
        Who is whose neighbour; None is ``KNNGraph(5)``.
    lam : float, default=10.0
        How far to trust the graph against ‖β‖².
    row_normalize : bool, default=True
        Whether every row of the embedding is divided by its length first.
    n_init : int, default=10
        How often k-means starts; the tightest clustering is kept.
    dtype : dtype, default=None
        Precision of the hidden rows; None follows the input.
    random_state : int, RandomState instance or None, default=None
        Seeds the default map and k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every training row.
    embedding_ : ELMEmbedding
        The fitted embedding.
    kmeans_ : KMeans
        The fitted k-means.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.

    See Also
    --------
    ELMEmbedding : The embedding alone.
    SemiSupervisedELMClassifier : When a few rows have a label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMSpectralClustering
    >>> from ulmus.metrics import clustering_accuracy
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMSpectralClustering(3, random_state=0).fit(X)
    >>> bool(clustering_accuracy(y, model.labels_) > 0.8)
    True
    """

    _on_device = ("labels_",)

    def __init__(
        self,
        n_clusters=8,
        *,
        features=None,
        n_components=None,
        n_hidden=None,
        graph=None,
        lam=10.0,
        row_normalize=True,
        n_init=10,
        dtype=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.features = features
        self.n_components = n_components
        self.n_hidden = n_hidden
        self.graph = graph
        self.lam = lam
        self.row_normalize = row_normalize
        self.n_init = n_init
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X, y=None, *, client=None):
        """Find clusters of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows. The embedding of a Dask collection, a few columns, is brought together.
        y : None
            Not used; here for pipelines.
        client : distributed.Client or None, default=None
            Who works on a Dask collection; None is whoever Dask would ask.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with atomic(self):
            if is_collection(X):
                rows = BlockRows(self, X, client=client)
                rows.survey(_nothing)
                n_rows = len(rows)
            else:
                X = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
                n_rows = X.shape[0]
            if not isinstance(self.n_clusters, Integral) or not 1 <= self.n_clusters <= n_rows:
                raise InvalidParameterError(
                    f"n_clusters={self.n_clusters!r} must be a whole number from 1 to the number "
                    f"of rows, {n_rows}."
                )
            wanted = self.n_clusters if self.n_components is None else self.n_components
            shared = {
                name: getattr(self, name)
                for name in ("features", "n_hidden", "graph", "lam", "row_normalize", "dtype")
            }
            # As many clusters as rows: no more columns than there are directions.
            self.embedding_ = ELMEmbedding(
                n_components=min(wanted, n_rows - 1),
                random_state=self.random_state,
                **shared,
            )
            (E,) = computed(self.embedding_.fit(X, client=client).transform(X))
            means = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state)
            # Its rows are NumPy's, and that of scikit-learn 1.6 fails where others are allowed.
            with config_context(array_api_dispatch=False):
                self.kmeans_ = means.fit(to_numpy(E))
            self.labels_ = placed(self.kmeans_.labels_, E)
            return self

    def _checked_rows(self, X, y, weight, reset):
        """A block's rows, for `BlockRows`."""
        return valid_rows(self, X, reset), None, None

    @by_blocks
    def predict(self, X):
        """The cluster of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows, seen before or not.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The nearest cluster in the embedding.
        """
        check_is_fitted(self)
        X = valid_rows(self, X, reset=False)
        E = to_numpy(self.embedding_.transform(X))
        # k-means takes rows in the precision of its centres alone.
        E = E.astype(self.kmeans_.cluster_centers_.dtype, copy=False)
        with config_context(array_api_dispatch=False):
            return from_numpy(self.kmeans_.predict(E), X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags = None
        return tags


def _hidden_gram(X, y, weight, estimator):
    """A block's part of HᵀH."""
    return hidden_gram(Hidden(layer_of(estimator.features_, X, estimator.dtype), X))


def _nothing(X, y, weight, estimator):
    """What is wanted to know of a block but its rows."""
