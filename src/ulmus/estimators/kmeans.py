"""Clusters in the hidden layer, or in a non-negative factorisation of it, by k-means."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_known, check_number, check_whole
from ulmus.backends.namespace import is_collection
from ulmus.distributed import BlockRows, by_blocks
from ulmus.docstrings import documented
from ulmus.estimators.cluster_defaults import number_of_clusters
from ulmus.estimators.cluster_layers import default_layer, layer_for, stability_by_number
from ulmus.features import RandomFeatures
from ulmus.features.base import column_statistics, merged
from ulmus.features.hidden_layer import fitted_map, layer_of
from ulmus.fitted import OfRows, atomic, forget_fit, log_facts
from ulmus.hidden import Hidden
from ulmus.methods.clusters import Clusters, Means
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.summary import html_of, mimebundle_of
from ulmus.typing import Rows, Seed
from ulmus.validation import on_host_alone, valid_rows

# Components for each cluster.
_TIMES = 2


class HiddenClustering(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """What both clusterers share: a hidden layer, rows that fit, and k-means at the end.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_hidden : int or None, default=None
        Number of units of the default map, which is then one with units. None means 1000, or the
        number of columns if the layer is the rows themselves.
    n_init : int, default=10
        Number of k-means runs; the one with the lowest inertia is kept.
    dtype : float32, float64 or None, default=None
        Precision of the hidden rows; None follows the input.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map and of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every training row.
    kmeans_ : KMeans
        The fitted k-means.
    n_clusters_ : int
        Number of clusters.
    features_ : transformer
        The fitted map.
    candidates_ : dict of ndarrays
        Where layers were compared: a row for each, the one in use first, with its kind, the mutual
        information of the clusters of neighbours ("information"), its stability, its agreement with
        the others, and the product of the first two ("score"), zero where agreement is low.
    layer_reason_ : str
        The chosen layer, and why.
    n_hidden_ : int
        Number of hidden units.
    """

    features_: Any
    candidates_: dict[str, np.ndarray]
    layer_reason_: str
    n_clusters_: int
    n_hidden_: int
    kmeans_: KMeans
    cluster_centers_: np.ndarray
    inertia_: float
    labels_: OfRows[np.ndarray]
    _repr_html_inner, _repr_mimebundle_ = html_of, mimebundle_of

    # Whether hidden rows may not be negative.
    _positive: ClassVar = False
    # What scores each number of clusters where it is "auto"; None where that is not allowed.
    _by_number: ClassVar[Any] = None

    def _method(self, origin: str) -> Means:
        """What finds the clusters: a value that sees hidden rows, and never this object.

        ``origin`` is what errors call the map.
        """
        return Means(self.n_clusters_, self.n_init)

    def _found(self) -> Clusters:
        """The clusters that were fitted."""
        nmf, origin = getattr(self, "nmf_", None), type(self.features_).__name__
        return Clusters(self.kmeans_, nmf, origin, getattr(self, "compare", "BW"))

    @atomic
    def fit(self, X: Rows, y: Any = None, *, client: Any = None) -> Self:
        """Find clusters of X.

        Where the hidden rows do not fit in scikit-learn's ``working_memory``, the clusters are
        found on a random sample that does, and every row is then given its own. On a Dask
        collection k-means starts on a sample and goes on over the blocks; ``labels_`` is then a
        Dask array that is not computed yet.
        """
        forget_fit(self)
        source = self._source(X, client)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        found = self._method(type(self.features_).__name__).fit(source, seed)
        self._accept(found)
        self.n_hidden_ = source.width
        if isinstance(source, HiddenBlocks):
            self.inertia_ = self.kmeans_.inertia_ = float(source.total(found.sums)[:, -1].sum())
            self.labels_ = self.predict(X)
        else:
            self.labels_, self.inertia_ = found.assigned(source)
        log_facts(self)
        return self

    def _source(self, X: Rows, client: Any) -> Hidden | HiddenBlocks:
        """The hidden rows, under a map that is fitted to X."""
        if is_collection(X):
            rows = BlockRows(self, X, client=client)
            columns = merged(rows.survey(column_statistics))
            self._check_parameters()
            self.n_clusters_ = number_of_clusters(self, rows, self._by_number)
            default = default_layer(rows.shape[1], self._positive)
            self.features_ = fitted_map(self, rows, columns=columns, default=default)
            return HiddenBlocks(rows, self.features_, self.dtype)
        on_host_alone(self, X)
        X = valid_rows(self, X, reset=True)
        self._check_parameters()
        # Clusters that are far apart are as stable when some of them are one.
        self.n_clusters_ = number_of_clusters(self, X, self._by_number, largest=True)
        layer = layer_for(self, X, self._method, self._positive)
        self.features_ = fitted_map(self, X, default=layer)
        return Hidden(layer_of(self.features_, X, self.dtype), X)

    def _accept(self, found: Clusters) -> None:
        self.kmeans_, self.cluster_centers_ = found.kmeans, found.kmeans.cluster_centers_

    @by_blocks
    def predict(self, X: Rows) -> np.ndarray:
        """The cluster of each row, seen before or not.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The nearest cluster.
        """
        H = self._hidden(X)
        return self._found().assigned(H)[0]

    @by_blocks
    def transform(self, X: Rows) -> np.ndarray:
        """The distance of each row to every centre in the hidden layer, or its row of B (ELM NMF).

        Returns
        -------
        D : ndarray of shape (n_samples, n_clusters)
            Distances, or how much of each component a row has.
        """
        H = self._hidden(X)
        return self._found().transformed(H)

    def _hidden(self, X: Rows) -> Hidden:
        check_is_fitted(self)
        on_host_alone(self, X)
        X = valid_rows(self, X, reset=False)
        return Hidden(layer_of(self.features_, X, self.dtype), X)

    def _check_parameters(self) -> None:
        """Refuse parameters of a class of its own that cannot be."""

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags


@documented
class ELMKMeans(HiddenClustering):
    """ELM k-means: k-means on the hidden layer's output.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" takes the one from 2 to 12 with the most stable clusters that
        layers agree on, and the largest where several are.
    features : feature map, transformer or None, default=None
        Feature map; it is cloned and fitted. None chooses without labels, on at most 1000 rows:
        sigmoid units that bend on columns of unit variance,
        ``RandomFeatures(gain=√n_features)``, local units, ``RBFFeatures(width="local")``, the rows
        themselves, or from four columns on rows of unit length. The clusters of the layer in use
        are those of halves of the rows too, and neighbours share them. On a Dask collection, with
        one cluster, and with fewer than four rows a cluster, they are sigmoid units.

    Attributes
    ----------
    n_clusters_path_ : dict of ndarrays
        Where the number of clusters was chosen: those that were compared, and the score of each.
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

    _by_number: ClassVar = staticmethod(stability_by_number)
    n_clusters_path_: dict[str, np.ndarray]

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        features: Any = None,
        n_hidden: int | None = None,
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


