"""Kernel ELM for labels and for numbers."""

from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

from ulmus.estimators.class_labels import ClassLabels, predict_log_proba, predict_proba
from ulmus.estimators.kernel_ridge import KernelELM
from ulmus.estimators.value_labels import ValueLabels
from ulmus.typing import Seed

__all__ = ["KernelELMClassifier", "KernelELMRegressor"]


class KernelELMClassifier(ClassLabels, ClassifierMixin, KernelELM):
    """Kernel extreme learning machine for two or more classes.

    Solves (K + I/C) α = T on targets of ±1: the ELM whose hidden layer is the kernel's.
    Large problems use a low-rank factor of K, which is never whole in memory.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        "rbf", "linear", "poly", "cosine", "sigmoid" (see `ulmus.kernels.Sigmoid`), "laplacian",
        "infinite_rbf" and "arcsine" (networks with infinitely many units), "precomputed", an object
        of `ulmus.kernels`, or a function of two sets of rows that gives the block between them.
    gamma : "mean", "loo" or float, default="mean"
        γ of the kernel. "mean" takes it from the rows, as in `KernelFeatures`; "loo" chooses
        among seven multiples of that, from 1/64 to 64, by leave-one-out (on at most 2000 rows).
    degree : int, default=3
        Degree of "poly", which may be called "polynomial" too.
    coef0 : float, default=1.0
        The constant in "poly" and "sigmoid", and the bias' variance in "arcsine".
    method : str, LowRank or Randomized, default="auto"
        "exact" factors the whole kernel matrix; "rpcholesky", "nystrom", "randomized" and "eig" a
        low-rank factor of it, as in `KernelFeatures`. "auto" is "exact" up to 2000 rows and
        "rpcholesky" past that, or where ``rank`` is given. `LowRank` has a tolerance too,
        `Randomized` the parameters of the sketch.
    rank : int, float or None, default=None
        The most columns of the factor. A float is a part of the rows. None is 2000.
    C : "loo", float or array-like, default="loo"
        Inverse regularisation strength; larger values fit the data more closely. "loo" chooses it
        by exact leave-one-out from 25 values; a list is chosen from in the same way.
    class_weight : dict, "balanced" or None, default=None
        A factor for the rows of each class; "balanced" gives every class the same total.
    scaling : {"auto", None}, default="auto"
        As in `RandomFeatures`, for kernels given by name; others see the inputs as they are.
    dtype : float32, float64 or None, default=None
        Precision of the kernel values; None follows the input. Sums and factorisations are in
        float64 always, and so are kernel values where float32 has too few directions.
    random_state : int, RandomState instance or None, default=None
        Seeds the choice of landmarks and the samples of rows.
    verbose : int, default=0
        1 shows how many columns a low-rank factor has so far: a bar on a terminal, else lines in
        the log named "ulmus".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    kernel_ : kernel
        The kernel with its parameters.
    landmarks_ : array of shape (n_landmarks, n_features)
        The rows the kernel is taken with, scaled; the columns' numbers where the kernel is
        precomputed.
    dual_coef_ : ndarray of shape (n_landmarks, n_outputs)
        What their kernel values are multiplied by.
    intercept_ : ndarray of shape (n_outputs,)
        The constant; zero.
    C_ : float
        The C in use.
    method_ : str
        The method in use.
    rank_ : int
        Columns of the factor, or the number of rows where it is exact.
    approximation_error_ : float
        The part of the kernel's trace that the factor misses.
    approximation_path_ : ndarray of shape (rank,)
        What is missing after each column of the factor, where it is not exact.
    gamma_path_ : dict of ndarrays
        "gamma" and the errors at each, where it was chosen.
    loo_path_ : dict of ndarrays
        The mean errors over left-out rows for every C, where C was chosen. The landmarks
        stay as they are while a row is left out.
    loo_score_ : float
        Accuracy on left-out rows at that C.
    selection_ : {"fixed", "loo", "loo-sample"}
        How C was chosen: given, leaving out every row, or leaving out a random sample of
        10 000 rows when there are more than 20 000. "-kept" is added where
        ``class_weight="balanced"`` and the weights stayed as they were while a row was left out,
        for the rows of its class were not all at hand.
    solver_ : {"primal", "dual", "spectral"}
        How the coefficients were found.
    solver_reason_ : str
        Why so.
    temperature_ : float
        What decision values are multiplied by before the softmax, learned from left-out rows.
    feature_importances_ : ndarray of shape (n_features,)
        How much the outputs change with each column, in shares that sum to one: the mean squared
        gradient, columns in units of their deviation. Worked out when it is asked for.
    scaling_ : Scaling
        ``center`` and ``factor`` of each column.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.

    See Also
    --------
    KernelFeatures : The low-rank space alone, for any other estimator.
    ELMClassifier : Random hidden units in place of the kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import KernelELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelELMClassifier().fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.97
    """

    temperature_: float
    predict_proba, predict_log_proba = predict_proba, predict_log_proba

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "mean",
        degree: int = 3,
        coef0: float = 1.0,
        method: Any = "auto",
        rank: float | None = None,
        C: Any = "loo",
        class_weight: Any = None,
        scaling: str | None = "auto",
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.rank = rank
        self.C = C
        self.class_weight = class_weight
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose


