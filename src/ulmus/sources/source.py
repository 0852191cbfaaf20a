"""The data of a method: sums of all rows, a sample of rows, and all rows while they are kept.

A method reads a source and never an estimator, so it is the same in memory, on a stream and on Dask
blocks. A method that needs all rows raises an error where only sums are left.

Hidden units are not linear in their inputs, so sums over them cannot be rescaled. So rows are kept
at first, and rows that come in batches go through three stages:

1. Up to as many rows as units, at least 1000: every update is a fit on all rows. The map is drawn
   again from the same seed, with the scale of all rows, and C is chosen by leaving out each.
2. Up to 20 000 rows: sums are kept beside the rows, and an update is added to them. All rows are
   fitted again whenever ten come together, or a twentieth of the rows or of the weight is new, or
   new rows change the scale.
3. Past that: the map stays as it is, and a sample of the rows is kept. C is chosen again, by
   leaving out the rows of the sample from the sums of all rows, when a twentieth of the weight is
   new.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.utils import get_tags

from ulmus.backends.namespace import all_finite, gathered, namespace, placed
from ulmus.exceptions import InvalidInputError, RowsGoneError
from ulmus.features.hidden_layer import layer_of, layer_to_fit
from ulmus.features.scaling import ColumnStatistics
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, sample_rows
from ulmus.problem import Moments, Problem
from ulmus.reservoir import Reservoir, most_kept, most_refitted
from ulmus.sources.sums import ClassSums, batch_moments, remaining
from ulmus.targets import Targets
from ulmus.typing import Rows

# X, y and the weights, None for ones.
Batch = tuple[Rows, Any, np.ndarray | None]

# Leaving out every row costs two Gram matrices' worth of work. Past the first
# number of rows, a random sample of the second size gives the same curve.
_LOO_ALL = 20_000
_LOO_SAMPLE = 10_000
# A temperature, and the scales and biases of classes, are fitted to these: with 500 the log loss of
# ten classes and more was no better than by a temperature alone.
_CALIBRATION = 1000


@dataclass(frozen=True)
class Sample:
    """Rows that are left out to choose C (None: all), and rows that calibrate probabilities.

    The problem's weights make its rows represent all rows. ``classes`` are the sums of every class
    over all rows, where they are known.
    """

    problem: Problem
    left: np.ndarray | None
    calibration: np.ndarray
    classes: ClassSums | None = None

    def class_sums(self) -> ClassSums | None:
        """The sums of every class, where leaving a row out changes the class weights."""
        known, problem = self.classes, self.problem
        return ClassSums(problem) if known is None and problem.reweighs else known


class Source(Protocol):
    """Where rows come from."""

    @property
    def at_hand(self) -> bool:
        """Whether `rows` gives them all."""

    def moments(self) -> Moments:
        """The sums over all rows."""

    def sample(self) -> Sample:
        """Some of the rows, or all."""

    def rows(self) -> Problem:
        """All rows; raises `RowsGoneError` where they are gone."""


@dataclass(frozen=True)
class AtHand:
    """Rows that are all in memory, on the host or on a device."""

    problem: Problem
    seed: int = 0
    calibrating: int = _CALIBRATION

    @property
    def at_hand(self) -> bool:
        return True

    def moments(self) -> Moments:
        return self.problem.moments()

    def sample(self) -> Sample:
        n = len(self.problem.H)
        calibration = calibration_rows(n, self.seed, self.calibrating)
        return Sample(self.problem, left_out_rows(n, self.seed), calibration)

    def rows(self) -> Problem:
        return self.problem


@dataclass(frozen=True)
class Summed:
    """Sums over all rows, and a sample; ``whole`` gives all rows, where they are kept."""

    sums: Moments
    some: Sample
    whole: Callable[[], Problem] | None = None

    @property
    def at_hand(self) -> bool:
        return self.whole is not None

    def moments(self) -> Moments:
        return self.sums

    def sample(self) -> Sample:
        return self.some

    def rows(self) -> Problem:
        if self.whole is None:
            raise RowsGoneError(
                "This method needs all rows at once, and of these only sums and a sample are kept. "
                "Fit rows that are all in memory, or use a method that works from sums."
            )
        return self.whole()


@dataclass(frozen=True)
class OnGraph:
    """The labelled rows, all rows, and their graph.

    ``some`` are the hidden rows that have a label, ``known`` their numbers, and ``weight`` their
    weights at C = 1. ``every`` is a ``Hidden`` or ``HiddenBlocks``; ``basis`` is given for rows
    that were fitted before. ``held`` are validation rows and their targets, and ``watch`` is called
    with the progress of a pass.
    """

    some: Hidden
    known: np.ndarray
    targets: Targets
    weight: np.ndarray
    laplacian: Laplacian
    every: Any = None
    basis: Any = None
    held: tuple[Hidden, Targets] | None = None
    watch: Callable[[float, float | None], None] | None = None

    def labelled(self) -> Problem:
        """The rows that have a label, as a supervised problem."""
        X = self.some.X
        return Problem(self.some, self.targets.placed(X), placed(self.weight, X))

    def rows(self) -> Any:
        """All hidden rows."""
        return self.every


@dataclass(frozen=True)
class Gathered:
    """Rows that are ready to be fitted.

    ``known`` is the summary of their targets, ``features`` the map that was fitted to them, and
    ``source`` makes a source of them under a map. ``kept`` are the rows to keep, to which ``fresh``
    is added after the fit. ``rows`` is the number of rows where the source has only a sample, and
    ``summed`` says whether sums are kept beside the rows.
    """

    known: Any
    features: Any
    source: Callable[[Any, Any], Source]
    kept: Reservoir
    fresh: tuple[Any, ...] = ()
    rows: float | None = None
    summed: bool = True

    def remembered(self) -> Reservoir:
        """The rows that are kept after the fit."""
        return (self.kept.add(*self.fresh) if self.fresh else self.kept).refitted()


def refuse_sums(method: Any) -> None:
    """Refuse a method that needs all rows, before they are summed and dropped."""
    if method.needs_rows:
        raise RowsGoneError(
            f"{type(method).__name__} needs all rows at once, and these are so many that only sums "
            "and a sample of them are kept. Fit them from memory, or fit fewer rows."
        )


def calibration_rows(n_rows: int, seed: int, most: int = _CALIBRATION) -> np.ndarray:
    """The rows whose left-out decision values are wanted."""
    if n_rows == 0:
        return np.empty(0, dtype=np.intp)
    return np.sort(sample_rows(seed, min(n_rows, most), n_rows))


def left_out_rows(n_rows: int, seed: int) -> np.ndarray | None:
    """The rows to leave out one at a time, or None for all of them."""
    return None if n_rows <= _LOO_ALL else np.sort(sample_rows(seed + 1, _LOO_SAMPLE, n_rows))


@dataclass(frozen=True)
class RowsSoFar:
    """The state of a fit to rows that arrive in parts.

    ``model`` gives its parameters, its checks and its method; its fitted attributes are not read.
    ``known`` is the summary of all targets so far, ``kept`` are all rows or a sample, ``features``
    is the fitted map, and ``sums`` are None as long as all rows are kept and fitted together.
    """

    model: Any
    known: Any
    kept: Reservoir
    features: Any = None
    sums: Moments | None = None

    # ------------------------------------------------------------------ as a source
    def problem(
        self, features: Any, X: Rows, y: Any, weight: np.ndarray | None, **more: Any
    ) -> Problem:
        """Rows under a map."""
        H = Hidden(layer_to_fit(features, X, self.model.dtype), X)
        return self.known.problem(y, weight, **more).over(H)

    def mapped(
        self, X: Rows, y: Any, weight: np.ndarray | None, columns: ColumnStatistics | None = None
    ) -> Any:
        """The map of the model, fitted to rows; ``columns`` are of all where these are a sample."""
        return self.model._fitted_map(self.known, (X, y, weight), columns, self.kept.seed)

    def capacity(self, X: Rows) -> int:
        """How many rows like X are kept beside the units of the map."""
        return most_kept(layer_of(self.features, X, self.model.dtype).width, X)

    def at_hand(self, new: Batch | None = None, stream: bool = False) -> Gathered:
        """All rows and their map: the ``new`` rows, or those that are kept.

        A ``stream`` keeps more rows than are needed beside sums. Without it no rows will follow,
        and balanced class weights are those without the row that is left out.
        """
        X, y, weight = new or self.kept.rows()
        known = self.known if stream else self.model._known().surveyed(y, weight).checked()
        rows = replace(self, known=known)
        if not _stays(self.features):
            rows = replace(rows, features=rows.mapped(X, y, weight))
        capacity = rows.capacity(X)
        if X.shape[0] > (most_refitted(capacity, X) if stream else capacity):
            if stream and not new:
                refuse_sums(self.model._method())
            rows = replace(rows, kept=self.kept.limited(capacity))

        def source(features: Any, watch: Any) -> AtHand:
            problem = rows.problem(features, X, y, weight, whole=not stream)
            return AtHand(replace(problem, H=replace(problem.H, watch=watch)), rows.kept.later_seed)

        summed = X.shape[0] > capacity
        return Gathered(known, rows.features, source, rows.kept, new or (), summed=summed)

    def summed(self, features: Any, choose: bool = True) -> Summed:
        """The sums, and the sample that rows are left out of where C is to be chosen."""
        assert self.sums is not None
        kept = self.kept.limited(self.capacity(self.kept.X))
        problem, odds = self.problem(features, *kept.rows()), kept.odds()
        if odds is not None:
            # Inverse sampling probabilities: the rows of the sample then represent all rows.
            problem = replace(problem, weight=problem.weight * placed(odds, problem.weight))
        calibration = calibration_rows(len(kept) if choose else 0, kept.later_seed)
        whole = partial(self.problem, features, *self.kept.rows()) if self.kept.complete else None
        sums = self.sums.first(problem.H.width)
        return Summed(sums, Sample(problem, None, calibration), whole)

    def gathered(self) -> Gathered:
        """The sums, ready to be fitted."""

        def source(features: Any, watch: Any) -> Summed:
            return self.summed(features)

        return Gathered(self.known.checked(), self.features, source, self.kept, rows=np.inf)

    def left_out(self, most: int) -> tuple[Source, np.ndarray]:
        """The kept rows as a source with at most ``most`` calibration rows, and the rows' weights.

        Where all rows are kept, balanced class weights are those without the row that is left out.
        """
        capacity = self.capacity(self.kept.X)
        kept = self.kept if self.sums is None else self.kept.limited(capacity)
        odds = kept.odds()
        count = kept.weight if odds is None else kept.weight * odds
        rows = replace(self, kept=kept, known=self.known.surveyed(kept.y, count))
        if self.sums is None:
            problem = rows.problem(self.features, *kept.rows(), whole=True)
            return AtHand(problem, kept.later_seed, most), count
        source = rows.summed(self.features)
        chosen = calibration_rows(len(kept), kept.later_seed, most)
        return replace(source, some=replace(source.some, calibration=chosen)), count

    # ------------------------------------------------------------------ rows added and removed
    def met(self, y: np.ndarray) -> "RowsSoFar":
        """With the targets of a batch; new classes add columns to the sums."""
        known = self.known.met(y)
        sums = self.sums if self.sums is None else known.moved(self.sums, self.known)
        return replace(self, known=known, sums=sums)

    def with_sums(self, problem: Problem) -> "RowsSoFar":
        """With the sums of a batch."""
        # Overflow is refused below, so it needs no warning.
        with np.errstate(over="ignore", invalid="ignore"):
            new = batch_moments(problem)
            sums = new if self.sums is None else self.sums + new
        # By Cauchy and Schwarz no other sum is larger.
        squares = namespace(sums.gram).linalg.diagonal(sums.gram)
        if not (all_finite(squares) and all_finite(sums.energy)):
            raise InvalidInputError(
                "The sums of all rows so far are not finite: numbers in X, y or sample_weight are "
                "too large for sums of their squares. Divide them by a constant."
            )
        return replace(self, sums=sums)

    def without(self, X: Rows, y: Any, weight: np.ndarray | None) -> "RowsSoFar":
        """Without some checked rows; refuses rows that cannot have been fitted."""
        self.known.recalled(y)
        X = gathered(X)
        kept, missing = self.kept.without(X, y, weight)
        if kept.complete:
            _check_found(self.kept, kept, missing, X.shape[0])
            known = self.known.without(y, kept.y)
            if known is not self.known or kept.stale or self.sums is None:
                return replace(self, known=known, kept=kept, sums=None)
        batch = self.problem(self.features, X, y, weight).moments()
        assert self.sums is not None  # where rows are gone
        return replace(self, kept=kept, sums=remaining(self.sums, batch))

    def faded(self, decay: float) -> "RowsSoFar":
        """With the weights of all rows so far multiplied."""
        sums = None if self.sums is None else decay * self.sums
        return replace(self, kept=self.kept.faded(decay), sums=sums)


def _stays(features: Any) -> bool:
    """Whether a map is of the rows that were first fitted, as that of a kernel matrix is."""
    return hasattr(features, "__sklearn_tags__") and get_tags(features).input_tags.pairwise


def _check_found(before: Reservoir, after: Reservoir, missing: int, count: int) -> None:
    """Refuse to forget all rows, or rows that are not among the kept ones."""
    if not len(after) or count > len(before):
        raise InvalidInputError(
            f"Forgetting {count} of {len(before)} rows leaves none to fit. Forget fewer rows, or "
            "fit a new model."
        )
    if missing:
        raise InvalidInputError(
            f"{missing} of the {count} rows to forget were not fitted, or with another target or "
            "less weight. Forget rows as they were fitted, with the weight that decay= has left "
            "them."
        )
