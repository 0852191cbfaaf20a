"""The MELM paper's experiments: faces with few images of each person.

Some images of every person are drawn for training and the rest are for testing, ten times over.
There are as many hidden units as pixels, as in the paper. It fixes C = 2⁻⁸ for all methods and
chooses λ by the test images; here every method chooses for itself by the training images, and
the paper's own setting is one more method.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from ulmus.estimators.classifier import ELMClassifier
from ulmus.estimators.discriminative import ManifoldELMClassifier
from ulmus.estimators.graph import GraphELMClassifier
from ulmus.exceptions import IndefiniteWarning
from ulmus.experiments.files import benchmark_rows
from ulmus.features import RBFFeatures

__all__ = ["FORMS", "METHODS", "PAPER_C", "PROBLEMS", "Faces", "draws", "evaluate"]

PAPER_C = 2.0**-8


@dataclass(frozen=True)
class Faces:
    """A data set, the numbers of training images, and what the paper reports.

    ``table4`` is MELM's accuracy (%) for λ = 0, 0.1, …, 0.9, ``lam`` the λ it then uses.
    """

    file: str
    per_class: tuple[int, ...]
    lam: float
    table4: tuple[float, ...]

    @property
    def shown(self):
        """The training images per person of table 4."""
        return 25 if self.file == "yaleb" else 5

    @property
    def paper(self):
        """The best of table 4."""
        return max(self.table4)


PROBLEMS = {
    "Yale": Faces(
        "yale",
        (3, 4, 5, 6),
        0.4,
        (71.33, 60.00, 74.00, 74.67, 76.67, 70.67, 70.67, 69.33, 62.67, 64.67),
    ),
    "ORL": Faces(
        "orl",
        (3, 4, 5, 6),
        0.5,
        (88.00, 87.50, 89.25, 91.25, 88.25, 94.75, 91.75, 90.75, 91.25, 90.50),
    ),
    "Yale B": Faces(
        "yaleb",
        (25, 30, 35, 40),
        0.3,
        (93.21, 94.26, 94.74, 95.42, 93.53, 95.26, 95.11, 93.79, 94.47, 94.00),
    ),
    "UMIST": Faces(
        "umist",
        (5,),
        0.0,
        (92.78, 89.17, 91.94, 92.22, 76.94, 89.17, 91.67, 91.94, 92.50, 90.83),
    ),
}

METHODS = {
    "ELM": lambda h: ELMClassifier(n_hidden=h),
    "RAF-ELM": lambda h: ELMClassifier(RBFFeatures(h, node="robust")),
    "GELM": lambda h: GraphELMClassifier(n_hidden=h),
    "MELM": lambda h: ManifoldELMClassifier(n_hidden=h),
}

FORMS = {
    "positive part": lambda h: ManifoldELMClassifier(n_hidden=h),
    "bounded": lambda h: ManifoldELMClassifier(n_hidden=h, form="bounded"),
    "printed, C = 2⁻⁸": lambda h: ManifoldELMClassifier(n_hidden=h, form="printed", C=PAPER_C),
    "printed, inputs, C = 2⁻⁸": lambda h: ManifoldELMClassifier(
        n_hidden=h, form="printed", C=PAPER_C, scatter="input"
    ),
}


def draws(y, per_class, count=10, seed=0):
    """Pairs of row numbers, to train on and to test on."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        drawn = [rng.permutation(np.flatnonzero(y == label))[:per_class] for label in np.unique(y)]
        train = np.concatenate(drawn)
        yield train, np.setdiff1d(np.arange(len(y)), train)


def evaluate(problem, per_class, methods=METHODS, count=10, seed=0):
    """Accuracy (%) on the test images of every draw.

    Parameters
    ----------
    problem : Faces
        One of `PROBLEMS`.
    per_class : int
        Training images of each person.
    methods : dict
        Functions of the number of units that make a classifier.
    count : int, default=10
        Number of draws.
    seed : int, default=0
        Seeds the draws and the hidden layers.

    Returns
    -------
    accuracies : dict of lists
        One number for each draw.
    """
    X, y = benchmark_rows(problem.file)
    found = {name: [] for name in methods}
    for number, (train, test) in enumerate(draws(y, per_class, count, seed)):
        for name, make in methods.items():
            model = make(X.shape[1]).set_params(random_state=1000 * seed + number)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IndefiniteWarning)
                model.fit(X[train], y[train])
            found[name].append(100 * model.score(X[test], y[test]))
    return found
