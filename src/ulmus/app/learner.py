"""A model of the labels so far, and its prediction for every row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.app.actions import NO_CLASS, Labels
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.typing import Rows


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
