"""Kernels of random layers with infinitely many units: the limits of (1/h) HHᵀ.

The constants that the low-rank ELM paper prints are not these limits:
``python -m benchmarks kernel_readings`` measures both.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.namespace import clipped, elementwise
from ulmus.kernels.definition import parameter
from ulmus.kernels.functions import OfAffine, OfAngle
from ulmus.kernels.pairs import mean_square
from ulmus.typing import Array, Rows


@dataclass(frozen=True)
class InfiniteRBF(OfAffine, name="infinite_rbf"):
    """E[g(x) g(z)] of Gaussian units g(x) = exp(−γ‖x − v‖²), v ~ N(0, s² I), s the ``spread``.

    It is divided by its value at the origin unless ``normalized`` is False: that constant,
    (σ_e/σ_v)^d, vanishes in high dimension, and a change of C has the same effect.

    Parameters
    ----------
    gamma : float, default=0.5
        γ of the units.
    spread : float, default=1.0
        s, the standard deviation of the units' centres.
    normalized : bool, default=True
        Whether k(0, 0) is one.

    Examples
    --------
    >>> from ulmus.kernels import InfiniteRBF
    >>> InfiniteRBF()(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.717]])
    """

    gamma: float = parameter(0.5, above=0)
    spread: float = parameter(1.0, above=0)
    normalized: bool = parameter(True)

    @classmethod
    def learned(cls, rows: Rows, weight: np.ndarray | None) -> dict[str, float]:
        """A spread in every direction of the root of the rows' mean squared length."""
        return {"spread": float(np.sqrt(mean_square(rows, weight)))}

    def _form(self, d: int) -> tuple[float, float, float]:
        node, center = 0.5 / float(self.gamma), float(self.spread) ** 2  # σ_g² and σ_v²
        near = 1.0 / (2.0 * node + node**2 / center)
        far = 0.5 / (2.0 * center + node)
        level = 0.0 if self.normalized else -0.5 * d * np.log1p(2.0 * center / node)
        return near, -(near / 2 + far), float(level)


@dataclass(frozen=True)
class Arcsine(OfAngle, name="arcsine"):
    """E[g(x) g(z)] of units g(x) = erf(b + vᵀx), b ~ N(0, c), v ~ N(0, γ I), c being ``coef0``.

    Parameters
    ----------
    gamma : float, default=1.0
        Variance of the units' weights.
    coef0 : float, default=1.0
        Variance of their biases.

    Examples
    --------
    >>> from ulmus.kernels import Arcsine
    >>> Arcsine()(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[0.465],
           [0.345]])
    """

    gamma: float = parameter(1.0, above=0)
    coef0: float = parameter(1.0, least=0)

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        return 1.0 / mean_square(rows, weight)

    def _form(self) -> tuple[float, float]:
        gamma, coef0 = float(self.gamma), float(self.coef0)
        return coef0 / gamma, (0.5 + coef0) / gamma

    def _f(self, u: Array) -> Array:
        # Between long rows u may round to just above one.
        u = clipped(u, -1.0, 1.0)
        u = elementwise("asin", u)
        u *= 2.0 / np.pi
        return u

    def _slope(self, u: Array) -> Array:
        return 2.0 / np.pi / np.sqrt(1.0 - u**2)

    def _node(self, u: Any) -> Any:
        return 2.0 / np.pi * u.arcsine()
