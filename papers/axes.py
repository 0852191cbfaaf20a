"""Axes of a chart: where a value lies, and which values are marked."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from papers.wording import exact, number, power

MARKS = 6  # at most about as many as there is room for on a narrow chart


@dataclass(frozen=True)
class Scale:
    """A map from values to places on the page, linear or logarithmic.

    Parameters
    ----------
    low, high : float
        The values at the two ends.
    start, end : float
        Where the two ends lie.
    log : bool
        Whether equal factors, and not equal differences, take equal room.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def marks(self) -> list[tuple[float, str]]:
        """The values that are marked, and how they are written."""
        return _powers(self.low, self.high) if self.log else steps(self.low, self.high)


def span(values: Iterable[float], log: bool = False) -> tuple[float, float]:
    """The smallest and the largest value, apart even where all are equal."""
    values = list(values)
    low, high = min(values), max(values)
    # Values that differ by rounding alone are equal to the eye, and have no readable marks.
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    if log:
        return low / 2, high * 2
    room = abs(high) / 20 or 1.0
    return low - room, high + room


def to_steps(low: float, high: float) -> tuple[float, float]:
    """The span widened to whole steps."""
    step = _step(low, high)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def _step(low: float, high: float) -> float:
    rough = (high - low) / (MARKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough * (1 - 1e-9))


def steps(low: float, high: float) -> list[tuple[float, str]]:
    """Round values between two.

    >>> [text for _, text in steps(0, 1)]
    ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    step = _step(low, high)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    plain = step >= 1e-4 and max(abs(low), abs(high)) < 1e5
    return [(p * step, number(p * step, digits) if plain else exact(p * step)) for p in places]


def _powers(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten between two values; where they are few, twice and five times them too."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for times in ((1,), (1, 2, 5)):
        found = [t * 10.0**p for p in range(first, last + 1) for t in times]
        found = [value for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(found) >= 3:
            break
    if len(found) < 2:
        found = [low, high]
    every = math.ceil(len(found) / (MARKS + 2))  # powers of ten are short
    written = exact if low >= 1e-3 and high < 1e5 else power
    return [(value, written(value)) for value in found[::every]]
