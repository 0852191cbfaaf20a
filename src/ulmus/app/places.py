"""Where rows are on the map: some of them first, then all."""

from collections.abc import Iterator

import numpy as np

from ulmus.estimators.embedding import ELMEmbedding
from ulmus.typing import Rows

# Rows that appear before the rest.
FIRST_ROWS = 5000


def places(X: Rows, seed: int) -> Iterator[np.ndarray]:
    """Coordinates of shape (n, 2), NaN for rows that are not yet placed; the last has all rows."""
    n = X.shape[0]
    some = np.sort(np.random.default_rng(seed).permutation(n)[:FIRST_ROWS])
    model = ELMEmbedding(2, random_state=seed).fit(X[some])
    first = np.full((n, 2), np.nan, dtype=np.float32)
    first[some] = model.transform(X[some])
    if len(some) < n:
        yield _scaled(first)
        first = np.asarray(model.transform(X), dtype=np.float32)
    yield _scaled(first)


def _scaled(found: np.ndarray) -> np.ndarray:
    """The same within −1 to 1, in the same proportion; far rows at the edge."""
    low, high = np.nanquantile(found, [0.002, 0.998], axis=0)
    half = max(float((high - low).max()) / 2, np.finfo(np.float32).tiny)
    return np.clip((found - (low + high) / 2) / half, -1.1, 1.1).astype(np.float32)
