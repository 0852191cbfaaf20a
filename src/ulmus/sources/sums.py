"""Sums of few rows, sums of every class, and rows removed from sums.

Sums of every class are for balanced class weights, which change when a row is left out. Rows that
cannot have been among the summed ones are not removed.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ulmus.backends.linalg import Cholesky, NotPositiveDefinite, add_to_diagonal
from ulmus.backends.namespace import doubles, eps, from_numpy, is_numpy, namespace, to_numpy
from ulmus.exceptions import InvalidInputError
from ulmus.hidden import fits
from ulmus.problem import Moments, Problem, rounding_of_sums
from ulmus.typing import Array

# The part of scikit-learn's working_memory that the sums of the classes may take.
_SHARE = 0.5
# Most rows whose products are made in one piece.
_AT_ONCE = 16
# Rounding of sums, in units of its estimate.
_MARGIN = 16.0


def batch_moments(problem: Problem) -> Moments:
    """The sums of a batch; of few rows in one piece, for passes over h × h numbers are the cost."""
    n, b = len(problem.H), problem.targets.width
    if n > _AT_ONCE or not is_numpy(problem.H.X):
        return problem.moments()
    B = np.concatenate([doubles(block) for _, block in problem.H.blocks()])
    Y, root = np.ones((n, b + 1)), np.ones((n, 1))
    Y[:, :b] = problem.targets.block(slice(0, n), Y.dtype)
    if problem.weight is not None:
        root = np.sqrt(problem.weight)[:, None]
        B, Y = B * root, Y * root
    rounding = rounding_of_sums((B**2).sum(axis=0), problem.H.dtype)
    B += problem.H.offset * root
    gram, cross, energy, sums = B.T @ B, B.T @ Y, (Y**2).sum(axis=0), Y.T @ Y[:, b]
    made = gram, cross[:, :b], energy[:b], cross[:, b], sums[:b]
    return Moments(*made, float(energy[b]), float(n), rounding)


@dataclass(frozen=True)
class ClassMoments:
    """The moments of every class that has rows; they can be added."""

    parts: dict[int, Moments]

    @classmethod
    def of(cls, problem: Problem) -> "ClassMoments":
        codes = to_numpy(problem.targets.array)
        classes = np.unique(codes).tolist()
        return cls({c: problem.take(np.flatnonzero(codes == c)).moments() for c in classes})

    def __add__(self, other: "ClassMoments") -> "ClassMoments":
        both = self.parts.keys() & other.parts
        sums = {code: self.parts[code] + other.parts[code] for code in both}
        return ClassMoments(self.parts | other.parts | sums)

    def first(self, width: int) -> "ClassMoments":
        return ClassMoments({code: part.first(width) for code, part in self.parts.items()})

    def total(self) -> Moments:
        """The moments of all rows."""
        return reduce(Moments.__add__, self.parts.values())

    @staticmethod
    def fit(n_classes: int, width: int) -> bool:
        """Whether they fit in a part of scikit-learn's ``working_memory``."""
        return fits(n_classes * width, width, int(8 / _SHARE))


class ClassSums:
    """The rows and the moments of every class of a problem; moments are cached where they fit.

    ``known`` are moments of more rows than the problem has.
    """

    def __init__(self, problem: Problem, known: ClassMoments | None = None) -> None:
        self._problem, self._known = problem, known
        self._codes = to_numpy(problem.targets.array)
        self._found: dict[int, Moments] = {} if known is None else known.parts

    def rows(self, code: int) -> np.ndarray | None:
        """The numbers of a class's rows, if the problem has them all."""
        return np.flatnonzero(self._codes == code) if self._known is None else None

    def moments(self, code: int) -> Moments:
        if code in self._found:
            return self._found[code]
        found = self._problem.take(np.flatnonzero(self._codes == code)).moments()
        if ClassMoments.fit(len(self._found) + 1, self._problem.H.width):
            self._found[code] = found
        return found

    def heavier(self, moments: Moments, code: int, b: float) -> Moments:
        """All sums with the class's weight multiplied by b."""
        return moments if b == 1.0 else moments + (b - 1.0) * self.moments(code)


def remaining(moments: Moments, batch: Moments) -> Moments:
    """The sums minus those of the batch, if the batch can have been among the summed rows."""
    left = moments - batch
    if left.weight <= _rounding(left, moments) * moments.weight:
        raise InvalidInputError(
            f"Forgetting rows of weight {batch.weight:g} out of {moments.weight:g} leaves none to "
            "fit. Forget fewer rows, or fit a new model."
        )
    if not possible(left, moments):
        raise InvalidInputError(
            "These rows were not all fitted, or with other targets or weights: no rows have the "
            "sums that would be left. Forget rows as they were fitted, with the weight that "
            "decay= has left them."
        )
    return left


def possible(left: Moments, before: Moments) -> bool:
    """Whether some rows have these sums, up to the rounding of the sums ``before``.

    Rows with positive weights have a positive semi-definite [H 1 y]ᵀC[H 1 y] for every column y of
    Y, and every such matrix is that of some rows. So [H 1] is checked by a Cholesky factorisation,
    and then that no column's energy is below its explained part.
    """
    xp, slack = namespace(before.gram), _rounding(left, before)
    size, outer = _size(xp.linalg.diagonal(_with_ones(before))), _size(before.energy)
    scaled = _with_ones(left) / size / size[:, None]
    try:
        factor = Cholesky(add_to_diagonal(scaled, slack), overwrite=True)
    except NotPositiveDefinite:
        return False
    cross = xp.concat([left.cross, left.target[None, :]]) / size[:, None] / outer
    explained = xp.sum(factor.whiten(cross) ** 2, axis=0)
    return bool(xp.all(left.energy / outer**2 + slack > explained))


def _with_ones(m: Moments) -> Array:
    """[H 1]ᵀC[H 1]."""
    xp, s = namespace(m.gram), m.hidden[:, None]
    weight = from_numpy(np.array([[m.weight]]), m.gram)
    return xp.concat([xp.concat([m.gram, s], axis=1), xp.concat([s.T, weight], axis=1)])


def _size(squares: Array) -> Array:
    """The square roots, one where there is zero."""
    xp = namespace(squares)
    return xp.where(squares > 0, xp.sqrt(xp.clip(squares, min=0.0)), 0.0 * squares + 1.0)


def _rounding(left: Moments, before: Moments) -> float:
    """The rounding of eigenvalues, of a matrix with ones on its diagonal."""
    xp = namespace(before.gram)
    largest = float(xp.max(xp.linalg.diagonal(before.gram)))
    sums = left.rounding / largest if largest > 0 else 0.0
    return _MARGIN * (sums + before.gram.shape[0] * eps(before.gram.dtype))
