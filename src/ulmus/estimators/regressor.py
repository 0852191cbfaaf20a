"""ELM for numbers."""

from sklearn.base import RegressorMixin

from ulmus.estimators.labels import ValueLabels
from ulmus.estimators.ridge_elm import RidgeELM
from ulmus.exceptions import InvalidInputError

__all__ = ["ELMRegressor"]


class ELMRegressor(ValueLabels, RegressorMixin, RidgeELM):
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
    solver : {"auto", "primal", "dual", "halko"}, default="auto"
        "primal" factors an h × h matrix, "dual" an n × n one, and "auto" takes the smaller. "halko"
        is the randomized ELM, a sketch of HHᵀ with ``rank`` columns; it is here for comparison, for
        the primal is faster and exact wherever HᵀH fits.
    rank : int, float or None, default=None
        Columns of the sketch, to which ten are added; a float is a part of the rows, None the
        number of units.
    fit_intercept : bool, default=True
        Whether to add a constant that is not penalised. The papers have none,
        and their ridge shrinks the targets' mean; False is their form.
    dtype : float32, float64 or None, default=None
        Precision of the hidden rows; None follows the input. Sums and
        factorisations are in float64 always.
    random_state : int, RandomState instance or None, default=None
        Seeds the default map and the sample of rows that are left out.
    verbose : int, default=0
        1 shows how many rows have been gone through: a bar on a terminal, else lines in the log
        named "ulmus".

    Attributes
    ----------
    beta_ : ndarray of shape (n_hidden, n_outputs)
        The output weights β.
    intercept_ : ndarray of shape (n_outputs,)
        The constant.
    C_ : float
        The C in use.
    loo_path_ : dict of ndarrays
        "C" and "squared_error" (the mean over left-out rows), where C was chosen.
    loo_score_ : float or None
        R² on left-out rows at that C, over all outputs together; None where the targets
        are all equal.
    selection_ : {"fixed", "loo", "loo-sample"}
        How C was chosen: given; leaving out every row; or leaving out a random sample:
        10 000 rows, when there are more than 20 000, or the rows that a stream keeps.
    solver_ : {"primal", "dual", "spectral", "halko"}
        How β was found.
    solver_reason_ : str
        Why so.
    feature_importances_ : ndarray of shape (n_features,)
        How much the outputs change with each column, in shares that sum to one: the mean squared
        gradient, columns in units of their deviation. Worked out when it is asked for.
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
        solver="auto",
        rank=None,
        fit_intercept=True,
        dtype=None,
        random_state=None,
        verbose=0,
    ):
        self.features = features
        self.n_hidden = n_hidden
        self.C = C
        self.solver = solver
        self.rank = rank
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    def _meet(self, y):
        known, outputs = getattr(getattr(self, "_kept", None), "y", None), _columns(y)
        if known is not None and outputs != _columns(known):
            raise InvalidInputError(
                f"y has {outputs} columns, but the earlier batches had {_columns(known)}."
            )

    _recall = _meet

    def _survey(self, y, weight):
        self._meet(y)


def _columns(y):
    return 1 if y.ndim == 1 else y.shape[1]
