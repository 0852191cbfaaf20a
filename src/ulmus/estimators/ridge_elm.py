"""What every estimator with one ridge solve shares."""

from abc import ABCMeta, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from ulmus.arguments import check_known
from ulmus.backends.namespace import is_collection
from ulmus.calibration import in_rows
from ulmus.estimators.importances import feature_importances
from ulmus.estimators.intervals import MOST_LEFT_OUT, Jackknife, LeftOut, effects
from ulmus.estimators.layer_choice import fitted_layer, weighing_factor
from ulmus.exceptions import InvalidInputError, InvalidParameterError, RowsGoneError
from ulmus.features.base import FeatureMap
from ulmus.features.hidden_layer import HiddenModel
from ulmus.features.row_units import RowFeatures
from ulmus.fitted import (
    CallbackSupportMixin,
    ForUpdate,
    MadeAgain,
    OnDevice,
    as_task,
    atomic,
    declared,
    forget_fit,
    log_facts,
    snapshot,
    watched,
    with_callbacks,
)
from ulmus.kernels.kernel_matrix import Randomized, approximation_of
from ulmus.methods.growing import Growing, grown
from ulmus.methods.randomized import RandomizedRidge
from ulmus.methods.ridge import Method, Ridge, ridge_grid
from ulmus.problem import ErrorPath, Moments, Problem, Solution, Tally
from ulmus.reservoir import Reservoir
from ulmus.sources.batch_sums import fit_batches, is_batches
from ulmus.sources.checkpoint import Checkpoint
from ulmus.sources.hidden_rows import gathered_blocks
from ulmus.sources.source import Batch, Gathered, RowsSoFar
from ulmus.sources.waiting import OF_INPUTS, Waiting
from ulmus.targets import coded, is_balanced, weighted_rows
from ulmus.typing import Rows, Seed

# The fewest units that leave-one-out chooses from.
_NARROWEST = 16
_SOLVERS = ("auto", "primal", "dual")


