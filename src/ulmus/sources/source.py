"""What a method sees of its data: sums of all rows, some rows, and all of them while they last.

A method asks a source and never an estimator, so it is the same in memory, on a stream and on Dask
blocks. One that needs rows which are gone gets an error, and no other method in its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ulmus.backends.random import sample_rows
from ulmus.class_sums import ClassSums
from ulmus.exceptions import RowsGoneError
from ulmus.problem import Moments, Problem

__all__ = ["AtHand", "Sample", "Source", "Summed", "calibration_rows", "left_out_rows"]

# Leaving out every row costs two Gram matrices' worth of work. Past the first
# number of rows, a random sample of the second size tells the same curve.
_LOO_ALL = 20_000
_LOO_SAMPLE = 10_000
# One temperature is fitted to these; more would only cost time.
_CALIBRATION = 500


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


def calibration_rows(n_rows: int, seed: int) -> np.ndarray:
    """The rows whose left-out decision values are wanted."""
    if n_rows == 0:
        return np.empty(0, dtype=np.intp)
    return np.sort(sample_rows(seed, min(n_rows, _CALIBRATION), n_rows))


def left_out_rows(n_rows: int, seed: int) -> np.ndarray | None:
    """The rows to leave out one at a time, or None for all of them."""
    return None if n_rows <= _LOO_ALL else np.sort(sample_rows(seed + 1, _LOO_SAMPLE, n_rows))