@documented
class ELMNMF(HiddenClustering):
    """ELM NMF: a non-negative factorisation of the hidden layer's output, then k-means.

    H ≈ BW, and k-means groups the rows of BW. The paper's form has as many components as clusters,
    and groups the rows of B: ``n_components=n_clusters, compare="B"``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    features : feature map, transformer or None, default=None
        Feature map or transformer whose values are not negative; it is cloned and fitted. None
        chooses as `ELMKMeans` does, rows being scaled to [0, 1]; where it does not choose, units
        are ``RBFFeatures(width="local")``.
    n_components : int or None, default=None
        Columns of B; None is twice the number of clusters, by which images lose least.
    compare : {"BW", "B"}, default="BW"
        What k-means compares. Distances between rows of B depend on the lengths of the rows of W,
        which the factorisation does not say anything about.
    solver : {"cd", "mu"}, default="cd"
        Coordinate descent, or the paper's multiplicative updates, which minimise the same and
        take longer.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar"} or None, default=None
        How the factorisation starts, as in scikit-learn's NMF; None starts from singular vectors,
        or at random with ``RandomFeatures``, and where the hidden rows have fewer singular vectors
        than components: singular vectors suit units that are often near zero.
    max_iter : int, default=200
        Largest number of sweeps of the factorisation.
    tol : float, default=1e-4
        Relative change at which the factorisation stops.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map, of the factorisation and of k-means.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_hidden)
        The factor W.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        The clusters' means among the rows of B (WWᵀ)^½, which are as far apart as those of BW, or
        of B.
    inertia_ : float
        Sum of squared distances of these rows to their centres.
    reconstruction_err_ : float
        ‖H − BW‖ at the end of the factorisation.
    n_iter_ : int
        Number of sweeps; ``max_iter`` if it was stopped.
    nmf_ : NMF
        The fitted factorisation.

    See Also
    --------
    ELMKMeans : k-means on the hidden layer's output itself.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ulmus import ELMNMF
    >>> from ulmus.metrics import clustering_accuracy
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ELMNMF(3, random_state=0).fit(X)
    >>> bool(clustering_accuracy(y, model.labels_) > 0.9)
    True
    """

    _positive: ClassVar = True
    nmf_: NMF
    components_: np.ndarray
    reconstruction_err_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        features: Any = None,
        n_hidden: int | None = None,
        n_components: int | None = None,
        compare: str = "BW",
        solver: str = "cd",
        init: str | None = None,
        max_iter: int = 200,
        tol: float = 0.0001,
        n_init: int = 10,
        dtype: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.features = features
        self.n_hidden = n_hidden
        self.n_components = n_components
        self.compare = compare
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.dtype = dtype
        self.random_state = random_state

    def _method(self, origin: str) -> Means:
        # Singular vectors suit units that are often near zero.
        start = "random" if self.init is None and origin == RandomFeatures.__name__ else self.init
        nmf = {
            "n_components": self.n_components or _TIMES * self.n_clusters_,
            "solver": self.solver,
            "init": start,
            "max_iter": self.max_iter,
            "tol": self.tol,
        }
        return Means(self.n_clusters_, self.n_init, nmf, origin, self.compare)

    def _accept(self, found: Clusters) -> None:
        super()._accept(found)
        self.nmf_ = found.nmf
        self.components_, self.n_iter_ = self.nmf_.components_, self.nmf_.n_iter_
        self.reconstruction_err_ = float(self.nmf_.reconstruction_err_)

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check_whole("n_components", self.n_components, least=1)
        check_known("compare", self.compare, ("BW", "B"))
        check_known("solver", self.solver, ("cd", "mu"))
        if self.init is not None:
            check_known("init", self.init, ("random", "nndsvd", "nndsvda", "nndsvdar"))
        check_number("tol", self.tol, "a number that is zero or more", zero=True)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