class RidgeELM(CallbackSupportMixin, HiddenModel, metaclass=ABCMeta):
    """Fit, stream and predict; ``ClassLabels`` or ``ValueLabels`` says what the targets are.

    Parameters
    ----------
    features : feature map, transformer or None, default=None
        Feature map or transformer; it is cloned and fitted. None means `RowFeatures`, whose units
        are drawn from the rows. Leave-one-out on at most 2000 rows chooses its ``node`` and the
        weights of the columns; ``features_.column_weights`` has the weights and
        ``features_.selection_`` says how they were chosen.
    n_hidden : int, "loo" or None, default=None
        Number of units of the default map; None means 1000. "loo" chooses it by leave-one-out among
        the map's own number (2000 by default) and its halves.
    C : "loo", float or array-like, default="loo"
        Inverse regularisation strength; larger values fit the data more closely. "loo" chooses it
        by exact leave-one-out from 25 values; a list replaces these. ``np.inf`` means no
        regularisation (``C_`` = 1e100).
    solver : {"auto", "primal", "dual"} or Randomized, default="auto"
        "primal" factors an h × h matrix, "dual" an n × n one, and "auto" takes the smaller.
        `Randomized` is the randomized ELM, a sketch of HHᵀ or HᵀH. It is here for comparison: the
        primal is faster and exact if HᵀH fits in memory.
    dtype : float32, float64 or None, default=None
        Precision of the hidden rows; None follows the input, but the default layer is fitted in
        float64. Sums and factorisations are in float64 always.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map and of the sample of left-out rows.
    verbose : int, default=0
        If 1, show how many rows are done: a bar on a terminal and in a notebook, else plain lines.

    Attributes
    ----------
    C_ : float
        The value of C that is used.
    solver_ : {"primal", "dual", "spectral", "randomized"}
        How β was found.
    solver_reason_ : str
        Why that solver was used.
    """

    C_: float
    loo_path_: dict[str, np.ndarray]
    loo_score_: float | None
    selection_: str
    solver_: str
    solver_reason_: str
    _moments: ForUpdate[OnDevice[Moments]]
    _kept: ForUpdate[Reservoir]
    _jackknife: MadeAgain[Jackknife]
    _growing: MadeAgain[Growing | None]
    _waiting: MadeAgain[Waiting]
    feature_importances_ = property(feature_importances)

    # ------------------------------------------------------------------ for subclasses
    # For estimators that have a solve of their own and leave no choice.
    solver: str | Randomized = "auto"
    verbose: int = 0
    _default_map: ClassVar[type[FeatureMap]] = RowFeatures

    @abstractmethod
    def _known(self) -> Any:
        """What the targets that were fitted have in common, or those that are to come."""

    @abstractmethod
    def _hold(self, known: Any) -> None:
        """Take what the targets have in common for fitted."""

    def _method(self) -> Method:
        """What finds the output weights: a value that sees rows and sums, and never this object."""
        C = ridge_grid(self.C)
        if isinstance(self.solver, Randomized):
            return RandomizedRidge(C, sketch=self.solver, seed=self._kept.later_seed)
        return Ridge(C, self.solver)

    def _fitted_map(self, known: Any, rows: Any, columns: Any, seed: int) -> Any:
        """The map, fitted to rows whose targets have ``known`` in common."""
        return fitted_layer(self, known, rows, columns, seed)

    def __getattr__(self, name: str) -> Any:
        """A fitted attribute that is not there while rows wait to be fitted; they are first."""
        fitted = name in declared(type(self)) or (name[-1] == "_" and name[0] != "_")
        if "_waiting" in vars(self) and fitted and name not in OF_INPUTS:
            return getattr(snapshot(self), name)
        # Again, for the error: that of a property says more than that it is not there.
        return object.__getattribute__(self, name)

    # ------------------------------------------------------------------ fitting
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
    ) -> Self:
        """Fit the output weights.

        Where the source of the batches fails, the error says at which, and the model is
        fitted to those before it. Any other error leaves the model as it was.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), batches or Dask collection
            The rows. Batches are an iterable of pairs (X, y) or triples
            (X, y, sample_weight), or a function without arguments that makes
            one. Batches of up to 32 MiB together are fitted as rows at hand are. Past
            that, an iterable that can be read twice is: once to learn the inputs'
            scale, once to fit; from an iterator, which cannot, the first 32 MiB set the scale.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets; left out when X is batches, a Dask collection when X is one.
        checkpoint : str or path, default=None
            A file that the sums over the batches are kept in, about once a minute, once
            there are more than 32 MiB of rows. Where it is there already, the fit goes on
            after the batches that it holds, which must be given again. It is removed when
            the fit ends.
        """
        with as_task(self):
            failure = self._fit(X, y, sample_weight, checkpoint, client)
        if failure is not None:
            raise failure
        return self

    @atomic
    def _fit(
        self, X: Any, y: Any, sample_weight: Any, checkpoint: Any, client: Any
    ) -> Exception | None:
        """Fit rows of any kind; give back the error that cut batches short, if one did."""
        forget_fit(self)
        rows = self._so_far()
        if y is None and is_batches(X):
            self._refuse_sketch("rows that come in batches")
            return fit_batches(rows, X, Checkpoint(checkpoint), self._learn)
        if checkpoint is not None:
            raise InvalidParameterError(
                "checkpoint= is for batches; give the rows as ulmus.batches.from_arrays(X, y)."
            )
        if is_collection(X):
            self._refuse_sketch("a Dask collection")
            self._learn(gathered_blocks(rows, X, y, sample_weight, client))
        else:
            self._check_solver()
            self._learn(rows.at_hand(self._checked_rows(X, y, sample_weight, reset=True)))
        return None

    def _so_far(self) -> RowsSoFar:
        """The rows that were fitted, or none yet."""
        if not hasattr(self, "_kept"):
            self._kept = Reservoir(_one_seed(self.random_state))
        features, sums = (getattr(self, name, None) for name in ("features_", "_moments"))
        return RowsSoFar(self, self._known(), self._kept, features, sums)

    def _learn(self, rows: Gathered) -> None:
        """Fit the method to rows; of several widths of the map, keep the best."""
        self._hold(rows.known)
        self.features_ = rows.features
        method: Method = self._method()
        best: Any = None
        if self.n_hidden == "loo":
            method = method.compared()
        for features in self._widths():
            with watched(self, "Fit") as update:
                source = rows.source(features, update)
                solution: Any = method.fit(source)
            if best is None or solution.path.score < best[2].path.score:
                best = features, source, solution
        self.features_, source, solution = best
        self._accept(method, source.sample().problem, solution, rows.rows)
        self.__dict__.pop("_moments", None)
        if rows.summed and self.solver in ("auto", "primal"):
            self._moments = solution.moments or source.moments()
        self._kept = rows.remembered()

    def _update(self, rows: RowsSoFar, batch: Batch | None = None) -> None:
        """Solve from sums, and from a batch that is not in them yet.

        C is chosen again where many rows have come or gone.
        """
        last, new = rows.sums, None
        if batch is not None:
            rows = rows.met(batch[1])
            new = rows.problem(rows.features, *batch)
            rows = rows.with_sums(new)
        self._hold(rows.known)
        method, choose = self._method(), rows.kept.stale and len(rows.kept) > 0
        settled = method.chooses and not choose
        if settled:
            method = method.at(**{name: getattr(self, f"{name}_") for name in method.parameters})
        source = rows.summed(self.features_, choose)
        problem, growing = source.sample().problem, None
        if type(method) is Ridge and not choose:
            growing, C = vars(self).get("_growing"), float(method.C)
            growing = grown(growing, source.sums, problem, C, last, new)
        solution = method.fit(source) if growing is None else growing.solution(problem)
        self._accept(method, problem, solution, np.inf, settled)
        self._growing, self._moments = growing, source.sums
        self._kept = rows.kept.judged() if choose else rows.kept

    def _checked_rows(
        self: Any, X: Rows, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Rows, np.ndarray, np.ndarray | None]:
        """The rows that count."""
        X, y = self._validate_target(X, y, reset)
        return weighted_rows(X, y, sample_weight)

    def _check_solver(self) -> None:
        if isinstance(self.solver, Randomized):
            approximation_of(self.solver, None)
        else:
            check_known("solver", self.solver, _SOLVERS)

    def _refuse_sketch(self, what: str) -> None:
        """A sketch of HHᵀ needs all the rows, and streams keep HᵀH alone."""
        self._check_solver()
        if self.solver not in ("auto", "primal"):
            raise InvalidParameterError(
                f"solver={self.solver!r} needs all rows at once, not {what}; use "
                "'auto' or 'primal'."
            )
        kept = getattr(self, "_kept", None)
        known = kept is not None and (kept.complete or hasattr(self, "_moments"))
        if hasattr(self, "beta_") and not known:
            raise InvalidInputError(
                "This model has no sums to go on from: it was fitted by a sketch, or saved with "
                "for_update=False. Fit it again with solver='auto'."
            )

    def _accept(
        self,
        method: Any,
        problem: Problem,
        solution: Solution,
        n_rows: float | None = None,
        settled: bool = False,
    ) -> None:
        """Turn a solution into fitted attributes.

        ``n_rows`` is for a problem that is a sample, ``settled`` for a C that stays as it is.
        """
        for name in method.parameters:
            setattr(self, f"{name}_", getattr(solution, name))
        self.beta_, self.intercept_ = solution.coef, solution.intercept
        for name in ("_jackknife", "_growing"):
            self.__dict__.pop(name, None)
        self.n_hidden_ = solution.coef.shape[0]
        record(self, problem, solution, n_rows, settled)

    def _leave_out(self) -> Jackknife:
        """The rows that are kept, each left out of the model as it is now."""
        kept = getattr(self, "_kept", None)
        if kept is None or not (kept.complete or hasattr(self, "_moments")):
            raise RowsGoneError(
                "This needs fitted rows to leave out, and they are gone: the model was saved with "
                "for_update=False, or its solver needs all rows and only a sample is kept. Save it "
                "with for_update=True, or fit it with solver='auto'."
            )
        source, count = self._so_far().left_out(MOST_LEFT_OUT)
        method = self._method()
        method = method.at(**{name: getattr(self, f"{name}_") for name in method.parameters})
        sample = source.sample()
        left = LeftOut.of(sample.problem, method.fit(source), sample.calibration, count)
        left = left.widened(weighing_factor(self, left.weight))
        return Jackknife.of(self, left, None if is_classifier(self) else effects(method, source))

    def _widths(self) -> list[Any]:
        """The fitted map, or its prefixes when the width is to be chosen."""
        if self.n_hidden != "loo":
            return [self.features_]
        if not isinstance(self.features_, FeatureMap):
            raise InvalidParameterError(
                f"n_hidden='loo' needs a map of units that can be cut short, and "
                f"{type(self.features_).__name__} is none; use RandomFeatures or RBFFeatures."
            )
        width = self.features_.n_hidden
        ladder = [width >> k for k in range(width.bit_length()) if width >> k >= _NARROWEST]
        return [self.features_.truncate(k) for k in ladder or [width]]


