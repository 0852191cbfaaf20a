"""Hidden units that answer to the distance from a centre."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.arguments import check_known, check_number
from ulmus.backends.linalg import matmul, tall_product
from ulmus.backends.namespace import (
    cast,
    clipped,
    contiguous,
    decay,
    elementwise,
    is_sparse,
    namespace,
    placed,
    same_place,
    take,
    to_numpy,
)
from ulmus.features.base import FeatureMap
from ulmus.features.random_units import Activation, UnitLayer, normal_rows, uniform_rows
from ulmus.features.scaling import Scaling
from ulmus.fitted import OnDevice
from ulmus.hidden import sample_rows
from ulmus.slopes import Slopes
from ulmus.typing import Array, DType, Rows, Seed

__all__ = ["RBFFeatures", "RBFLayer"]

# The mean distance is taken over at most this many rows: its error is then far
# below what any width is sensitive to.
_WIDTH_ROWS = 2000
# Units this narrow answer to a neighbourhood: few other centres are as near.
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
class RBFLayer(UnitLayer):
    """H = g(w‖s(x) − a‖²) for one precision and device.

    ``W`` stacks −2wA, w and w‖a‖², so that [s, ‖s‖², 1] W = w‖s − a‖². Sparse rows
    are scaled but not centred, so their centres move instead: ``shifted``.
    """

    scaling: Scaling
    W: Array
    shifted: Array
    activation: Activation

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H − offset for these rows."""
        S, W = self._expanded_rows(X)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = matmul(S, W, out) if is_sparse(S) else tall_product(S, W, out)
        # The expanded square may round to just below zero.
        return self.activation(clipped(Z, least=0.0))

    def _expanded_rows(self, X: Rows) -> tuple[Rows, Array]:
        """[s, ‖s‖², 1] for every row, and what they are multiplied by."""
        n, d = X.shape
        if is_sparse(X):
            S = self.scaling.sparse(X, self.dtype)
            squares = np.asarray(S.multiply(S).sum(1)).reshape(-1, 1)
            S = sp.hstack([S, squares, np.ones((n, 1))], format="csr", dtype=self.dtype)
            return S, self.shifted
        xp = namespace(X)
        S = xp.ones((n, d + 2), dtype=self.dtype, device=X.device)
        self.scaling.dense(X, S[:, :d])
        # A row so far away that this overflows is near no centre.
        with np.errstate(over="ignore", invalid="ignore"):
            S[:, d] = xp.sum(S[:, :d] ** 2, axis=1)
        return S, self.W

    def slopes(self, X: Rows, coef: np.ndarray) -> Slopes:
        """The gradients of H coef at these rows, of NumPy."""
        S, W = self._expanded_rows(X)
        assert self.activation.slope is not None
        p = self.activation.slope(clipped(matmul(S, W), least=0.0))
        # z = w‖s − a‖² has the gradient 2w s − 2w a, and −2w a are the first rows of W.
        return Slopes(S[:, :-2], W[:-2].T, p, 2.0 * W[-2] * p, coef, self.scaling.factor)

    def units(self, columns: slice) -> "RBFLayer":
        """Some of the hidden units, as a layer of their own."""
        W, shifted = (contiguous(A[:, columns]) for A in (self.W, self.shifted))
        return replace(self, W=W, shifted=shifted)


