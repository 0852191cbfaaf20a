"""Clusters in a non-negative factorisation of the hidden layer."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from ulmus.arguments import check_known, check_number
from ulmus.docstrings import documented
from ulmus.estimators.kmeans import HiddenClustering
from ulmus.exceptions import InvalidInputError
from ulmus.features import RBFFeatures
from ulmus.features.hidden_layer import dense
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
        Feature map or transformer whose values are not negative; None is
        ``RBFFeatures(width="local")``. It is cloned and fitted.
    solver : {"cd", "mu"}, default="cd"
        Coordinate descent, or the paper's multiplicative updates, which minimise the same and
        take longer.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar"} or None, default=None
        How the factorisation starts, as in scikit-learn's NMF; None starts from singular vectors.
        With units that are never near zero, sigmoid ones for instance, "random" does better.
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

    nmf_: NMF
    components_: np.ndarray
    reconstruction_err_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        features: Any = None,
        n_hidden: int | str | None = None,
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
        return partial(RBFFeatures, width="local")

    def _learn(self, H: Any, seed: int) -> None:
        self.nmf_ = NMF(
            self.n_clusters,
            solver=self.solver,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=seed,
        )
        # Its start warns where arrays are dispatched, and these are NumPy's in any case.
        with warnings.catch_warnings(), config_context(array_api_dispatch=False):
            # A factorisation that is cut short groups rows as well; n_iter_ tells.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.nmf_.fit(self._checked(H))
        self.components_ = self.nmf_.components_
        self.reconstruction_err_ = float(self.nmf_.reconstruction_err_)
        self.n_iter_ = self.nmf_.n_iter_
        # On rows as `transform` gives them: a training row is predicted as it is labelled.
        super()._learn(H, seed)

    def _coordinates(self, H: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Its rows must be in the precision of W.
            H = self._checked(H).astype(self.components_.dtype, copy=False)
            return dense(self.nmf_.transform(H))

    _transformed = _coordinates

    def _checked(self, H: Any) -> Any:
        if H.min() < 0:
            raise InvalidInputError(
                f"{type(self.features_).__name__} gave negative values, and a non-negative "
                "factorisation cannot have them; use RandomFeatures with activation='sigmoid' or "
                "'relu', or RBFFeatures."
            )
        return H

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        check_known("solver", self.solver, ("cd", "mu"))
        if self.init is not None:
            check_known("init", self.init, ("random", "nndsvd", "nndsvda", "nndsvdar"))
        check_number("tol", self.tol, "a number that is zero or more", zero=True)
