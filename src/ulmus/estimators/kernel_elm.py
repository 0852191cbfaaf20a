"""The ridge solve in the space of a kernel, exact or low-rank."""

from abc import ABCMeta, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.namespace import (
    cast,
    floating,
    gathered,
    is_collection,
    is_single,
    is_sparse,
    namespace,
    on_host,
    placed,
    same_place,
)
from ulmus.distributed import BlockRows
from ulmus.estimators.importances import feature_importances
from ulmus.estimators.intervals import MOST_LEFT_OUT, Jackknife, LeftOut, effect_targets
from ulmus.estimators.kernel_inputs import (
    CHOSEN,
    KernelInputs,
    check_parameters,
    choose_gamma,
    choose_kernel,
    trial_of,
    weighing_factor,
)
from ulmus.estimators.ridge_elm import record
from ulmus.exceptions import RowsGoneError
from ulmus.features.kernel_space import KernelFeatures, candidates
from ulmus.features.scaling import ColumnStatistics, Scaling, given_weights
from ulmus.fitted import (
    ForUpdate,
    MadeAgain,
    OfRows,
    OnDevice,
    atomic,
    finite_outputs,
    forget_fit,
    watched,
)
from ulmus.kernels.definition import is_definite
from ulmus.kernels.kernel_matrix import (
    GivenKernel,
    KernelMatrix,
    LowRank,
    Randomized,
    approximation_of,
)
from ulmus.kernels.lowrank import Factor, factor_of
from ulmus.kernels.pairs import some_rows
from ulmus.methods.dual import dual
from ulmus.methods.kernel_ridge import ALL_LEFT_OUT, EXACT, KernelRidge, spanned
from ulmus.methods.ridge import Ridge, ridge_grid
from ulmus.problem import ErrorPath, Problem, Solution
from ulmus.progress import columns
from ulmus.reservoir import Reservoir, some_kept
from ulmus.slopes import Slopes
from ulmus.sources.hidden_rows import summed_blocks, surveyed_blocks
from ulmus.sources.source import RowsSoFar, calibration_rows
from ulmus.targets import ValueTargets, copies, weighted_rows
from ulmus.typing import Array, Rows
from ulmus.validation import valid_rows

# Up to this many rows a kernel that was chosen is used whole: with its C known it takes conjugate
# gradients, 2 to 6 s of one core and 500 MB for so many rows.
_CHOSEN_EXACT = 10_000
# Past that its factor has up to so many columns, as long as it has no more entries than these:
# 800 MB in double precision.
_MOST_COLUMNS, _MOST_ENTRIES = 3000, 1e8


