"""MELM: ridge with a penalty on local within-class less between-class scatter."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from ulmus.arguments import check_known, check_number, check_whole, grid_of
from ulmus.backends.namespace import gathered, placed
from ulmus.docstrings import documented
from ulmus.estimators.class_labels import ClassLabels, predict_log_proba, predict_proba
from ulmus.estimators.importances import feature_importances
from ulmus.features.hidden_layer import HiddenModel, fitted_map, layer_of, scaled_rows
from ulmus.fitted import ForUpdate, atomic, forget_fit, log_facts
from ulmus.graphs import KNNGraph
from ulmus.hidden import Hidden
from ulmus.methods.class_scatter import Points
from ulmus.methods.discriminant import FORMS, Discriminant, Geometry, folds
from ulmus.problem import Solution
from ulmus.reservoir import some_kept
from ulmus.typing import Rows, Seed

_GRID = np.logspace(-6, 4, 21)


@documented
class ManifoldELMClassifier(ClassLabels, ClassifierMixin, HiddenModel):
    """MELM: extreme learning machine that uses the manifold of each class.

    (G + S/C) β = HᵀT, where S is the scatter of neighbours within each class less 1 − λ times the
    scatter of the class means. The class means give S negative eigenvalues, so
    that the problem has no minimum; ``form`` says how S is changed to have one.

    Parameters
    ----------
    lam : float or array-like, default=0.5
        λ from 0, where class means are separated most, to 1, where they are not. From a list the
        best value is chosen together with C.
    C : "cv", float or array-like, default="cv"
        Inverse strength of S; larger values fit the data more closely. "cv" chooses among 21 values
        from 10⁻⁶ to 10⁴; a list replaces these.
    n_neighbors : int, default=5
        How many neighbours of its own class a row is joined to. Their distances, in inputs as
        the map scales them, give heat weights whose width is the mean of these distances.
    form : {"positive", "bounded"}, default="positive"
        What is solved. "positive" keeps the positive part of S and adds ``ridge``; "bounded" takes
        as much of the class means' scatter as keeps at least half of the system without it.
    ridge : float, default=1.0
        Ridge that is added to S, in units of the mean eigenvalue of S over all hidden units (of its
        positive part, or of its first term if the form is "bounded"). A larger ridge makes the
        model more similar to `ELMClassifier`.
    cv : int, default=5
        Number of folds. C, lam and the probabilities' temperature come from rows held out,
        whose edges and class means are left out with them.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, in G and HᵀT.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map and of the folds.

    Attributes
    ----------
    C_, lam_ : float
        The values that are used.
    cv_path_ : dict of ndarrays
        "lam", "C", "error_rate" and "squared_error" on rows held out, an entry for each pair
        that was tried, where there was a choice.
    cv_score_ : float
        Accuracy on rows held out, where there was a choice.
    selection_ : {"fixed", "cv"}
        How C and lam were chosen.
    n_negative_ : int
        Negative eigenvalues of S.

    See Also
    --------
    GraphELMClassifier : All rows of a class together; streams, and chooses by leave-one-out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ManifoldELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ManifoldELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.n_negative_, round(model.score(X[1::2], y[1::2]), 2)
    (2, 0.97)
    """

    C_: float
    lam_: float
    n_negative_: int
    selection_: str
    cv_path_: dict[str, np.ndarray]
    cv_score_: float
    _kept: ForUpdate[Any]
    temperature_: float
    class_scaling_: np.ndarray
    predict_proba, predict_log_proba = predict_proba, predict_log_proba
    feature_importances_ = property(feature_importances)

    def __init__(
        self,
        features: Any = None,
        *,
        n_hidden: int | None = None,
        lam: Any = 0.5,
        C: Any = "cv",
        n_neighbors: int = 5,
        form: str = "positive",
        ridge: float = 1.0,
        cv: int = 5,
        class_weight: Any = None,
        dtype: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.features = features
        self.n_hidden = n_hidden
        self.lam = lam
        self.C = C
        self.n_neighbors = n_neighbors
        self.form = form
        self.ridge = ridge
        self.cv = cv
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state

    @atomic
    def fit(self, X: Rows, y: Any) -> Self:
        """Fit the output weights.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The labels.
        """
        forget_fit(self)
        points = self._points()
        source, held = self._source(X, y)
        method = Discriminant(points, self.form, float(self.ridge), held)
        solution, self.n_negative_ = method.fit(source)
        self._accept(source, solution)
        return self

    def _source(self, X: Rows, y: Any) -> tuple[Geometry, list[np.ndarray]]:
        """The hidden rows with their targets and graph, and the rows of each fold."""
        X, y = self._validate_target(X, y, reset=True)
        targets, weight, _ = self._encode(y, None)
        X = gathered(X)
        self._kept = some_kept(X)
        self.features_ = fitted_map(self, X, y)
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        W = KNNGraph(self.n_neighbors).affinity(scaled_rows(self.features_, X), targets.codes)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        held = folds(targets.codes, self.cv, seed)
        weight = None if weight is None else placed(weight, X)
        return Geometry(H, targets.placed(X), weight, W), held

    def _accept(self, source: Geometry, solution: Solution) -> None:
        """Turn a solution into fitted attributes."""
        self.beta_, self.intercept_ = solution.coef, solution.intercept
        assert solution.lam is not None  # the points have one
        self.C_, self.lam_ = solution.C, solution.lam
        self.n_hidden_ = source.H.width
        self.selection_ = "fixed" if solution.path is None else "cv"
        if solution.path is not None:
            self.cv_path_ = solution.path.table()
            self.cv_score_ = 1.0 - solution.path.score[0]
        self._calibrate(source.targets, solution.loo, solution.loo_rows, source.weight)
        log_facts(self)

    def _points(self) -> Points:
        """The pairs of λ and C; all other arguments are checked too."""
        check_known("form", self.form, FORMS)
        check_whole("cv", self.cv, least=2)
        check_number("ridge", self.ridge)
        lams = grid_of("lam", self.lam, None, zero=True, most=1.0)
        Cs = grid_of("C", self.C, _GRID, word="cv")
        lam, C = (A.ravel() for A in np.meshgrid(lams, Cs, indexing="ij"))
        one = np.ndim(self.lam) == 0 and np.ndim(self.C) == 0 and len(C) == 1
        return Points(lam, C, chosen=not one)