class KernelELMRegressor(ValueLabels, RegressorMixin, KernelELM):
    """Kernel extreme learning machine for one or several numeric targets.

    Solves (K + I/C) α = T about the means. Large problems use a low-rank factor of K, which is
    never whole in memory.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        "rbf", "linear", "poly", "cosine", "sigmoid" (see `ulmus.kernels.Sigmoid`), "laplacian",
        "infinite_rbf" and "arcsine" (networks with infinitely many units), "precomputed", an object
        of `ulmus.kernels`, or a function of two sets of rows that gives the block between them.
    gamma : "mean", "loo" or float, default="mean"
        γ of the kernel. "mean" takes it from the rows, as in `KernelFeatures`; "loo" chooses
        among seven multiples of that, from 1/64 to 64, by leave-one-out (on at most 2000 rows).
    degree : int, default=3
        Degree of "poly", which may be called "polynomial" too.
    coef0 : float, default=1.0
        The constant in "poly" and "sigmoid", and the bias' variance in "arcsine".
    method : str, LowRank or Randomized, default="auto"
        "exact" factors the whole kernel matrix; "rpcholesky", "nystrom", "randomized" and "eig" a
        low-rank factor of it, as in `KernelFeatures`. "auto" is "exact" up to 2000 rows and
        "rpcholesky" past that, or where ``rank`` is given. `LowRank` has a tolerance too,
        `Randomized` the parameters of the sketch.
    rank : int, float or None, default=None
        The most columns of the factor. A float is a part of the rows. None is 2000.
    C : "loo", float or array-like, default="loo"
        Inverse regularisation strength; larger values fit the data more closely. "loo" chooses it
        by exact leave-one-out from 25 values; a list is chosen from in the same way.
    fit_intercept : bool, default=True
        Whether to add a constant that is not penalised. False is the papers' form.
    scaling : {"auto", None}, default="auto"
        As in `RandomFeatures`, for kernels given by name; others see the inputs as they are.
    dtype : float32, float64 or None, default=None
        Precision of the kernel values; None follows the input. Sums and factorisations are in
        float64 always, and so are kernel values where float32 has too few directions.
    random_state : int, RandomState instance or None, default=None
        Seeds the choice of landmarks and the samples of rows.
    verbose : int, default=0
        1 shows how many columns a low-rank factor has so far: a bar on a terminal, else lines in
        the log named "ulmus".

    Attributes
    ----------
    kernel_ : kernel
        The kernel with its parameters.
    landmarks_ : array of shape (n_landmarks, n_features)
        The rows the kernel is taken with, scaled; the columns' numbers where the kernel is
        precomputed.
    dual_coef_ : ndarray of shape (n_landmarks, n_outputs)
        What their kernel values are multiplied by.
    intercept_ : ndarray of shape (n_outputs,)
        The constant.
    C_ : float
        The C in use.
    method_ : str
        The method in use.
    rank_ : int
        Columns of the factor, or the number of rows where it is exact.
    approximation_error_ : float
        The part of the kernel's trace that the factor misses.
    approximation_path_ : ndarray of shape (rank,)
        What is missing after each column of the factor, where it is not exact.
    gamma_path_ : dict of ndarrays
        "gamma" and the errors at each, where it was chosen.
    loo_path_ : dict of ndarrays
        The mean errors over left-out rows for every C, where C was chosen. The landmarks
        stay as they are while a row is left out.
    loo_score_ : float
        R² on left-out rows at that C.
    selection_ : {"fixed", "loo", "loo-sample"}
        How C was chosen: given, leaving out every row, or leaving out a random sample of
        10 000 rows when there are more than 20 000.
    solver_ : {"primal", "dual", "spectral"}
        How the coefficients were found.
    solver_reason_ : str
        Why so.
    feature_importances_ : ndarray of shape (n_features,)
        How much the outputs change with each column, in shares that sum to one: the mean squared
        gradient, columns in units of their deviation. Worked out when it is asked for.
    scaling_ : Scaling
        ``center`` and ``factor`` of each column.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.

    See Also
    --------
    KernelFeatures : The low-rank space alone, for any other estimator.
    ELMRegressor : Random hidden units in place of the kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ulmus import KernelELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelELMRegressor().fit(X[:300], y[:300])
    >>> round(model.score(X[300:], y[300:]), 2)
    0.53
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "mean",
        degree: int = 3,
        coef0: float = 1.0,
        method: Any = "auto",
        rank: float | None = None,
        C: Any = "loo",
        fit_intercept: bool = True,
        scaling: str | None = "auto",
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.rank = rank
        self.C = C
        self.fit_intercept = fit_intercept
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose
