"""Numeric targets of an estimator, and its outputs as values."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import r2_score

from ulmus.backends.namespace import on_host, to_numpy
from ulmus.distributed import by_blocks, scored
from ulmus.estimators.intervals import predict_interval
from ulmus.exceptions import InvalidInputError
from ulmus.problem import ErrorPath, Moments, Problem
from ulmus.targets import LabelTargets, ValueTargets, check_size, lost, numeric
from ulmus.typing import Array, Rows
from ulmus.validation import complete, valid_rows_and_target

# Advice about rows whose value is missing.
_INSTEAD = "use SemiSupervisedELMRegressor, which learns from rows without a value"


def encode(self: Any, y: np.ndarray, weight: np.ndarray | None) -> tuple[Any, Any, Any]:
    """Hold what all targets have in common; give targets, weight and unit (see `Problem`)."""
    known = self._known().surveyed(y, weight).checked()
    self._hold(known)
    problem = known.problem(y, weight, whole=True)
    return problem.targets, problem.weight, problem.unit


class ValueLabels:
    """Values, one column or several, for an estimator with ``fit_intercept`` and ``_outputs``.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised. False is the papers' form, whose ridge
        shrinks the mean of the targets.

    Attributes
    ----------
    beta_ : ndarray of shape (n_hidden, n_outputs)
        The output weights β.
    intercept_ : ndarray of shape (n_outputs,)
        The constant.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: the mean squared gradient of the outputs, with columns in units
        of their standard deviation, as shares that sum to one. Computed on access.
    """

    _flat: bool
    predict_interval, _encode = predict_interval, encode

    @by_blocks
    def predict(self: Any, X: Rows) -> Array:
        """Predicted values.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One value, or one row of values, for each.
        """
        F = self._outputs(X)
        return F[:, 0] if self._flat else F

    def score(self, X: Rows, y: Any, sample_weight: Any = None) -> float:
        """R² of the predicted values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their values; a Dask collection when X is one.

        Returns
        -------
        score : float
            At most 1; 0 is what the mean gets.
        """
        return scored(r2_score, y, self.predict(X), sample_weight)

    # ------------------------------------------------------------------ values to targets
    @property
    def _intercept(self: Any) -> bool:
        return bool(self.fit_intercept)

    def _validate_target(self, X: Rows, y: Any, reset: bool) -> tuple[Rows, np.ndarray]:
        """X and y, checked."""
        y = complete(on_host(y), _INSTEAD)
        y = None if y is None else numeric(y)
        return valid_rows_and_target(self, X, y, reset, multi_output=True, y_numeric=True)

    def _known(self: Any) -> "KnownValues":
        """The columns that were fitted, if any."""
        if not hasattr(self, "_flat"):
            return KnownValues(self._intercept)
        return KnownValues(self._intercept, int(self.intercept_.shape[0]), self._flat)

    def _hold(self, known: "KnownValues") -> None:
        self._flat = known.flat

    def _score_of(self, path: ErrorPath, problem: Problem) -> float | None:
        """R² on left-out rows, at the best C of the path."""
        T = to_numpy(problem.targets.array)
        weight = None if problem.weight is None else to_numpy(problem.weight)
        spread = np.average((T - np.average(T, 0, weight)) ** 2, 0, weight).sum()
        return 1.0 - path.score[1] / spread if path.kind == "loo" and spread > 0 else None

    def _calibrate(self, targets: Any, loo: Array, rows: np.ndarray, weight: Array | None) -> None:
        """Numbers need no calibration."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        return tags


@dataclass(frozen=True)
class KnownValues:
    """The number of columns of y, and whether it was one-dimensional."""

    intercept: bool
    columns: int | None = None
    flat: bool = True
    balances: ClassVar[bool] = False

    def met(self, y: np.ndarray, weight: np.ndarray | None = None) -> "KnownValues":
        """With a batch, whose columns must be those of the batches before it."""
        columns = 1 if y.ndim == 1 else int(y.shape[1])
        if self.columns is None:
            return replace(self, columns=columns, flat=y.ndim == 1)
        if columns != self.columns:
            raise InvalidInputError(
                f"y has {columns} columns, but the earlier batches had {self.columns}."
            )
        return self

    surveyed = recalled = met

    def __add__(self, other: "KnownValues") -> "KnownValues":
        if self != other:
            raise InvalidInputError(
                f"Blocks of y differ in their columns: {self.columns} and {other.columns}."
            )
        return self

    def without(self, y: np.ndarray, left: np.ndarray) -> "KnownValues":
        """The same: the columns do not depend on the rows."""
        return self

    def checked(self) -> "KnownValues":
        """The same: any values can be fitted."""
        return self

    def moved(self, sums: Moments, before: "KnownValues") -> Moments:
        """The same sums: the columns do not change."""
        return sums

    def problem(self, y: np.ndarray, weight: np.ndarray | None, whole: bool = False) -> Problem:
        """The targets of some rows and their weights."""
        check_size("y", y)
        T = ValueTargets(y.reshape(len(y), -1))
        return Problem(None, T, weight, lost(weight), self.intercept)


@dataclass(frozen=True)
class KnownLabels(KnownValues):
    """The number of labels of the rows so far; ±1 targets have no intercept."""

    intercept: bool = False
    flat: bool = False

    def met(self, y: np.ndarray, weight: np.ndarray | None = None) -> "KnownLabels":
        """With a batch, which must have the same number of labels."""
        if y.ndim == 1:
            raise InvalidInputError(
                "y has one label for each row, and that of the earlier rows was a matrix with a "
                f"column for each of {self.columns} labels; give it so."
            )
        known: Any = super().met(y)
        return known

    surveyed = recalled = met

    @property
    def classes(self) -> np.ndarray:
        """The numbers of the labels, as scikit-learn has them."""
        return np.arange(self.columns or 0)

    def problem(self, y: np.ndarray, weight: np.ndarray | None, whole: bool = False) -> Problem:
        """The targets of some rows and their weights."""
        return Problem(None, LabelTargets(2.0 * y - 1.0), weight, lost(weight))
