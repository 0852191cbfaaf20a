"""How good the model is, by labelled rows that were left out of it."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from ulmus.app.learner import Answer

# Rows that disagree with their label, and candidates, that are listed.
_MOST_LISTED = 20
_MOST_CANDIDATES = 8


@dataclass(frozen=True)
class Quality:
    """Left-out labels that are right, rows that disagree with their label, candidates.

    ``disagree`` has the row, the number of its class, that of the likelier class and the
    probability of this one, the largest first.
    """

    right: int
    judged: int
    disagree: tuple[tuple[int, int, int, float], ...]
    candidates: tuple[tuple[str, float, float | None], ...]

    @property
    def accuracy(self) -> float | None:
        """The part of left-out labels that is right."""
        return self.right / self.judged if self.judged else None

    @property
    def range(self) -> tuple[float, float] | None:
        """In which the accuracy on rows such as the labelled ones is, 19 times of 20."""
        return wilson(self.right, self.judged) if self.judged else None


def quality(answer: Answer) -> Quality:
    """How well the model predicts the labels, each left out, that it was fitted to."""
    model, codes = answer.model, answer.labels.codes
    left_out = getattr(model, "left_out_", {"rows": np.empty(0, dtype=int), "outputs": None})
    rows = left_out["rows"]
    P = answer.probabilities
    if len(rows):
        P = P.copy()
        P[rows] = left_out["outputs"]
    found = model.classes_[P.argmax(axis=1)]
    right = int(np.count_nonzero(found[rows] == codes[rows]))
    wrong = np.flatnonzero(answer.labels.known & (found != codes))
    wrong = wrong[np.argsort(-P[wrong].max(axis=1), kind="stable")][:_MOST_LISTED]
    disagree = [(int(i), int(codes[i]), int(found[i]), float(P[i].max())) for i in wrong]
    return Quality(right, len(rows), tuple(disagree), _candidates(model.candidates_))


def _candidates(table: dict[str, np.ndarray]) -> tuple[tuple[str, float, float | None], ...]:
    """Words, weight and left-out accuracy of the heaviest."""
    found: list[tuple[str, float, float | None]] = []
    for k in range(min(_MOST_CANDIDATES, len(table["kind"]))):
        if table["weight"][k] < 0.005 and found:
            break
        words = [str(table["kind"][k])]
        words += [f"{name} = {table[name][k]:.3g}" for name in ("lam", "C") if table[name][k]]
        right = 1.0 - float(table["error"][k]) if "error" in table else None
        found.append((", ".join(words), float(table["weight"][k]), right))
    return tuple(found)


def wilson(right: int, judged: int) -> tuple[float, float]:
    """Wilson's interval for a share, which holds the true one 19 times of 20.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    found = binomtest(right, judged).proportion_ci(method="wilson")
    return float(found.low), float(found.high)
