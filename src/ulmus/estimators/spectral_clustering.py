"""US-ELM's clusters: k-means on its embedding."""

from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_whole
from ulmus.backends.namespace import from_numpy, gathered, is_collection, placed, to_numpy
from ulmus.distributed.blocks import computed
from ulmus.distributed.mapped import by_blocks
from ulmus.distributed.rows import BlockRows
from ulmus.docstrings import documented
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.kmeans import check_clusters
from ulmus.features.hidden_layer import HiddenModel, dense, layer_of
from ulmus.fitted import OfRows, OnDevice, atomic, forget_fit
from ulmus.hidden import Hidden
from ulmus.methods.ridge import DEFAULT_GRID, solve
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, chosen
from ulmus.typing import Array, Rows, Seed
from ulmus.validation import valid_rows

# Columns for each cluster where the coupling is free: the first functions on a graph also separate
# small groups from the rest, so that clusters need more columns than there are of them.
_TIMES = 2


@documented
class ELMSpectralClustering(ClusterMixin, HiddenModel):
    """US-ELM clustering: k-means on the embedding, with a prediction for new rows.

    The embedding of rows on a device is found there; k-means is scikit-learn's and runs on the
    host.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int or None, default=None
        Columns of the embedding (None: ``n_clusters``, or twice as many where the coupling is
        free; no more than the rows differ in).
    n_hidden : int or None, default=None
        Width of the default map (None: 2000).
    graph : KNNGraph, Laplacian, sparse matrix, neighbours transformer or None, default=None
        The graph of neighbours; None is ``KNNGraph(5)``, or ``KNNGraph(10, width="local")`` where
        the coupling is free.
    coupling : {"auto", "tight", "free"}, default="auto"
        Whether the embedding is that of the hidden layer, as published, or the graph's own, which
        serves where rows are many more than units; see `ELMEmbedding`.
    lam : float, default=10.0
        Strength of the graph's regularisation, where the coupling is tight.
    row_normalize : bool, default=True
        Whether every row of the embedding is divided by its length first.
    n_init : int, default=10
        How often k-means starts; the tightest clustering is kept.
    random_state : int, RandomState instance or None, default=None
        Seeds the default map and k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every training row; by the graph's own embedding where the coupling is
        free, so that ``predict``, which asks the hidden layer, may differ for some.
    coupling_, coupling_reason_ : str
        The coupling in use, and why.
    embedding_ : ELMEmbedding
        The fitted embedding.
    kmeans_ : KMeans
        The fitted k-means.
    features_, beta_, n_hidden_, C_ : transformer, ndarray, int, float
        Where the coupling is free: the fitted map, the output weights of the clusters (one column
        for two of them), the number of units, and the C of their ridge.

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

    embedding_: ELMEmbedding
    kmeans_: KMeans
    C_: float
    coupling_: str
    coupling_reason_: str
    selection_: str
    loo_score_: float
    labels_: OfRows[OnDevice[Array]]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        features: Any = None,
        n_components: int | None = None,
        n_hidden: int | str | None = None,
        graph: Any = None,
        coupling: str = "auto",
        lam: Any = 10.0,
        row_normalize: bool = True,
        n_init: int = 10,
        dtype: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.features = features
        self.n_components = n_components
        self.n_hidden = n_hidden
        self.graph = graph
        self.coupling = coupling
        self.lam = lam
        self.row_normalize = row_normalize
        self.n_init = n_init
        self.dtype = dtype
        self.random_state = random_state

    @atomic
    def fit(self, X: Rows, y: Any = None, *, client: Any = None) -> Self:
        """Find clusters of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows. The embedding of a Dask collection, a few columns, is brought together.
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
        X, n_rows = self._checked(X, client)
        check_clusters(self.n_clusters, n_rows)
        self.embedding_ = self._fitted_embedding(X, n_rows, client)
        self.coupling_ = self.embedding_.coupling_
        self.coupling_reason_ = self.embedding_.coupling_reason_
        free = self.coupling_ == "free"
        E = self.embedding_.embedding_ if free else self.embedding_.transform(X)
        E = dense(*computed(E))
        means = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state)
        # Its rows are NumPy's, and that of scikit-learn 1.6 fails where others are allowed.
        with config_context(array_api_dispatch=False):
            self.kmeans_ = means.fit(to_numpy(E))
        self.labels_ = placed(self.kmeans_.labels_, E)
        if free and self.n_clusters > 1:
            self._learn_clusters(X)
        return self

    def _checked(self, X: Rows, client: Any) -> tuple[Rows, int]:
        """The rows, and how many there are."""
        if is_collection(X):
            rows = BlockRows(self, X, client=client)
            rows.survey(_nothing)
            return X, len(rows)
        X = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
        return X, X.shape[0]

    def _fitted_embedding(self, X: Rows, n_rows: int, client: Any) -> ELMEmbedding:
        """The embedding, with as many columns as serve the coupling."""
        columns = self.n_clusters, _TIMES * self.n_clusters
        if self.n_components is not None:
            check_whole("n_components", self.n_components, least=1)
            columns = self.n_components, self.n_components
        # As many clusters as rows: no more columns than there are directions.
        tight, free = (min(wanted, n_rows - 1) for wanted in columns)
        names = ("features", "n_hidden", "graph", "coupling", "lam", "row_normalize", "dtype")
        shared = {name: getattr(self, name) for name in names}
        model = ELMEmbedding(n_components=tight, random_state=self.random_state, **shared)
        model._fit_columns(X, client, tight, free, fewer=self.n_components is None)
        return model.set_params(n_components=int(model.beta_.shape[1]))

    def _learn_clusters(self, X: Rows) -> None:
        """β for the clusters as classes, which finds them again more often than Hβ's centres do."""
        self.features_ = self.embedding_.features_
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        clusters = ClassTargets(self.labels_, self.n_clusters).placed(H.X)
        solution = solve(Problem(H, clusters), DEFAULT_GRID, seed=0)
        assert solution.path is not None  # C was chosen
        self.beta_, self.intercept_, self.C_ = solution.coef, solution.intercept, solution.C
        self.n_hidden_ = int(solution.coef.shape[0])
        self.selection_ = "loo" if solution.path.rows == len(H) else "loo-sample"

    @by_blocks
    def predict(self, X: Rows) -> Array:
        """The cluster of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows, seen before or not.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The nearest cluster in the embedding, or where the coupling is free the one with the
            largest output.
        """
        check_is_fitted(self)
        X = valid_rows(self, X, reset=False)
        if hasattr(self, "beta_"):
            return chosen(self._map(X))
        E = to_numpy(dense(self.embedding_.transform(X)))
        # k-means takes rows in the precision of its centres alone.
        E = E.astype(self.kmeans_.cluster_centers_.dtype, copy=False)
        with config_context(array_api_dispatch=False):
            return from_numpy(self.kmeans_.predict(E), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = None
        return tags


def _nothing(X: Rows, y: Any, weight: np.ndarray | None, estimator: Any) -> None:
    """What is wanted to know of a block but its rows."""
