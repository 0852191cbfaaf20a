"""A ridge whose rows come one by one: β from the factor of earlier sums.

With b = √c(h − m), where m is the mean of the hidden rows before it, and t likewise, a row adds bbᵀ
to A = G + I/C and btᵀ to R. For the rows B that were added to A₀ the solution is β₀ + Z(I + BZ)⁻¹
(T − Bβ₀), where Z = A₀⁻¹Bᵀ: a row costs one solve by the factor of A₀, and no pass over h × h sums.
"""

from dataclasses import dataclass, replace

import numpy as np

from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles, is_numpy
from ulmus.methods.quadratic_penalty import sound_factor
from ulmus.problem import Moments, Problem
from ulmus.targets import coded

# Most units that a second h × h matrix, the factor, is kept for: 128 MB.
_WIDEST = 4000


@dataclass(frozen=True)
class Growing:
    """The factor of A₀, β₀, the rows B since then with T and Z, and the means of all rows.

    ``share`` is one over the weight of all rows where there is an intercept, else zero.
    """

    factor: Cholesky
    start: np.ndarray
    center: np.ndarray
    level: np.ndarray
    share: float
    B: np.ndarray
    T: np.ndarray
    Z: np.ndarray

    @classmethod
    def of(cls, moments: Moments, problem: Problem, C: float) -> "Growing | None":
        """No rows yet; None where there is no factor, or no room for one."""
        h = moments.gram.shape[0]
        if h > _WIDEST or not is_numpy(moments.gram):
            return None
        frame = problem.frame(moments)
        factor = sound_factor(frame.gram, C, rounding=moments.rounding)
        if factor is None:
            return None
        start = factor.solve(frame.cross)
        none = np.empty((0, h)), np.empty((0, start.shape[1])), np.empty((h, 0))
        return cls(factor, start, frame.center, frame.level, frame.share, *none)

    def __len__(self) -> int:
        return len(self.B)

    def added(self, problem: Problem) -> "Growing":
        """With more rows."""
        H = doubles(problem.H.all())
        T = np.array(coded(problem.targets, slice(0, len(H)), H.dtype))  # may be the rows' own
        weight = np.ones(len(H)) if problem.weight is None else problem.weight
        center, level, share = self.center, self.level, self.share
        for i, c in enumerate(weight.tolist()):
            h, t, grown = H[i] - center, T[i] - level, 1.0 + c * share
            center, level = center + c * share / grown * h, level + c * share / grown * t
            H[i], T[i], share = np.sqrt(c / grown) * h, np.sqrt(c / grown) * t, share / grown
        B, T = np.concatenate([self.B, H]), np.concatenate([self.T, T])
        Z = np.concatenate([self.Z, self.factor.solve(H.T)], axis=1)
        return replace(self, center=center, level=level, share=share, B=B, T=T, Z=Z)

    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        """β and b."""
        inner = Cholesky(add_to_diagonal(matmul(self.B, self.Z), 1.0), overwrite=True)
        rest = inner.solve(self.T - matmul(self.B, self.start))
        coef = self.start + matmul(self.Z, rest)
        return coef, self.level - self.center @ coef
