"""Numbers: what an estimator makes of values, and what its outputs are."""

from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from ulmus.backends.namespace import on_host, to_numpy
from ulmus.distributed.mapped import by_blocks, scored
from ulmus.exceptions import InvalidInputError
from ulmus.problem import ErrorPath, Problem
from ulmus.targets import ValueTargets, check_size, numeric
from ulmus.typing import Array, Rows
from ulmus.validation import complete, valid_rows_and_target

__all__ = ["ValueLabels"]

# What else can be done with rows whose value is missing.
_INSTEAD = "use SemiSupervisedELMRegressor, which learns from rows without a value"

# Targets, weights, and what a row loses of its weight when it is left out (see `Problem`).
Encoded = tuple[ValueTargets, np.ndarray | None, np.ndarray | None]


class ValueLabels:
    """Values, one column or several, for an estimator with ``fit_intercept`` and ``_outputs``."""

    _flat: bool

    @by_blocks
    def predict(self: Any, X: Rows) -> Array:
        """Predicted values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.

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
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; a row of weight two counts as two rows.

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

    def _encode(self, y: np.ndarray, weight: np.ndarray | None) -> Encoded:
        """Give the targets."""
        check_size("y", y)
        self._flat = y.ndim == 1
        unit = None if weight is None else np.minimum(weight, 1.0)
        return ValueTargets(y.reshape(len(y), -1)), weight, unit

    _encode_known = _encode

    def _meet(self, y: np.ndarray) -> None:
        """Refuse a batch with other columns than those before it."""
        known, outputs = getattr(getattr(self, "_kept", None), "y", None), _columns(y)
        if known is not None and outputs != _columns(known):
            raise InvalidInputError(
                f"y has {outputs} columns, but the earlier batches had {_columns(known)}."
            )

    _recall = _meet

    def _survey(self, y: np.ndarray, weight: np.ndarray | None) -> None:
        self._meet(y)

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


def _columns(y: np.ndarray) -> int:
    return 1 if y.ndim == 1 else int(y.shape[1])
