"""Columns of numbers scaled for random features, with far values squashed and ranks added.

A column is centred and scaled. Where it reaches far beyond its bulk, as incomes do, it is squashed
into ±3 by z / √(1 + z²/9); otherwise a few far values would take up the whole range. In a table of
few numbers, each also gets its rank among the training values, from −1 to 1: a hidden unit can then
bend where the data are.
"""

import numpy as np

from ulmus.tables.wording import counted

__all__ = [
    "FARTHEST",
    "LARGEST",
    "Frame",
    "frame_of",
    "framed",
    "ranks_of",
    "unusable",
    "usable",
    "varied",
]

# A column with a value more standard deviations than these from its mean is squashed.
_FAR = 4.0
_LIMIT = 3.0
_KNOTS = 256
# Ranks of fewer different values say little more than the values.
_FEWEST_VALUES = 10

# Larger numbers count as blank: they are no measurements, and their squares may overflow.
LARGEST = 1e100
# Scaled values are clipped to this distance from the centre.
FARTHEST = 1e6

# Centre, scale, and whether far values are squashed.
Frame = tuple[float, float, bool]


def usable(x: np.ndarray) -> np.ndarray:
    """Which numbers are neither NaN nor infinite nor nearly so; the others count as blank."""
    with np.errstate(invalid="ignore"):
        # No finite number of float32 is so large.
        found: np.ndarray = np.isfinite(x) if x.dtype == np.float32 else np.abs(x) < LARGEST
    return found


def unusable(x: np.ndarray) -> str:
    """How many of the others there are, and of which kind, in words.

    Examples
    --------
    >>> unusable(np.array([1.0, np.nan, np.inf, 1e200, -1e300]))
    '1 blank, 1 infinite value and 2 values beyond 1e+100'
    """
    blank, infinite = np.isnan(x), np.isinf(x)
    large = ~(usable(x) | blank | infinite)
    found = [
        counted(int(blank.sum()), "blank"),
        counted(int(infinite.sum()), "infinite value"),
        f"{counted(int(large.sum()), 'value')} beyond {LARGEST:g}",
    ]
    *first, last = [words for words in found if not words.startswith("0 ")] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def frame_of(x: np.ndarray) -> Frame:
    """Centre, scale, and whether far values are squashed."""
    middle, mean, deviation = float(np.median(x)), float(np.mean(x)), float(np.std(x))
    if not deviation > 0 or np.abs(x - mean).max() <= _FAR * deviation:
        return middle, deviation or 1.0, False
    low, high = np.quantile(x, [0.25, 0.75])
    # Where most values are the same, the scale is that of the others.
    spread = high - low or np.median(np.abs(x[x != middle] - middle))
    return middle, float(spread), True


def framed(x: np.ndarray, frame: Frame) -> np.ndarray:
    """The numbers centred, scaled and, where the frame says so, squashed."""
    center, scale, squash = frame
    with np.errstate(over="ignore"):
        z = np.clip((x - center) / scale, -FARTHEST, FARTHEST)
    return z / np.hypot(1.0, z / _LIMIT) if squash else z


def varied(x: np.ndarray) -> bool:
    """Whether there are so many different values that their ranks say more than they do."""
    # The first rows nearly always settle it.
    return any(len(np.unique(part)) > _FEWEST_VALUES for part in (x[:1000], x))


def ranks_of(x: np.ndarray) -> np.ndarray:
    """Values and their ranks from −1 to 1, in two rows of at most 257; none of few values."""
    if not varied(x):
        return np.zeros((2, 0))
    share = np.linspace(-1, 1, _KNOTS + 1)
    values, place = np.unique(np.quantile(x, (share + 1) / 2), return_inverse=True)
    # Equal values share the mean of their ranks.
    return np.stack([values, np.bincount(place, share) / np.bincount(place)])