def _one_seed(random_state: Seed) -> int:
    """A seed that gives the same draw every time; a random state is drawn from once."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def record(
    estimator: Any,
    problem: Problem,
    solution: Solution,
    n_rows: float | None = None,
    settled: bool = False,
) -> None:
    """How C was chosen and the errors on left-out rows, as fitted attributes.

    ``n_rows`` is how many rows were fitted, where ``problem`` is only some of them; ``settled``
    says that C, and what led to it, stay as they are.
    """
    estimator.solver_ = solution.method
    estimator.solver_reason_ = solution.reason or _reason(estimator, solution.method)
    if not settled:
        _record_choice(estimator, problem, solution, n_rows)
    weight = in_rows(problem.weight, problem.unit)
    estimator._calibrate(problem.targets, solution.loo, solution.loo_rows, weight)
    log_facts(estimator)


def _record_choice(
    estimator: Any, problem: Problem, solution: Solution, n_rows: float | None
) -> None:
    estimator.C_, path = solution.C, solution.path
    if path is None:
        estimator.selection_ = "fixed"
        for name in ("loo_path_", "loo_score_"):
            vars(estimator).pop(name, None)
    else:
        partial = path.kind == "loo" and path.rows < (n_rows or len(problem.H))
        estimator.selection_ = "loo-sample" if partial else path.kind
        balances = is_balanced(getattr(estimator, "class_weight", None))
        if path.kind == "loo" and balances and not problem.reweighs:
            estimator.selection_ += "-kept"
        estimator.loo_path_ = path.table()
        estimator.loo_score_ = estimator._score_of(_widest(path, problem, solution), problem)


def _widest(path: ErrorPath, problem: Problem, solution: Solution) -> ErrorPath:
    """The left-out errors at the C in use, over more rows than it was chosen on where there are."""
    if path.rows >= len(solution.loo_rows):
        return path
    tally, C = Tally(problem, np.array([solution.C])), slice(0, 1)
    T = coded(problem.targets, solution.loo_rows, solution.loo.dtype)
    tally.add(solution.loo_rows, C, (T - solution.loo)[:, None, :])
    return tally.path()


def _reason(estimator: Any, method: str) -> str:
    """Why it was solved like this."""
    if method == getattr(estimator, "solver", None):
        return "asked for"
    if method == "spectral":
        return "one eigendecomposition serves every C"
    if method == "dual" and hasattr(estimator, "solver"):
        return "one C, and fewer rows than hidden units: a Cholesky factorisation between rows"
    return "one C: one Cholesky factorisation"
