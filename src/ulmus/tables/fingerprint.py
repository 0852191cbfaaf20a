"""A fingerprint of the rows that a model was fitted to: which later rows are among them.

A row is hashed to 64 bits, and the least hashes are kept, at most 4096 different ones. A later
row's hash, if it is not larger than those, is either among them or the row is new: so the share of
known rows is measured on a sample of them, and exactly where no more rows than that were fitted.
"""

import numpy as np
import scipy.sparse as sp

from ulmus.typing import Rows

_KEPT = 4096
_AT_ONCE = 10_000
_SEED = 20


def row_hashes(X: Rows) -> np.ndarray:
    """A hash for each row of a matrix, the same for dense and sparse rows: uint64."""
    factors = np.random.default_rng(_SEED).integers(1, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    found = np.zeros(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        found[rows] = _products(X[rows], factors)
    return _mixed(found)


def _products(X: Rows, factors: np.ndarray) -> np.ndarray:
    """Sums of each row's bits times the columns' factors, modulo 2⁶⁴."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        parts = _bits(X.data) * factors[X.indices]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(parts, dtype=np.uint64)])
        return np.asarray(np.diff(sums[X.indptr]), dtype=np.uint64)
    return np.asarray((_bits(np.asarray(X)) * factors).sum(axis=1, dtype=np.uint64))


def _bits(x: np.ndarray) -> np.ndarray:
    # The sum makes −0 a 0, whose bits are 0.
    single = np.ascontiguousarray(x, dtype=np.float32) + np.float32(0)
    return single.view(np.uint32).astype(np.uint64)


def _mixed(h: np.ndarray) -> np.ndarray:
    """The last step of SplitMix64: every bit depends on all."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def fingerprint(hashes: np.ndarray) -> np.ndarray:
    """What a model keeps of its rows: the least of their hashes, in order."""
    return np.unique(hashes)[:_KEPT]


def known_share(hashes: np.ndarray, kept: np.ndarray) -> float | None:
    """The share of rows that a model was fitted to, or None where too few rows are kept to know."""
    if not len(kept):
        return None
    sampled = hashes if len(kept) < _KEPT else hashes[hashes <= kept[-1]]
    return float(np.isin(sampled, kept).mean()) if len(sampled) else None


def copies(hashes: np.ndarray) -> int:
    """How many of the rows have an equal one among the others."""
    _, place, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return int((counts[place] > 1).sum())
