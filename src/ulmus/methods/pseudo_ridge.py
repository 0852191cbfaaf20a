"""Ridge on classes or values that were not given but found, for rows whose targets then change.

HᵀH and its factor serve all targets. What has changed about them is added to HᵀT.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ulmus.backends.linalg import Cholesky, matmul
from ulmus.backends.namespace import doubles, namespace, placed, zeros
from ulmus.fitted import OnDevice
from ulmus.hidden import Hidden
from ulmus.methods.quadratic_penalty import sound_factor
from ulmus.methods.ridge import Ridge
from ulmus.problem import Moments, Problem, Solution
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import AtHand, Source
from ulmus.targets import ClassTargets, Targets, ValueTargets, coded
from ulmus.typing import Array

__all__ = ["PseudoRidge", "RidgeFactor"]


class RidgeFactor:
    """A factor that is kept, because rows and C stay the same for other labels."""

    def __init__(self) -> None:
        self._found: Cholesky | None = None

    def of(self, C: float, matrix: Callable[[], Array]) -> Cholesky | None:
        """That of the matrix plus I/C; None where rounding in it is as large as 1/C."""
        if self._found is None:
            self._found = sound_factor(matrix(), C)
        return self._found


@dataclass(frozen=True)
class PseudoRidge:
    """All rows' targets, C, and sums over the rows where these are more than units."""

    targets: ClassTargets | ValueTargets
    C: float
    sums: OnDevice[Moments | None]

    @classmethod
    def fit(
        cls, H: Hidden | HiddenBlocks, targets: ClassTargets | ValueTargets, C: float | np.ndarray
    ) -> tuple["PseudoRidge", Solution]:
        """Ridge on all rows, and what other targets start from."""
        source: Source
        if isinstance(H, HiddenBlocks):
            source = H.with_targets(targets, chooses=np.ndim(C) > 0)
        else:
            source = AtHand(Problem(H, targets.placed(H.X)))
        found = Ridge(C).fit(source)
        return cls(targets, found.C, found.moments), found

    def refit(
        self, H: Hidden | HiddenBlocks, targets: ClassTargets | ValueTargets, factor: RidgeFactor
    ) -> tuple["PseudoRidge", Solution]:
        """The same rows with other targets, at the same C."""
        if isinstance(H, HiddenBlocks):
            # Rows whose targets are others may be many, and stay where they are.
            return PseudoRidge.fit(H, targets, self.C)
        sums = self.sums
        if sums is None:
            rows = doubles(H.all())
            root = factor.of(self.C, lambda: matmul(rows, rows.T))
            coef = None if root is None else matmul(rows.T, root.solve(_all(targets, H)))
        else:
            sums = _retargeted(sums, H, self.targets, targets)
            root = factor.of(self.C, lambda: sums.gram)
            coef = None if root is None else root.solve(targets.encoded(sums.cross))
        if coef is None:
            return PseudoRidge.fit(H, targets, self.C)
        none = np.empty(0, dtype=np.intp)
        level = zeros(coef.shape[1], coef)
        found = Solution(coef, level, self.C, "pool", none, coef[:0, :], moments=sums)
        return PseudoRidge(targets, self.C, sums), found


def _all(targets: Targets, H: Hidden) -> Array:
    return placed(coded(targets, slice(0, len(H)), np.dtype(float)), H.X)


def _retargeted(sums: Moments, H: Hidden, old: Targets, new: Targets) -> Moments:
    """The sums once some rows' targets are others: HᵀH stays as it is."""
    rows, every = np.arange(len(H)), np.dtype(float)
    if new.width == old.width:
        rows = np.flatnonzero((new.array != old.array).reshape(len(H), -1).any(axis=1))
        if not len(rows):
            return sums
        gone, come = (placed(each.block(rows, every), H.X) for each in (old, new))
    else:
        # Classes came or went, and columns no longer stand for the same ones.
        come = placed(new.block(rows, every), H.X)
        gone, zero = 0.0 * come, zeros(new.width, H.X)
        sums = replace(sums, cross=zeros((H.width, new.width), H.X), energy=zero, target=zero)
    part, cross = H.take(rows), 0.0 * sums.cross
    for some, block in part.blocks():
        cross += matmul(doubles(block).T + H.offset, (come - gone)[some, :])
    sum_ = namespace(cross).sum
    return replace(
        sums,
        cross=sums.cross + cross,
        energy=sums.energy + sum_(come**2 - gone**2, axis=0),
        target=sums.target + sum_(come - gone, axis=0),
    )
