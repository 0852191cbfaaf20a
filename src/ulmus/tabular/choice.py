"""Which model for rows that all have a target: whichever leaves single rows out best."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ulmus.estimators.classifier import ELMClassifier
from ulmus.estimators.kernel import KernelELMClassifier, KernelELMRegressor
from ulmus.estimators.regressor import ELMRegressor
from ulmus.tabular.view import View, has_steps

__all__ = ["Choice", "choose", "steps_help"]

_UNITS = 1000
# Views are compared on at most so many rows.
_SAMPLE = 10_000
# Up to so many rows a kernel, whose width is chosen, is cheap enough to try.
_KERNEL_ROWS = 2000
# More units are tried up to about so many multiplications: ten seconds of one core.
_WORK = 1.5e11
# A later candidate must be better by this share, for a tie goes to the simpler.
_BETTER = 0.99


@dataclass(frozen=True)
class Choice:
    """A view and a fitted estimator, and its mean squared error over left-out rows."""

    view: Any
    estimator: Any
    error: float


def choose(X, y, *, classify, seed, watch, verbose=0, seen=None):
    """The best of a few candidates, fitted to all rows.

    ``seen`` are rows without a target too, which say how far the columns reach.
    Random units on the columns as they are, and on the columns with steps; a kernel where there
    are few rows; more units where there is time. None of them sees a row that it is judged by.
    """
    watch("random units")
    steps = steps_help(X, y, classify, seed, watch)
    view = View(steps=steps).fit(X if seen is None else seen)
    Z = view.transform(X)
    units = partial(_units, classify, seed, verbose)
    best = Choice(view, *_fitted(units(_UNITS), Z, y))
    if X.shape[0] <= _KERNEL_ROWS:
        watch("a kernel")
        kernel = KernelELMClassifier if classify else KernelELMRegressor
        # Wide kernels have large coefficients of both signs: their sum needs the digits.
        kernel = kernel(gamma="loo", dtype="float64", random_state=seed, verbose=verbose)
        return _better(best, view, kernel, Z, y)
    number = 2 * _UNITS
    while best.estimator.n_hidden_ == number // 2 and _work(X.shape[0], number) <= _WORK:
        watch(f"{number} units")
        best = _better(best, view, units(number), Z, y)
        number *= 2
    return best


def steps_help(X, y, classify, seed, watch):
    """Whether steps lower the error, on a sample of the rows."""
    if X.shape[0] > _SAMPLE:
        rows = check_random_state(seed).permutation(X.shape[0])[:_SAMPLE]
        X, y = X[rows], y[rows]
    if not has_steps(X) or len(np.unique(y)) < 2:
        return False
    errors = []
    for steps in (False, True):
        Z = View(steps=steps).fit_transform(X)
        errors.append(_fitted(_units(classify, seed, 0, _UNITS), Z, y)[1])
        watch("steps")
    return errors[1] < _BETTER * errors[0]


def _units(classify, seed, verbose, number):
    kind = ELMClassifier if classify else ELMRegressor
    return kind(n_hidden=number, random_state=seed, verbose=verbose)


def _better(best, view, estimator, Z, y):
    estimator, error = _fitted(estimator, Z, y)
    return Choice(view, estimator, error) if error < _BETTER * best.error else best


def _fitted(estimator, Z, y):
    """The fitted estimator, and its squared error over left-out rows at the C it chose."""
    estimator.fit(Z, y)
    path = estimator.loo_path_
    chosen = int(np.flatnonzero(path["C"] == estimator.C_)[0])
    return estimator, float(path["squared_error"][chosen])


def _work(rows, units):
    """Multiplications for HᵀH and its eigenvectors."""
    return rows * units**2 + 10 * units**3
