"""ELM for labels and for numbers."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ulmus.docstrings import documented
from ulmus.estimators.class_labels import ClassLabels, predict_log_proba, predict_proba
from ulmus.estimators.ridge_elm import RidgeELM
from ulmus.estimators.value_labels import ValueLabels
from ulmus.fitted import atomic
from ulmus.kernels.kernel_matrix import Randomized
from ulmus.sources.waiting import streamed
from ulmus.typing import Rows, Seed


@documented
class ELMClassifier(ClassLabels, ClassifierMixin, RidgeELM):
    """Extreme learning machine for two or more classes.

    The hidden units are random, and the output weights solve (HᵀH + I/C) β = HᵀT with targets of
    ±1: one column for each class, or one column for two classes. If y is a matrix of zeros and
    ones, each row has several labels, one column for each.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. "balanced" gives every class the same total weight, which is the
        weighted ELM. A left-out row changes these weights; leave-one-out takes that into account.

    Attributes
    ----------
    loo_path_ : dict of ndarrays
        "C", "error_rate" and "squared_error" (means over left-out rows), where C was chosen. Among
        the C whose number of errors is within one of the smallest, the one with the least squared
        error is taken.
    selection_ : {"fixed", "loo", "loo-sample", "loo-kept", "loo-sample-kept"}
        How C was chosen: given; leaving out every row; or leaving out a random sample: 10 000 rows,
        when there are more than 20 000, or the rows that a stream keeps. "-kept" is added if
        ``class_weight="balanced"`` and the weights stayed the same while a row was left out,
        because not all rows of its class were in memory.

    See Also
    --------
    ELMRegressor : The same for numeric targets.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.96
    """

    temperature_: Any
    class_scaling_: np.ndarray
    _takes_indicators = True
    predict_proba, predict_log_proba = predict_proba, predict_log_proba

    def __init__(
        self,
        features: Any = None,
        *,
        n_hidden: int | str | None = None,
        C: Any = "loo",
        solver: str | Randomized = "auto",
        class_weight: Any = None,
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.n_hidden = n_hidden
        self.C = C
        self.solver = solver
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ fitting
    @atomic
    def partial_fit(
        self,
        X: Rows,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        forget: bool = False,
        decay: float = 1.0,
    ) -> Self:
        """Fit more rows, as if they had been there from the start.

        Up to as many rows as hidden units, and at least 1000, the model is what `fit` on all
        rows gives. Up to 20 000 rows (or 32 MiB) all rows are fitted again whenever ten
        come together or a twentieth is new, and in between new rows are added to sums. Past that
        the hidden units and the inputs' scale stay, and C is chosen by leaving out the rows of a
        fair sample.
        The first rows may be of one class; it is predicted until another comes.

        Parameters
        ----------
        y : array-like of shape (n_samples,), or (n_samples, n_classes) of zeros and ones
            The labels.
        classes : array-like of shape (n_classes,), default=None
            All labels there will be. Without it, a label met for the first time
            becomes a new class.
        forget : bool, default=False
            Take these rows out again instead: the model is as if it had never
            seen them. They must have been fitted, with this weight; where all rows are kept
            they are looked for, and later what is left must be sums that rows can have.
        decay : float, default=1.0
            What the earlier rows' weights are multiplied by first.
        """
        if classes is not None:
            self._declare(np.asarray(classes))
        return streamed(self, X, y, sample_weight, forget, decay)


@documented
class ELMRegressor(ValueLabels, RegressorMixin, RidgeELM):
    """Extreme learning machine for one or several numeric targets.

    The hidden units are random, and the output weights solve (HᵀH + I/C) β = HᵀT after centring.

    Attributes
    ----------
    loo_path_ : dict of ndarrays
        "C" and "squared_error" (the mean over left-out rows), where C was chosen.
    loo_score_ : float or None
        R² on left-out rows at that C, over all outputs together; None where the targets
        are all equal.
    selection_ : {"fixed", "loo", "loo-sample"}
        How C was chosen: given; leaving out every row; or leaving out a random sample:
        10 000 rows, when there are more than 20 000, or the rows that a stream keeps.

    See Also
    --------
    ELMClassifier : The same for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ulmus import ELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ELMRegressor(random_state=0).fit(X[:300], y[:300])
    >>> round(model.score(X[300:], y[300:]), 2)
    0.53
    """

    def __init__(
        self,
        features: Any = None,
        *,
        n_hidden: int | str | None = None,
        C: Any = "loo",
        solver: str | Randomized = "auto",
        fit_intercept: bool = True,
        dtype: Any = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.n_hidden = n_hidden
        self.C = C
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    def partial_fit(
        self,
        X: Rows,
        y: Any,
        sample_weight: Any = None,
        *,
        forget: bool = False,
        decay: float = 1.0,
    ) -> Self:
        """Fit more rows, as if they had been there from the start.

        Up to as many rows as hidden units, and at least 1000, the model is what `fit` on all
        rows gives. Up to 20 000 rows (or 32 MiB) all rows are fitted again whenever ten
        come together or a twentieth is new, and in between new rows are added to sums. Past that
        the hidden units and the inputs' scale stay, and C is chosen by leaving out the rows of a
        fair sample.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        forget : bool, default=False
            Take these rows out again instead: the model is as if it had never
            seen them. They must have been fitted, with this weight; where all rows are kept
            they are looked for, and later what is left must be sums that rows can have.
        decay : float, default=1.0
            What the earlier rows' weights are multiplied by first.
        """
        return streamed(self, X, y, sample_weight, forget, decay)
