"""The ridge solve in the low-rank space of a kernel, over the blocks of Dask collections.

Kernel and landmarks are chosen in this process, among as many rows as leave room for the factor;
the rows of the factor, and their moments, are made where the blocks are.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import floating
from ulmus.estimators.ridge_blocks import Wanted, balances, surveyed
from ulmus.estimators.ridge_elm import record
from ulmus.features.kernel_space import KernelFeatures, candidates
from ulmus.hidden import Hidden
from ulmus.methods.ridge import Ridge
from ulmus.problem import Moments, Problem
from ulmus.sources.source import ClassMoments
from ulmus.targets import is_balanced
from ulmus.typing import Rows

__all__ = ["fit_blocks"]


def fit_blocks(
    estimator: Any, grid: float | np.ndarray, X: Rows, y: Any, sample_weight: Any, client: Any
) -> Any:
    """Fit a `KernelELM`, with C from the grid."""
    rows, columns = surveyed(estimator, X, y, sample_weight, client)
    n = len(rows)
    how = estimator._approximation(n)
    estimator.method_ = "exact" if how is None else how.method
    if how is None:
        return estimator._fit(np.arange(n), *rows.take(slice(None)))
    estimator._settle_scaling(rows, columns)
    features, seed = _space(estimator, rows, grid)
    method = Ridge(grid)
    wanted = Wanted.of(n, method.chooses, seed)
    summed = _class_moments if balances(estimator, features.weights_.shape[1]) else _moments
    sums, parts = rows.compute(rows.total(summed, features), rows.chosen(wanted.rows))
    problem = _problem(*rows.gathered(parts), estimator, features)
    source = wanted.source(estimator, problem, sums)
    solution = method.fit(source)
    estimator.dual_coef_ = matmul(features.weights_, solution.coef)
    estimator.intercept_ = solution.intercept
    record(estimator, source.sample().problem, solution, n)
    return estimator


def _space(estimator: Any, rows: Any, grid: float | np.ndarray) -> tuple[KernelFeatures, int]:
    """The kernel's low-rank space as a map, and the seed of what is drawn after it."""
    n, dtype = len(rows), floating(rows, estimator.dtype)
    X, y, weight = rows.take(candidates(n, dtype, 0))
    targets, c, unit = estimator._encode_known(y, weight)
    problem = Problem(None, targets, c, unit, estimator._intercept)
    if is_balanced(getattr(estimator, "class_weight", None)):
        targets = replace(targets, totals=estimator._totals)
        problem = replace(problem, targets=targets).among(np.arange(len(targets)))
    K, scaled, rng = estimator._learn_kernel(X, problem, grid, weight)
    seed = rng.randint(2**31 - 2)
    found = estimator._factor(K, n, rng)
    landmarks = scaled if found.rows is None else scaled[found.rows]
    estimator.landmarks_ = landmarks.astype(found.dtype)
    estimator._accept_factor(found)
    features = KernelFeatures(estimator.kernel, scaling=estimator.scaling)
    features.kernel_, features.scaling_ = estimator.kernel_, estimator.scaling_
    features.landmarks_, features.weights_ = estimator.landmarks_, found.W
    return features, seed


def _moments(X: Rows, y: Any, weight: np.ndarray | None, estimator: Any, features: Any) -> Moments:
    return _problem(X, y, weight, estimator, features).moments()


def _class_moments(
    X: Rows, y: Any, weight: np.ndarray | None, estimator: Any, features: Any
) -> ClassMoments:
    return ClassMoments.of(_problem(X, y, weight, estimator, features))


def _problem(X: Rows, y: Any, weight: np.ndarray | None, estimator: Any, features: Any) -> Problem:
    H = Hidden(features.layer(X, estimator.dtype), X)
    targets, c, unit = estimator._encode_known(y, weight)
    return Problem(H, targets, c, unit, estimator._intercept)
