"""Additive hidden units g(aᵀx + b) with random weights.

Draws are float64 and one row per unit, made by NumPy on the host, so that the same seed gives the
same weights in every precision and on every device, and the first k units of a wide draw are the k
units of a narrow one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.special
from sklearn.utils import check_random_state

from ulmus.arguments import check_known, check_number, check_whole
from ulmus.backends.gram import tall_product
from ulmus.backends.linalg import matmul, over_strips
from ulmus.backends.namespace import (
    cast,
    clipped,
    contiguous,
    decay,
    elementwise,
    is_numpy,
    is_sparse,
    namespace,
    placed,
    same_place,
)
from ulmus.docstrings import documented
from ulmus.exceptions import ExportError, InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.features.scaling import Scaling
from ulmus.fitted import OnDevice
from ulmus.slopes import Slopes
from ulmus.typing import Array, DType, Rows, Seed

# Rows per strip: 128 rows of 2000 float32 units stay in the second-level cache from the product to
# the last pass of the activation.
_STRIP = 128


@dataclass(frozen=True)
class Activation:
    """g(z) = offset + apply(gain · z); the weights are multiplied by the gain.

    The reader of the rows adds the offset. Units with values around ½ have a Gram matrix of large
    and similar entries, whose differences float32 would lose; without the ½, C can be ten times
    larger before rounding shows.
    """

    apply: Callable[[Array], Array]
    gain: float = 1.0
    offset: float = 0.0
    # The derivative of ``apply``, in an array of its own; None where it is not known.
    slope: Callable[[np.ndarray], np.ndarray] | None = None
    # g of a value of an ONNX graph (`ulmus.exporting.onnx_graph.Value`); None likewise.
    onnx: Callable[[Any], Any] | None = None

    def __call__(self, Z: Array) -> Array:
        """g(Z / gain) − offset, in place where the library can."""
        if not is_numpy(Z):
            return self.apply(Z)

        def strip(rows: slice) -> None:
            result = self.apply(part := Z[rows])
            if result is not part:
                part[...] = result

        # A user's function is called by this thread alone.
        over_strips(strip, len(Z), _STRIP, 0 if isinstance(self.apply, _checked) else Z.size)
        return Z

    def graph(self, z: Any) -> Any:
        """g(z) as nodes of an ONNX graph."""
        if self.onnx is None:
            function = getattr(self.apply, "function", self.apply)
            known = ", ".join(each.__name__ for each in _FUNCTIONS)
            raise ExportError(
                f"activation={getattr(function, '__name__', function)!s} is a Python function and "
                f"cannot be written as ONNX; of functions these can: {known}."
            )
        return self.onnx(z)


def _sigmoid(Z: Array) -> Array:
    # ½ + ½ tanh(z/2) is the logistic function, and tanh is vectorised where
    # exp-and-divide is not: 0.4 against 3.3 ns an element. The ½ inside is the gain.
    Z = elementwise("tanh", Z)
    Z *= 0.5
    return Z


def _gaussian(Z: Array) -> Array:
    Z *= Z
    Z *= -1.0
    return decay(Z)


def _tanh_slope(Z: np.ndarray) -> np.ndarray:
    return 1.0 - np.tanh(Z) ** 2


ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": Activation(
        _sigmoid,
        gain=0.5,
        offset=0.5,
        slope=lambda Z: 0.5 * _tanh_slope(Z),
        # In double precision runtimes have a faster tanh than a logistic function.
        onnx=lambda z: 0.5 + 0.5 * (0.5 * z).op("Tanh"),
    ),
    "tanh": Activation(
        lambda Z: elementwise("tanh", Z), slope=_tanh_slope, onnx=lambda z: z.op("Tanh")
    ),
    "relu": Activation(
        lambda Z: clipped(Z, least=0.0),
        slope=lambda Z: (Z > 0).astype(float),
        onnx=lambda z: z.op("Relu"),
    ),
    "sin": Activation(lambda Z: elementwise("sin", Z), slope=np.cos, onnx=lambda z: z.op("Sin")),
    "erf": Activation(
        lambda Z: elementwise("erf", Z),
        slope=lambda Z: 2.0 / np.sqrt(np.pi) * np.exp(-(Z**2)),
        onnx=lambda z: z.error_function(),
    ),
    "gaussian": Activation(
        _gaussian,
        slope=lambda Z: -2.0 * Z * np.exp(-(Z**2)),
        onnx=lambda z: (-(z * z)).op("Exp"),
    ),
}
# Functions that a user may give in place of a name, as ONNX nodes.
_FUNCTIONS: dict[Any, Callable[[Any], Any]] = {
    np.tanh: lambda z: z.op("Tanh"),
    np.sin: lambda z: z.op("Sin"),
    np.cos: lambda z: z.cosine(),
    np.exp: lambda z: z.op("Exp"),
    np.abs: lambda z: z.op("Abs"),
    np.sign: lambda z: z.op("Sign"),
    np.arctan: lambda z: z.arctangent(),
    scipy.special.expit: lambda z: 0.5 + 0.5 * (0.5 * z).op("Tanh"),
    scipy.special.erf: lambda z: z.error_function(),
}


def activation(name: str | Callable[[Array], Array]) -> Activation:
    """The activation of that name, or of a user's function of an array."""
    if callable(name):
        formulas = (formula for function, formula in _FUNCTIONS.items() if function is name)
        return Activation(_checked(name), onnx=next(formulas, None))
    if not (isinstance(name, str) and name in ACTIVATIONS):
        known = ", ".join(map(repr, ACTIVATIONS))
        raise InvalidParameterError(
            f"activation={name!r} is unknown; use one of {known}, or a function that acts on "
            "each element of an array."
        )
    return ACTIVATIONS[name]


