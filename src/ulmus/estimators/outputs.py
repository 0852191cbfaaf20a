"""What a fitted model says of new rows."""

from typing import Any

import numpy as np
from array_api_compat import device as device_of
from sklearn import config_context
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    from_numpy,
    is_numpy,
    namespace,
    on_host,
    placed,
    same_place,
    take,
    to_numpy,
)
from ulmus.calibration import probabilities
from ulmus.distributed.blocks import computed
from ulmus.distributed.mapped import by_blocks
from ulmus.estimators.stage import layer_of, takes_devices
from ulmus.exceptions import InvalidInputError
from ulmus.fitted import OnDevice, finite_outputs
from ulmus.hidden import Hidden
from ulmus.targets import chosen
from ulmus.typing import Array
from ulmus.validation import complete, valid_rows

__all__ = ["ClassOutputs", "HiddenOutputs", "LabelOutputs", "ValueOutputs"]


class HiddenOutputs:
    """Hβ + b for a model with ``features_``, ``beta_`` and ``intercept_``."""

    features_: Any
    beta_: OnDevice[Array]
    intercept_: OnDevice[Array]
    n_hidden_: int

    def _outputs(self, X):
        """Hβ + b for new rows (n × m)."""
        check_is_fitted(self)
        return self._map(valid_rows(self, X, reset=False))

    @finite_outputs
    def _map(self, X):
        """Hβ + b for rows that are checked."""
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        same_place(X=X, beta_=self.beta_)
        beta = placed(self.beta_, X)
        xp = namespace(beta)
        if H.width != beta.shape[0]:
            raise InvalidInputError(
                f"features_ gives {H.width} columns, and beta_ is for {beta.shape[0]}; fit the "
                "model again."
            )
        coef = xp.astype(beta, H.dtype, copy=False)
        F = xp.empty((len(H), coef.shape[1]), dtype=coef.dtype, device=device_of(coef))
        for rows, h in H.blocks():
            matmul(h, coef, F[rows, :])
        F += xp.astype(placed(self.intercept_, X) + H.offset * xp.sum(beta, axis=0), coef.dtype)
        return F

    def _slopes(self, X):
        """The gradients of the outputs at these rows; None where the map states none."""
        layer = layer_of(self.features_, X, np.float64)
        return layer.slopes(X, on_host(self.beta_)) if hasattr(layer, "slopes") else None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = takes_devices(self.features)
        return tags


class LabelOutputs:
    """Decision values and labels for a model with ``classes_``."""

    classes_: np.ndarray

    @by_blocks
    def decision_function(self, X):
        """How strongly each class is held, about −1 to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.

        Returns
        -------
        F : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Hβ; for two classes, positive means the second.
        """
        F = self._outputs(X)
        return F[:, 0] if len(self.classes_) == 2 else F

    @by_blocks
    def predict(self, X):
        """Predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The label with the largest decision value.
        """
        F = self._outputs(X)
        # A stream may begin with one class, and one column then says nothing.
        alone = len(self.classes_) == 1
        return self._named(namespace(F).argmax(F, axis=1) if alone else chosen(F))

    def _named(self, codes):
        """The labels of these codes; on the device where it has such a type."""
        if is_numpy(codes):
            return self.classes_[codes]
        if self.classes_.dtype.kind not in "biuf":  # the device has no strings
            return self.classes_[to_numpy(codes)]
        return take(from_numpy(self.classes_, codes), codes)

    def score(self, X, y, sample_weight=None):
        """The part of the labels that is predicted right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.
        y : array-like of shape (n_samples,)
            Their labels; a Dask collection when X is one.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        accuracy : float
            From 0 to 1.
        """
        return _scored(accuracy_score, y, self.predict(X), sample_weight)


class ClassOutputs(LabelOutputs):
    """Labels and probabilities for a model with ``classes_`` and ``temperature_``."""

    temperature_: float

    @by_blocks
    def predict_proba(self, X):
        """Probability of each class; the largest is always the predicted label's.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows that sum to one.
        """
        F = self._outputs(X)
        return 0.0 * F + 1.0 if len(self.classes_) == 1 else probabilities(F, self.temperature_)

    @by_blocks
    def predict_log_proba(self, X):
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.

        Returns
        -------
        L : ndarray of shape (n_samples, n_classes)
            Log-probabilities.
        """
        P = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return namespace(P).log(P)


class ValueOutputs:
    """Values for a model that knows whether its targets were one column, ``_flat``."""

    _flat: bool

    @by_blocks
    def predict(self, X):
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

    def score(self, X, y, sample_weight=None):
        """R² of the predicted values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their values; a Dask collection when X is one.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        score : float
            At most 1; 0 is what the mean gets.
        """
        return _scored(r2_score, y, self.predict(X), sample_weight)


def _scored(metric, y, predicted, weight):
    """The metric of scikit-learn, worked out on the host.

    On a device its means may be in float32 though the values are in float64.
    """
    y, predicted, weight = map(on_host, computed(y, predicted, weight))
    with config_context(array_api_dispatch=False):
        return metric(complete(y, "score the others alone"), predicted, sample_weight=weight)
