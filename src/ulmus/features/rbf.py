"""Hidden units that depend on the distance from a centre."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ulmus.arguments import check_known, check_number
from ulmus.backends.namespace import (
    cast,
    decay,
    elementwise,
    is_sparse,
    placed,
    same_place,
    take,
    to_numpy,
)
from ulmus.docstrings import documented
from ulmus.features.base import FeatureMap
from ulmus.features.random_units import Activation, normal_rows, uniform_rows
from ulmus.features.scaling import Scaling
from ulmus.fitted import OnDevice
from ulmus.hidden import sample_rows
from ulmus.kernels.pairs import landmarks_like, some_rows, squared_distances
from ulmus.slopes import Slopes
from ulmus.typing import Array, DType, Rows, Seed

# Most rows that the mean distance is taken over: its error is then far smaller than any change of
# the width that matters.
_WIDTH_ROWS = 2000
# Width of "local", relative to the mean distance: few other centres are within it.
_LOCAL = 0.35


def _exponential(Z: Array) -> Array:
    """exp(−√z)."""
    Z = elementwise("sqrt", Z)
    Z *= -1.0
    return decay(Z)


def _gaussian(Z: Array) -> Array:
    """exp(−z)."""
    Z *= -1.0
    return decay(Z)


def _inverse_multiquadric(Z: Array) -> Array:
    """(1 + z)^(−½)."""
    Z += 1.0
    Z = elementwise("sqrt", Z)
    return 1.0 / Z


def _exponential_slope(Z: np.ndarray) -> np.ndarray:
    """−exp(−√z) / 2√z; zero at the centre itself, where the unit has a peak and no gradient."""
    root = np.sqrt(Z)
    return np.divide(-0.5 * np.exp(-root), root, out=np.zeros_like(Z), where=root > 0)


_EXP = Activation(_gaussian, slope=lambda Z: -np.exp(-Z), onnx=lambda z: (-z).op("Exp"))
# Each node is a function of z = w‖x − a‖²; the exponential one has w = b².
_NODES = {
    "gaussian": _EXP,
    "random_gaussian": _EXP,
    "exponential": Activation(
        _exponential, slope=_exponential_slope, onnx=lambda z: (-z.op("Sqrt")).op("Exp")
    ),
    "robust": Activation(
        _inverse_multiquadric,
        slope=lambda Z: -0.5 * (1.0 + Z) ** -1.5,
        onnx=lambda z: (1.0 + z).op("Sqrt").op("Reciprocal"),
    ),
}


@dataclass(frozen=True)
class RBFLayer:
    """H = g(w‖s(x) − a‖²) for one precision and device, s the inputs' scaling."""

    scaling: Scaling
    centers: Any
    rates: Array
    activation: Activation
    offset: ClassVar[float] = 0.0

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return int(self.rates.shape[0])

    @property
    def dtype(self) -> DType:
        """Precision of the hidden rows."""
        return self.rates.dtype

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H for these rows."""
        # A row whose squared distance overflows is far from all centres.
        with np.errstate(over="ignore", invalid="ignore"):
            rows = self.scaling.rows(X, self.dtype)
            return self.activation(squared_distances(rows, self.centers, self.rates, out))

    def slopes(self, X: Rows, coef: np.ndarray) -> Slopes:
        """The gradients of H coef at these NumPy rows."""
        assert self.activation.slope is not None
        rows = self.scaling.rows(X, self.dtype)
        slope = self.activation.slope(squared_distances(rows, self.centers, self.rates))
        # z = w‖s − a‖² has the gradient 2w s − 2w a.
        p = 2.0 * self.rates * slope
        return Slopes(rows, self.centers, -p, p, coef, self.scaling.factor)

    def units(self, columns: slice) -> "RBFLayer":
        """Some of the hidden units, as a layer of their own."""
        return replace(self, centers=some_rows(self.centers, columns), rates=self.rates[columns])


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
        What the scaled columns are multiplied by; `ELMSpectralClustering` gives them.
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

    def layer(self, like: Rows, dtype: DType = None) -> RBFLayer:
        """The fitted units as a function of rows on the device of ``like``."""
        same_place(X=like, centers_=self.centers_)
        precision = self._precision(like, dtype)
        centers = landmarks_like(self.centers_, like, precision, self.scaling_.shift)
        rates = cast(placed(self.rates_, like), precision)
        return RBFLayer(self.scaling_.placed(like), centers, rates, _NODES[self.node])

    def onnx(self, x: Any) -> Any:
        """H as nodes of an ONNX graph with rows x."""
        z = self.scaling_.onnx(x).squared_distances(self.centers_, self.rates_)
        return _NODES[self.node].graph(z)

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
        check_known("node", self.node, _NODES)
        check_known("centers", self.centers, ("rows", "uniform", "normal"))
        if not (isinstance(self.width, str) and self.width in ("mean", "local")):
            check_number("width", self.width, "'mean', 'local' or a positive number")


def _on_host(X: Rows) -> Rows:
    return X.astype(float) if is_sparse(X) else to_numpy(X).astype(float)
