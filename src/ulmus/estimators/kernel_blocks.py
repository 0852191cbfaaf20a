"""The ridge solve in the low-rank space of a kernel, over the blocks of Dask collections.

Kernel and landmarks are chosen in this process, among as many rows as leave room for the factor;
the rows of the factor, and their moments, are made where the blocks are.
"""

from typing import Any

import numpy as np

from ulmus.backends.namespace import floating
from ulmus.distributed import BlockRows
from ulmus.features.kernel_space import KernelFeatures, candidates
from ulmus.kernels.lowrank import Factor
from ulmus.methods.kernel_ridge import KernelRidge, spanned
from ulmus.methods.ridge import Ridge
from ulmus.reservoir import Reservoir
from ulmus.sources.hidden_rows import summed_blocks, surveyed_blocks
from ulmus.sources.source import RowsSoFar
from ulmus.typing import Rows


def fit_blocks(
    estimator: Any, grid: float | np.ndarray, X: Rows, y: Any, sample_weight: Any, client: Any
) -> Any:
    """Fit a `KernelELM`, with C from the grid."""
    blocks, known, columns = surveyed_blocks(estimator, X, y, sample_weight, client)
    n = len(blocks)
    method = estimator._method(grid, n)
    if method.approximation is None:
        return estimator._fit(np.arange(n), *blocks.take(slice(None)))
    estimator._hold(known)
    estimator.method_ = method.name
    estimator._settle_scaling(blocks, columns)
    features, found, seed = _space(estimator, known, blocks, method)
    ridge = Ridge(grid)
    rows = RowsSoFar(estimator, known, Reservoir(0), features)
    made, home = summed_blocks(rows, blocks, ridge.chooses, seed)
    source = made(features, None)
    solution = spanned(found, ridge.fit(source))
    estimator._accept(features.landmarks_, source.sample().problem, solution, home[2], n)
    return estimator


def _space(
    estimator: Any, known: Any, blocks: BlockRows, method: KernelRidge
) -> tuple[KernelFeatures, Factor, int]:
    """The kernel's low-rank space as a map, its factor, and the seed of what is drawn after it."""
    n, dtype = len(blocks), floating(blocks, estimator.dtype)
    X, y, weight = blocks.take(candidates(n, dtype, 0))
    problem = known.problem(y, weight, whole=True).among(np.arange(X.shape[0]))
    K, scaled, rng, _ = estimator._learn_kernel(X, problem, method.C, weight)
    seed = rng.randint(2**31 - 2)
    found = method.factor(K, n, rng)
    landmarks = scaled if found.rows is None else scaled[found.rows]
    estimator._accept_factor(found)
    features = KernelFeatures(estimator.kernel_, scaling=estimator.scaling)
    features.kernel_, features.scaling_ = estimator.kernel_, estimator.scaling_
    features.landmarks_, features.weights_ = landmarks.astype(found.dtype), found.W
    features.n_features_in_ = X.shape[1]
    return features, found, seed
