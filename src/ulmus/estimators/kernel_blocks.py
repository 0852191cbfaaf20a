"""The ridge solve in the low-rank space of a kernel, over the blocks of Dask collections.

Kernel and landmarks are chosen in this process, among as many rows as leave room for the factor;
the rows of the factor, and their moments, are made where the blocks are.
"""

from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import floating
from ulmus.distributed.rows import BlockRows
from ulmus.estimators.ridge_elm import record
from ulmus.features.kernel_space import KernelFeatures, candidates
from ulmus.methods.ridge import Ridge
from ulmus.reservoir import Reservoir
from ulmus.sources.block_sums import summed_blocks, surveyed_blocks
from ulmus.sources.source import RowsSoFar
from ulmus.typing import Rows


def fit_blocks(
    estimator: Any, grid: float | np.ndarray, X: Rows, y: Any, sample_weight: Any, client: Any
) -> Any:
    """Fit a `KernelELM`, with C from the grid."""
    blocks, known, columns = surveyed_blocks(estimator, X, y, sample_weight, client)
    n = len(blocks)
    how = estimator._approximation(n)
    estimator.method_ = "exact" if how is None else how.method
    if how is None:
        return estimator._fit(np.arange(n), *blocks.take(slice(None)))
    estimator._hold(known)
    estimator._settle_scaling(blocks, columns)
    features, seed = _space(estimator, known, blocks, grid)
    method = Ridge(grid)
    rows = RowsSoFar(estimator, known, Reservoir(0), features)
    source = summed_blocks(rows, blocks, method.chooses, seed)[0](features, None)
    solution = method.fit(source)
    estimator.dual_coef_ = matmul(features.weights_, solution.coef)
    estimator.intercept_ = solution.intercept
    record(estimator, source.sample().problem, solution, n)
    return estimator


def _space(
    estimator: Any, known: Any, blocks: BlockRows, grid: float | np.ndarray
) -> tuple[KernelFeatures, int]:
    """The kernel's low-rank space as a map, and the seed of what is drawn after it."""
    n, dtype = len(blocks), floating(blocks, estimator.dtype)
    X, y, weight = blocks.take(candidates(n, dtype, 0))
    problem = known.problem(y, weight, whole=True).among(np.arange(X.shape[0]))
    K, scaled, rng = estimator._learn_kernel(X, problem, grid, weight)
    seed = rng.randint(2**31 - 2)
    found = estimator._factor(K, n, rng)
    landmarks = scaled if found.rows is None else scaled[found.rows]
    estimator.landmarks_ = landmarks.astype(found.dtype)
    estimator._accept_factor(found)
    features = KernelFeatures(estimator.kernel, scaling=estimator.scaling)
    features.kernel_, features.scaling_ = estimator.kernel_, estimator.scaling_
    features.landmarks_, features.weights_ = estimator.landmarks_, found.W
    features.n_features_in_ = X.shape[1]
    return features, seed
