"""What a clusterer has where nothing is given: units, columns that count, number of clusters."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ulmus.arguments import is_whole
from ulmus.backends.namespace import is_sparse, on_host, take
from ulmus.backends.neighbors import different_rows
from ulmus.distributed import BlockRows
from ulmus.estimators.row_graphs import are_words, entries_of
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features import RandomFeatures, RBFFeatures
from ulmus.features.base import FeatureMap
from ulmus.features.hidden_layer import share_a_unit
from ulmus.features.scaling import ColumnStatistics, Scaling
from ulmus.methods.noise import related_columns
from ulmus.typing import Rows

# Rows by which columns and forms are judged: more cost time and change few choices.
SAMPLE = 1500
# Columns past which the search for related ones takes too long.
_MOST_COLUMNS = 2000
# The part of the columns that must be unrelated for them to be left out.
_NOISY = 0.25
# Principal components: from so many columns on, ranked by their spread to this correlation.
_COMPONENTS, _FALLING = 10, -0.95
# Columns up to which the default units are local, and angles say too little of rows.
FEW = 3
# Largest number of clusters that is compared, and scores that differ so little are equal.
_MOST, _TIE = 12, 0.02


@dataclass(frozen=True)
class DefaultUnits:
    """Makes units of the columns that count; ``n_columns`` is the number of these."""

    n_columns: int
    weights: np.ndarray | None = None

    @classmethod
    def of(cls, X: Rows) -> "DefaultUnits":
        """Those for these rows."""
        weights = column_weights(X)
        return cls(X.shape[1] if weights is None else int(np.count_nonzero(weights)), weights)

    @property
    def local(self) -> bool:
        """Whether columns are so few that sigmoid units are too smooth for bent shapes."""
        return self.n_columns <= FEW

    def __call__(self, n_hidden: int, **parameters: Any) -> FeatureMap:
        """So many units."""
        kind = local_units if self.local else RandomFeatures
        return kind(n_hidden, column_weights=self.weights, **parameters)


def local_units(n_hidden: int, **parameters: Any) -> RBFFeatures:
    """Units that follow bent shapes."""
    return RBFFeatures(n_hidden, width="local", **parameters)


def some_rows(n_rows: int, most: int) -> np.ndarray:
    """Numbers of at most so many rows, always the same."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(0).permutation(n_rows)[:most])


def column_weights(X: Rows) -> np.ndarray | None:
    """What scaled columns are multiplied by; None where they are left as they are scaled.

    Components and words keep their own unit, and columns of noise, where they are many, are zero.
    """
    columns = ColumnStatistics.of(X)
    factor = Scaling.auto(columns).factor
    unit = np.divide(1.0, factor, out=np.zeros_like(factor), where=factor > 0)
    if not _in_own_unit(X, columns.deviation):
        kept = _related(X, unit > 0)
        if kept is None:
            return None
        ends = {name: getattr(columns, name)[kept] for name in ("least", "greatest")}
        unit = np.where(kept, unit if share_a_unit(replace(columns, **ends)) else 1.0, 0.0)
    # Rows stay as long as they are without weights.
    weights: np.ndarray = unit / np.linalg.norm(unit * columns.deviation * factor)
    return weights


def _in_own_unit(X: Rows, deviation: np.ndarray) -> bool:
    """Whether columns are words, or components in falling order: scaling would raise the noise."""
    if is_sparse(X):
        return are_words(entries_of(X), X.shape)
    varies = deviation[deviation > 0]
    if len(varies) < _COMPONENTS or np.ptp(varies) == 0.0:
        return False
    return bool(spearmanr(np.arange(len(varies)), varies).statistic <= _FALLING)


def _related(X: Rows, varying: np.ndarray) -> np.ndarray | None:
    """The columns that depend on others; None where all are kept."""
    if is_sparse(X) or X.shape[1] > _MOST_COLUMNS:
        return None
    kept = related_columns(on_host(take(X, some_rows(X.shape[0], SAMPLE))))
    left = np.count_nonzero(varying & ~kept)
    few = np.count_nonzero(kept) < 2 or left < _NOISY * np.count_nonzero(varying)
    return None if few else kept


def number_of_clusters(
    model: Any, X: Rows | BlockRows, compared: Callable[..., Any] | None, largest: bool = False
) -> int:
    """The number of clusters of a model: given, or where it is "auto" the one with the best score.

    ``compared(model, X, numbers)`` has numbers and their scores, which `n_clusters_path_` then is;
    it is None where the number must be given. The smallest of all but equal scores is taken, or
    the ``largest``.
    """
    if compared is None or not (isinstance(model.n_clusters, str) and model.n_clusters == "auto"):
        return _given_number(model.n_clusters, X, "" if compared is None else ", or 'auto'")
    if isinstance(X, BlockRows):
        raise InvalidParameterError(
            "n_clusters='auto' needs all rows at once, not a Dask collection; give a number."
        )
    most = min(_MOST, different_rows(X, _MOST + 1) - 1)
    if most < 2:
        raise InvalidInputError(
            "n_clusters='auto' needs three different rows at least; give n_clusters, or more rows."
        )
    path = model.n_clusters_path_ = compared(model, X, np.arange(2, most + 1))
    enough = np.flatnonzero(path["score"] >= path["score"].max() - _TIE)
    return int(path["n_clusters"][enough[-1 if largest else 0]])


def _given_number(k: Any, X: Rows | BlockRows, or_auto: str) -> int:
    """The number, or an error where it is none, or more than there are different rows."""
    if not (is_whole(k) and 1 <= k <= X.shape[0]):
        raise InvalidParameterError(
            f"n_clusters={k!r} must be a whole number from 1 to the number of rows, "
            f"{X.shape[0]}{or_auto}."
        )
    found = k if isinstance(X, BlockRows) else different_rows(X, k)
    if found < k:
        rows = "The rows of X are all the same" if found == 1 else f"X has {found} different rows"
        raise InvalidInputError(
            f"{rows}, and n_clusters={k} asks for more; use fewer clusters, or give rows that "
            "differ."
        )
    return int(k)
