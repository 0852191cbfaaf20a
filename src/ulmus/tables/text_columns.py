"""A column of text as numbers: three and four letters in a row, weighed by how rare they are.

Letters are hashed, so a model holds no words, and no word is unknown. They read inflected and
misspelt words, names and codes as well as sentences; on docstrings and on names of functions they
did better than words and pairs of words (python -m benchmarks texts).
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

_BUCKETS = 2**13
# Columns of the matrix, at most, and rows for each of them.
_MOST, _ROWS_OF_EACH = 50, 20
# Rows that the columns are found from, and cells that are hashed at a time.
_SAMPLE, _AT_ONCE = 20_000, 5000


@dataclass(frozen=True)
class Text:
    """How a column of text becomes numbers: (weighed letters) componentsᵀ, centred and scaled."""

    weights: np.ndarray = field(default_factory=lambda: np.ones(_BUCKETS, np.float32))
    components: np.ndarray = field(default_factory=lambda: np.zeros((0, _BUCKETS), np.float32))
    center: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    scale: float = 1.0
    kind: str = "text"

    def outputs(self, name: str) -> list[str]:
        """Names of the matrix' columns."""
        return [f"{name}: text {k + 1}" for k in range(len(self.components))]

    def encoded(
        self, name: str, values: np.ndarray, decimal_comma: bool, notes: list[str]
    ) -> np.ndarray:
        """The matrix' columns; a blank is a text without a word."""
        cells, place = _distinct(values)
        parts = [
            _weighed(cells[k : k + _AT_ONCE], self.weights) @ self.components.T
            for k in range(0, len(cells), _AT_ONCE)
        ]
        found = (np.vstack(parts) - self.center) / self.scale
        return np.asarray(found[place], dtype=np.float32)


def text_of(values: np.ndarray) -> Text:
    """How a column of text is encoded."""
    rows = np.random.default_rng(0).permutation(len(values))[:_SAMPLE]
    cells, place = _distinct(values[rows])
    counts = _counts(cells)[place]
    weights = np.log((1 + len(rows)) / (1 + np.bincount(counts.indices, minlength=_BUCKETS))) + 1
    V = normalize(_damped(counts) * weights)
    width = max(1, min(_MOST, len(rows) // _ROWS_OF_EACH, len(cells) - 1))
    svd = TruncatedSVD(width, random_state=0).fit(V)
    Z = V @ svd.components_.T
    return Text(
        weights.astype(np.float32),
        svd.components_.astype(np.float32),
        Z.mean(axis=0).astype(np.float32),
        float(Z.std(axis=0).max()) or 1.0,
    )


def _distinct(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    cells, place = np.unique([cell or "" for cell in values], return_inverse=True)
    return cells.tolist(), place


def _counts(cells: list[str]) -> sp.csr_array:
    hashing = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), n_features=_BUCKETS, alternate_sign=False, norm=None
    )
    return sp.csr_array(hashing.transform(cells))


def _damped(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((1 + np.log(counts.data), counts.indices, counts.indptr), counts.shape)


def _weighed(cells: list[str], weights: np.ndarray) -> sp.csr_array:
    return sp.csr_array(normalize(_damped(_counts(cells)) * weights.astype(float)))
