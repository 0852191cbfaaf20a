"""What became of one case of an attack, and how the cases are counted."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["BAD", "Outcome", "Result", "Tally"]


class Outcome(StrEnum):
    """The good ends are the first two; every other is a defect."""

    RIGHT = "right"  # the answer that clean data give
    REFUSED = "refused"  # an error, raised on purpose, that says what is wrong
    WRONG = "wrong"  # another answer, or none that is finite
    RAW = "raw"  # an error from inside NumPy, SciPy or our own code
    CORRUPTED = "corrupted"  # a model or a file that a failed call has changed
    CRASH = "crash"  # the process died
    HANG = "hang"  # the time for one case was over


BAD = tuple(outcome for outcome in Outcome if outcome not in (Outcome.RIGHT, Outcome.REFUSED))


@dataclass(frozen=True)
class Result:
    """One case: what kind of input it was, what became of it, and what tells it from others."""

    kind: str
    outcome: Outcome
    detail: str = ""


@dataclass
class Tally:
    """How many cases of each kind had each outcome, and the bad ones in full."""

    counts: dict[str, Counter] = field(default_factory=dict)
    bad: list[tuple[int, Result]] = field(default_factory=list)

    def add(self, number: int, result: Result) -> None:
        """Count one case."""
        self.counts.setdefault(result.kind, Counter())[result.outcome] += 1
        if result.outcome in BAD:
            self.bad.append((number, result))

    @property
    def total(self) -> Counter:
        """The counts over all kinds."""
        return sum(self.counts.values(), Counter())

    def table(self) -> str:
        """A line for each kind and one for all."""
        rows = [*sorted(self.counts.items()), ("all", self.total)]
        width = max(len(kind) for kind, _ in rows)
        head = " " * width + "".join(f"{outcome:>11}" for outcome in Outcome) + f"{'cases':>11}"
        lines = [
            f"{kind:<{width}}"
            + "".join(f"{count[outcome]:>11}" for outcome in Outcome)
            + f"{count.total():>11}"
            for kind, count in rows
        ]
        return "\n".join([head, *lines])
