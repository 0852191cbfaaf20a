"""What a fitted model says of new rows."""

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ulmus.backends.linalg import matmul
from ulmus.calibration import probabilities
from ulmus.estimators.stage import layer_of
from ulmus.hidden import Hidden
from ulmus.targets import chosen

__all__ = ["ClassOutputs", "HiddenOutputs", "LabelOutputs"]


class HiddenOutputs:
    """Hβ + b for a model with ``features_``, ``coef_`` and ``intercept_``."""

    def _outputs(self, X):
        """Hβ + b for new rows (n × m)."""
        check_is_fitted(self)
        return self._map(validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False))

    def _map(self, X):
        """Hβ + b for rows that are checked."""
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        coef = np.asarray(self.coef_, dtype=H.layer.dtype)
        F = np.empty((len(H), coef.shape[1]), coef.dtype)
        for rows, h in H.blocks():
            matmul(h, coef, F[rows])
        F += self.intercept_ + H.offset * self.coef_.sum(axis=0)
        return F

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LabelOutputs:
    """Decision values and labels for a model with ``classes_``."""

    def decision_function(self, X):
        """How strongly each class is held, about −1 to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        F : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Hβ; for two classes, positive means the second.
        """
        F = self._outputs(X)
        return F[:, 0] if len(self.classes_) == 2 else F

    def predict(self, X):
        """Predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The label with the largest decision value.
        """
        codes = chosen(self._outputs(X))
        return self.classes_[codes]


class ClassOutputs(LabelOutputs):
    """Labels and probabilities for a model with ``classes_`` and ``temperature_``."""

    def predict_proba(self, X):
        """Probability of each class; the largest is always the predicted label's.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows that sum to one.
        """
        return probabilities(self._outputs(X), self.temperature_)

    def predict_log_proba(self, X):
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        L : ndarray of shape (n_samples, n_classes)
            Log-probabilities.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
