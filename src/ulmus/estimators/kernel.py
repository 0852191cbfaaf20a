"""Kernel ELM for labels and for numbers."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ulmus.docstrings import documented
from ulmus.estimators.class_labels import ClassLabels, predict_log_proba, predict_proba
from ulmus.estimators.kernel_elm import KernelELM
from ulmus.estimators.value_labels import ValueLabels
from ulmus.typing import Seed


@documented
class KernelELMClassifier(ClassLabels, ClassifierMixin, KernelELM):
    """Kernel extreme learning machine for two or more classes.

    Solves (K + I/C) α = T on targets of ±1: the ELM whose hidden layer is the kernel's.
    Large problems use a low-rank factor of K, which is never whole in memory. Where y is a matrix
    of zeros and ones, rows have several labels, one column each.

    Attributes
    ----------
    intercept_ : ndarray of shape (n_outputs,)
        The constant; zero.
    selection_ : {"fixed", "loo", "loo-sample"}
        How C was chosen: given, leaving out every row, or leaving out a random sample: of 2000 rows
        where the kernel was chosen too and is used whole, else of 10 000 when there are more than
        20 000. "-kept" is added where ``class_weight="balanced"`` and the weights stayed as they
        were while a row was left out, because not all rows of its class were in memory.

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
    0.95
    """

    temperature_: Any
    class_scaling_: np.ndarray
    _takes_indicators = True
    predict_proba, predict_log_proba = predict_proba, predict_log_proba

    def __init__(
        self,
        kernel: Any = "loo",
        *,
        gamma: Any = "mean",
        coef0: float = 1.0,
        method: Any = "auto",
        rank: float | None = None,
        C: Any = "loo",
        column_weights: Any = "loo",
        class_weight: Any = None,
        scaling: str | None = "auto",
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.method = method
        self.rank = rank
        self.C = C
        self.column_weights = column_weights
        self.class_weight = class_weight
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose


@documented
class KernelELMRegressor(ValueLabels, RegressorMixin, KernelELM):
    """Kernel extreme learning machine for one or several numeric targets.

    Solves (K + I/C) α = T about the means. Large problems use a low-rank factor of K, which is
    never whole in memory.

    Attributes
    ----------
    loo_score_ : float
        R² on left-out rows at that C.
    selection_ : {"fixed", "loo", "loo-sample"}
        How C was chosen: given, leaving out every row, or leaving out a random sample: of 2000 rows
        where the kernel was chosen too and is used whole, else of 10 000 when there are more than
        20 000.

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
        kernel: Any = "loo",
        *,
        gamma: Any = "mean",
        coef0: float = 1.0,
        method: Any = "auto",
        rank: float | None = None,
        C: Any = "loo",
        column_weights: Any = "loo",
        fit_intercept: bool = True,
        scaling: str | None = "auto",
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.method = method
        self.rank = rank
        self.C = C
        self.column_weights = column_weights
        self.fit_intercept = fit_intercept
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose
