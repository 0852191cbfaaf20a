"""Maps to hidden units that are drawn at random: g(aᵀx + b), and g of the distance from a centre.

Draws are float64 and one row per unit, made by NumPy on the host, so that the same seed gives the
same weights in every precision and on every device, and the first k units of a wide draw are the k
units of a narrow one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ulmus.arguments import check_known, check_number, check_whole
from ulmus.backends.namespace import is_sparse, take, to_numpy
from ulmus.docstrings import documented
from ulmus.exceptions import InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.features.unit_layers import NODES, ProductLayer, RadialLayer, activation
from ulmus.fitted import OnDevice
from ulmus.hidden import sample_rows
from ulmus.kernels.pairs import landmarks_like, squared_distances
from ulmus.typing import Array, DType, Rows, Seed

# Most rows that the mean distance is taken over: its error is then far smaller than any change of
# the width that matters.
_WIDTH_ROWS = 2000
# Width of "local", relative to the mean distance: few other centres are within it.
_LOCAL = 0.35


def uniform_rows(seed: Seed, n_rows: int, width: int) -> np.ndarray:
    """U(−1, 1), one row per unit."""
    draw: np.ndarray = check_random_state(seed).uniform(-1.0, 1.0, (n_rows, width))
    return draw


def normal_rows(seed: Seed, n_rows: int, width: int) -> np.ndarray:
    """N(0, 1), one row per unit."""
    draw: np.ndarray = check_random_state(seed).standard_normal((n_rows, width))
    return draw


def orthogonal_rows(seed: Seed, n_rows: int, width: int) -> np.ndarray:
    """Rows orthogonal within each group of ``width``, of length √width as normal rows have."""
    rng = check_random_state(seed)
    groups = []
    for _ in range(-(-n_rows // width)):
        Q, R = np.linalg.qr(rng.standard_normal((width, width)))
        groups.append((Q * np.sign(np.diagonal(R))).T)  # signs make Q uniform (Haar)
    return np.concatenate(groups)[:n_rows] * np.sqrt(width)


def seen_columns(seed: Seed, n_rows: int, count: int, factor: np.ndarray) -> np.ndarray:
    """√(d / count) for the columns of a unit, else 0; d columns have a factor above zero."""
    d, varying = len(factor), np.flatnonzero(factor)
    if count >= len(varying):
        return np.ones((n_rows, d))
    order = np.argsort(uniform_rows(seed, n_rows, len(varying)), axis=1)[:, :count]
    seen = np.zeros((n_rows, d))
    np.put_along_axis(seen, varying[order], np.sqrt(len(varying) / count), axis=1)
    return seen


_DRAWS = {"uniform": uniform_rows, "normal": normal_rows, "orthogonal": orthogonal_rows}


@documented
class RandomFeatures(FeatureMap):
    """The ELM feature map: hidden units g(aᵀx + b) with random a and b.

    Parameters
    ----------
    activation : str or callable, default="sigmoid"
        g, applied to each element: "sigmoid", "tanh", "relu", "sin", "erf", "gaussian", which is
        exp(−z²), or a function.
    weights : {"uniform", "normal", "orthogonal"}, default="uniform"
        How a is drawn: U(−1, 1), N(0, 1), or orthogonal in groups of ``n_features``.
        b is U(−1, 1), or N(0, 1) beside normal and orthogonal weights.
    bias : bool, default=True
        Whether the units have a bias b.
    gain : float, default=1.0
        Factor of a; larger values make the units more nonlinear.
    columns_per_unit : int or None, default=None
        The number of columns of a unit: its other weights are zero, and these are multiplied by
        √(n_features / columns_per_unit). None is all columns. Constant columns do not count. Two or
        three suit tables whose columns have mostly additive effects.
    column_weights : array-like of shape (n_features,) or None, default=None
        Factors of the scaled columns; `ELMSpectralClustering` sets them.
    scaling : {"auto", None}, default="auto"
        "auto" centres and scales the columns and divides by the rows' root mean
        square length; None uses the inputs as they are, as the papers do.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw. The same seed gives the same units in every precision, and the first k of
        a wider draw.

    Attributes
    ----------
    weights_ : ndarray of shape (n_hidden, n_features)
        a of each unit, as drawn, times ``gain``.
    biases_ : ndarray of shape (n_hidden,)
        b of each unit.
    scaling_ : Scaling
        ``center`` and ``factor`` of each column, so that H is
        ``g(((X - center) * factor) @ weights_.T + biases_)``.

    See Also
    --------
    RBFFeatures : Units that depend on the distance from a centre.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus import RandomFeatures
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    >>> RandomFeatures(n_hidden=4, random_state=0).fit_transform(X).shape
    (3, 4)
    """

    biases_: OnDevice[Array]
    weights_: OnDevice[Array]
    _units = ("biases_", "weights_")

    def __init__(
        self,
        n_hidden: int = 1000,
        *,
        activation: str | Callable[[Array], Array] = "sigmoid",
        weights: str = "uniform",
        bias: bool = True,
        gain: float = 1.0,
        columns_per_unit: int | None = None,
        column_weights: Any = None,
        scaling: str | None = "auto",
        dtype: DType = None,
        random_state: Seed = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.activation = activation
        self.weights = weights
        self.bias = bias
        self.gain = gain
        self.columns_per_unit = columns_per_unit
        self.column_weights = column_weights
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state

    def layer(self, like: Rows, dtype: DType = None) -> ProductLayer:
        """The fitted units as a function of rows on the device of ``like``."""
        g = activation(self.activation)
        return ProductLayer.of(self, g, like, self._precision(like, dtype))

    def onnx(self, x: Any) -> Any:
        """H as nodes of an ONNX graph with rows x."""
        z = self.scaling_.onnx(x) @ self.weights_.T + self.biases_
        return activation(self.activation).graph(z)

    def _draw(self, X: Rows, rng: np.random.RandomState, weight: np.ndarray | None) -> None:
        h, d = self.n_hidden, X.shape[1]
        seed = rng.randint(np.iinfo(np.int32).max)
        self.weights_ = self.gain * _DRAWS[self.weights](seed, h, d)
        if self.columns_per_unit is not None:
            self.weights_ *= seen_columns(seed + 2, h, self.columns_per_unit, self.scaling_.factor)
        bias = uniform_rows if self.weights == "uniform" else normal_rows
        # With its own seed, so that weights and biases do not depend on each other's number.
        self.biases_ = bias(seed + 1, h, 1).ravel() if self.bias else np.zeros(h)

    def check_parameters(self) -> None:
        """Refuse arguments that cannot be used."""
        super().check_parameters()
        activation(self.activation)
        check_known("weights", self.weights, _DRAWS)
        check_number("gain", self.gain)
        if self.columns_per_unit is not None:
            check_whole("columns_per_unit", self.columns_per_unit, least=1)
            if self.weights == "orthogonal":
                raise InvalidParameterError(
                    "weights='orthogonal' needs units of all columns; leave columns_per_unit out, "
                    "or use 'uniform' or 'normal'."
                )


@documented
class RBFFeatures(FeatureMap):
    """Radial hidden units: each depends on the distance from its centre a.

    Parameters
    ----------
    node : {"gaussian", "random_gaussian", "exponential", "robust"}, default="gaussian"
        "gaussian" is exp(−‖x − a‖² / 2σ²) with one ``width`` σ for all units;
        "random_gaussian" exp(−b‖x − a‖²) and "exponential" exp(−b‖x − a‖), each
        with b ~ U(0, 1) of its own; "robust" is 1 / √(1 + b‖x − a‖²).
        The robust node is an interpretation of the robust activation function (RAF): its source
        states the properties, outputs away from zero and a bounded influence of outliers, but not
        the formula.
    centers : {"rows", "uniform", "normal"}, default="rows"
        Where a comes from: rows of the training data, U(−1, 1) or N(0, 1).
    width : "mean", "local" or float, default="mean"
        σ of the "gaussian" node; "mean" is the mean distance between rows and centres, "local"
        0.35 of it.
    column_weights : array-like of shape (n_features,) or None, default=None
        Factors of the scaled columns; `ELMSpectralClustering` sets them.
    scaling : {"auto", None}, default="auto"
        As in `RandomFeatures`. Drawn centres are divided by √n_features too
        when it is "auto".

    Attributes
    ----------
    centers_ : ndarray of shape (n_hidden, n_features)
        a of each unit, in scaled coordinates.
    rates_ : ndarray of shape (n_hidden,)
        Factor of each unit's squared distance.
    width_ : float
        σ, for the "gaussian" node.

    See Also
    --------
    RandomFeatures : Units g(aᵀx + b).

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus import RBFFeatures
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    >>> H = RBFFeatures(n_hidden=3, random_state=0).fit_transform(X)
    >>> bool(np.isclose(H.max(), 1.0))  # every centre is one of the rows
    True
    """

    width_: float
    rates_: OnDevice[Array]
    centers_: OnDevice[Array]
    _units = ("rates_", "centers_")

    def __init__(
        self,
        n_hidden: int = 1000,
        *,
        node: str = "gaussian",
        centers: str = "rows",
        width: str | float = "mean",
        column_weights: Any = None,
        scaling: str | None = "auto",
        dtype: DType = None,
        random_state: Seed = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.node = node
        self.centers = centers
        self.width = width
        self.column_weights = column_weights
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state

    def layer(self, like: Rows, dtype: DType = None) -> RadialLayer:
        """The fitted units as a function of rows on the device of ``like``."""
        return RadialLayer.of(self, NODES[self.node], like, self._precision(like, dtype))

    def onnx(self, x: Any) -> Any:
        """H as nodes of an ONNX graph with rows x."""
        z = self.scaling_.onnx(x).squared_distances(self.centers_, self.rates_)
        return NODES[self.node].graph(z)

    def _draw(self, X: Rows, rng: np.random.RandomState, weight: np.ndarray | None) -> None:
        h, d = self.n_hidden, X.shape[1]
        seed = rng.randint(np.iinfo(np.int32).max)
        if self.centers == "rows":
            rows = _on_host(take(X, sample_rows(seed, h, X.shape[0])))
            dense = rows.toarray() if is_sparse(rows) else rows
            self.centers_ = self.scaling_.rows(dense, np.dtype(float))
        else:
            draw = uniform_rows if self.centers == "uniform" else normal_rows
            self.centers_ = draw(seed, h, d) / (np.sqrt(d) if self.scaling == "auto" else 1.0)
        if self.node == "gaussian":
            self.width_ = self._width(X, seed + 2)
            self.rates_ = np.full(h, 0.5 / self.width_**2)
        else:
            b = (uniform_rows(seed + 1, h, 1).ravel() + 1.0) / 2.0
            self.rates_ = b**2 if self.node == "exponential" else b

    def _width(self, X: Rows, seed: int) -> float:
        if not isinstance(self.width, str):
            return float(self.width)
        rows = sample_rows(seed, min(_WIDTH_ROWS, X.shape[0]), X.shape[0])
        sample = _on_host(take(X, rows))
        centers = landmarks_like(self.centers_, sample, np.dtype(float), self.scaling_.shift)
        squared = squared_distances(self.scaling_.rows(sample, np.dtype(float)), centers)
        mean = float(np.sqrt(squared).mean())
        mean *= _LOCAL if self.width == "local" else 1.0
        return mean if mean > 0 else 1.0  # all rows equal: any width gives the same H

    def check_parameters(self) -> None:
        """Refuse arguments that cannot be used."""
        super().check_parameters()
        check_known("node", self.node, NODES)
        check_known("centers", self.centers, ("rows", "uniform", "normal"))
        if not (isinstance(self.width, str) and self.width in ("mean", "local")):
            check_number("width", self.width, "'mean', 'local' or a positive number")


def _on_host(X: Rows) -> Rows:
    return X.astype(float) if is_sparse(X) else to_numpy(X).astype(float)
