"""What every estimator with one ridge solve shares."""

from abc import ABCMeta, abstractmethod
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ulmus.arguments import check_known
from ulmus.atomic import atomic, forget_fit
from ulmus.backends.namespace import placed
from ulmus.distributed.blocks import is_collection, named
from ulmus.estimators.batches import SourceError, cut_short, is_batches, numbered, rewinds
from ulmus.estimators.checkpoint import Checkpoint
from ulmus.estimators.labels import record, weighted_rows
from ulmus.estimators.outputs import HiddenOutputs
from ulmus.estimators.ridge_blocks import fit_blocks
from ulmus.estimators.stage import fitted_map, layer_of
from ulmus.estimators.watching import CallbackSupportMixin, as_task, watched, with_callbacks
from ulmus.exceptions import BatchError, InvalidInputError, InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.features.kernel import check_rank, most_columns
from ulmus.hidden import Hidden
from ulmus.problem import Problem
from ulmus.solvers.auto import DEFAULT_GRID, calibration_rows, solve
from ulmus.solvers.path import gcv_path, primal_path
from ulmus.solvers.primal import solve_moments
from ulmus.solvers.randomized import randomized
from ulmus.solvers.spectrum import spectral
from ulmus.summary import Summary

__all__ = ["RidgeELM", "ridge_grid"]

_NARROWEST = 16
_SOLVERS = ("auto", "primal", "dual", "halko")


