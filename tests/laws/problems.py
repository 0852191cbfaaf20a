"""Small random problems for the laws."""

import numpy as np

from ulmus.features import RandomFeatures
from ulmus.hidden import Hidden
from ulmus.methods.class_scatter import ClassScatter
from ulmus.methods.ridge import Ridge
from ulmus.problem import Problem
from ulmus.sources.source import AtHand, Sample, Summed
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


def primal(problem, C, rows=None, left=None, moments=None):
    """Ridge from sums; ``rows`` calibrate, and ``left`` are left out (None: all)."""
    rows = np.arange(len(problem.H)) if rows is None else rows
    sums = problem.moments() if moments is None else moments
    return Ridge(C, "primal").fit(Summed(sums, Sample(problem, left, rows)))


def scatter(problem, points):
    """The class scatter's solution for rows that are all at hand."""
    return ClassScatter(points).fit(AtHand(problem))


def scatter_of_sums(moments, problem, points, left, rows):
    """The same from sums."""
    return ClassScatter(points).fit(Summed(moments, Sample(problem, left, rows)))
