"""SS-ELM for numbers: a few values, many rows, and a model for new ones."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ulmus.backends.namespace import placed, to_numpy
from ulmus.docstrings import documented
from ulmus.estimators.few_labels import SemiSupervisedELM
from ulmus.estimators.value_labels import ValueLabels
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.fitted import snapshot
from ulmus.methods.iterative import ConjugateGradients
from ulmus.targets import ValueTargets, check_size, numeric
from ulmus.typing import Seed
from ulmus.validation import missing, plain


@documented
class SemiSupervisedELMRegressor(ValueLabels, RegressorMixin, SemiSupervisedELM):
    """SS-ELM for numbers: values from a few rows and many rows without one.

    The targets' mean over the labelled rows is taken out first and added to every
    prediction.

    Parameters
    ----------
    n_hidden : int or None, default=None
        Number of units of the default map; None means 2000.
    graph : KNNGraph, Laplacian, sparse matrix, neighbours transformer or None, default=None
        Graph of neighbours, as in `SemiSupervisedELMClassifier`.
    coupling : {"auto", "published", "tight", "free"}, default="auto"
        Which kinds of models are averaged, or one SS-ELM as published, as in
        `SemiSupervisedELMClassifier`.
    C : "loo", float or array-like, default="loo"
        Inverse regularisation strength; larger values fit the known values more closely.
    lam : "loo", float or array-like, default="loo"
        Strength of the graph's regularisation; larger values make outputs of neighbours more alike.
    solver : {"auto", "spectral", "direct", "cg"} or ConjugateGradients, default="auto"
        As in `SemiSupervisedELMClassifier`.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map.
    verbose : int, default=0
        1 shows how many hidden units have met the graph, which takes the longest: a bar on a
        terminal and in a notebook, else plain lines.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        A value for every row: the given one, or the predicted one.
    intercept_ : ndarray of shape (n_outputs,)
        The mean that was taken out.
    coupling_, coupling_reason_ : str
        The coupling that is used, and why.
    candidates_, left_out_ : dict of ndarrays
        As in `SemiSupervisedELMClassifier`; "outputs" are values.
    C_, lam_ : float
        The values that are used.
    surface_ : dict of ndarrays
        "lam", "C", and "squared_error" of shape (n_lam, n_C), where they were chosen.
    selection_ : {"fixed", "loo", "validation", "prior"}
        How C and lam were chosen; "prior" where one row has a value, so that none can be left out.
    loo_score_ : float
        R² of left-out labelled rows, where they chose.
    solver_, solver_reason_ : str
        How β was found, and why that solver was used.

    See Also
    --------
    ELMRegressor : When every row has a value.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus import SemiSupervisedELMRegressor
    >>> t = np.linspace(3, 14, 300)
    >>> X = np.column_stack([t * np.cos(t), t * np.sin(t)])  # a spiral
    >>> y = np.full(300, np.nan)
    >>> y[::20] = t[::20]  # fifteen values are known
    >>> model = SemiSupervisedELMRegressor(random_state=0).fit(X, y)
    >>> bool(np.abs(model.transduction_ - t).mean() < 0.2)
    True
    """

    _mean: tuple[float, ...]

    def __init__(
        self,
        features: Any = None,
        *,
        n_hidden: int | None = None,
        graph: Any = None,
        coupling: str = "auto",
        C: Any = "loo",
        lam: Any = "loo",
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
        self.solver = solver
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    @property
    def transduction_(self) -> Any:
        """A value for every row: the given one, or the predicted one."""
        model = snapshot(self)
        F = to_numpy(model._transduced()).copy()
        given = to_numpy(model._y)
        known = ~missing(given).any(axis=1)
        F[known] = given[known]
        return placed(F[:, 0] if model._flat else F, model._rows)

    def _check_target(self, X: Any, y: Any) -> np.ndarray:
        y = numeric(plain(y)).astype(float, copy=False)
        if y.ndim not in (1, 2):
            raise InvalidInputError(f"y has {y.ndim} dimensions; it must have one or two.")
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        if np.isinf(y).any():
            raise InvalidInputError("y contains infinity; use NaN for values that are not known.")
        check_size("y", y)
        self._flat = y.ndim == 1
        return y.reshape(len(y), -1)

    def _labels(self, y: np.ndarray, weighting: Any) -> tuple[np.ndarray, Any, np.ndarray]:
        unknown = missing(y)
        if (unknown.any(axis=1) & ~unknown.all(axis=1)).any():
            raise InvalidInputError(
                "Some rows of y are NaN in part; a row must be known in every output or in none."
            )
        known = ~unknown.all(axis=1)
        if not known.any():
            raise InvalidInputError("No row has a value: every y is NaN, which marks unknown ones.")
        self._mean = tuple(y[known].mean(axis=0).tolist())
        return np.asarray(known), ValueTargets(y[known] - self._mean), np.ones(int(known.sum()))

    def _shares(self, targets: Any) -> None:
        if self._class_prior is not None:
            raise InvalidParameterError("class_prior is for classes, and these are numbers.")

    def _validation_targets(self, y: np.ndarray) -> Any:
        return ValueTargets(y - self._mean)

    def _level(self, targets: Any) -> np.ndarray:
        return np.array(self._mean)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