class RidgeELM(Summary, HiddenOutputs, CallbackSupportMixin, BaseEstimator, metaclass=ABCMeta):
    """Fit, stream and predict; ``ClassLabels`` or ``ValueLabels`` says what the targets are."""

    # ------------------------------------------------------------------ for subclasses
    _intercept = False
    _on_device = ("beta_", "intercept_", "_moments")
    # What `ulmus.save` may leave out, for no prediction needs it.
    _for_update = ("_moments",)
    # For estimators that have a solve of their own and leave no choice.
    solver, rank, verbose = "auto", None, 0

    @abstractmethod
    def _encode_more(self, y, weight):
        """`_encode` for a batch, that takes the sums so far along if the targets grew."""

    def _grid(self, compare=False):
        """What to choose from; ``compare`` asks for an error even where there is no choice."""
        grid = ridge_grid(self.C)
        return np.atleast_1d(grid) if compare else grid

    def _solve(self, problem, grid):
        """β from rows that are all at hand, by the solver that was asked for."""
        if self.solver != "halko":
            return solve(problem, grid, self._seed(), self.solver)
        rank = most_columns(self.rank, None, len(problem.H), problem.H.width)
        return randomized(problem, grid, rank, self._seed())

    def _solve_moments(self, problem, grid, calibration):
        """β from the sums; ``problem`` is the last batch."""
        if not isinstance(grid, np.ndarray):
            return solve_moments(self._moments, problem, grid, calibration)
        basis, path = gcv_path(self._moments, problem, grid)
        return spectral(basis, self._moments, problem, float(grid[path.best]), calibration, path)

    def _solve_sample(self, moments, problem, grid, rows, calibration):
        """β from the sums; ``problem`` is a sample of their rows, and ``rows`` are left out."""
        if not isinstance(grid, np.ndarray):
            return solve_moments(moments, problem, grid, calibration)
        return primal_path(problem, grid, rows, calibration, moments)

    # ------------------------------------------------------------------ fitting
    @with_callbacks
    def fit(self, X, y=None, sample_weight=None, *, checkpoint=None, client=None):
        """Fit the output weights.

        Where the source of the batches fails, the error says at which, and the model is
        fitted to those before it. Any other error leaves the model as it was.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), batches or Dask collection
            The rows. Batches are an iterable of pairs (X, y) or triples
            (X, y, sample_weight), or a function without arguments that makes
            one. An iterable that can be read twice is: once to learn the
            inputs' scale, once to fit. From an iterator, which cannot, the
            first batch sets the scale.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets; left out when X is batches, a Dask collection when X is one.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.
        checkpoint : str or path, default=None
            A file that the sums over the batches are kept in, about once a
            minute. Where it is there already, the fit goes on after the batches
            that it holds, which must be given again. It is removed when the fit ends.
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
    def _fit(self, X, y, sample_weight, checkpoint, client):
        """Fit rows of any kind; give back the error that cut batches short, if one did."""
        forget_fit(self, "_moments", "_totals", "_declared", "_flat")
        if y is None and is_batches(X):
            return self._fit_batches(X, Checkpoint(checkpoint))
        self._refuse_checkpoint(checkpoint)
        if is_collection(X):
            fit_blocks(self, X, y, sample_weight, client)
        else:
            self._fit_rows(X, y, sample_weight)
        return None

    @atomic
    def partial_fit(self, X, y, sample_weight=None, *, forget=False, decay=1.0):
        """Fit more rows, as if they had been there from the start.

        The first call settles the hidden units, and the inputs' scale with
        them; to settle them on other rows, pass
        ``features=FrozenEstimator(RandomFeatures().fit(X))``.
        With ``C="loo"`` or several values, C is chosen by generalised
        cross-validation, for the earlier rows are gone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.
        forget : bool, default=False
            Take these rows out again instead: the model is as if it had never
            seen them.
        decay : float, default=1.0
            What the earlier rows' weights are multiplied by first.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._partial_fit(X, y, sample_weight, forget, decay)

    def _refuse_checkpoint(self, checkpoint):
        if checkpoint is not None:
            raise InvalidParameterError(
                "checkpoint= is for batches; give the rows as ulmus.batches.from_arrays(X, y)."
            )

    def _fit_rows(self, X, y, sample_weight):
        """Fit rows that are all at hand."""
        self._check_solver()
        return self._fit_checked(*self._checked_rows(X, y, sample_weight, reset=True))

    def _fit_checked(self, X, y, sample_weight):
        # One C has an error too, to compare widths by.
        grid = self._grid(compare=self.n_hidden == "loo")
        targets, weight, unit = self._encode(y, sample_weight)
        self.features_ = fitted_map(self, X, y, sample_weight)
        best = None
        for features in self._widths():
            with watched(self, "Fit") as update:
                H = Hidden(layer_of(features, X, self.dtype), X, update)
                problem = self._problem(H, targets, weight, unit)
                solution = self._solve(problem, grid)
            if best is None or solution.path.score < best[2].path.score:
                best = features, problem, solution
        self.features_, problem, solution = best
        # Kept so that more rows can be added, or some taken out.
        self._moments = solution.moments
        self._accept(problem, solution)
        return self

    def _checked_rows(self, X, y, sample_weight, reset):
        """The rows that count."""
        X, y = self._validate_target(X, y, reset)
        return weighted_rows(X, y, sample_weight)

    def _problem(self, H, targets, weight, unit):
        """What is to be solved, all of it where H lives."""
        weight, unit = (None if c is None else placed(c, H.X) for c in (weight, unit))
        return Problem(H, targets.placed(H.X), weight, unit, self._intercept)

    def _check_solver(self):
        check_known("solver", self.solver, _SOLVERS)
        check_rank(self.rank, None)
        if self.rank is not None and self.solver != "halko":
            raise InvalidParameterError(
                f"rank={self.rank!r} is for solver='halko'; solver={self.solver!r} has none."
            )

    def _fit_batches(self, batches, checkpoint):
        """Fit rows that come and go; give back the error that cut them short, if one did."""
        self._refuse_sketch("rows that come in batches")
        total = self._preview_all(batches) if rewinds(batches) else None
        last = failure = None
        try:
            for problem in self._absorbed(batches, checkpoint, total):
                last = problem
                checkpoint.offer(self._moments)
        except BatchError as error:
            if last is None:
                raise
            failure = cut_short(error, self._moments.rows, checkpoint.path)
            if not isinstance(error, SourceError):
                raise failure from error.__cause__
        finally:
            checkpoint.save()
        try:
            self._solve_sums(last)
        except InvalidInputError as error:
            raise failure or error from error
        if failure is None:
            checkpoint.remove()
        return failure

    def _preview_all(self, batches):
        """Learn the scale and the targets of all batches; give their number of rows."""
        total = 0
        with watched(self, "Scale") as update:
            for number, *batch in numbered(batches):
                with named(f"Batch {number}"):
                    total += self._preview(*batch)
                update(total, None)
        return total

    def _absorbed(self, batches, checkpoint, total):
        """Add up the batches but for those that the checkpoint has; yield each one added."""
        rows = 0
        with watched(self, "Fit") as update:
            for number, *batch in numbered(batches):
                fresh = rows >= checkpoint.rows
                with named(f"Batch {number}"):
                    problem = self._absorb(batch, fresh)
                if rows == 0:
                    checkpoint.claim(self, problem)
                rows += len(problem.H)
                if not fresh and rows >= checkpoint.rows:
                    self._moments = checkpoint.restored(problem, rows)
                update(rows, total)
                if rows >= checkpoint.rows:
                    yield problem
        checkpoint.check_end(rows)

    @atomic
    def _absorb(self, batch, fresh):
        """A batch as a problem, added to the sums if it is fresh."""
        problem = self._posed(*batch)
        if fresh:
            self._add(problem)
        return problem

    def _preview(self, X, y, sample_weight):
        """Learn a batch's scale and targets, and fit nothing yet; give its number of rows."""
        first = not hasattr(self, "features_")
        X, y, sample_weight = self._checked_rows(X, y, sample_weight, reset=first)
        self._survey(y, sample_weight)
        if first:
            self.features_ = fitted_map(self, X, y, sample_weight)
        elif isinstance(self.features_, FeatureMap):
            self.features_.learn(X, sample_weight, more=True)
        return X.shape[0]

    def _partial_fit(self, X, y, sample_weight, forget, decay):
        if not (isinstance(decay, Real) and 0 < decay <= 1):
            raise InvalidParameterError(f"decay={decay!r} must be above 0 and at most 1.")
        self._refuse_sketch("partial_fit")
        if forget and not hasattr(self, "_moments"):
            raise InvalidInputError("There is nothing to forget: no row has been fitted yet.")
        if hasattr(self, "_moments"):
            self._moments = decay * self._moments.summed()
        problem = self._posed(X, y, sample_weight)
        self._add(problem, -1 if forget else 1)
        self._solve_sums(problem, forgotten=forget)
        return self

    def _refuse_sketch(self, what):
        """A sketch of HHᵀ needs all the rows, and streams keep HᵀH alone."""
        self._check_solver()
        if self.solver not in ("auto", "primal"):
            raise InvalidParameterError(
                f"solver={self.solver!r} needs all rows at once, not {what}; use "
                "'auto' or 'primal'."
            )
        if hasattr(self, "beta_") and getattr(self, "_moments", None) is None:
            raise InvalidInputError(
                "This model has no sums to go on from: it was fitted by a sketch, or saved with "
                "for_update=False. Fit it again with solver='auto'."
            )

    def _posed(self, X, y, sample_weight):
        """A batch as a problem; the first one settles the hidden units if nothing has."""
        fresh = not hasattr(self, "features_")
        X, y, sample_weight = self._checked_rows(X, y, sample_weight, reset=fresh)
        targets, weight, unit = self._encode_more(y, sample_weight)
        if fresh:
            self.features_ = fitted_map(self, X, y, sample_weight)
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        return self._problem(H, targets, weight, unit)

    def _add(self, problem, sign=1):
        """Add a batch's moments to the sums, or take them away."""
        if not hasattr(self, "_moments"):
            self._moments = problem.moments()
            return
        if sign < 0 and len(problem.H) >= self._moments.rows:
            raise InvalidInputError(
                f"Forgetting {len(problem.H)} of {self._moments.rows:g} rows leaves none to fit."
            )
        moments = problem.moments()
        self._moments = self._moments + moments if sign > 0 else self._moments - moments

    def _solve_sums(self, problem, forgotten=False):
        """Solve from the sums; ``problem`` is the last batch."""
        # A row that was just taken out has no leverage to give back.
        calibration = calibration_rows(0 if forgotten else len(problem.H), self._seed())
        self._accept(problem, self._solve_moments(problem, self._grid(), calibration))

    def _accept(self, problem, solution, n_rows=None):
        """Turn a solution into fitted attributes; ``n_rows`` is for a problem that is a sample."""
        self.beta_, self.intercept_ = solution.coef, solution.intercept
        self.n_hidden_ = solution.coef.shape[0]
        record(self, problem, solution, n_rows)

    def _widths(self):
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

    def _seed(self):
        return int(check_random_state(self.random_state).randint(2**31 - 2))


def ridge_grid(C):
    """C as a number, or as the array of values to choose from."""
    if isinstance(C, str):
        if C == "loo":
            return DEFAULT_GRID
        raise InvalidParameterError(f"C={C!r} must be 'loo', a positive number or a list of them.")
    values = np.asarray(C, dtype=float) if np.ndim(C) == 1 or np.isscalar(C) else None
    if values is None or not values.size or not (np.isfinite(values).all() and (values > 0).all()):
        raise InvalidParameterError(
            f"C={C!r} must be 'loo', a positive number, or a non-empty list of positive numbers."
        )
    return float(values) if values.ndim == 0 else values
