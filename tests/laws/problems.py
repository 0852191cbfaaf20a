"""Small random problems for the laws."""

import numpy as np

from ulmus.features import RandomFeatures
from ulmus.hidden import Hidden
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, ValueTargets


def make_rows(seed, n, d=3):
    return np.random.default_rng(seed).standard_normal((n, d))


def make_problem(seed, n, h, *, classes=0, weighted=False, dtype=float, intercept=False):
    """A problem of n rows and h units; ``classes`` = 0 means two numeric targets."""
    rng = np.random.default_rng(seed)
    X = make_rows(seed, n).astype(dtype)
    layer = (
        RandomFeatures(h, activation="sigmoid" if seed % 2 else "tanh", random_state=seed % 1000)
        .fit(X)
        .layer(X)
    )
    if classes:
        targets = ClassTargets(rng.integers(0, classes, n), classes)
    else:
        targets = ValueTargets(rng.standard_normal((n, 2)))
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    return Problem(Hidden(layer, X), targets, weight, None, intercept)