class RBFFeatures(FeatureMap):
    """Radial hidden units: each answers to the distance from its centre a.

    Parameters
    ----------
    n_hidden : int, default=1000
        Number of hidden units.
    node : {"gaussian", "random_gaussian", "exponential", "robust"}, default="gaussian"
        "gaussian" is exp(−‖x − a‖² / 2σ²) with one ``width`` σ for all units;
        "random_gaussian" exp(−b‖x − a‖²) and "exponential" exp(−b‖x − a‖), each
        with b ~ U(0, 1) of its own; "robust" is 1 / √(1 + b‖x − a‖²).
        The robust node is our reading of the robust activation function
        (RAF): its source names the property, outputs that stay away from
        zero and a bounded pull of outliers, but not the formula.
    centers : {"rows", "uniform", "normal"}, default="rows"
        Where a comes from: rows of the training data, U(−1, 1) or N(0, 1).
    width : "mean", "local" or float, default="mean"
        σ of the "gaussian" node; "mean" is the mean distance between rows and centres, "local"
        0.35 of it.
    scaling : {"auto", None}, default="auto"
        As in `RandomFeatures`. Drawn centres are divided by √n_features too
        when it is "auto".
    dtype : float32, float64 or None, default=None
        Precision of the result; None follows the input.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw.

    Attributes
    ----------
    centers_ : ndarray of shape (n_hidden, n_features)
        a of each unit, in scaled coordinates.
    rates_ : ndarray of shape (n_hidden,)
        What multiplies each unit's squared distance.
    width_ : float
        σ, for the "gaussian" node.
    scaling_ : Scaling
        ``center`` and ``factor`` of each column.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.

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
        scaling: str | None = "auto",
        dtype: DType = None,
        random_state: Seed = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.node = node
        self.centers = centers
        self.width = width
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state

    def layer(self, like: Rows, dtype: DType = None) -> RBFLayer:
        """The fitted units as a function of rows that live where ``like`` lives."""
        return self._layer(self.rates_, _NODES[self.node], like, self._precision(like, dtype))

    def onnx(self, x: Any) -> Any:
        """H as nodes of an ONNX graph with rows x."""
        z = self.scaling_.onnx(x).squared_distances(self.centers_, self.rates_)
        return _NODES[self.node].graph(z)

    def _layer(self, rates: np.ndarray, node: Activation, like: Rows, dtype: DType) -> RBFLayer:
        same_place(X=like, centers_=self.centers_)
        A, shift = placed(self.centers_, like), placed(self.scaling_.shift, like)
        rates, scaling = placed(rates, like), self.scaling_
        shifted = cast(_expanded(A + shift, rates), dtype)
        if not self._rescales:
            # Squares of rows far from the origin would swallow what they differ by.
            middle = to_numpy(self.centers_).mean(axis=0)
            scaling = Scaling(middle, np.ones_like(middle))
            A = A - placed(middle, like)
        W = cast(_expanded(A, rates), dtype)
        return RBFLayer(scaling.placed(like), W, shifted, node)

    def _draw(self, X: Rows, rng: np.random.RandomState) -> None:
        h, d = self.n_hidden, X.shape[1]
        seed = rng.randint(np.iinfo(np.int32).max)
        if self.centers == "rows":
            self.centers_ = self._scaled(take(X, sample_rows(seed, h, X.shape[0])))
        else:
            draw = uniform_rows if self.centers == "uniform" else normal_rows
            self.centers_ = draw(seed, h, d) / (np.sqrt(d) if self.scaling == "auto" else 1.0)
        if self.node == "gaussian":
            self.width_ = self._width(X, seed + 2)
            self.rates_ = np.full(h, 0.5 / self.width_**2)
        else:
            b = (uniform_rows(seed + 1, h, 1).ravel() + 1.0) / 2.0
            self.rates_ = b**2 if self.node == "exponential" else b

    def _scaled(self, X: Rows) -> np.ndarray:
        X = X.toarray() if is_sparse(X) else to_numpy(X)
        scaled = np.empty(X.shape)
        self.scaling_.dense(X.astype(float), scaled)
        return scaled

    def _width(self, X: Rows, seed: int) -> float:
        if not isinstance(self.width, str):
            return float(self.width)
        rows = sample_rows(seed, min(_WIDTH_ROWS, X.shape[0]), X.shape[0])
        sample = X[rows] if is_sparse(X) else to_numpy(take(X, rows)).astype(float)
        rates = np.ones(len(self.centers_))
        squared = self._layer(rates, Activation(lambda Z: Z), sample, np.dtype(float))
        mean = float(np.sqrt(squared(sample)).mean())
        mean *= _LOCAL if self.width == "local" else 1.0
        return mean if mean > 0 else 1.0  # all rows equal: any width gives the same H

    def check_parameters(self) -> None:
        """Refuse arguments that cannot be used."""
        super().check_parameters()
        check_known("node", self.node, _NODES)
        check_known("centers", self.centers, ("rows", "uniform", "normal"))
        if not (isinstance(self.width, str) and self.width in ("mean", "local")):
            check_number("width", self.width, "'mean', 'local' or a positive number")


def _expanded(A: Array, rates: Array) -> Array:
    """W such that [x, ‖x‖², 1] W = rates · ‖x − a‖² for each centre a."""
    xp = namespace(A)
    rows = -2.0 * rates * A.T, rates[None, :], (rates * xp.sum(A**2, axis=1))[None, :]
    return xp.concat(rows)
