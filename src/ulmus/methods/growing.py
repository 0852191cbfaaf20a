"""A ridge to which few rows are added: β from the factor of earlier sums.

With the rows B that were added to A₀ = G + I/C, and Z = A₀⁻¹Bᵀ, the solution is
β₀ − Z(I + BZ)⁻¹Bβ₀, where β₀ = A₀⁻¹R. A row costs a solve by the factor of A₀, and no factorisation
of an h × h matrix.
"""

from dataclasses import dataclass, replace

import numpy as np

from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles, is_numpy
from ulmus.methods.quadratic_penalty import sound_factor
from ulmus.problem import Moments, Problem, Solution

# Most units that a second h × h matrix, the factor, is kept for (128 MB), and most rows of B.
_WIDEST, _MOST = 4000, 256


@dataclass(frozen=True)
class Growing:
    """The factor of A₀, the rows B since then, Z, and the sums of all rows."""

    factor: Cholesky
    C: float
    sums: Moments
    B: np.ndarray
    Z: np.ndarray

    @classmethod
    def of(cls, sums: Moments, problem: Problem, C: float) -> "Growing | None":
        """No rows yet; None where there is no factor, or no room for one."""
        h = len(sums.hidden)
        if h > _WIDEST or not is_numpy(sums.gram):
            return None
        factor = sound_factor(problem.frame(sums).gram, C, rounding=sums.rounding)
        return None if factor is None else cls(factor, C, sums, np.empty((0, h)), np.empty((h, 0)))

    def added(self, sums: Moments, problem: Problem) -> "Growing":
        """With the rows of a problem, which are in the sums."""
        center = sums.hidden / sums.weight * float(problem.intercept)
        rows = doubles(problem.H.all()) - center
        if problem.weight is not None:
            rows *= np.sqrt(problem.weight)[:, None]
        if problem.intercept:
            # The rows before are now taken about another mean.
            moved = self.sums.hidden / self.sums.weight - center
            rows = np.concatenate([rows, np.sqrt(self.sums.weight) * moved[None]])
        B, Z = np.concatenate([self.B, rows]), [self.Z, self.factor.solve(rows.T)]
        return replace(self, sums=sums, B=B, Z=np.concatenate(Z, axis=1))

    def solution(self, problem: Problem) -> Solution:
        """β and b, with no row left out."""
        sums, encoded = self.sums, problem.targets.encoded
        center = sums.hidden / sums.weight * float(problem.intercept)
        level = encoded(sums.target) / sums.weight * float(problem.intercept)
        coef = self.factor.solve(encoded(sums.cross) - center[:, None] * encoded(sums.target))
        inner = Cholesky(add_to_diagonal(matmul(self.B, self.Z), 1.0), overwrite=True)
        coef -= matmul(self.Z, inner.solve(matmul(self.B, coef)))
        none = np.empty(0, np.intp)
        return Solution(coef, level - center @ coef, self.C, "primal", none, coef[:0])


def grown(
    before: Growing | None,
    sums: Moments,
    problem: Problem,
    C: float,
    last: Moments | None,
    new: Problem | None,
) -> Growing | None:
    """What solves for ``sums``, which are the ``last`` ones and those of ``new`` rows."""
    if before is not None and new is not None and last is not None:
        few = len(before.B) + len(new.H) <= _MOST
        if few and before.C == C and before.sums.gram is last.gram:
            return before.added(sums, new)
    return Growing.of(sums, problem, C)
