"""What every estimator with one ridge solve shares."""

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state, get_tags

from ulmus.arguments import check_known, is_number
from ulmus.backends.namespace import is_collection, placed
from ulmus.estimators.checkpoint import Checkpoint
from ulmus.estimators.hidden_layer import HiddenModel
from ulmus.estimators.importances import feature_importances
from ulmus.estimators.ridge_batches import fit_batches, is_batches
from ulmus.estimators.ridge_blocks import fit_blocks
from ulmus.estimators.ridge_stream import fade, forget_rows, update
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.features.fitting import fitted_map, layer_of
from ulmus.fitted import ForUpdate, OnDevice, atomic, forget_fit
from ulmus.hidden import Hidden
from ulmus.kernels.approximation import Randomized, approximation_of
from ulmus.methods.randomized import RandomizedRidge
from ulmus.methods.ridge import Ridge, ridge_grid
from ulmus.problem import Moments, Problem, Solution
from ulmus.progress import CallbackSupportMixin, as_task, log_facts, watched, with_callbacks
from ulmus.reservoir import Reservoir, most_kept
from ulmus.sources.source import AtHand, Source
from ulmus.targets import is_balanced, weighted_rows
from ulmus.typing import Rows, Seed

__all__ = ["RidgeELM", "record"]

_NARROWEST = 16
_SOLVERS = ("auto", "primal", "dual")


