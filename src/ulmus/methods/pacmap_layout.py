"""Rows in the plane: each beside its neighbours by PaCMAP, new ones among those that are there.

The settings were chosen on USPS, optdigits and COIL-20; `python -m benchmarks maps` shows them on
others.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from ulmus.backends.linalg import held_numba
from ulmus.backends.namespace import extra

# Neighbours among which the nearest by local distance are chosen, for each one that is.
_CANDIDATES = 3
# Further pairs and mid-near pairs for each pair of neighbours. PaCMAP's own are 2 and 0.5; these
# gained .002 to .004 of trustworthiness and up to a point of 10-NN accuracy.
_FURTHER, _MIDDLE = 4.0, 0.2
# PaCMAP draws six rows at a time for a pair, and never ends where there are none left to draw.
LEAST_ROWS = 30
# Rows of the layout a new row is placed among.
_AMONG = 5
# PaCMAP keeps the seed of the current layout in a global of its module.
_ONE_LAYOUT = Lock()


def near_rows(A: np.ndarray, k: int) -> np.ndarray:
    """The k nearest other rows of each row, as a matrix of indices.

    Nearness is d² / σᵢσⱼ, σ the mean distance to the fourth to sixth neighbour, so that rows in
    thin regions have neighbours as close as those in the crowd.
    """
    # With further and mid-near pairs there must be enough rows to draw from.
    k = max(1, min(k, (len(A) - 1) // 6))
    search = NearestNeighbors(n_neighbors=min(_CANDIDATES * k, len(A) - 1), algorithm="brute")
    distances, near = search.fit(A).kneighbors()
    spacing = np.maximum(distances[:, min(3, distances.shape[1] - 1) : 6].mean(axis=1), 1e-10)
    local = distances**2 / (spacing[:, None] * spacing[near])
    return np.take_along_axis(near, np.argsort(local, axis=1, kind="stable")[:, :k], axis=1)


def graph_of(near: np.ndarray) -> sp.csr_array:
    """The graph that joins each row to its near ones, as a symmetric matrix of ones."""
    n, k = near.shape
    W = sp.csr_array((np.ones(n * k), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return W.maximum(W.T)


def laid_out(E: np.ndarray, near: np.ndarray, seed: int) -> np.ndarray:
    """Two coordinates for each row, from the first two columns of E on.

    ``near`` rows attract each other. E says which of the rows that are drawn are mid-near.
    """
    n, k = near.shape
    pairs = np.stack([np.repeat(np.arange(n), k), near.ravel()], axis=1).astype(np.int32)
    pacmap = extra("pacmap", "maps", "ELMLayout")
    ratios = {"MN_ratio": _MIDDLE, "FP_ratio": _FURTHER}
    with _ONE_LAYOUT, _quiet("pacmap.pacmap"), held_numba():
        model = pacmap.PaCMAP(n_neighbors=k, pair_neighbors=pairs, random_state=seed, **ratios)
        places = model.fit_transform(E, init=np.ascontiguousarray(E[:, :2]), save_pairs=False)
    return np.asarray(places, dtype=np.float64)


def placed_among(E: np.ndarray, places: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Where rows F go among rows E with these places: the mean of the nearest, by 1/d²."""
    search = NearestNeighbors(n_neighbors=min(_AMONG, len(E)), algorithm="brute").fit(E)
    distances, near = search.kneighbors(F)
    # A row that is one of E, up to rounding, goes where that one is.
    weight = 1.0 / np.maximum(distances, 1e-6 * np.abs(E).max()) ** 2
    weight /= weight.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weight, places[near])


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Without what a library writes to its log while it does what it was asked for."""
    log = logging.getLogger(name)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
