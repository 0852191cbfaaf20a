"""ELM for numbers."""

from typing import Any, Self

from sklearn.base import RegressorMixin

from ulmus.docstrings import documented
from ulmus.estimators.ridge_elm import RidgeELM
from ulmus.estimators.value_labels import ValueLabels
from ulmus.fitted import atomic
from ulmus.kernels.kernel_matrix import Randomized
from ulmus.typing import Rows, Seed


@documented
class ELMRegressor(ValueLabels, RegressorMixin, RidgeELM):
    """Extreme learning machine for one or several numeric targets.

    Random hidden units, then one ridge solve (HᵀH + I/C) β = HᵀT, about the means.

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
    ELMClassifier : The same for labels.

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
        rows gives. Up to 20 000 rows (or 32 MiB) all rows are fitted again whenever ten are
        new, and in between new rows are added to sums. Past that the hidden units and the
        inputs' scale stay, and C is chosen by leaving out the rows of a fair sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; a row of weight two counts as two rows.
        forget : bool, default=False
            Take these rows out again instead: the model is as if it had never
            seen them. They must have been fitted, with this weight; where all rows are kept
            they are looked for, and later what is left must be sums that rows can have.
        decay : float, default=1.0
            What the earlier rows' weights are multiplied by first.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._partial_fit(X, y, sample_weight, forget, decay)
