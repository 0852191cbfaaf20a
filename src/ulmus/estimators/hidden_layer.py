"""The base of every estimator with a hidden layer: a fitted map, and outputs from it."""

from typing import Any

import numpy as np
from array_api_compat import device as device_of
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import namespace, on_host, placed, same_place
from ulmus.exceptions import InvalidInputError
from ulmus.features.fitting import layer_of, takes_devices
from ulmus.fitted import OnDevice, finite_outputs
from ulmus.hidden import Hidden
from ulmus.summary import html_of, mimebundle_of
from ulmus.typing import Array, Rows
from ulmus.validation import valid_rows

__all__ = ["HiddenModel"]


class HiddenModel(BaseEstimator):
    """An estimator with a hidden layer, whose outputs are Hβ + b.

    Parameters
    ----------
    features : feature map, transformer or None, default=None
        Feature map or transformer; None is ``RandomFeatures``. It is cloned and fitted.
    n_hidden : int or None, default=None
        Width of the default map (None: 1000).
    dtype : float32, float64 or None, default=None
        Precision of the hidden rows; None follows the input.

    Attributes
    ----------
    features_ : transformer
        The fitted map.
    n_hidden_ : int
        Number of hidden units.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.
    """

    features_: Any
    beta_: OnDevice[Array]
    intercept_: OnDevice[Array]
    n_hidden_: int
    _repr_html_inner, _repr_mimebundle_ = html_of, mimebundle_of

    def _outputs(self, X: Rows) -> Array:
        """Hβ + b for new rows (n × m)."""
        check_is_fitted(self)
        return self._map(valid_rows(self, X, reset=False))

    @finite_outputs
    def _map(self: Any, X: Rows) -> Array:
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

    def _slopes(self, X: Rows) -> Any:
        """The gradients of the outputs at these rows; None where the map states none."""
        layer = layer_of(self.features_, X, np.float64)
        return layer.slopes(X, on_host(self.beta_)) if hasattr(layer, "slopes") else None

    def __sklearn_tags__(self: Any) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = takes_devices(self.features)
        return tags
