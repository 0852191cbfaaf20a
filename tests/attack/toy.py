"""A part that shows what the guard is for: case 2 dies, case 4 never ends."""

import os
from threading import Event

from attack.outcomes import Outcome, Result

COUNT, LIMIT = 6, 1.0


def attack(seed: int, number: int) -> Result:
    """The sum of seed and number, if any."""
    if number == 2:
        os.abort()
    if number == 4:
        Event().wait()
    print("what a case prints is no result")
    return Result("toy", Outcome.RIGHT, str(seed + number))
