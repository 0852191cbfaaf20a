"""GELM: a penalty on how far outputs of one class are apart."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ulmus.arguments import grid_of
from ulmus.docstrings import documented
from ulmus.estimators.class_labels import ClassLabels, predict_log_proba, predict_proba
from ulmus.estimators.elm import ELMClassifier
from ulmus.estimators.ridge_elm import RidgeELM
from ulmus.features.random_units import RandomFeatures
from ulmus.methods.class_scatter import ClassScatter, Points
from ulmus.methods.ridge import DEFAULT_GRID, ridge_grid
from ulmus.typing import Seed

_STRENGTHS = np.array([0.0, 0.3, 1.0, 3.0, 10.0, 30.0])


@documented
class GraphELMClassifier(ClassLabels, ClassifierMixin, RidgeELM):
    """GELM: extreme learning machine that keeps the outputs of each class together.

    The graph of GELM joins every two rows of a class, so its penalty is the within-class scatter
    S of the hidden rows, (G + λS + I/C) β = HᵀT, and S follows from class sums: no graph is built,
    and a fit, a stream or an update costs little more than `ELMClassifier`'s.

    Parameters
    ----------
    features : feature map, transformer or None, default=None
        Feature map or transformer; None is `RandomFeatures`. It is cloned and fitted.
    n_hidden : int, "loo" or None, default=None
        Number of units of the default map; None means 1000. "loo" chooses it by leave-one-out among
        the map's own number and its halves.
    lam : "loo", float or array-like, default="loo"
        λ, strength of the penalty on the scatter within classes. "loo" chooses it among 0 and
        five values from 0.3 to 30.
    C : "loo", float or array-like, default="loo"
        Inverse regularisation strength; larger values fit the data more closely. "loo" chooses
        among 25 values for each ``lam``; C(1 + lam) is the same 25 for all, from 10⁻⁴ to 10⁸.
        ``np.inf`` means no ridge; ``C_`` is then 10¹⁰⁰.

    Attributes
    ----------
    lam_ : float
        The value of λ that is used.
    loo_path_ : dict of ndarrays
        "lam", "C", "error_rate" and "squared_error", an entry for each pair that was tried,
        where there was a choice. A row that is left out leaves its class's mean too, so the
        errors are those of n refits.
    selection_ : {"fixed", "loo", "loo-sample"}
        How C and lam were chosen, as in `ELMClassifier`.
    solver_ : {"primal", "spectral"}
        How β was found.

    See Also
    --------
    ELMClassifier : The same without the scatter.
    ManifoldELMClassifier : Only neighbours of a class are kept together.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import GraphELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GraphELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.97
    """

    lam_: float
    temperature_: float
    class_scaling_: np.ndarray
    predict_proba, predict_log_proba = predict_proba, predict_log_proba
    partial_fit = ELMClassifier.partial_fit

    # The papers' layer.
    _default_map = RandomFeatures

    def __init__(
        self,
        features: Any = None,
        *,
        n_hidden: int | str | None = None,
        lam: Any = "loo",
        C: Any = "loo",
        class_weight: Any = None,
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.n_hidden = n_hidden
        self.lam = lam
        self.C = C
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    def _method(self) -> ClassScatter:
        lams, Cs = grid_of("lam", self.lam, _STRENGTHS, zero=True), ridge_grid(self.C)
        lam, C = (A.ravel() for A in np.meshgrid(lams, np.atleast_1d(Cs), indexing="ij"))
        if Cs is DEFAULT_GRID:
            # All that λ shares with another λ is the ridge at the same C(1 + λ).
            C = C / (1.0 + lam)
        one = np.ndim(self.C) == 0 and np.ndim(self.lam) == 0 and len(C) == 1
        return ClassScatter(Points(lam, C, chosen=not one))
