"""Three ways to say whether a figure of a paper is reached.

"strict" has the paper's own printed deviation, else its last printed digit, and nothing of ours.
"welch" asks whether our runs are worse than the paper's at the 5 % level, one-sided. "lenient" has
our deviation where the paper prints none or has one split, and is what the marks in the tables say.
"""

import math
import statistics

from scipy.stats import t as student

from papers.protocol import Measure

RULES = ("strict", "welch", "lenient")
_LEVEL = 0.05


def gain(ours: float, paper: float, measure: Measure) -> float:
    """By how much ours is better, half of the paper's last digit granted."""
    ahead = ours - paper if measure.better == "higher" else paper - ours
    return ahead + 0.5 * 10.0**-measure.digits + 1e-9


def strict(ours: float, paper: float, deviation: float | None, measure: Measure) -> bool:
    """Whether ours is at most the paper's printed deviation behind.

    >>> strict(91.3, 92.0, 0.5, Measure("rate", "test rate"))
    False
    """
    return gain(ours, paper, measure) >= -(deviation or 0.0)


def welch(
    values: list[float], paper: float, deviation: float | None, trials: int, measure: Measure
) -> bool | None:
    """Whether a one-sided Welch test at 5 % finds our values no worse than the paper's.

    Where one side has no deviation it is taken to have the other's; None where neither has one.
    """
    ahead = gain(statistics.fmean(values), paper, measure)
    own = statistics.stdev(values) if len(values) > 1 else None
    sides = [(own, len(values)), (deviation, trials)]
    known = [spread for spread, _ in sides if spread is not None]
    if not known:
        return None
    parts = [(known[0] if spread is None else spread) ** 2 / count for spread, count in sides]
    if not sum(parts):
        return ahead >= 0.0
    if len(known) == 1:  # what is borrowed adds no degrees of freedom
        freedom = float(sides[0][1] if own is not None else sides[1][1]) - 1.0
    else:
        freedom = sum(parts) ** 2 / sum(
            part**2 / (count - 1) for part, (_, count) in zip(parts, sides, strict=True)
        )
    return bool(student.cdf(ahead / math.sqrt(sum(parts)), max(freedom, 1.0)) >= _LEVEL)


def lenient(ours: float, paper: float, tolerance: float, measure: Measure) -> str:
    """Whether a figure is the paper's within a tolerance and the paper's last digit, or which side.

    >>> lenient(91.3, 92.0, 0.5, Measure("rate", "test rate"))
    'worse'
    """
    ahead = ours - paper if measure.better == "higher" else paper - ours
    if abs(ahead) <= tolerance + 0.5 * 10.0**-measure.digits + 1e-9:
        return "match"
    return "better" if ahead > 0 else "worse"
