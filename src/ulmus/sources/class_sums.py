"""The sums of every class, for balanced class weights that change when a row is left out."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ulmus.backends.namespace import to_numpy
from ulmus.hidden import fits
from ulmus.problem import Moments, Problem

# The part of scikit-learn's working_memory that the sums of the classes may take.
_SHARE = 0.5


@dataclass(frozen=True)
class ClassMoments:
    """The moments of every class that has rows; they can be added."""

    parts: dict[int, Moments]

    @classmethod
    def of(cls, problem: Problem) -> "ClassMoments":
        """One pass over the rows."""
        codes = to_numpy(problem.targets.array)
        classes = np.unique(codes).tolist()
        return cls({c: problem.take(np.flatnonzero(codes == c)).moments() for c in classes})

    def __add__(self, other: "ClassMoments") -> "ClassMoments":
        both = {
            code: self.parts[code] + other.parts[code] for code in self.parts.keys() & other.parts
        }
        return ClassMoments(self.parts | other.parts | both)

    def first(self, width: int) -> "ClassMoments":
        """The sums of the first ``width`` units alone."""
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
        """The numbers of its rows, if the problem has them all."""
        return np.flatnonzero(self._codes == code) if self._known is None else None

    def moments(self, code: int) -> Moments:
        """The sums over its rows."""
        if code in self._found:
            return self._found[code]
        found = self._problem.take(np.flatnonzero(self._codes == code)).moments()
        if ClassMoments.fit(len(self._found) + 1, self._problem.H.width):
            self._found[code] = found
        return found

    def heavier(self, moments: Moments, code: int, b: float) -> Moments:
        """All sums with the class's weight multiplied by b."""
        return moments if b == 1.0 else moments + (b - 1.0) * self.moments(code)
