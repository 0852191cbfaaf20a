"""Functions of every entry of an array, in place where the library can."""

from typing import Any

import numpy as np
import scipy.special

from ulmus.backends.namespace import is_numpy, namespace, smallest
from ulmus.typing import Array

__all__ = ["decay", "elementwise", "positive_part"]


def decay(Z: Array) -> Array:
    """exp(Z), in place where the library can, with what is below √(smallest normal number) zero.

    Products of two values are then normal numbers or zero; below the smallest normal one
    arithmetic is many times slower. What is far smaller than one is kept, for where a row is far
    from all others the nearest of them still tells. On USPS, inputs as they are, with γ = 2, 92 %
    of the test rows are right from 2000 rows in place of 46 with a cut at the square of the
    rounding (``python -m benchmarks kernel_readings``).
    """
    xp = namespace(Z)
    least = 0.5 * float(np.log(smallest(Z.dtype)))
    if 0 not in Z.shape and float(xp.min(Z)) < least:
        vanishing = least > Z
        if isinstance(Z, np.ndarray):
            Z[vanishing] = -np.inf
        else:
            Z = xp.where(vanishing, xp.asarray(-xp.inf, dtype=Z.dtype, device=Z.device), Z)
    return elementwise("exp", Z)


def positive_part(Z: Array) -> Array:
    """max(Z, 0), in place where the library can."""
    if is_numpy(Z):
        return np.maximum(Z, 0.0, out=Z)
    return namespace(Z).clip(Z, min=0.0)


def elementwise(function: str, Z: Array) -> Array:
    """``function`` of the array standard applied to Z, in place where the library can."""
    xp = namespace(Z)
    f: Any = getattr(scipy.special if is_numpy(Z) and function == "erf" else xp, function)
    if xp.__name__.endswith("array_api_strict"):
        return f(Z)
    return f(Z, out=Z)