class KernelELM(KernelInputs, metaclass=ABCMeta):
    """Fit and predict; ``ClassLabels`` or ``ValueLabels`` says what the targets are.

    Parameters
    ----------
    method : str, LowRank or Randomized, default="auto"
        "exact" factors the whole kernel matrix; "rpcholesky", "nystrom", "randomized" and "eig" a
        low-rank factor of it, as in `KernelFeatures`. "auto" is "exact" up to 2000 rows (10 000 if
        the kernel is chosen) and "rpcholesky" for more rows, or if ``rank`` is given. With a chosen
        kernel, more than 2000 rows and C up to 1000, the solve is in single precision; with more
        than 3000 rows, few outputs and a small C it uses conjugate gradients. `LowRank` also has a
        tolerance, `Randomized` the parameters of the sketch.
    rank : int, float or None, default=None
        Largest number of columns of the factor. A float is a fraction of the rows. None means 2000,
        or up to 3000 for a chosen kernel on at most 50 000 rows.
    column_weights : "loo", None or array-like of shape (n_features,), default="loo"
        Factors of the scaled columns. With a chosen kernel, "loo" takes the root of the mean
        squared gradient of the outputs, if that lowers the leave-one-out error. Other kernels have
        no factors unless an array is given.
    C : "loo", float or array-like, default="loo"
        Inverse regularisation strength; larger values fit the data more closely. "loo" chooses it
        by exact leave-one-out from 25 values; a list replaces these. ``np.inf`` means no
        regularisation, the pseudo-inverse; ``C_`` is then 10¹⁰⁰.
    dtype : float32, float64 or None, default=None
        Precision of the kernel values; None follows the input. Sums and factorisations are in
        float64, and so are kernel values where float32 has too few directions.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks and of the samples of rows.
    verbose : int, default=0
        If 1, show how many columns a low-rank factor has: a bar on a terminal and in a notebook,
        else plain lines.

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, n_features)
        The scaled rows that the kernel is evaluated with; the numbers of the columns if the kernel
        is precomputed.
    dual_coef_ : ndarray of shape (n_landmarks, n_outputs)
        The coefficients of their kernel values.
    C_ : float
        The value of C that is used.
    method_ : str
        The method that is used.
    rank_ : int
        Columns of the factor, or the number of rows where it is exact.
    approximation_error_ : float
        The missing fraction of the kernel's trace.
    approximation_path_ : ndarray of shape (rank,)
        The missing fraction after each column of the factor, unless it is exact.
    column_weights_ : ndarray of shape (n_features,)
        Factors of the scaled columns, if the kernel was chosen or weights are given.
        ``scaling_.factor`` includes them.
    kernel_path_ : dict of ndarrays
        What was tried, if the kernel was chosen: "kernel", "gamma", "round" (how often the columns
        had been weighted), "C", "rows" and the leave-one-out errors on these rows. What is best on
        some rows is tried on all rows of the sample, at most 2000.
    gamma_path_ : dict of ndarrays
        "gamma" and the errors at each value, if only gamma was chosen.
    loo_path_ : dict of ndarrays
        The leave-one-out errors for every C that was tried, if C was chosen. The landmarks do not
        change when a row is left out.
    solver_ : {"primal", "dual", "spectral", "cg"}
        How the coefficients were found.
    solver_reason_ : str
        Why that solver was used.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: the mean squared gradient of the outputs, with columns in units
        of their standard deviation, as shares that sum to one. Computed on access.
    """

    method_: str
    rank_: int
    approximation_error_: float
    dual_coef_: OnDevice[Array]
    intercept_: OnDevice[Array]
    landmarks_: OnDevice[Any]
    approximation_path_: OnDevice[Array]
    C_: float
    column_weights_: OnDevice[Array]
    kernel_path_: dict[str, np.ndarray]
    gamma_path_: dict[str, np.ndarray]
    loo_path_: dict[str, np.ndarray]
    loo_score_: float | None
    selection_: str
    solver_: str
    solver_reason_: str
    _kept: ForUpdate[Any]
    _left_out: OfRows[LeftOut]
    _jackknife: MadeAgain[Jackknife]
    feature_importances_ = property(feature_importances)
    # Of "poly"; another is given as an object, `ulmus.kernels.Polynomial`.
    degree = 3

    def _checked_rows(self, X: Rows, y: Any, weight: Any, reset: bool) -> Any:
        """The rows that count, for `BlockRows`."""
        X, y = self._validate_target(X, y, reset)
        return weighted_rows(X, y, weight)

    @abstractmethod
    def _encode(self, y: Any, weight: np.ndarray | None) -> Any:
        """Learn from y what the targets are; give targets, weight and unit (see Problem)."""

    @atomic
    def fit(self, X: Rows, y: Any, sample_weight: Any = None, *, client: Any = None) -> Self:
        """Fit the dual coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows; with ``kernel="precomputed"`` the kernel between them, n_samples square.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets; a Dask collection when X is one.
        """
        forget_fit(self)
        check_parameters(self)
        if is_collection(X):
            return self._fit_blocks(*surveyed_blocks(self, X, y, sample_weight, client))
        X, y = self._validate_target(X, y, reset=True)
        return self._fit(*self._counted(gathered(X), y, sample_weight))

    def _fit(self, kept: np.ndarray, X: Rows, y: Any, count: np.ndarray | None) -> Self:
        """Fit rows that are all in memory; ``kept`` are their numbers."""
        targets, weight, unit = self._encode(y, count)
        self._learn_scaling(X, count)
        weight, unit = (None if c is None else placed(c, X) for c in (weight, unit))
        problem = Problem(None, targets.placed(X), weight, unit, self._intercept)
        K, rows, rng, path = self._learn_kernel(X, problem, count)
        if path is not None and len(K) > ALL_LEFT_OUT:
            problem = problem.take(np.arange(len(K)))  # class weights stay as they are
        method = replace(self._method(len(K)), path=path)
        self._solve(K, kept if self._precomputed else rows, problem, method, rng, count)
        return self

    def _fit_blocks(self, blocks: BlockRows, known: Any, columns: ColumnStatistics) -> Self:
        """Fit Dask collections: a ridge on the factor's rows, which are made where the blocks are.

        Kernel and landmarks are chosen here, among as many rows as leave room for the factor.
        """
        n = len(blocks)
        method = self._method(n)
        if method.approximation is None:
            return self._fit(np.arange(n), *blocks.take(slice(None)))
        self._hold(known)
        self.method_ = method.name
        self._settle_scaling(blocks, columns)
        X, y, weight = blocks.take(candidates(n, floating(blocks, self.dtype), 0))
        problem = known.problem(y, weight, whole=True).among(np.arange(X.shape[0]))
        K, scaled, rng, _ = self._learn_kernel(X, problem, weight)
        seed = rng.randint(2**31 - 2)
        found = factor_of(K, method.approximation, n, method.columns, rng)
        self._accept_factor(found)
        space = KernelFeatures(self.kernel_, scaling=self.scaling)
        space.kernel_, space.scaling_, space.weights_ = self.kernel_, self.scaling_, found.W
        space.landmarks_ = cast(some_rows(scaled, found.rows), found.dtype)
        space.n_features_in_ = X.shape[1]
        rows, ridge = RowsSoFar(self, known, Reservoir(0), space), Ridge(method.C)
        made, (_, _, count) = summed_blocks(rows, blocks, ridge.chooses, seed)
        source = made(space, None)
        solution = spanned(found, ridge.fit(source))
        self._accept(space.landmarks_, source.sample().problem, solution, count, n)
        return self

    def _learn_kernel(
        self, X: Rows, problem: Problem, count: np.ndarray | None
    ) -> tuple[KernelMatrix, Rows, np.random.RandomState, ErrorPath | None]:
        """The kernel between the rows, these scaled, and the generator that goes on from here.

        With them comes what is known of every C, where the kernel was chosen.
        """
        rng, grid = check_random_state(self.random_state), ridge_grid(self.C)
        seed = rng.randint(2**31 - 2)
        if self._chosen_names and self.scaling == "auto" and not is_sparse(X):
            scaling, _ = Scaling.robust(X, ColumnStatistics.of(X, count), count, seed)
            if scaling.least is not None:
                self.scaling_ = scaling.weighed(getattr(self, "column_weights_", 1.0))
        rows, path = self.scaling_.rows(X, floating(X, self.dtype)), None
        self._kept = None if self._precomputed else some_kept(X, count)
        if self._chosen_names:
            path = choose_kernel(self, trial_of(rows, problem, grid, count, seed), seed)
            rows = self.scaling_.rows(X, floating(X, self.dtype))
        elif self.gamma == "loo":
            choose_gamma(self, trial_of(rows, problem, grid, count, seed))
        else:
            self.kernel_ = self._kernel(rows, count, seed)
        K = GivenKernel(rows) if self._precomputed else KernelMatrix(self.kernel_, rows)
        return K, rows, rng, path

    def _solve(
        self,
        K: KernelMatrix,
        rows: Any,
        problem: Problem,
        method: KernelRidge,
        rng: np.random.RandomState,
        count: np.ndarray | None,
    ) -> None:
        """Solve over K, whose rows (or their names) are ``rows``."""
        problem = replace(problem, H=K)
        with watched(self, "Kernel", columns) as update:
            solution, found = method.fit(problem, rng, update)
        self.method_, self.rank_, self.approximation_error_ = method.name, len(K), 0.0
        if found is not None:
            rows = some_rows(rows, found.rows)
            rows = rows if self._precomputed else cast(rows, found.dtype)
            self._accept_factor(found)
        self._accept(rows, problem, solution, count)

    def _accept(
        self,
        landmarks: Any,
        problem: Problem,
        solution: Solution,
        count: np.ndarray | None,
        n_rows: int | None = None,
    ) -> None:
        """Turn a solution on its landmarks into fitted attributes."""
        self._left_out = LeftOut.of(problem, solution, solution.loo_rows, count)
        self.landmarks_, self.dual_coef_ = landmarks, solution.coef
        self.intercept_ = solution.intercept
        if hasattr(self, "column_weights_"):
            self.column_weights_ = placed(self.column_weights_, solution.coef)
        record(self, problem, solution, n_rows)

    def _leave_out(self) -> Jackknife:
        """The rows that were left out in the fit, and their effects where a kernel is whole."""
        if not hasattr(self, "_left_out"):
            raise RowsGoneError(
                "This model was saved by an older version, without its errors for left-out rows; "
                "fit it again."
            )
        left, n = self._left_out, len(self._left_out.weight)
        left = left.widened(weighing_factor(self, float(copies(left.weight).sum())))
        # Models without a row take another factor of the kernel, 4 s of one core for 5000 rows.
        whole = self.method_ == "exact" and not self._precomputed and n == self.rank_
        if not whole or n > ALL_LEFT_OUT or is_classifier(self):
            return Jackknife.of(self, left)
        rows = calibration_rows(n, 0, MOST_LEFT_OUT)
        weight = placed(left.weight, self.dual_coef_)
        H = KernelMatrix(self.kernel_, self.landmarks_)
        targets = ValueTargets(placed(left.targets, weight))
        unit = placed(left.weight / copies(left.weight), weight)
        problem = Problem(H, targets, weight, unit, self._intercept)
        some = LeftOut(left.outputs[rows], left.targets[rows], left.weight[rows])
        problem = replace(problem, targets=effect_targets(problem, rows))
        return Jackknife.of(self, some, dual(problem, self.C_, asked=False))

    def _method(self, n: int) -> KernelRidge:
        """What finds the dual coefficients of n rows."""
        named = isinstance(self.kernel, str) and not self._precomputed
        columns = int(np.clip(_MOST_ENTRIES / n, EXACT, _MOST_COLUMNS))
        return KernelRidge(
            ridge_grid(self.C),
            self._approximation(n),
            named and self._definite,
            columns=columns if self._chosen_names else EXACT,
            factors=self.method == "exact",
        )

    def _accept_factor(self, found: Factor) -> None:
        """How good the factor is, as fitted attributes."""
        self.rank_ = found.rank
        self.approximation_error_ = found.error
        self.approximation_path_ = placed(found.path, found.W)

    def _approximation(self, n: float) -> LowRank | Randomized | None:
        """How K is approximated, or None where it is used whole."""
        most = _CHOSEN_EXACT if self._chosen_names else EXACT
        if self.method == "exact" or (self.method == "auto" and self.rank is None and n <= most):
            return None
        auto = "rpcholesky" if self._definite else "randomized"
        return approximation_of(auto if self.method == "auto" else self.method, self.rank)

    @property
    def _chosen_names(self) -> tuple[str, ...]:
        """The kernels to choose from; none where one is given."""
        if isinstance(self.kernel, list | tuple):
            return tuple(self.kernel)
        return CHOSEN if isinstance(self.kernel, str) and self.kernel == "loo" else ()

    @property
    def _definite(self) -> bool:
        return bool(self._chosen_names) or is_definite(self.kernel)

    @property
    def _rescales(self) -> bool:
        return super()._rescales or (bool(self._chosen_names) and self.scaling == "auto")

    def _settle_scaling(self, X: Rows, columns: ColumnStatistics) -> None:
        super()._settle_scaling(X, columns)
        weights = given_weights(self.column_weights, len(self.scaling_.factor))
        if weights is not None:
            self.scaling_, self.column_weights_ = self.scaling_.weighed(weights), weights

    def _slopes(self, X: Rows) -> Slopes | None:
        return self._kernel_gradients(X, self.landmarks_, on_host(self.dual_coef_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def _outputs(self, X: Rows) -> Array:
        """k(x, landmarks) times the dual coefficients, plus the intercept (n × m)."""
        check_is_fitted(self)
        return self._map(valid_rows(self, X, reset=False))

    @finite_outputs
    def _map(self, X: Rows) -> Array:
        """The same for rows that are checked."""
        same_place(X=X, dual_coef_=self.dual_coef_)
        landmarks, dtype = self.landmarks_, floating(X, self.dtype)
        # Landmarks in float64 are there because float32 would not do.
        wide = not self._precomputed and not is_single(landmarks.dtype)
        work = namespace(X).float64 if wide else dtype
        if getattr(self, "solver_", "") == "cg":
            work = namespace(X).float32  # which the coefficients were found in
        coef = cast(placed(self.dual_coef_, X), work)
        outputs = cast(self._kernel_outputs(X, landmarks, coef, work), dtype)
        return outputs + cast(placed(self.intercept_, X), dtype)
