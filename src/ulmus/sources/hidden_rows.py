"""Hidden rows without targets: a sample that fits in memory, and sums over all of them."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.distributed.rows import BlockRows
from ulmus.features.hidden_layer import layer_of
from ulmus.hidden import Hidden, most_rows, sample_rows
from ulmus.typing import DType, Rows

_LOG = logging.getLogger(__name__)
# Rows of a Dask collection that are fetched to start from.
_SAMPLE = 20_000


@dataclass(frozen=True)
class HiddenRows:
    """Hidden rows in memory; where they do not fit, a sample stands for all."""

    H: Hidden

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return self.H.width

    def sample(self, least: int, seed: int) -> tuple[Hidden, bool]:
        """The rows, or as many as fit and at least so many; and that no more of them are needed."""
        H, most = self.H, max(least, most_rows(self.H.width, self.H.itemsize))
        if len(H) <= most:
            return H, True
        _LOG.info("Clusters are found on %d of %d rows, as many as fit.", most, len(H))
        return H.take(np.sort(np.random.RandomState(seed).permutation(len(H))[:most])), True

    def total(self, function: Callable[[Hidden], Any]) -> Any:
        """The function of all rows."""
        return function(self.H)


@dataclass(frozen=True)
class HiddenBlocks:
    """Hidden rows of the blocks of a Dask collection, under a map that is fitted."""

    rows: BlockRows
    features: Any
    dtype: DType

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return layer_of(self.features, self.rows.example, self.dtype).width

    def sample(self, least: int, seed: int) -> tuple[Hidden, bool]:
        """At most 20 000 rows or so many, in this process; and whether these are all."""
        n, most = len(self.rows), max(_SAMPLE, least)
        X = self.rows[slice(None) if n <= most else np.sort(sample_rows(seed, most, n))]
        return Hidden(layer_of(self.features, X, self.dtype), X), n <= most

    def total(self, function: Callable[[Hidden], Any]) -> Any:
        """The sum over blocks of a function of their rows."""
        task = self.rows.total(_of_block, self.features, self.dtype, function)
        return self.rows.compute(task)[0]


def _of_block(
    X: Rows, y: Any, weight: Any, estimator: Any, features: Any, dtype: DType, function: Any
) -> Any:
    """A block's part of a sum; y, the weights and the estimator are not used."""
    return function(Hidden(layer_of(features, X, dtype), X))
