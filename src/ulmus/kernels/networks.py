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
from typing import Any

import numpy as np

from ulmus.backends.namespace import decay, elementwise, is_numpy
from ulmus.kernels.definition import Kernel, parameter
from ulmus.kernels.pairs import affine, into, mean_square, products, squares
from ulmus.typing import Array, Rows

__all__ = ["Arcsine", "InfiniteRBF"]


@dataclass(frozen=True)
class InfiniteRBF(Kernel, name="infinite_rbf"):
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

    gamma: float = parameter(0.5, above=0)
    spread: float = parameter(1.0, above=0)
    normalized: bool = parameter(True)

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        near, far, level = self._exponent(X.shape[1])
        return into(out, decay(affine(X, Z, near, -(near / 2 + far), level, out)))

    def diagonal(self, X: Rows) -> Array:
        _, far, level = self._exponent(X.shape[1])
        P = squares(X)
        P *= -2.0 * far
        P += level
        return elementwise("exp", P)

    @classmethod
    def learned(cls, rows: Rows, weight: np.ndarray | None) -> dict[str, float]:
        """Centres spread in every direction as far as the rows reach in all."""
        return {"spread": float(np.sqrt(mean_square(rows, weight)))}

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        """k (z/σ_s² − (1/σ_s² + 1/σ_m²) x)."""
        near, far, _ = self._exponent(X.shape[1])
        K = self(X, Z)
        return near * K, -(near + 2.0 * far) * K

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        near, far, level = self._exponent(Z.shape[1])
        square = near / 2 + far
        own = x @ (near * Z.T) - square * (x * x).sum()
        return (own + (level - square * np.sum(Z**2, axis=1))).op("Exp")

    def _exponent(self, d: int) -> tuple[float, float, float]:
        """1/σ_s², 1/2σ_m² and the logarithm of the constant."""
        node, center = 0.5 / self.gamma, self.spread**2  # σ_g² and σ_v²
        near = 1.0 / (2.0 * node + node**2 / center)
        far = 0.5 / (2.0 * center + node)
        level = 0.0 if self.normalized else -0.5 * d * np.log1p(2.0 * center / node)
        return near, far, float(level)


@dataclass(frozen=True)
class Arcsine(Kernel, name="arcsine"):
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

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        P = products(X, Z, out)
        P *= 2.0 * self.gamma
        P += 2.0 * self.coef0
        P /= self._length(X)[:, None]
        P /= self._length(Z)[None, :]
        return _two_over_pi_asin(P)

    def diagonal(self, X: Rows) -> Array:
        square = self._length(X) ** 2
        return _two_over_pi_asin((square - 1.0) / square)

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        return 1.0 / mean_square(rows, weight)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        """Of 2/π asin u, u = 2(c + γ xᵀz) / (l(x) l(z)) with l as in `_length`."""
        x, z = self._length(X), self._length(Z)
        u = 2.0 * (self.coef0 + self.gamma * products(X, Z, None)) / (x[:, None] * z)
        steep = 4.0 / np.pi * self.gamma / np.sqrt(1.0 - u**2)
        return steep / (x[:, None] * z), -steep * u / (x**2)[:, None]

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        a, b = 2.0 * self.gamma, 1.0 + 2.0 * self.coef0
        own = (a * (x * x).sum() + b).op("Sqrt")
        u = (a * (x @ Z.T) + 2.0 * self.coef0) / own / self._length(Z)
        return 2.0 / np.pi * u.arcsine()

    def _length(self, X: Rows) -> Array:
        """√(1 + 2(c + γ‖x‖²))."""
        P = squares(X)
        P *= 2.0 * self.gamma
        P += 1.0 + 2.0 * self.coef0
        return elementwise("sqrt", P)


def _two_over_pi_asin(P: Array) -> Array:
    P = elementwise("arcsin" if is_numpy(P) else "asin", P)
    P *= 2.0 / np.pi
    return P
