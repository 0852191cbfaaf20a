"""Networks with infinitely many hidden units.

k = E[g(x) g(z)] over the weights' distribution, so that (1/h) HHᵀ of a wide random layer tends to
it. The constants printed in the paper on low-rank ELM spaces do not pass that test. For six normal
rows in two dimensions, 4·10⁶ Gaussian units with σ_g = 1 and σ_v = 1.5 agree with

    σ_s² = 2σ_g² + σ_g⁴/σ_v²    and    1/σ_e² = 2/σ_g² + 1/σ_v²

to 0.2 % of the largest entry; the printed σ_s² = 2σ_v² + σ_g⁴/σ_v² and
σ_e² = (σ_v² + σ_g²)/(σ_v²σ_g²) are off by 250 % of it. The printed arcsine lacks two factors 2
and is the kernel of erf(z/√2): for erf units it is off by 0.13 where the largest entry is
0.62, against 0.0002 here. ``python -m benchmarks kernel_readings`` prints these figures.
"""

from dataclasses import dataclass

import numpy as np

from ulmus.backends.elementwise import decay, elementwise
from ulmus.backends.namespace import is_numpy
from ulmus.kernels.base import Kernel
from ulmus.pairs import affine, into, products, squares
from ulmus.typing import Array, Rows

__all__ = ["Arcsine", "InfiniteRBF"]


@dataclass(frozen=True)
class InfiniteRBF(Kernel):
    """E[g(x) g(z)] of Gaussian units g(x) = exp(−γ‖x − v‖²), v ~ N(0, s² I), s the ``spread``.

    It is divided by its value at the origin unless ``normalized`` is False: that constant,
    (σ_e/σ_v)^d, vanishes in high dimension, and C takes it in anyway.

    Parameters
    ----------
    gamma : float, default=0.5
        γ of the units.
    spread : float, default=1.0
        s, how far the units' centres are spread.
    normalized : bool, default=True
        Whether k(0, 0) is one.

    Examples
    --------
    >>> from ulmus.kernels import InfiniteRBF
    >>> InfiniteRBF()(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.717]])
    """

    gamma: float = 0.5
    spread: float = 1.0
    normalized: bool = True

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        near, far, level = self._exponent(X.shape[1])
        return into(out, decay(affine(X, Z, near, -(near / 2 + far), level, out)))

    def diagonal(self, X: Rows) -> Array:
        """k(x, x)."""
        _, far, level = self._exponent(X.shape[1])
        P = squares(X)
        P *= -2.0 * far
        P += level
        return elementwise("exp", P)

    def _exponent(self, d: int) -> tuple[float, float, float]:
        """1/σ_s², 1/2σ_m² and the logarithm of the constant."""
        node, center = 0.5 / self.gamma, self.spread**2  # σ_g² and σ_v²
        near = 1.0 / (2.0 * node + node**2 / center)
        far = 0.5 / (2.0 * center + node)
        level = 0.0 if self.normalized else -0.5 * d * np.log1p(2.0 * center / node)
        return near, far, float(level)


@dataclass(frozen=True)
class Arcsine(Kernel):
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

    gamma: float = 1.0
    coef0: float = 1.0

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ)."""
        P = products(X, Z, out)
        P *= 2.0 * self.gamma
        P += 2.0 * self.coef0
        P /= self._length(X)[:, None]
        P /= self._length(Z)[None, :]
        P = elementwise("asin" if not is_numpy(P) else "arcsin", P)
        P *= 2.0 / np.pi
        return P

    def diagonal(self, X: Rows) -> Array:
        """k(x, x)."""
        square = self._length(X) ** 2
        P = (square - 1.0) / square
        P = elementwise("asin" if not is_numpy(P) else "arcsin", P)
        P *= 2.0 / np.pi
        return P

    def _length(self, X: Rows) -> Array:
        """√(1 + 2(c + γ‖x‖²))."""
        P = squares(X)
        P *= 2.0 * self.gamma
        P += 1.0 + 2.0 * self.coef0
        return elementwise("sqrt", P)
