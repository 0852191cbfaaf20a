"""Functions of a graph's values that ONNX lacks, or that runtimes lack in double precision."""

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx

__all__ = [
    "arcsine",
    "arctangent",
    "cosine",
    "error_function",
    "nearest",
    "scaled",
    "squared_distances",
]

# Where erfcx is 1e-13 from a polynomial of this degree in 1 − 2a / (z + a), z ≥ 0.
_ERF_DEGREE, _ERF_CENTER = 16, 3.0


def scaled(x, center, factor):
    """(x − center) · factor; nothing where both say so."""
    x = x - center if np.any(center) else x
    return x if np.all(factor == 1.0) else x * factor


def squared_distances(x, Z, rates=1.0):
    """rates · ‖x − z‖² for every pair, from products; never below zero."""
    Z = np.asarray(Z, dtype=float)
    rates = np.broadcast_to(np.asarray(rates, dtype=float), (len(Z),))
    D = x @ (-2.0 * rates * Z.T) + (x * x).sum() * rates + rates * np.sum(Z**2, axis=1)
    return D.op("Max", 0.0)


def nearest(x, centers):
    """The number of the nearest centre."""
    centers = np.asarray(centers, dtype=float)
    # ‖x‖² is the same for all of them.
    D = x @ (-2.0 * centers.T) + np.sum(centers**2, axis=1)
    return D.op("ArgMin", axis=1, keepdims=0)


def error_function(z):
    """erf(z) = ±(1 − exp(−z²) erfcx|z|), the last by a polynomial."""
    size = z.op("Abs")
    u = 1.0 - 2.0 * _ERF_CENTER / (size + _ERF_CENTER)
    tail = (-(z * z)).op("Exp") * _polynomial(_erfcx(), u)
    return z.op("Sign") * (1.0 - tail)


def _erfcx():
    def of(u):
        with np.errstate(divide="ignore"):
            return erfcx(_ERF_CENTER * (1.0 + u) / (1.0 - u))

    return Chebyshev.interpolate(of, _ERF_DEGREE).convert(kind=Polynomial).coef


def _polynomial(coefficients, u):
    """By Horner's rule, the constant first among the coefficients."""
    *rest, total = coefficients
    while rest:
        total = total * u + rest.pop()
    return total


def cosine(z):
    """cos z; of the two, runtimes have long had the sine alone in double precision."""
    return (z + np.pi / 2).op("Sin")


def arcsine(s):
    """The angle from −π/2 to π/2 whose sine is s."""
    return _angle(s, ((1.0 - s) * (1.0 + s)).op("Max", 0.0).op("Sqrt"))


def arctangent(z):
    """The angle from −π/2 to π/2 whose tangent is z."""
    c = (z * z + 1.0).op("Sqrt").op("Reciprocal")
    return _angle(z * c, c)


def _angle(s, c):
    """The angle with this sine and cosine: in single precision, and what that is short of."""
    near = s.cast(np.float32).op("Asin").cast(np.float64)
    return near + (s * cosine(near) - c * near.op("Sin"))