@dataclass(frozen=True)
class _checked:
    """A user's function, checked to act elementwise."""

    function: Callable[[Array], Array]

    def __call__(self, Z: Array) -> Array:
        try:
            result = self.function(Z)
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"activation={self.function!r} failed on an array of shape {Z.shape}, with "
                f"{type(error).__name__}: {error}"
            ) from error
        if getattr(result, "shape", None) != Z.shape:
            raise InvalidParameterError(
                f"activation turned an array of shape {Z.shape} into "
                f"{getattr(result, 'shape', type(result).__name__)}; it must act on each element."
            )
        return result


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


@dataclass(frozen=True)
class RandomLayer:
    """H = g(s(x) A + b) for one precision and device, s the inputs' scaling.

    ``W`` is A above the row b. ``center`` is subtracted from the product of sparse rows, which are
    scaled but not centred.
    """

    scaling: Scaling
    W: Array
    center: Array
    activation: Activation

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return int(self.W.shape[1])

    @property
    def dtype(self) -> DType:
        """Precision of the hidden rows."""
        return self.W.dtype

    @property
    def offset(self) -> float:
        """The constant that is left out of the rows."""
        return self.activation.offset

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H − offset for these rows."""
        return self.activation(self._inner(X, out))

    def _inner(self, X: Rows, out: Array | None = None) -> Array:
        """The inputs of the activation."""
        n, d = X.shape
        if is_sparse(X):
            Z = matmul(self.scaling.sparse(X, self.dtype), self.W[:d], out)
            Z += self.W[d] - self.center
            return Z
        # A column of ones includes the bias in the product, without another pass over Z.
        S = namespace(X).ones((n, d + 1), dtype=self.dtype, device=X.device)
        self.scaling.dense(X, S[:, :d])
        return tall_product(S, self.W, out, split=True)

    def slopes(self, X: Rows, coef: np.ndarray) -> Slopes | None:
        """The gradients of H coef at these NumPy rows; None for a user's activation."""
        if self.activation.slope is None:
            return None
        p = self.activation.slope(self._inner(X))
        return Slopes(X, self.W[:-1].T, p, None, coef, self.scaling.factor)

    def units(self, columns: slice) -> "RandomLayer":
        """Some of the hidden units, as a layer of their own."""
        W = contiguous(self.W[:, columns])
        return replace(self, W=W, center=self.center[columns])


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
        What the scaled columns are multiplied by; `ELMSpectralClustering` gives them.
    scaling : {"auto", None}, default="auto"
        "auto" centres and scales the columns and divides by the rows' root mean
        square length; None uses the inputs as they are, as the papers do.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw. The same seed gives the same units in every precision,
        and the first k of a wider draw.

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

    def layer(self, like: Rows, dtype: DType = None) -> RandomLayer:
        """The fitted units as a function of rows on the device of ``like``."""
        g = activation(self.activation)
        precision = self._precision(like, dtype)
        same_place(X=like, weights_=self.weights_)
        A, b = placed(self.weights_, like), placed(self.biases_, like)
        W = g.gain * namespace(A).concat([A.T, b[None, :]])
        # Otherwise every product with sparse rows would transpose it.
        W = contiguous(W) if is_sparse(like) else W
        center = placed(self.scaling_.shift, like) @ W[:-1, :]
        scaling = self.scaling_.placed(like)
        return RandomLayer(scaling, cast(W, precision), cast(center, precision), g)

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
