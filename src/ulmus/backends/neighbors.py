"""Approximate nearest neighbours, by an optional package."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.exceptions import MissingExtraError
from ulmus.typing import Rows, Seed

__all__ = ["approximate_neighbors"]


def approximate_neighbors(X: Rows, k: int, metric: Any, seed: Seed) -> Any:
    """Distances to about the k nearest neighbours of each row, zeros stored, as a CSR array."""
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise MissingExtraError(
            "method='pynndescent' needs pynndescent, which is not installed; try: "
            "pip install 'ulmus[neighbors]'"
        ) from error
    # One neighbour more, because a row finds itself first.
    index = NNDescent(X, metric=metric, n_neighbors=k + 1, random_state=seed)
    indices, distances = index.neighbor_graph
    n = X.shape[0]
    rows = np.repeat(np.arange(n), k + 1)
    found = indices.ravel() >= 0
    return sp.csr_array(
        (distances.ravel()[found], (rows[found], indices.ravel()[found])), shape=(n, n)
    )
