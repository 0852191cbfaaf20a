"""What a method sees of its data: sums of all rows, some rows, and all of them while they last.

A method asks a source and never an estimator, so it is the same in memory, on a stream and on Dask
blocks. One that needs rows which are gone gets an error, and no other method in its place.

Hidden units are not linear in their inputs, so sums over them cannot be rescaled. So rows are kept
at first, and rows that come in batches go through three stages:

1. Up to as many rows as units, at least 1000: every update is a fit on all rows. The map is drawn
   again from the same seed, with the scale of all rows, and C is chosen by leaving out each.
2. Up to 20 000 rows: there are sums beside the rows, to which an update is added. All rows are
   fitted again whenever ten are new, or a twentieth of the weight, or new ones move the scale.
3. Past that: the map stays as it is, and of the rows a sample. C is chosen again, by leaving out
   the rows of the sample from the sums of all rows, when a twentieth of the weight is new.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from sklearn.utils import get_tags

from ulmus.backends.namespace import all_finite, gathered, namespace, placed
from ulmus.exceptions import InvalidInputError, RowsGoneError
from ulmus.features.hidden_layer import layer_of, layer_to_fit, scale_moves
from ulmus.features.scaling import ColumnStatistics
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, sample_rows
from ulmus.problem import Moments, Problem
from ulmus.reservoir import Reservoir, most_kept, most_refitted
from ulmus.sources.class_sums import ClassSums
from ulmus.sources.forgetting import check_found, remaining
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
    """Rows to judge a fit by: those that are left out (None: all), and those that calibrate.

    The problem's weights make its rows stand for all. ``classes`` are sums over all rows of every
    class, where the weights follow the classes' sizes.
    """

    problem: Problem
    left: np.ndarray | None
    calibration: np.ndarray
    classes: ClassSums | None = None

    def with_class_sums(self) -> "Sample":
        """The same with sums of every class, where a row that leaves changes their weights."""
        if self.classes is not None or not self.problem.reweighs:
            return self
        return replace(self, classes=ClassSums(self.problem))


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
    """Rows that are all at hand, on the host or on a device."""

    problem: Problem
    seed: int = 0
    calibrating: int = _CALIBRATION

    @property
    def at_hand(self) -> bool:
        """Yes."""
        return True

    def moments(self) -> Moments:
        """One pass over the rows."""
        return self.problem.moments()

    def sample(self) -> Sample:
        """All rows; of very many, some are left out."""
        n = len(self.problem.H)
        calibration = calibration_rows(n, self.seed, self.calibrating)
        return Sample(self.problem, left_out_rows(n, self.seed), calibration)

    def rows(self) -> Problem:
        """The rows."""
        return self.problem


@dataclass(frozen=True)
class Summed:
    """Sums of rows that have gone by, and a sample of them; ``whole`` gives all that are kept."""

    sums: Moments
    some: Sample
    whole: Callable[[], Problem] | None = None

    @property
    def at_hand(self) -> bool:
        """Whether all rows are kept beside the sums."""
        return self.whole is not None

    def moments(self) -> Moments:
        """The sums."""
        return self.sums

    def sample(self) -> Sample:
        """The sample."""
        return self.some

    def rows(self) -> Problem:
        """All rows, while they are kept."""
        if self.whole is None:
            raise RowsGoneError(
                "This method needs all rows at once, and of these only sums and a sample are kept. "
                "Fit rows that are all in memory, or use a method that works from sums."
            )
        return self.whole()


@dataclass(frozen=True)
class OnGraph:
    """The labelled rows, all rows, and their graph.

    ``some`` are the hidden rows that are ``known`` by a label; ``weight`` is what each of them
    weighs at C = 1. ``every`` is a ``Hidden``, or ``HiddenBlocks``; ``basis`` is known of rows that
    were fitted before. ``held`` are hidden rows to validate by and their targets, and ``watch`` is
    called with the progress of a pass.
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

    ``known`` is what their targets have in common, ``source`` gives them under a map, and
    ``features`` is the one that was fitted to them. ``kept`` are to be kept, and ``fresh`` is added
    to these after the fit. ``rows`` is how many there are, where the source's sample is some of
    them, and ``summed`` says that sums are to be kept beside those rows.
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
    """What is known of the rows that have come.

    ``model`` is asked for its parameters, its checks and its method, and never for what it has
    fitted. ``known`` is what their targets have in common, ``kept`` are all rows or a sample,
    ``features`` the fitted map, and ``sums`` are None while there is no need of them.
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
        """All rows, and their map: ``new`` ones, that are kept after the fit, or those kept.

        A ``stream`` keeps more rows than are needed beside sums. Where it is none, these rows are
        all there will be, and the weights that balance classes follow those that are left out.
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
            # With these weights the rows of the sample stand for all.
            problem = replace(problem, weight=problem.weight * placed(odds, problem.weight))
        calibration = calibration_rows(len(kept) if choose else 0, kept.later_seed)

        def whole() -> Problem:
            return self.problem(features, *self.kept.rows())

        sums = self.sums.first(problem.H.width)
        rows = whole if self.kept.complete else None
        return Summed(sums, Sample(problem, None, calibration), rows)

    def left_out(self, most: int) -> tuple[Source, np.ndarray]:
        """The rows that are kept, at most so many of them to calibrate, and how much each counts.

        Weights that balance classes follow those that are left out where all rows are here.
        """
        capacity = self.capacity(self.kept.X)
        kept = self.kept if self.sums is None else self.kept.limited(capacity)
        odds = kept.odds()
        count = kept.weight if odds is None else kept.weight * odds
        rows = replace(self, kept=kept, known=self.known.surveyed(kept.y, count))
        if self.sums is None:
            problem = rows.problem(self.features, *kept.rows(), whole=True)
            return AtHand(problem, kept.later_seed, most), count
        source, chosen = (
            rows.summed(self.features),
            calibration_rows(len(kept), kept.later_seed, most),
        )
        return replace(source, some=replace(source.some, calibration=chosen)), count

    # ------------------------------------------------------------------ rows that come and go
    def met(self, y: np.ndarray) -> "RowsSoFar":
        """Once the targets of a batch are known, for which the sums may need more columns."""
        known = self.known.met(y)
        sums = self.sums if self.sums is None else known.moved(self.sums, self.known)
        return replace(self, known=known, sums=sums)

    def with_rows(self, X: Rows, y: Any, weight: np.ndarray | None) -> "RowsSoFar":
        """With more rows, that are checked; without sums where all are to be fitted again."""
        met, complete = self.met(y), self.kept.complete
        kept = (self.kept.unlimited() if complete else self.kept).add(X, y, weight)
        again = self.sums is None or kept.grown or kept.stale
        if complete and (again or scale_moves(self.features, X, weight)):
            return replace(met, kept=kept, sums=None)
        return replace(met, kept=kept).with_sums(met.problem(self.features, X, y, weight))

    def with_sums(self, problem: Problem) -> "RowsSoFar":
        """With the sums of a batch."""
        # What overflows is refused below, and needs no warning.
        with np.errstate(over="ignore", invalid="ignore"):
            sums = problem.moments() if self.sums is None else self.sums + problem.moments()
        # Every other sum is at most the root of two of these.
        squares = namespace(sums.gram).linalg.diagonal(sums.gram)
        if not (all_finite(squares) and all_finite(sums.energy)):
            raise InvalidInputError(
                "The sums of all rows so far are not finite: numbers in X, y or sample_weight are "
                "too large for sums of their squares. Bring them nearer to one."
            )
        return replace(self, sums=sums)

    def without(self, X: Rows, y: Any, weight: np.ndarray | None) -> "RowsSoFar":
        """Less some rows, that are checked; refuses rows that cannot have been fitted."""
        self.known.recalled(y)
        X = gathered(X)
        kept, missing = self.kept.without(X, y, weight)
        if kept.complete:
            check_found(self.kept, kept, missing, X.shape[0])
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
