"""ELM for numbers."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from ulmus.estimators.ridge import RidgeELM
from ulmus.exceptions import InvalidInputError
from ulmus.targets import ValueTargets

__all__ = ["ELMRegressor"]


class ELMRegressor(RegressorMixin, RidgeELM):
    """Extreme learning machine for one or several numeric targets.

    Random hidden units, then one ridge solve (HᵀH + I/C) β = HᵀT, about the means.

    Parameters
    ----------
    features : feature map, transformer or None, default=None
        Stage one; None is ``RandomFeatures``. It is cloned and fitted.
    n_hidden : int, "loo" or None, default=None
        Width of the default map (None: 1000). "loo" chooses it, by leave-one-out,
        among the map's width and its halves.
    C : "loo", float or array-like, default="loo"
        How far to trust the data against ‖β‖². "loo" chooses it by exact
        leave-one-out from 25 values; a list is chosen from in the same way.
    fit_intercept : bool, default=True
        Whether to add a constant that is not penalised. The papers have none,
        and their ridge shrinks the targets' mean; False is their form.
    dtype : dtype, default=None
        Precision of the hidden rows; None follows the input. Sums and
        factorisations are in float64 always.
    random_state : int, RandomState instance or None, default=None
        Seeds the default map and the sample of rows that are left out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_hidden, n_outputs)
        The output weights β.
    intercept_ : ndarray of shape (n_outputs,)
        The constant.
    C_ : float
        The C in use.
    loo_path_ : dict of ndarrays
        "C" and "squared_error" (the mean over left-out rows), where C was chosen.
    loo_score_ : float or None
        R² on left-out rows at that C, over all outputs together; None where C
        came from "gcv".
    selection_ : {"fixed", "loo", "loo-sample", "gcv"}
        How C was chosen: given; leaving out every row; leaving out a random
        sample of 10 000 rows, when there are more than 20 000; or by generalised
        cross-validation, when the rows came as a stream.
    solver_ : {"primal", "dual", "spectral"}
        How β was found.
    features_ : transformer
        The fitted map.
    n_hidden_ : int
        Number of hidden units.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.

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
    0.52
    """

    def __init__(
        self,
        features=None,
        *,
        n_hidden=None,
        C="loo",
        fit_intercept=True,
        dtype=None,
        random_state=None,
    ):
        self.features = features
        self.n_hidden = n_hidden
        self.C = C
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.random_state = random_state

    def predict(self, X):
        """Predicted values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One value, or one row of values, for each.
        """
        F = self._outputs(X)
        return F[:, 0] if self._flat else F

    @property
    def _intercept(self):
        return bool(self.fit_intercept)

    def _validate_target(self, X, y, reset):
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype="numeric",
            multi_output=True,
            y_numeric=True,
            reset=reset,
        )
        y = np.asarray(y)
        return X, y if y.dtype.kind == "f" else y.astype(float)

    def _score_of(self, path, problem):
        T = problem.targets.values
        spread = np.average((T - np.average(T, 0, problem.weight)) ** 2, 0, problem.weight).sum()
        return 1.0 - path.score[1] / spread if path.kind == "loo" and spread > 0 else None

    def _encode(self, y, weight):
        self._flat = y.ndim == 1
        unit = None if weight is None else np.minimum(weight, 1.0)
        return ValueTargets(y.reshape(len(y), -1)), weight, unit

    def _encode_more(self, y, weight):
        known = hasattr(self, "_moments")
        outputs = 1 if y.ndim == 1 else y.shape[1]
        if known and outputs != self._moments.cross.shape[1]:
            raise InvalidInputError(
                f"y has {outputs} columns, but the earlier batches had "
                f"{self._moments.cross.shape[1]}."
            )
        return self._encode(y, weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
