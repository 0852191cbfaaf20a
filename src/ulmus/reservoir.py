"""The rows of a stream that a model keeps: all of them while they are few, then a fair sample.

Each row has an exponential random number e, drawn by the seed and its position in the stream, and
the key e / weight. The rows with keys below a threshold are kept. The threshold is lowered so that
they are at most ``capacity``, and a row is kept with probability 1 − exp(−weight · threshold),
whenever it came (Efraimidis and Spirakis, 2006). Multiplying all weights by a factor divides all
keys and the threshold by it. Removing rows leaves the threshold as it is, so the sample stays fair.
As long as all rows are kept, the threshold is infinite.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ulmus.backends.namespace import (
    is_numpy,
    is_sparse,
    namespace,
    on_host,
    placed,
    row_bytes,
    same_place,
    take,
)
from ulmus.fitted import OnDevice
from ulmus.hidden import most_rows, row_blocks
from ulmus.typing import Rows

# Fewest rows that are kept: so many determine the inputs' scale and C.
_LEAST = 1000
# Rows over which gradients are averaged.
SOME_ROWS = 1000
# Bytes of rows that are collected before they are fitted together.
_BYTES = 32 * 2**20
# Most rows that a stream fits again as it grows: as many as a fit leaves out one at a time.
_REFITTED = 20_000
# Rows whose keys are drawn together, so that ten million rows need no array of that length.
_STEP = 2**18
# Rows with less than this part of the largest weight are below the rounding of any sum.
_FADED = 1e-16
# Part of the weight that must be added or removed before C is chosen again.
_STALE = 0.05
# Where all rows are kept, all are fitted again once this part of them is new, and at least so many;
# or so many came together. Of streams row by row, scores were as often above as below those of a
# fit on the same rows.
_NEW_PART, _NEW = 0.05, 10
# Relative difference of weights that were multiplied in another order.
_CLOSE = 1e-9


def most_kept(width: int, X: Rows) -> int:
    """How many rows like X are kept beside ``width`` units: as many, and at least 1000.

    They are never more than scikit-learn's ``working_memory`` holds.
    """
    return max(1, min(max(width, _LEAST), most_rows(1, _row_bytes(X))))


def most_collected(X: Rows) -> int:
    """How many rows like X are collected, to be fitted together: 32 MiB of them."""
    room = min(_BYTES, most_rows(1, 1))
    return max(room // _row_bytes(X), most_kept(0, X))


def most_refitted(capacity: int, X: Rows) -> int:
    """How many rows like X a stream keeps before it turns to a sample of ``capacity`` rows."""
    return max(capacity, min(_REFITTED, most_collected(X)))


def _row_bytes(X: Rows) -> int:
    """How much memory a row like those of X takes, at most or on average."""
    return 16 * (X.nnz // max(X.shape[0], 1) + 1) if is_sparse(X) else 8 * max(X.shape[1], 1)


@dataclass(frozen=True)
class Reservoir:
    """Rows X with their targets ``y`` and weights, and the state of the sampling.

    ``draw`` is e of each row, ``seen`` the number of rows so far, and ``settled`` that number when
    all rows were last fitted together. ``total`` is the weight of all rows so far, and ``fresh``
    the weight added or removed since C was chosen. ``capacity`` None keeps every row.
    """

    seed: int
    capacity: int | None = None
    X: OnDevice[Rows] = None
    y: Any = None
    weight: np.ndarray = field(default_factory=lambda: np.empty(0))
    draw: np.ndarray = field(default_factory=lambda: np.empty(0))
    threshold: float = np.inf
    seen: int = 0
    total: float = 0.0
    fresh: float = 0.0
    settled: int = 0

    def __len__(self) -> int:
        return len(self.weight)

    def __repr__(self) -> str:
        return f"Reservoir({len(self)} of {self.seen} rows)"

    @property
    def later_seed(self) -> int:
        """The seed of draws after the map: the rows that are left out, a sketch."""
        return int(check_random_state(self.seed).randint(2**31 - 2))

    @property
    def complete(self) -> bool:
        """Whether every row that was fitted is kept."""
        return self.threshold == np.inf

    @property
    def stale(self) -> bool:
        """Whether enough weight was added or removed to choose C again."""
        return self.fresh > _STALE * self.total

    def grown(self, last: int) -> bool:
        """Whether to fit all rows again, once they were added, ``last`` of them together."""
        return last >= _NEW or self.seen - self.settled >= max(_NEW, _NEW_PART * self.settled)

    def rows(self) -> tuple[Rows, Any, np.ndarray | None]:
        """X, y and the weights, None where all are one."""
        return self.between(0, len(self))

    def between(self, first: int, last: int) -> tuple[Rows, Any, np.ndarray | None]:
        """Some of the rows, by their numbers, as `rows` gives them all."""
        part, weight = slice(first, last), self.weight[first:last]
        return take(self.X, part), self.y[part], None if (weight == 1.0).all() else weight

    def first(self, count: int) -> "Reservoir":
        """The reservoir when it had so many rows, of which all are kept."""
        if count == len(self):
            return self
        kept = self._taken(np.arange(count), self.threshold)
        return replace(kept, seen=self.seen - len(self) + count)

    def odds(self) -> np.ndarray | None:
        """Inverse probabilities of being kept, scaled to mean one; None where all are equal.

        Weights multiplied by these represent all rows that were fitted.
        """
        if self.complete or len(self) == 0 or (self.weight == self.weight[0]).all():
            return None
        odds = -1.0 / np.expm1(-self.weight * self.threshold)
        return odds / odds.mean()

    def sample(self) -> tuple[Rows, np.ndarray]:
        """X, and the share of all weight that each of its rows represents; they sum to one."""
        odds = self.odds()
        share = self.weight if odds is None else self.weight * odds
        return self.X, share / share.sum()

    # ------------------------------------------------------------------ rows added
    def add(
        self, X: Rows, y: np.ndarray, weight: np.ndarray | None = None, population: int = 0
    ) -> "Reservoir":
        """With more rows, of which some may not be kept; those that are kept are copied.

        Rows drawn uniformly from a larger ``population`` are treated as if the rest of it had the
        largest e.
        """
        weight = np.ones(X.shape[0]) if weight is None else weight
        share, kept = min(X.shape[0] / max(population, 1), 1.0), self
        if share < 1.0:
            farthest = -np.log1p(-share) / weight.max()
            kept = replace(self, threshold=min(self.threshold, farthest))
        for rows in row_blocks(X.shape[0], _STEP):
            kept = kept._added(X, y, weight, rows, share)
        return kept

    def _added(
        self, X: Rows, y: np.ndarray, weight: np.ndarray, rows: slice, share: float
    ) -> "Reservoir":
        c, draw = weight[rows], self._draws(rows.stop - rows.start, share)
        keys = np.concatenate([self._keys, draw / c])
        limit = self._limit(keys)
        below = keys < limit
        before, new = np.flatnonzero(below[: len(self)]), np.flatnonzero(below[len(self) :])
        kept, more = self._taken(before, limit), float(c.sum()) / share
        seen = self.seen + round(len(c) / share)
        kept = replace(kept, seen=seen, total=self.total + more, fresh=self.fresh + more)
        if not len(new):
            return kept
        X, y = _copied(X, rows, new), _copied(y, rows, new)
        if len(kept):
            X, y = _below(kept.X, X), _after(kept.y, y)
        weight = np.concatenate([kept.weight, c[new]])
        return replace(kept, X=X, y=y, weight=weight, draw=np.concatenate([kept.draw, draw[new]]))

    def _draws(self, count: int, share: float) -> np.ndarray:
        """e of the next rows: the same however the stream is cut into batches."""
        places = np.random.PCG64(self.seed).advance(self.seen)
        return -np.log1p(-share * np.random.Generator(places).random(count))

    def limited(self, capacity: int) -> "Reservoir":
        """The same rows, or as many of them as the capacity allows."""
        kept = replace(self, capacity=capacity)
        limit = kept._limit(self._keys)
        return kept._taken(np.flatnonzero(self._keys < limit), limit)

    @property
    def _keys(self) -> np.ndarray:
        return self.draw / self.weight

    def _limit(self, keys: np.ndarray) -> float:
        """The threshold that leaves no more rows than there is room for."""
        if self.capacity is None or np.sum(keys < self.threshold) <= self.capacity:
            return self.threshold
        return float(np.partition(keys, self.capacity)[self.capacity])

    def _taken(self, rows: np.ndarray, threshold: float) -> "Reservoir":
        if len(rows) == len(self):
            return replace(self, threshold=threshold)
        parts = {name: take(getattr(self, name), rows) for name in ("X", "y", "weight", "draw")}
        return replace(self, **parts, threshold=threshold)

    # ------------------------------------------------------------------ rows removed
    def faded(self, decay: float) -> "Reservoir":
        """The same rows with weights multiplied by ``decay``; negligible rows are dropped."""
        alive = np.flatnonzero(self.weight > _FADED * self.weight.max(initial=0.0))
        kept = self._taken(alive, self.threshold / decay)
        faded = {name: decay * getattr(kept, name) for name in ("weight", "total", "fresh")}
        return replace(kept, **faded)

    def without(
        self, X: Rows, y: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple["Reservoir", int]:
        """Without these rows; and the number of these that are not kept with as much weight.

        Of equal rows the last one is removed first.
        """
        here: dict[Hashable, list[int]] = {}
        for place, name in enumerate(_names(self.X, self.y)):
            here.setdefault(name, []).append(place)
        left, missing = self.weight.copy(), 0
        asked = np.ones(X.shape[0]) if weight is None else weight
        for name, rest in zip(_names(_like(X, self.X), y), asked.tolist(), strict=True):
            missing += not _drawn_off(left, here.get(name, []), rest)
        less = float(asked.sum())
        kept = replace(self, weight=left, total=self.total - less, fresh=self.fresh + less)
        return kept._taken(np.flatnonzero(left), self.threshold), missing

    def judged(self) -> "Reservoir":
        """The same rows, after C was chosen."""
        return replace(self, fresh=0.0)

    def refitted(self) -> "Reservoir":
        """The same rows, after all were fitted together and C was chosen."""
        return replace(self, fresh=0.0, settled=self.seen)


def some_kept(X: Rows, weight: np.ndarray | None = None) -> Reservoir:
    """A sample of the rows to average gradients over."""
    return Reservoir(0, SOME_ROWS).add(X, np.zeros(X.shape[0], np.int8), weight)


def _drawn_off(weight: np.ndarray, places: list[int], amount: float) -> bool:
    """Subtract an amount from the weights at these places, the last first; False if it is less."""
    rest = amount
    while places and rest > _CLOSE * amount:
        part = min(rest, weight[places[-1]])
        rest -= part
        weight[places[-1]] -= part
        if weight[places[-1]] <= _CLOSE * amount:
            weight[places.pop()] = 0.0
    return rest <= _CLOSE * amount


def _names(X: Rows, y: np.ndarray) -> list[Hashable]:
    """What two rows are compared by: their values, and their target."""
    targets = [tuple(t) if isinstance(t, list) else t for t in y.tolist()]
    return list(zip(row_bytes(on_host(X)), targets, strict=True))


def _copied(X: Rows, rows: slice, chosen: np.ndarray) -> Rows:
    """Some of these rows, in memory of their own."""
    every = len(chosen) == rows.stop - rows.start
    X = take(X, rows if every else rows.start + chosen)
    if not is_numpy(X):
        return namespace(X).asarray(X, copy=True) if every else X
    X = X if is_sparse(X) else np.asarray(X)
    # In native byte order, and in a precision that is supported.
    rare = X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8)
    return X.astype(float if rare else X.dtype.newbyteorder("="), copy=every)


def _below(X: Rows, more: Rows) -> Rows:
    """Rows one below the other, sparse or dense as the earlier ones are."""
    more = _like(more, X)
    if is_sparse(X):
        return sp.vstack([X, more], format="csr")
    same_place(X=more, earlier_rows=X)
    X, more = (X, placed(more, X)) if is_numpy(more) else (placed(X, more), more)
    return np.concatenate([X, more]) if is_numpy(X) else namespace(X).concat([X, more])


def _like(X: Rows, other: Rows) -> Rows:
    """X, sparse if ``other`` is and dense if it is not."""
    if is_sparse(X) == is_sparse(other):
        return X
    return X.toarray() if is_sparse(X) else sp.csr_array(on_host(X))


def _after(y: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Targets one after the other; labels of several kinds keep their types."""
    if (y.dtype.kind in "biuf") != (more.dtype.kind in "biuf"):
        y, more = y.astype(object), more.astype(object)
    return np.concatenate([y, more.reshape(len(more), *y.shape[1:])])
