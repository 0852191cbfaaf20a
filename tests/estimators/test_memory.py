"""A search over C by leave-one-out holds little more in memory than a fit with one C.

tracemalloc sees every array of NumPy, so a peak is the same on every machine.
"""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn import config_context

from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMClassifier,
    ManifoldELMClassifier,
    SemiSupervisedELMClassifier,
)

N, CLASSES = 400, 80
# Megabytes, as scikit-learn's working_memory counts them.
BUDGET = 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 5))
Y = np.arange(N) % CLASSES
VALUES = RNG.normal(size=(N, CLASSES))
SOME = np.where(np.arange(N) < 160, Y, -1)
# Fewer units than rows, so that sums are solved, and more, so that rows are.
FEW, MANY = {"n_hidden": 30, "random_state": 0}, {"n_hidden": 450, "random_state": 0}
# Every class is a system of its own there, and three C tell as much.
BALANCED = {"class_weight": "balanced", "C": [0.1, 1.0, 10.0]}

CASES = {
    "sums": (ELMClassifier(**FEW), Y),
    "rows": (ELMClassifier(**MANY), Y),
    "sums, balanced": (ELMClassifier(**FEW, **BALANCED), Y),
    "rows, balanced": (ELMClassifier(**MANY, **BALANCED), Y),
    "values": (ELMRegressor(**FEW), VALUES),
    "kernel": (KernelELMClassifier(), Y),
    "few labels": (
        SemiSupervisedELMClassifier(**FEW, coupling="published", C=[0.1, 1.0], lam=[0.1, 1.0]),
        SOME,
    ),
    "class scatter": (GraphELMClassifier(**FEW), Y),
    "class scatter, rows": (GraphELMClassifier(**MANY), Y),
    "discriminant": (ManifoldELMClassifier(**FEW), Y),
}


def peak(model, y, budget=BUDGET):
    """The most bytes that a fit holds."""
    with warnings.catch_warnings(), config_context(working_memory=budget):
        warnings.simplefilter("ignore")
        tracemalloc.start()
        model.fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


def fixed(model):
    """The same with nothing to choose."""
    one = {name: 1.0 for name in ("C", "lam") if getattr(model, name, 0.0) != 0.0}
    return type(model)(**model.get_params() | one)


@pytest.mark.parametrize("case", CASES)
def test_a_search_holds_no_more_than_the_budget_beyond_one_fit(case):
    model, y = CASES[case]
    peak(fixed(model), y)  # imports what it needs
    assert peak(model, y) - peak(fixed(model), y) <= BUDGET * 2**20
