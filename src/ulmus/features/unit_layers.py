"""Hidden units of one kind: activations, and layers of units that see a product or a distance."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.special

from ulmus.backends.gram import tall_product
from ulmus.backends.linalg import matmul
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
from ulmus.backends.threads import over_strips
from ulmus.exceptions import ExportError, InvalidParameterError
from ulmus.features.scaling import Scaling
from ulmus.kernels.pairs import landmarks_like, some_rows, squared_distances
from ulmus.slopes import Slopes
from ulmus.typing import Array, DType, Rows

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

    @property
    def shareable(self) -> bool:
        """Whether several threads may apply it: a user's function is called by one alone."""
        return not isinstance(self.apply, _checked)

    def __call__(self, Z: Array) -> Array:
        """g(Z / gain) − offset, in place where the library can."""
        if not is_numpy(Z):
            return self.apply(Z)

        def strip(rows: slice) -> None:
            result = self.apply(part := Z[rows])
            if result is not part:
                part[...] = result

        over_strips(strip, len(Z), _STRIP, Z.size if self.shareable else 0)
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
    return _decaying(Z)


def _decaying(Z: Array) -> Array:
    """exp(−z)."""
    Z *= -1.0
    return decay(Z)


def exponential(Z: Array) -> Array:
    """exp(−√z)."""
    return _decaying(elementwise("sqrt", Z))


def exponential_slope(Z: np.ndarray) -> np.ndarray:
    """−exp(−√z) / 2√z; zero at the centre itself, where the unit has a peak and no gradient."""
    root = np.sqrt(Z)
    return np.divide(-0.5 * np.exp(-root), root, out=np.zeros_like(Z), where=root > 0)


def _inverse_multiquadric(Z: Array) -> Array:
    """(1 + z)^(−½)."""
    Z += 1.0
    Z = elementwise("sqrt", Z)
    return 1.0 / Z


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
_EXP = Activation(_decaying, slope=lambda Z: -np.exp(-Z), onnx=lambda z: (-z).op("Exp"))
# Radial nodes, each a function of z = w‖x − a‖²; the exponential one has w = b².
NODES: dict[str, Activation] = {
    "gaussian": _EXP,
    "random_gaussian": _EXP,
    "exponential": Activation(
        exponential, slope=exponential_slope, onnx=lambda z: (-z.op("Sqrt")).op("Exp")
    ),
    "robust": Activation(
        _inverse_multiquadric,
        slope=lambda Z: -0.5 * (1.0 + Z) ** -1.5,
        onnx=lambda z: (1.0 + z).op("Sqrt").op("Reciprocal"),
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


@dataclass(frozen=True)
class UnitLayer(ABC):
    """H = g(z) for one precision and device; ``each`` has a number for every unit."""

    scaling: Scaling
    activation: Activation
    points: Any
    each: Array

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return int(self.each.shape[0])

    @property
    def dtype(self) -> DType:
        """Precision of the hidden rows."""
        return self.each.dtype

    @property
    def offset(self) -> float:
        """The constant that is left out of the rows."""
        return self.activation.offset

    @property
    def shareable(self) -> bool:
        """Whether several threads may call it at once."""
        return self.activation.shareable

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H − offset for these rows."""
        return self.activation(self._inner(X, out))

    @abstractmethod
    def _inner(self, X: Rows, out: Array | None = None) -> Array:
        """z, the inputs of the activation."""


class ProductLayer(UnitLayer):
    """z = s(x) A + b, where s is the inputs' scaling.

    ``points`` is A above the row b. ``each`` is subtracted from the product of sparse rows, which
    are scaled but not centred.
    """

    @classmethod
    def of(cls, features: Any, g: Activation, like: Rows, precision: DType) -> Self:
        """The units of a map's ``weights_`` and ``biases_``, where ``like`` lives."""
        same_place(X=like, weights_=features.weights_)
        A, b = placed(features.weights_, like), placed(features.biases_, like)
        W = g.gain * namespace(A).concat([A.T, b[None, :]])
        # Otherwise every product with sparse rows would transpose it.
        W = contiguous(W) if is_sparse(like) else W
        center = placed(features.scaling_.shift, like) @ W[:-1, :]
        return cls(features.scaling_.placed(like), g, cast(W, precision), cast(center, precision))

    def _inner(self, X: Rows, out: Array | None = None) -> Array:
        n, d = X.shape
        if is_sparse(X):
            Z = matmul(self.scaling.sparse(X, self.dtype), self.points[:d], out)
            Z += self.points[d] - self.each
            return Z
        # A column of ones includes the bias in the product, without another pass over Z.
        S = namespace(X).ones((n, d + 1), dtype=self.dtype, device=X.device)
        self.scaling.dense(X, S[:, :d])
        return tall_product(S, self.points, out, split=True)

    def slopes(self, X: Rows, coef: np.ndarray) -> Slopes | None:
        """The gradients of H coef at these NumPy rows; None for a user's activation."""
        if self.activation.slope is None:
            return None
        p = self.activation.slope(self._inner(X))
        return Slopes(X, self.points[:-1].T, p, None, coef, self.scaling.factor)

    def units(self, columns: slice) -> Self:
        """Some of the hidden units, as a layer of their own."""
        return replace(self, points=contiguous(self.points[:, columns]), each=self.each[columns])


class RadialLayer(UnitLayer):
    """z = w‖s(x) − a‖², where s is the inputs' scaling; ``points`` are the a, ``each`` the w."""

    @classmethod
    def of(cls, features: Any, g: Activation, like: Rows, precision: DType) -> Self:
        """The units of a map's ``centers_`` and ``rates_``, where ``like`` lives."""
        same_place(X=like, centers_=features.centers_)
        scaling, rates = features.scaling_, placed(features.rates_, like)
        centers = landmarks_like(features.centers_, like, precision, scaling.shift)
        return cls(scaling.placed(like), g, centers, cast(rates, precision))

    def _inner(self, X: Rows, out: Array | None = None) -> Array:
        # A row whose squared distance overflows is far from all centres.
        with np.errstate(over="ignore", invalid="ignore"):
            return squared_distances(self.scaling.rows(X, self.dtype), self.points, self.each, out)

    def slopes(self, X: Rows, coef: np.ndarray) -> Slopes:
        """The gradients of H coef at these NumPy rows."""
        assert self.activation.slope is not None
        # z = w‖s − a‖² has the gradient 2w s − 2w a.
        p = 2.0 * self.each * self.activation.slope(self._inner(X))
        rows = self.scaling.rows(X, self.dtype)
        return Slopes(rows, self.points, -p, p, coef, self.scaling.factor)

    def units(self, columns: slice) -> Self:
        """Some of the hidden units, as a layer of their own."""
        return replace(self, points=some_rows(self.points, columns), each=self.each[columns])
