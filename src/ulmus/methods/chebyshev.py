"""(I + λΛ)⁻¹Y for several λ, where the eigenvalues of Λ are known to lie between zero and two.

With σ = 1/λ and M = Λ − I this is σ(M + (1 + σ)I)⁻¹Y, a series in Chebyshev polynomials of M:

    σ/(t + z) = 2σ/√(z² − 1) · (½ + Σ (−q)ᵏTₖ(t)),  z = 1 + σ,  q = z − √(z² − 1).

All λ share TₖY. How many terms are needed is known beforehand, and a term costs one product with Λ
and no products between rows, which is why few columns take half the time of conjugate gradients.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ulmus.backends.namespace import from_numpy, namespace
from ulmus.typing import Array

# Terms that are added to the result at once.
_TOGETHER = 16
# Factors below this are zero: products of smaller ones leave the normal numbers of float32.
_LEAST = 1e-30


def length(lam: float, tol: float) -> int:
    """How many terms the largest λ needs, so that the others are as small as ``tol``."""
    factor, q = _decay(lam)
    return max(1, int(np.ceil(np.log(tol * (1.0 - q) / factor) / np.log(q))))


def series(lams: np.ndarray, count: int) -> np.ndarray:
    """The factor of every TₖY for each λ."""
    factors = np.array([factor * (-q) ** np.arange(count) for factor, q in map(_decay, lams)])
    factors[:, 0] /= 2.0
    factors[abs(factors) < _LEAST] = 0.0
    return factors


def _decay(lam: float) -> tuple[float, float]:
    """2σ/√(z² − 1) and q."""
    sigma = 1.0 / lam
    root = np.sqrt(2.0 * sigma + sigma**2)
    return float(2.0 * sigma / root), float(1.0 / (1.0 + sigma + root))


def summed(product: Callable[[Array], Array], F: Array, factors: np.ndarray, rows: Any) -> Array:
    """Σ factors TₖF at some rows, for λ in ascending order: λ × columns × rows.

    Every column that is spread is a row of F.
    """
    xp = namespace(F)
    before, now = F, product(F) - F
    found = xp.zeros_like(xp.stack([F[:, rows]] * len(factors)))
    for start in range(0, factors.shape[1], _TOGETHER):
        part = factors[:, start : start + _TOGETHER]
        terms = []
        for _ in range(part.shape[1]):
            terms.append(before[:, rows])
            after = product(now)
            after -= now
            after *= 2.0
            after -= before
            before, now = now, after
        # Of smaller λ nothing may be left to add.
        left = int(np.argmax(part.any(axis=1)))
        some = from_numpy(np.ascontiguousarray(part[left:]), F, F.dtype)
        found[left:, ...] += xp.tensordot(some, xp.stack(terms), axes=1)
    return found
