"""Which model for rows that all have a target: the one with the least leave-one-out error."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ulmus.estimators.classifier import ELMClassifier
from ulmus.estimators.kernel import KernelELMClassifier, KernelELMRegressor
from ulmus.estimators.regressor import ELMRegressor
from ulmus.tables.clipped_bins import ClippedBins, has_steps
from ulmus.typing import Rows

__all__ = ["Choice", "Settings", "choose", "steps_help"]

_UNITS = 1000
# Whether steps help is found out on at most so many rows.
_SAMPLE = 10_000
# Up to so many rows a kernel, whose width is chosen, is cheap enough to try.
_KERNEL_ROWS = 2000
# More units are tried up to about so many multiplications: ten seconds of one core.
_WORK = 1.5e11
# A later candidate must have at most this share of the error: a tie goes to the simpler one.
_BETTER = 0.99


@dataclass(frozen=True)
class Settings:
    """What all candidates share; ``watch`` is called with a few words before each step."""

    classify: bool
    seed: int = 0
    verbose: int = 0
    watch: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class Choice:
    """A view and a fitted estimator, and its mean squared error over left-out rows."""

    view: ClippedBins
    estimator: Any
    error: float


def choose(X: Rows, y: np.ndarray, settings: Settings, seen: Rows | None = None) -> Choice:
    """The best of a few candidates, fitted to all rows.

    Random units on the columns as they are, and on the columns with steps; a kernel where there are
    few rows; more units where there is time. ``seen`` are all rows, also those without a target,
    which the columns' ranges are taken from.
    """
    settings.watch("random units")
    steps = steps_help(X, y, settings)
    view = ClippedBins(steps=steps).fit(X if seen is None else seen)
    Z = view.transform(X)
    best = Choice(view, *_fitted(_units(_UNITS, settings), Z, y))
    if X.shape[0] <= _KERNEL_ROWS:
        settings.watch("a kernel")
        return _better(best, _kernel(settings), Z, y)
    number = 2 * _UNITS
    while best.estimator.n_hidden_ == number // 2 and _work(X.shape[0], number) <= _WORK:
        settings.watch(f"{number} units")
        best = _better(best, _units(number, settings), Z, y)
        number *= 2
    return best


def steps_help(X: Rows, y: np.ndarray, settings: Settings) -> bool:
    """Whether steps lower the error, on a sample of the rows."""
    if X.shape[0] > _SAMPLE:
        rows = check_random_state(settings.seed).permutation(X.shape[0])[:_SAMPLE]
        X, y = X[rows], y[rows]
    if not has_steps(X) or len(np.unique(y)) < 2:
        return False
    errors = []
    for steps in (False, True):
        Z = ClippedBins(steps=steps).fit_transform(X)
        errors.append(_fitted(_units(_UNITS, replace(settings, verbose=0)), Z, y)[1])
        settings.watch("steps")
    return errors[1] < _BETTER * errors[0]


def _units(number: int, settings: Settings) -> Any:
    kind = ELMClassifier if settings.classify else ELMRegressor
    return kind(n_hidden=number, random_state=settings.seed, verbose=settings.verbose)


def _kernel(settings: Settings) -> Any:
    kind = KernelELMClassifier if settings.classify else KernelELMRegressor
    # Wide kernels have large coefficients of both signs: their sum needs double precision.
    return kind(gamma="loo", dtype="float64", random_state=settings.seed, verbose=settings.verbose)


def _better(best: Choice, estimator: Any, Z: Rows, y: np.ndarray) -> Choice:
    estimator, error = _fitted(estimator, Z, y)
    return Choice(best.view, estimator, error) if error < _BETTER * best.error else best


def _fitted(estimator: Any, Z: Rows, y: np.ndarray) -> tuple[Any, float]:
    """The fitted estimator, and its squared error over left-out rows at the C it chose."""
    estimator.fit(Z, y)
    path = estimator.loo_path_
    chosen = int(np.flatnonzero(path["C"] == estimator.C_)[0])
    return estimator, float(path["squared_error"][chosen])


def _work(rows: int, units: int) -> int:
    """Multiplications for HᵀH and its eigenvectors."""
    return rows * units**2 + 10 * units**3
