"""A model of the labels so far, its prediction for every row, and how good that is."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binomtest

from ulmus.app.actions import NO_CLASS, Labels
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.typing import Rows

# Rows that disagree with their label, and candidates, that are listed.
_MOST_LISTED, _MOST_CANDIDATES = 20, 8


@dataclass(frozen=True)
class Answer:
    """A class and its probability for every row, by the labels of one state.

    ``probabilities`` has a column for each of ``model.classes_``, which are numbers of classes.
    """

    labels: Labels
    model: SemiSupervisedELMClassifier
    probabilities: np.ndarray
    codes: np.ndarray
    certainty: np.ndarray


def prepared(X: Rows, seed: int, verbose: int = 0) -> SemiSupervisedELMClassifier:
    """A model that knows the rows, their map and their graph, and waits for labels.

    A fit needs two classes, so the first and the last row stand for two. `relabel` gives the same
    classes from here as from a fit to the labels themselves.
    """
    y = np.full(X.shape[0], NO_CLASS)
    y[0], y[-1] = 0, 1
    model = SemiSupervisedELMClassifier(random_state=seed, verbose=verbose)
    return model.fit(X, y).relabel(y)  # the first call makes what later ones use again


def can_learn(labels: Labels) -> bool:
    """Whether two classes have a label."""
    return len(np.unique(labels.codes[labels.known])) > 1


def answer(model: SemiSupervisedELMClassifier, labels: Labels) -> Answer:
    """The model's class for every row; a row with a label has that class."""
    model = model.relabel(labels.codes)
    P = np.asarray(model.label_distributions_)
    codes = model.classes_[P.argmax(axis=1)].astype(np.int16)
    certainty, known = P.max(axis=1), labels.known
    codes[known] = labels.codes[known]
    certainty[known] = P[known, np.searchsorted(model.classes_, labels.codes[known])]
    return Answer(labels, model, P, codes, certainty)


def with_names(model: SemiSupervisedELMClassifier, labels: Labels) -> SemiSupervisedELMClassifier:
    """The model whose classes are words, as it goes into a file."""
    names = np.array([*labels.classes, None], dtype=object)  # the last is that of NO_CLASS
    return model.relabel(names[labels.codes])


def neighbours(model: SemiSupervisedELMClassifier) -> Any:
    """D^(−½) W D^(−½) of the model's first graph."""
    laplacian = model._graphs[0].matrix
    found = -laplacian.tocsr().astype(np.float32)
    found.setdiag(0.0)
    return found


# ---------------------------------------------------------------------- how good it is
def quality(answer: Answer) -> dict[str, Any]:
    """How well the model predicts the labels it was fitted to, each left out, as plain data.

    ``right`` of ``judged`` labels are right. ``disagree`` has rows that disagree with their label:
    the row, the number of its class, that of the likelier class and the probability of this one,
    the largest first.
    """
    model, codes = answer.model, answer.labels.codes
    left_out = getattr(model, "left_out_", {"rows": np.empty(0, dtype=int), "outputs": None})
    rows, P = left_out["rows"], answer.probabilities.copy()
    if len(rows):
        P[rows] = left_out["outputs"]
    found = model.classes_[P.argmax(axis=1)]
    right = int(np.count_nonzero(found[rows] == codes[rows]))
    wrong = np.flatnonzero(answer.labels.known & (found != codes))
    wrong = wrong[np.argsort(-P[wrong].max(axis=1), kind="stable")][:_MOST_LISTED]
    return {
        "right": right,
        "judged": len(rows),
        "accuracy": right / len(rows) if len(rows) else None,
        "range": wilson(right, len(rows)) if len(rows) else None,
        "disagree": [(int(i), int(codes[i]), int(found[i]), float(P[i].max())) for i in wrong],
        "candidates": _candidates(model.candidates_),
    }


def _candidates(table: dict[str, np.ndarray]) -> list[tuple[str, float, float | None]]:
    """Words, weight and left-out accuracy of the heaviest."""
    found: list[tuple[str, float, float | None]] = []
    for k in range(min(_MOST_CANDIDATES, len(table["kind"]))):
        if table["weight"][k] < 0.005 and found:
            break
        words = [str(table["kind"][k])]
        words += [f"{name} = {table[name][k]:.3g}" for name in ("lam", "C") if table[name][k]]
        right = 1.0 - float(table["error"][k]) if "error" in table else None
        found.append((", ".join(words), float(table["weight"][k]), right))
    return found


@cache
def wilson(right: int, judged: int) -> tuple[float, float]:
    """Wilson's interval for a share, which holds the true one 19 times of 20.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    found = binomtest(right, judged).proportion_ci(method="wilson")
    return float(found.low), float(found.high)