class RidgeELM(CallbackSupportMixin, HiddenModel, metaclass=ABCMeta):
    """Fit, stream and predict; ``ClassLabels`` or ``ValueLabels`` says what the targets are."""

    C_: float
    loo_path_: dict[str, np.ndarray]
    loo_score_: float | None
    selection_: str
    solver_: str
    solver_reason_: str
    _moments: ForUpdate[OnDevice[Moments]]
    _kept: ForUpdate[Reservoir]
    feature_importances_ = property(feature_importances)

    # ------------------------------------------------------------------ for subclasses
    # For estimators that have a solve of their own and leave no choice.
    solver: str | Randomized = "auto"
    verbose: int = 0

    @abstractmethod
    def _meet(self, y: np.ndarray) -> None:
        """Learn the targets of a batch, and take the sums so far along if that makes them more."""

    @abstractmethod
    def _recall(self, y: np.ndarray) -> None:
        """Refuse targets that no earlier batch can have had."""

    def _drop(self, y: np.ndarray, left: np.ndarray) -> bool:
        """Forget what y alone had of all targets, ``left`` being those that stay; True if so."""
        return False

    def _method(self) -> Any:
        """What finds the output weights: a value that sees rows and sums, and never this object."""
        C = ridge_grid(self.C)
        if isinstance(self.solver, Randomized):
            return RandomizedRidge(C, self.solver, self._seed())
        return Ridge(C, self.solver)

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
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; a row of weight two counts as two rows.
        checkpoint : str or path, default=None
            A file that the sums over the batches are kept in, about once a minute, once
            there are more than 32 MiB of rows. Where it is there already, the fit goes on
            after the batches that it holds, which must be given again. It is removed when
            the fit ends.
        client : distributed.Client or None, default=None
            Who works on Dask collections; None is whoever Dask would ask.

        Returns
        -------
        self : object
            The fitted estimator.
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
        self._kept = Reservoir(_one_seed(self.random_state))
        if y is None and is_batches(X):
            return fit_batches(self, X, Checkpoint(checkpoint))
        self._refuse_checkpoint(checkpoint)
        if is_collection(X):
            fit_blocks(self, X, y, sample_weight, client)
        else:
            self._fit_rows(X, y, sample_weight)
        return None

    def _refuse_checkpoint(self, checkpoint: Any) -> None:
        if checkpoint is not None:
            raise InvalidParameterError(
                "checkpoint= is for batches; give the rows as ulmus.batches.from_arrays(X, y)."
            )

    def _fit_rows(self, X: Rows, y: Any, sample_weight: Any) -> Self:
        """Fit rows that are all at hand."""
        self._check_solver()
        return self._fit_checked(*self._checked_rows(X, y, sample_weight, reset=True))

    def _fit_checked(
        self: Any, X: Rows, y: np.ndarray, weight: np.ndarray | None, encoded: Any = None
    ) -> Any:
        """Fit rows that are checked; ``encoded`` is their targets where these are known."""
        encoded = self._encode(y, weight) if encoded is None else encoded
        capacity = self._solve_rows(X, y, weight, encoded)
        self._kept = self._kept.limited(capacity).add(X, y, weight).refitted()
        return self

    def _solve_rows(self, X: Rows, y: np.ndarray, weight: np.ndarray | None, encoded: Any) -> int:
        """Fit the map and the output weights; give how many of the rows are to be kept."""
        if not self._map_stays():
            self.features_ = fitted_map(self, X, y, weight, random_state=self._kept.seed)
        capacity = most_kept(layer_of(self.features_, X, self.dtype).width, X)

        def source(features: Any, update: Any) -> AtHand:
            H = Hidden(layer_of(features, X, self.dtype), X, update)
            return AtHand(self._problem(H, *encoded), self._seed())

        problem, solution = self._solve(source)
        self._keep_sums(problem, solution, capacity)
        return capacity

    def _solve(
        self, source: Callable[[Any, Any], Source], n_rows: float | None = None
    ) -> tuple[Problem, Solution]:
        """Fit the method to the source that the map gives; of several widths, keep the best.

        ``n_rows`` is how many rows were fitted, where the source's sample is some of them.
        """
        method, best = self._method(), None
        if self.n_hidden == "loo":
            method = method.compared()
        for features in self._widths():
            with watched(self, "Fit") as update:
                data = source(features, update)
                solution = method.fit(data)
            if best is None or solution.path.score < best[2].path.score:
                best = features, data, solution
        assert best is not None  # there is at least one width
        self.features_, data, solution = best
        problem = data.sample().problem
        self._accept(method, problem, solution, n_rows)
        return problem, solution

    def _keep_sums(self, problem: Problem, solution: Solution, capacity: int) -> None:
        """Keep sums where there are more rows than are kept, so that more can be added."""
        self.__dict__.pop("_moments", None)
        if len(problem.H) > capacity and self.solver in ("auto", "primal"):
            sums = solution.moments
            self._moments = problem.moments() if sums is None else sums

    def _map_stays(self) -> bool:
        """Whether the map is of the rows that were first fitted, as that of a kernel matrix is."""
        features = getattr(self, "features_", None)
        return hasattr(features, "__sklearn_tags__") and get_tags(features).input_tags.pairwise

    def _checked_rows(
        self: Any, X: Rows, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Rows, np.ndarray, np.ndarray | None]:
        """The rows that count."""
        X, y = self._validate_target(X, y, reset)
        return weighted_rows(X, y, sample_weight)

    def _problem(self: Any, H: Hidden, targets: Any, weight: Any, unit: Any) -> Problem:
        """What is to be solved, all of it where H lives."""
        weight, unit = (None if c is None else placed(c, H.X) for c in (weight, unit))
        return Problem(H, targets.placed(H.X), weight, unit, self._intercept)

    def _check_solver(self) -> None:
        if isinstance(self.solver, Randomized):
            approximation_of(self.solver, None)
        else:
            check_known("solver", self.solver, _SOLVERS)

    def _partial_fit(self, X: Rows, y: Any, sample_weight: Any, forget: bool, decay: float) -> Self:
        if not is_number(decay, most=1.0):
            raise InvalidParameterError(f"decay={decay!r} must be above 0 and at most 1.")
        self._refuse_sketch("partial_fit")
        first = not hasattr(self, "_kept")
        if forget and first:
            raise InvalidInputError("There is nothing to forget: no row has been fitted yet.")
        if first:
            self._kept = Reservoir(_one_seed(self.random_state))
        rows = self._checked_rows(X, y, sample_weight, reset=first)
        if decay < 1 and not first:
            fade(self, decay)
        (forget_rows if forget else update)(self, *rows)
        return self

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
        self.n_hidden_ = solution.coef.shape[0]
        record(self, problem, solution, n_rows, settled)

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

    def _seed(self) -> int:
        return int(check_random_state(self._kept.seed).randint(2**31 - 2))


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
    """How C was chosen and what leaving rows out said, as fitted attributes.

    ``n_rows`` is how many rows were fitted, where ``problem`` is only some of them; ``settled``
    says that C, and what led to it, stay as they are.
    """
    estimator.solver_ = solution.method
    estimator.solver_reason_ = _reason(estimator, solution.method)
    if not settled:
        _record_choice(estimator, problem, solution, n_rows)
    estimator._calibrate(problem.targets, solution.loo, solution.loo_rows, problem.weight)
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
        estimator.loo_score_ = estimator._score_of(path, problem)


def _reason(estimator: Any, method: str) -> str:
    """Why it was solved like this."""
    if method == getattr(estimator, "solver", None):
        return "asked for"
    if method == "spectral":
        return "one eigendecomposition serves every C"
    if method == "dual" and hasattr(estimator, "solver"):
        return "one C, and fewer rows than hidden units: a Cholesky factorisation between rows"
    return "one C: one Cholesky factorisation"
