"""Where rows are on the map: some of them first, then all."""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.layout import ELMLayout
from ulmus.typing import Rows

# Rows that are laid out, and appear before the rest, and rows that are then placed at a time.
FIRST_ROWS, AT_ONCE = 5000, 10_000


def has_layout() -> bool:
    """Whether the map is the layout of `ulmus embed`, else US-ELM's own: the extra ``maps``."""
    return find_spec("pacmap") is not None


def places(X: Rows, seed: int) -> Iterator[np.ndarray]:
    """Coordinates of shape (n, 2), NaN for rows that are not yet placed; the last has all rows."""
    n = X.shape[0]
    order = np.random.default_rng(seed).permutation(n)
    some, rest = np.sort(order[:FIRST_ROWS]), np.sort(order[FIRST_ROWS:])
    model = (
        ELMLayout(max_rows=None, random_state=seed)
        if has_layout()
        else ELMEmbedding(2, random_state=seed)
    )
    first = np.asarray(model.fit_transform(X[some]), dtype=float)
    # Within −1 to 1, in the same proportion; far rows at the edge.
    low, high = np.quantile(first, [0.002, 0.998], axis=0)
    half = max(float((high - low).max()) / 2, np.finfo(np.float32).tiny)
    found = np.full((n, 2), np.nan, dtype=np.float32)
    parts = [some, *(rest[k : k + AT_ONCE] for k in range(0, len(rest), AT_ONCE))]
    for k, rows in enumerate(parts):
        at = np.asarray(model.transform(X[rows]), dtype=float) if k else first
        found[rows] = np.clip((at - (low + high) / 2) / half, -1.1, 1.1)
        yield found.copy()
