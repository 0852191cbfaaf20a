"""The ridge solve in the low-rank space of a kernel, over the blocks of Dask collections.

Kernel and landmarks are chosen in this process, among as many rows as leave room for the factor;
the rows of the factor, and their moments, are made where the blocks are.
"""

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import floating
from ulmus.estimators.labels import record
from ulmus.estimators.ridge_blocks import Sample, surveyed
from ulmus.exceptions import InvalidParameterError
from ulmus.features.kernel import KernelFeatures, candidates
from ulmus.hidden import Hidden
from ulmus.problem import Problem
from ulmus.solvers.path import primal_path
from ulmus.solvers.primal import solve_moments

__all__ = ["fit_blocks"]


def fit_blocks(estimator, grid, X, y, sample_weight, client):
    """Fit a `KernelELM`, with C from the grid."""
    if not estimator.project:
        raise InvalidParameterError(
            "project=False needs every row in the model, and a Dask collection may have too many; "
            "use project=True."
        )
    rows, columns = surveyed(estimator, X, y, sample_weight, client)
    n = len(rows)
    estimator.method_ = estimator._method(n)
    if estimator.method_ == "exact":
        return estimator._fit(np.arange(n), *rows.take(slice(None)))
    estimator._settle_scaling(rows, columns)
    features, seed = _space(estimator, rows, grid)
    sample = Sample.of(n, grid, seed)
    moments, parts = rows.compute(rows.total(_moments, features), rows.chosen(sample.rows))
    problem = _problem(*rows.gathered(parts), estimator, features)
    if isinstance(grid, float):
        solution = solve_moments(moments, problem, grid, sample.calibration)
    else:
        solution = primal_path(problem, grid, sample.left, sample.calibration, moments)
    estimator.dual_coef_ = matmul(features.weights_, solution.coef)
    estimator.intercept_ = solution.intercept
    record(estimator, problem, solution, n)
    return estimator


def _space(estimator, rows, grid):
    """The kernel's low-rank space as a map, and the seed of what is drawn after it."""
    n, dtype = len(rows), floating(rows, estimator.dtype)
    X, y, weight = rows.take(candidates(n, dtype, 0))
    problem = Problem(None, *estimator._encode_known(y, weight), estimator._intercept)
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


def _moments(X, y, weight, estimator, features):
    return _problem(X, y, weight, estimator, features).moments()


def _problem(X, y, weight, estimator, features):
    H = Hidden(features.layer(X, estimator.dtype), X)
    return Problem(H, *estimator._encode_known(y, weight), estimator._intercept)
