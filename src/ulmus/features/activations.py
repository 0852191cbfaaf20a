"""The hidden units' activations, applied in place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from ulmus.backends.namespace import decay, elementwise, is_numpy, positive_part
from ulmus.exceptions import ExportError, InvalidParameterError
from ulmus.typing import Array, DType

__all__ = ["ACTIVATIONS", "Activation", "UnitLayer", "activation"]

# Rows per strip: 128 rows of 2000 float32 units stay in the second-level cache
# from the product to the last of the activation's passes.
_STRIP = 128


@dataclass(frozen=True)
class Activation:
    """g(z) = offset + apply(gain · z); the gain is folded into the weights.

    The offset is left to the reader of the rows. Units that hover around ½ make
    a Gram matrix of large entries that differ little, and float32 would round
    the differences away; without the ½, C may be ten times larger before it shows.
    """

    apply: Callable[[Array], Array]
    gain: float = 1.0
    offset: float = 0.0
    # The derivative of ``apply``, in an array of its own; None where nobody has said.
    slope: Callable[[np.ndarray], np.ndarray] | None = None
    # g of a value of an ONNX graph (`ulmus.exporting.onnx_graph.Value`); None likewise.
    onnx: Callable[[Any], Any] | None = None

    def __call__(self, Z: Array) -> Array:
        """g(Z / gain) − offset, in place where the library can."""
        if not is_numpy(Z):
            return self.apply(Z)
        for start in range(0, len(Z), _STRIP):
            strip = Z[start : start + _STRIP]
            result = self.apply(strip)
            if result is not strip:
                strip[...] = result
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


class UnitLayer:
    """What layers of units share: a column of W for each, and the activation of all."""

    W: Array
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
        """What the rows are short of."""
        return self.activation.offset


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
        positive_part, slope=lambda Z: (Z > 0).astype(float), onnx=lambda z: z.op("Relu")
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
# Functions that a caller may give in place of a name, and that graphs have too.
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
    """The activation of that name, or a caller's own function of an array."""
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
    """A caller's function, held to acting elementwise."""

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
