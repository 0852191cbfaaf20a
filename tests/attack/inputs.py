"""Bad and hostile inputs to every public estimator, map and graph."""

from attack.outcomes import Outcome, Result

COUNT = 3000
LIMIT = 120.0


def attack(seed: int, number: int) -> Result:
    """Case ``number``: right, or refused with a sentence."""
    return Result("nothing yet", Outcome.RIGHT)
