"""SS-ELM for classes: a few labels, many rows, and a model for new ones."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ulmus.arguments import check_known
from ulmus.backends.namespace import namespace, placed, to_numpy
from ulmus.calibration import probabilities, temperature, temperature_for
from ulmus.docstrings import documented
from ulmus.estimators.class_labels import (
    ClassLabels,
    is_indicator,
    predict_log_proba,
    predict_proba,
)
from ulmus.estimators.few_labels import SemiSupervisedELM
from ulmus.estimators.row_graphs import crowded_labels
from ulmus.exceptions import InvalidInputError, InvalidParameterError, UlmusWarning
from ulmus.fitted import snapshot
from ulmus.methods.iterative import ConjugateGradients
from ulmus.methods.manifold_basis import GraphSolution
from ulmus.methods.pool import Pooled
from ulmus.sources.source import OnGraph
from ulmus.targets import (
    ClassTargets,
    check_labels,
    chosen,
    class_factors,
    codes_of,
    distinct,
    is_balanced,
    known_labels,
)
from ulmus.typing import Seed
from ulmus.validation import narrowed, plain


@documented
class SemiSupervisedELMClassifier(ClassLabels, ClassifierMixin, SemiSupervisedELM):
    """SS-ELM: classes from a few labels and many rows without one.

    By default models of four kinds are averaged, each weighted by how well it predicts left-out
    labels: ridge on the labelled rows, SS-ELM, labels spread over the graph, and ridge on classes
    that the model predicts itself (self-training). β is fitted to the classes of the average, and
    predicts new rows.

    SS-ELM as published minimises ½‖β‖² + ½ Σ cᵢ‖tᵢ − hᵢβ‖² + (λ/2) tr (Hβ)ᵀΛ(Hβ): the labelled rows
    should be fitted, and neighbours in the graph should have like outputs. With ``lam=0`` and every
    row labelled it is `ELMClassifier`.

    Parameters
    ----------
    n_hidden : int or None, default=None
        Number of units of the default map; None means 2000.
    graph : KNNGraph, Laplacian, sparse matrix, neighbours transformer, list or None, default=None
        Graph of neighbours. None tries ten and twenty neighbours with ``width="local"``; a list
        replaces these. In the published form None is ``KNNGraph(5)``. A sparse matrix is an
        affinity, or distances in scikit-learn's format. Columns that share a unit, such as pixels,
        are compared as they are; other columns, and all columns in the published form, as the map
        scales them. Rows of words (many columns, nearly all zero) are scaled to unit length, and
        their default map is ``KernelFeatures("cosine")``.
    coupling : {"auto", "published", "tight", "free"}, default="auto"
        "auto" averages all kinds of models (``candidates_``); "tight" only those of SS-ELM, with
        outputs Hβ, over several C, λ and graphs; "free" only labels spread over the graph,
        F = (I + λΛ)⁻¹CY with rows scaled to means. "published" is one SS-ELM with one C and lam,
        and so is "auto" where lam, solver or validation is given.
    C : "loo", float or array-like, default="loo"
        Inverse regularisation strength; larger values fit the labels more closely.
    lam : "loo", float or array-like, default="loo"
        Strength of the graph's regularisation; larger values make outputs of neighbours more alike.
        In the published form "loo" tries 13 values of each from 10⁻⁶ to 10⁶, by leaving out each
        labelled row once.
    class_weight : "auto", dict, "balanced" or None, default="auto"
        Weights of the classes, for labelled rows. "auto" balances the classes in the published
        form, as the paper does, gives all labels the same weight if the coupling is free, and
        otherwise tries both.
    solver : {"auto", "spectral", "direct", "cg"} or ConjugateGradients, default="auto"
        "spectral" solves for all C and lam by one eigendecomposition, "direct" for one C and lam by
        one Cholesky factorisation; "cg" never forms an h × h matrix, and `ConjugateGradients` sets
        its stopping rule.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map.
    verbose : int, default=0
        If 1, show the progress of the longest step, products of the graph with the hidden units: a
        bar on a terminal and in a notebook, else plain lines.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,)
        A label for every row: the given one, or the predicted one.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probabilities for every row.
    coupling_, coupling_reason_ : str
        The coupling that is used, and why; "pool" is the average of all kinds. The reason for an
        average names its two kinds with the largest weights.
    candidates_ : dict of ndarrays
        If candidates were averaged: a row for each, the largest weight first: "kind" ("alone",
        "tight", "free", "clusters"), "layer" (0 is the model's own, 1 has units from rows, 2 is
        that of `ELMClassifier` on the labelled rows), "graph" (its number, −1 for none), "lam",
        "C", "weighting" (the class weights; 0 gives all labels the same weight), "weight", and
        where a label could be left out "temperature", "error" and "log_likelihood".
        ``print(model)`` names the two kinds with the largest weights.
    left_out_ : dict of ndarrays
        If candidates were averaged and a label could be left out: "rows", the numbers of the
        labelled rows that were left out (at most 500), and "outputs", the probabilities that the
        average gives each of them without its own label.
    C_, lam_ : float
        The values that are used.
    surface_ : dict of ndarrays
        "lam", "C", and "error_rate" and "squared_error" of shape (n_lam, n_C), where they were
        chosen. Of equal error rates the smoothest solution is taken.
    selection_ : {"fixed", "loo", "validation", "prior"}
        How C and lam were chosen; "prior" where each class has one label, so that none can be left
        out.
    loo_score_ : float
        Accuracy on left-out labelled rows, if C or lam was chosen; that of the average if
        candidates were averaged.
    solver_, solver_reason_ : str
        How β was found, and why that solver was used.
    n_iter_ : int
        Steps that "cg" took; 1 for the other solvers.

    See Also
    --------
    ELMClassifier : When every row has a label.
    ELMSpectralClustering : When none has.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from ulmus import SemiSupervisedELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> few = np.full(len(y), -1)
    >>> known = np.random.default_rng(0).choice(len(y), 60, replace=False)
    >>> few[known] = y[known]  # sixty labels, the other 1737 rows have none
    >>> model = SemiSupervisedELMClassifier(n_hidden=300, random_state=0).fit(X, few)
    >>> bool(np.mean(model.transduction_ == y) > 0.9)
    True
    """

    temperature_: float
    predict_proba, predict_log_proba = predict_proba, predict_log_proba

    def __init__(
        self,
        features: Any = None,
        *,
        n_hidden: int | None = None,
        graph: Any = None,
        coupling: str = "auto",
        C: Any = "loo",
        lam: Any = "loo",
        class_weight: Any = "auto",
        solver: str | ConjugateGradients = "auto",
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.n_hidden = n_hidden
        self.graph = graph
        self.coupling = coupling
        self.C = C
        self.lam = lam
        self.class_weight = class_weight
        self.solver = solver
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    @property
    def transduction_(self) -> Any:
        """A label for every row: the given one, or the predicted one."""
        model = snapshot(self)
        codes = to_numpy(chosen(model._transduced())).copy()
        given = to_numpy(model._y)
        known = known_labels(given)
        codes[known] = codes_of(given[known], model.classes_)
        return model._named(placed(codes, model._rows))

    @property
    def label_distributions_(self) -> Any:
        """Probabilities for every row."""
        model = snapshot(self)
        F = model._transduced()
        if model.coupling_ == "published":
            return probabilities(F, model.temperature_)
        return F / namespace(F).sum(F, axis=1, keepdims=True)

    def _weightings(self) -> list[Any]:
        """The class weights that are tried: the published ones are balanced."""
        if isinstance(self.class_weight, str) and self.class_weight == "auto":
            tried: dict[str, list[Any]] = {"published": ["balanced"], "free": [None]}
            return tried.get(self.coupling_, [None, "balanced"])
        return [self.class_weight]

    def _check_target(self, X: Any, y: Any) -> np.ndarray:
        y = plain(y)
        is_indicator(self, y)
        y = y if y.ndim == 1 else column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_labels(y)
        labels = narrowed(y[known_labels(y)])
        if labels.dtype.kind == "f" and np.isinf(labels).any():
            raise InvalidInputError("y contains infinity; −1 or NaN marks a row without a label.")
        if len(labels) and (
            labels.dtype != object or all(isinstance(label, str) for label in labels)
        ):
            # Twice, for few labels of many classes would look like numbers and be warned of.
            check_classification_targets(np.repeat(labels, 2))
        if len(labels) == len(y) and labels.dtype.kind in "UO" and (labels == "-1").any():
            warnings.warn(
                "Every row has a label, and the text '-1' is one of the classes: the number −1, "
                "None or NaN marks rows without a label, as np.where(known, y, None) does.",
                UlmusWarning,
                stacklevel=2,
            )
        return y

    def _labels(self, y: np.ndarray, weighting: Any) -> tuple[np.ndarray, Any, np.ndarray]:
        known = known_labels(y)
        if not known.any():
            raise InvalidInputError(
                "No row has a label: every y is −1 or missing, which marks rows without one. At "
                "least two classes need a labelled row each."
            )
        self.classes_ = distinct(narrowed(y[known]))
        if len(self.classes_) < 2:
            raise InvalidInputError(
                f"Only one class is left, {self.classes_.tolist()[0]!r}, once the rows marked −1 "
                "are taken as unlabelled; a classifier needs rows of at least two classes. "
                "If −1 is one of your classes, give it another name, 0 for instance."
            )
        codes = codes_of(y[known], self.classes_)
        totals = np.bincount(codes, minlength=len(self.classes_)).astype(float)
        factors = class_factors(weighting, self.classes_, totals)
        weight = np.ones(len(codes)) if factors is None else factors[codes]
        counted = totals if is_balanced(weighting) else None
        return known, ClassTargets(codes, len(self.classes_), counted), weight

    def _thinned(self, y: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(known_labels(y))
        crowded = rows[crowded_labels(self._graphs[-1], rows, codes_of(y[rows], distinct(y[rows])))]
        if len(crowded):
            y = y.copy() if y.dtype.kind in "if" else y.astype(object)
            y[crowded] = -1
        return y

    def _shares(self, targets: Any) -> np.ndarray | None:
        prior, m = self._class_prior, targets.n_classes
        if prior is None:
            return None
        if isinstance(prior, str):
            check_known("class_prior", prior, ("labels", "uniform"))
            counts = np.bincount(targets.codes, minlength=m).astype(float)
            return counts / counts.sum() if prior == "labels" else np.full(m, 1.0 / m)
        shares = np.asarray(prior, dtype=float)
        if shares.shape != (m,) or not (np.isfinite(shares) & (shares > 0)).all():
            raise InvalidParameterError(
                f"class_prior must be 'labels', 'uniform' or {m} positive numbers, in the order of "
                f"the classes {self.classes_.tolist()}."
            )
        return np.asarray(shares / shares.sum())

    def _validation_targets(self, y: np.ndarray) -> Any:
        codes = codes_of(y, self.classes_)
        if (codes < 0).any():
            raise InvalidInputError(
                "The validation set has labels that no labelled row has: "
                f"{distinct(y[codes < 0]).tolist()}."
            )
        return ClassTargets(codes, len(self.classes_))

    def _learn_temperature(self, source: OnGraph, solution: GraphSolution) -> None:
        F, rows = to_numpy(solution.loo), solution.loo_rows
        if isinstance(solution.reused, Pooled):
            self.temperature_ = temperature_for(F, solution.reused.outputs[rows])
        else:
            targets: Any = source.targets
            self.temperature_ = temperature(F, targets.codes[rows], source.weight[rows])
