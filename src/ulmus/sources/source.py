"""What a method sees of its data: sums of all rows, some rows, and all of them while they last.

A method asks a source and never an estimator, so it is the same in memory, on a stream and on Dask
blocks. One that needs rows which are gone gets an error, and no other method in its place.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

import numpy as np

from ulmus.backends.namespace import placed, to_numpy
from ulmus.exceptions import RowsGoneError
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, fits, sample_rows
from ulmus.problem import Moments, Problem
from ulmus.reservoir import Reservoir
from ulmus.targets import Targets

# Leaving out every row costs two Gram matrices' worth of work. Past the first
# number of rows, a random sample of the second size tells the same curve.
_LOO_ALL = 20_000
_LOO_SAMPLE = 10_000
# One temperature is fitted to these; more would only cost time.
_CALIBRATION = 500
# The part of scikit-learn's working_memory that the sums of the classes may take.
_SHARE = 0.5


@dataclass(frozen=True)
class ClassMoments:
    """The moments of every class that has rows, which add; for weights that balance classes."""

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
        """Whether they are within scikit-learn's ``working_memory``, several of them at a time."""
        return fits(n_classes * width, width, int(8 / _SHARE))


class ClassSums:
    """The rows and the moments of every class of a problem, which are kept where they fit.

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
        """All sums once the class weighs b times as much."""
        return moments if b == 1.0 else moments + (b - 1.0) * self.moments(code)


@dataclass(frozen=True)
class Sample:
    """Rows to judge a fit by: those that are left out (None: all), and those that calibrate.

    The problem's weights make its rows stand for all. ``classes`` are sums over all rows of every
    class, where the weights follow the classes' sizes.
    """

    problem: Problem
    left: np.ndarray | None
    calibration: np.ndarray
    classes: ClassSums | None = None

    def with_class_sums(self) -> "Sample":
        """The same with sums of every class, where a row that leaves changes their weights."""
        if self.classes is not None or not self.problem.reweighs:
            return self
        return replace(self, classes=ClassSums(self.problem))


class Source(Protocol):
    """Where rows come from."""

    @property
    def at_hand(self) -> bool:
        """Whether `rows` gives them all."""

    def moments(self) -> Moments:
        """The sums over all rows."""

    def sample(self) -> Sample:
        """Some of the rows, or all."""

    def rows(self) -> Problem:
        """All rows; raises `RowsGoneError` where they are gone."""


@dataclass(frozen=True)
class AtHand:
    """Rows that are all at hand, on the host or on a device."""

    problem: Problem
    seed: int = 0

    @property
    def at_hand(self) -> bool:
        """Yes."""
        return True

    def moments(self) -> Moments:
        """One pass over the rows."""
        return self.problem.moments()

    def sample(self) -> Sample:
        """All rows; of very many, some are left out."""
        n = len(self.problem.H)
        calibration = calibration_rows(n, self.seed)
        return Sample(self.problem, left_out_rows(n, self.seed), calibration)

    def rows(self) -> Problem:
        """The rows."""
        return self.problem


@dataclass(frozen=True)
class Summed:
    """Sums of rows that have gone by, and a sample of them; ``whole`` gives all that are kept."""

    sums: Moments
    some: Sample
    whole: Callable[[], Problem] | None = None

    @property
    def at_hand(self) -> bool:
        """Whether all rows are kept beside the sums."""
        return self.whole is not None

    def moments(self) -> Moments:
        """The sums."""
        return self.sums

    def sample(self) -> Sample:
        """The sample."""
        return self.some

    def rows(self) -> Problem:
        """All rows, while they are kept."""
        if self.whole is None:
            raise RowsGoneError(
                "This method needs all rows at once, and of these only sums and a sample are kept. "
                "Fit rows that are all in memory, or use a method that works from sums."
            )
        return self.whole()


@dataclass(frozen=True)
class OnGraph:
    """The labelled rows, all rows where they are at hand, and their graph.

    ``some`` are the hidden rows that are ``known`` by a label; ``weight`` is what each of them
    weighs at C = 1. ``every`` is None where the rows lie in blocks, and ``basis`` then is known, as
    it is of rows that were fitted before. ``held`` are hidden rows to validate by and their
    targets, and ``watch`` is called with the progress of a pass.
    """

    some: Hidden
    known: np.ndarray
    targets: Targets
    weight: np.ndarray
    laplacian: Laplacian
    every: Hidden | None = None
    basis: Any = None
    held: tuple[Hidden, Targets] | None = None
    watch: Callable[[float, float | None], None] | None = None

    def labelled(self) -> Problem:
        """The rows that have a label, as a supervised problem."""
        X = self.some.X
        return Problem(self.some, self.targets.placed(X), placed(self.weight, X))

    def rows(self) -> Hidden:
        """All hidden rows."""
        if self.every is None:
            raise RowsGoneError(
                "This needs all rows at once, and they lie in the blocks of a Dask collection; use "
                "coupling='tight' and solver='spectral', or rows in memory."
            )
        return self.every


@dataclass(frozen=True)
class Gathered:
    """Rows that are ready to be fitted.

    ``known`` is what their targets have in common, ``source`` gives them under a map, and
    ``features`` is the one that was fitted to them. ``kept`` are to be kept, and ``fresh`` is added
    to these after the fit. ``rows`` is how many there are, where the source's sample is some of
    them, and ``summed`` says that sums are to be kept beside those rows.
    """

    known: Any
    features: Any
    source: Callable[[Any, Any], Source]
    kept: Reservoir
    fresh: tuple[Any, ...] = ()
    rows: float | None = None
    summed: bool = True

    def remembered(self) -> Reservoir:
        """The rows that are kept after the fit."""
        return (self.kept.add(*self.fresh) if self.fresh else self.kept).refitted()


def refuse_sums(method: Any) -> None:
    """Refuse a method that needs all rows, before they are let go and summed."""
    if method.needs_rows:
        raise RowsGoneError(
            f"{type(method).__name__} needs all rows at once, and these are so many that only sums "
            "and a sample of them are kept. Fit them from memory, or fit fewer rows."
        )


def calibration_rows(n_rows: int, seed: int) -> np.ndarray:
    """The rows whose left-out decision values are wanted."""
    if n_rows == 0:
        return np.empty(0, dtype=np.intp)
    return np.sort(sample_rows(seed, min(n_rows, _CALIBRATION), n_rows))


def left_out_rows(n_rows: int, seed: int) -> np.ndarray | None:
    """The rows to leave out one at a time, or None for all of them."""
    return None if n_rows <= _LOO_ALL else np.sort(sample_rows(seed + 1, _LOO_SAMPLE, n_rows))
