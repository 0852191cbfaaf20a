"""S-ELM: the hinge loss, with sparse dual coefficients."""

import warnings
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import is_number
from ulmus.backends.namespace import floating
from ulmus.docstrings import documented
from ulmus.estimators.class_labels import ClassLabels
from ulmus.estimators.importances import feature_importances
from ulmus.estimators.kernel_inputs import KernelInputs
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.hidden_layer import HiddenModel, fitted_map, layer_of
from ulmus.fitted import ForUpdate, atomic, finite_outputs, forget_fit, log_facts
from ulmus.hidden import Hidden
from ulmus.kernels.definition import is_definite
from ulmus.kernels.kernel_matrix import GivenKernel, KernelMatrix
from ulmus.kernels.pairs import some_rows
from ulmus.methods.hinge import HingeSolution
from ulmus.methods.margin import Margin
from ulmus.methods.ridge import ridge_grid
from ulmus.reservoir import some_kept
from ulmus.targets import coded
from ulmus.typing import Array, Rows, Seed
from ulmus.validation import on_host_alone, valid_rows

_GRID = np.logspace(-4, 4, 9)


@documented
class SparseELMClassifier(ClassLabels, ClassifierMixin, KernelInputs, HiddenModel):
    """Sparse extreme learning machine for two or more classes.

    Minimises ½‖β‖² + Σ cᵢ max(0, 1 − yᵢ hᵢβ), one class against the rest, without a bias. Rows
    beyond their margin do not count; the solution consists of the others, the support vectors.
    Needs the extra ``sparse``: ``pip install 'ulmus[sparse]'``.

    There is no ``predict_proba``, because the hinge loss gives no probabilities; for probabilities
    wrap the estimator in scikit-learn's ``CalibratedClassifierCV``.

    Parameters
    ----------
    kernel : None, str, kernel or callable, default=None
        In place of a map, as in `KernelELMClassifier` except for "loo". One given by name has its
        usual parameters and scales the inputs; one of `ulmus.kernels` is used as it is. Its rows
        are computed when they are needed, and kept as far as scikit-learn's ``working_memory``
        allows.
    C : float, "validation" or array-like, default=10.0
        Inverse regularisation strength, the upper bound of each row's coefficient. "validation"
        chooses among nine values from 10⁻⁴ to 10⁴ by the error on held-out rows, and then fits all
        rows; a list replaces the nine values.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as factors of C; "balanced" gives every class the same total weight.
    validation_fraction : float, default=0.2
        Fraction of every class that is held out to choose C.
    tol : float, default=1e-3
        The largest violation of the optimality conditions; a margin is 1.
    max_iter : int, default=2000
        Largest number of steps for each class: epochs of coordinate descent and factorisations, or
        blocks of kernel rows.
    warm_start : bool, default=False
        Start from the last solution. The number of rows must be the same. Set ``random_state`` to a
        number too, or the default map is drawn again.
    dtype : float32, float64 or None, default=None
        Precision of the hidden rows; None follows the input. The solution is float64 always.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map, of the order of the rows and of the held-out rows.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The support vectors: rows with a nonzero coefficient for any class.
    n_support_ : ndarray of shape (n_classes,), or (1,) for two classes
        The number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes, n_support), or (1, n_support) for two classes
        yα of these rows.
    beta_ : ndarray of shape (n_hidden, n_classes), or (n_hidden, 1) for two classes
        The output weights β. There are none with a kernel.
    support_vectors_ : array of shape (n_support, n_features)
        The rows themselves, scaled, with a kernel that is not precomputed.
    intercept_ : ndarray of shape (n_classes,), or (1,) for two classes
        Zero.
    C_ : float
        The value of C that is used.
    selection_ : {"fixed", "validation"}
        How C was chosen.
    validation_path_ : dict of ndarrays
        "C", "error_rate" on the held-out rows and "n_support", if C was chosen. Of equally good C
        the smallest is taken.
    n_iter_ : int
        Largest number of steps of any class.
    residual_ : float
        The largest remaining violation of the optimality conditions.
    features_ : transformer
        The fitted map, where there is no kernel.
    n_hidden_ : int
        Number of hidden units, where there is no kernel.

    See Also
    --------
    ELMClassifier : The squared loss: faster, every row counts, probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import SparseELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.95
    >>> len(model.support_)  # of 75 rows
    21
    """

    dual_coef_: np.ndarray
    support_: np.ndarray
    support_vectors_: Any
    n_support_: np.ndarray
    n_iter_: int
    residual_: float
    C_: float
    selection_: str
    validation_path_: dict[str, np.ndarray]
    _kept: ForUpdate[Any]
    _n_rows: int
    feature_importances_ = property(feature_importances)
    # Parameters of a kernel given by name; a kernel object has its own.
    gamma, degree, coef0, scaling = "mean", 3, 1.0, "auto"

    def __init__(
        self,
        features: Any = None,
        *,
        n_hidden: int | None = None,
        kernel: Any = None,
        C: Any = 10.0,
        class_weight: Any = None,
        validation_fraction: float = 0.2,
        tol: float = 0.001,
        max_iter: int = 2000,
        warm_start: bool = False,
        dtype: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.features = features
        self.n_hidden = n_hidden
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.dtype = dtype
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting
    @atomic
    def fit(self, X: Rows, y: Any, sample_weight: Any = None) -> Self:
        """Fit the output weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; the kernel between them, (n_samples, n_samples), where it is precomputed.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: a factor on C.
        """
        grid = self._check_parameters()
        before = copy(self) if self.warm_start and hasattr(self, "_n_rows") else None
        forget_fit(self)
        on_host_alone(self, X)
        X, y = self._validate_target(X, y, reset=True)
        self._n_rows = X.shape[0]
        kept, X, y, weight = self._counted(X, y, sample_weight)
        self._kept = None if self._precomputed else some_kept(X, weight)
        targets, factor, _ = self._encode(y, weight)
        rows = self._inputs(X, y, weight)
        factor = np.ones(len(y)) if factor is None else factor
        start = None if before is None else _last_alpha(before, self, kept)
        several, part = len(grid) > 1, self.validation_fraction
        method, rng = Margin(grid, several, part, self.tol, self.max_iter), self.random_state
        solution, self.C_, path = method.fit(rows, targets, factor, check_random_state(rng), start)
        self.selection_ = "fixed" if path is None else "validation"
        if path is not None:
            self.validation_path_ = path
        self._accept(rows, coded(targets, slice(0, len(targets)), float), solution, kept)
        return self

    def _check_parameters(self) -> np.ndarray:
        """C as an ascending array of values; all other parameters are checked first."""
        for name in ("tol", "validation_fraction"):
            value = getattr(self, name)
            if not (is_number(value) and value < 1):
                raise InvalidParameterError(f"{name}={value!r} must be above 0 and below 1.")
        if isinstance(self.n_hidden, str) and self.n_hidden == "loo":
            raise InvalidParameterError(
                "n_hidden='loo' needs a squared loss; give a number, or use ELMClassifier."
            )
        if self.kernel is not None and not (self.features is None and self.n_hidden is None):
            raise InvalidParameterError(
                "kernel= takes the place of the hidden layer; leave features and n_hidden out."
            )
        if self.kernel is not None:
            self._check_inputs()
            if not is_definite(self.kernel):
                raise InvalidParameterError(
                    f"kernel={self.kernel!r} is not positive semi-definite, and the hinge loss has "
                    "no single minimum there; use features=KernelFeatures(..., method='eig')."
                )
        return np.unique(ridge_grid(self.C, "validation", _GRID))

    def _inputs(self, X: Rows, y: Any, weight: np.ndarray | None) -> np.ndarray | KernelMatrix:
        """Hidden rows, or a kernel between the rows."""
        if self.kernel is not None:
            self._learn_scaling(X, weight)
            rows = self.scaling_.rows(X, floating(X, self.dtype))
            self.kernel_ = self._kernel(rows, weight, 0)
            return GivenKernel(rows) if self._precomputed else KernelMatrix(self.kernel_, rows)
        self.features_ = fitted_map(self, X, y, weight)
        H = np.asarray(Hidden(layer_of(self.features_, X, self.dtype), X).all())
        self.n_hidden_ = H.shape[1]
        return H

    def _accept(self, inputs: Any, T: np.ndarray, solution: HingeSolution, kept: Array) -> None:
        """Turn a solution into fitted attributes."""
        rows = np.flatnonzero(solution.alpha.any(axis=1))
        self.support_ = kept[rows]
        self.n_support_ = np.count_nonzero(solution.alpha, axis=0)
        self.dual_coef_ = (T * solution.alpha)[rows].T
        self.intercept_ = np.zeros(T.shape[1])
        self.n_iter_ = int(solution.steps.max())
        self.residual_ = float(solution.residual.max())
        if solution.coef is not None:
            self.beta_ = solution.coef
        elif not self._precomputed:
            self.support_vectors_ = some_rows(inputs.X, rows)
        if self.residual_ > self.tol:
            warnings.warn(
                f"{self.n_iter_} steps left a violation of the optimality conditions (KKT "
                f"residual) of {self.residual_:.1e}, above tol={self.tol:g}; raise max_iter or "
                "tol, or lower C.",
                ConvergenceWarning,
                stacklevel=4,
            )
        log_facts(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags

    def _slopes(self, X: Rows) -> Any:
        if self.kernel is None:
            return super()._slopes(X)
        return self._kernel_gradients(X, self.support_vectors_, self.dual_coef_.T)

    @finite_outputs
    def _outputs(self, X: Rows) -> Array:
        on_host_alone(self, X)
        if self.kernel is None:
            return super()._outputs(X)
        check_is_fitted(self)
        X = valid_rows(self, X, reset=False)
        # The columns of a precomputed block are the fitted rows.
        points = self.support_ if self._precomputed else self.support_vectors_
        return self._kernel_outputs(X, points, self.dual_coef_.T, floating(X, self.dtype))


def _last_alpha(before: Any, model: Any, kept: np.ndarray) -> np.ndarray:
    """The α of the fit before, for the rows of positive weight."""
    if before._n_rows != model._n_rows:
        raise InvalidInputError(
            f"warm_start continues the last fit, which had {before._n_rows} rows, and these are "
            f"{model._n_rows}; fit a new estimator, or set warm_start=False."
        )
    if not np.array_equal(before.classes_, model.classes_):
        raise InvalidInputError(
            f"warm_start continues the last fit, whose classes were {before.classes_.tolist()}, "
            f"and these are {model.classes_.tolist()}; set warm_start=False."
        )
    alpha = np.zeros((before._n_rows, len(before.dual_coef_)))
    alpha[before.support_] = np.abs(before.dual_coef_.T)
    return alpha[kept]
