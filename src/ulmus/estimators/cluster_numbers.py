"""The number of clusters: given, or chosen by how far clusterings agree on each."""

from typing import Any

import numpy as np

from ulmus.arguments import is_whole
from ulmus.backends.neighbors import different_rows
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.typing import Rows

AUTO = "auto"
# Numbers of clusters that are compared.
_MOST = 12
# Scores that differ by no more are taken for equal.
_TIE = 0.02


def check_clusters(n_clusters: Any, n_rows: int, auto: bool = False) -> None:
    """Refuse a number of clusters that is none, or more than there are rows."""
    if auto and isinstance(n_clusters, str) and n_clusters == AUTO:
        return
    if not (is_whole(n_clusters) and 1 <= n_clusters <= n_rows):
        or_auto = ", or 'auto'" if auto else ""
        raise InvalidParameterError(
            f"n_clusters={n_clusters!r} must be a whole number from 1 to the number of rows, "
            f"{n_rows}{or_auto}."
        )


def number_over_blocks(n_clusters: Any) -> int:
    """The number of clusters of a Dask collection."""
    if n_clusters == AUTO:
        raise InvalidParameterError(
            "n_clusters='auto' needs all rows at once, not a Dask collection; give a number."
        )
    return int(n_clusters)


def check_different(n_clusters: int, X: Rows) -> None:
    """Refuse more clusters than there are different rows."""
    found = different_rows(X, n_clusters)
    if found < n_clusters:
        rows = "The rows of X are all the same" if found == 1 else f"X has {found} different rows"
        raise InvalidInputError(
            f"{rows}, and n_clusters={n_clusters} asks for more; use fewer clusters, or give rows "
            "that differ."
        )


def possible_numbers(X: Rows) -> np.ndarray:
    """Numbers of clusters to compare: from two on, and below the number of different rows."""
    most = min(_MOST, different_rows(X, _MOST + 1) - 1)
    if most < 2:
        raise InvalidInputError(
            "n_clusters='auto' needs three different rows at least; give n_clusters, or more rows."
        )
    return np.arange(2, most + 1)


def chosen_number(path: dict[str, np.ndarray], largest: bool = False) -> int:
    """The smallest number of clusters whose score is all but the best, or the largest."""
    enough = np.flatnonzero(path["score"] >= path["score"].max() - _TIE)
    return int(path["n_clusters"][enough[-1 if largest else 0]])
