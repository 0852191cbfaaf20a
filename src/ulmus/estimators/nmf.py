"""Clusters in a non-negative factorisation of the hidden layer."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import NMF

from ulmus.arguments import check_known, check_number
from ulmus.docstrings import documented
from ulmus.estimators.cluster_columns import local_units
from ulmus.estimators.kmeans import HiddenClustering
from ulmus.features import RandomFeatures
from ulmus.methods.factors import FactorClusters, Factorisation, Factors
from ulmus.typing import Rows, Seed


@documented
class ELMNMF(HiddenClustering):
    """ELM NMF: a non-negative factorisation of the hidden layer's output, then k-means.

    H ≈ BW with as many components as clusters; k-means groups the rows of B.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, and of components.
    features : feature map, transformer or None, default=None
        Feature map or transformer whose values are not negative; it is cloned and fitted. None
        chooses as `ELMKMeans` does, rows being scaled to [0, 1]; where it does not choose, units
        are ``RBFFeatures(width="local")``.
    solver : {"cd", "mu"}, default="cd"
        Coordinate descent, or the paper's multiplicative updates, which minimise the same and
        take longer.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar"} or None, default=None
        How the factorisation starts, as in scikit-learn's NMF; None starts from singular vectors,
        or with ``RandomFeatures`` at random: singular vectors suit units that are often near zero.
    max_iter : int, default=200
        Sweeps after which the factorisation stops.
    tol : float, default=1e-4
        Relative change at which it stops before.
    random_state : int, RandomState instance or None, default=None
        Seeds the default map, the factorisation and k-means.

    Attributes
    ----------
    components_ : ndarray of shape (n_clusters, n_hidden)
        The factor W.
    cluster_centers_ : ndarray of shape (n_clusters, n_clusters)
        The clusters' means among the rows of B.
    inertia_ : float
        Sum of squared distances of the rows of B to their centres.
    reconstruction_err_ : float
        ‖H − BW‖ at the end of the factorisation.
    n_iter_ : int
        Sweeps it took; ``max_iter`` where it was stopped.
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

    _positive = True
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
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.dtype = dtype
        self.random_state = random_state

    def _default(self, X: Rows) -> Callable[..., Any]:
        return local_units

    def _method(self, origin: str) -> Factorisation:
        clusters = self.n_clusters_, self.n_init
        init = "random" if self.init is None and origin == RandomFeatures.__name__ else self.init
        return Factorisation(*clusters, origin, self.solver, init, self.max_iter, self.tol)

    def _found(self) -> FactorClusters:
        return FactorClusters(self.kmeans_, Factors(self.nmf_, type(self.features_).__name__))

    def _accept(self, found: Any) -> None:
        super()._accept(found)
        self.nmf_ = found.factors.nmf
        self.components_, self.n_iter_ = self.nmf_.components_, self.nmf_.n_iter_
        self.reconstruction_err_ = float(self.nmf_.reconstruction_err_)

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        check_known("solver", self.solver, ("cd", "mu"))
        if self.init is not None:
            check_known("init", self.init, ("random", "nndsvd", "nndsvda", "nndsvdar"))
        check_number("tol", self.tol, "a number that is zero or more", zero=True)
