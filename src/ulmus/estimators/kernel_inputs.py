"""The rows of an estimator as its kernel sees them, and the kernel and column weights it takes."""

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ulmus.arguments import check_known
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import cast, floating, is_numpy, namespace, on_host, placed, take
from ulmus.exceptions import InvalidParameterError
from ulmus.features.scaling import ColumnStatistics, Scaling, check_scaling
from ulmus.fitted import light_state
from ulmus.hidden import block_rows, blocks_of, sample_rows
from ulmus.kernels import KERNELS, Kernel
from ulmus.kernels.definition import (
    check_kernel,
    check_method,
    check_precomputed,
    has_gamma,
    has_gradient,
    is_definite,
    kernel_of,
    scales_inputs,
)
from ulmus.kernels.kernel_matrix import NAMES, LowRank, Randomized, measured
from ulmus.kernels.pairs import landmarks_like, some_rows
from ulmus.methods.kernel_ridge import WIDTHS, KernelChoice, Trial, best_of, table_of
from ulmus.problem import ErrorPath, Problem
from ulmus.slopes import CHOICE_ROWS, Slopes, kernel_gradients
from ulmus.summary import html_of, mimebundle_of
from ulmus.targets import weighted_rows
from ulmus.typing import Array, DType, Rows

_LOG = logging.getLogger(__name__)
# Kernel values at a time on the host: 32 MB. Much less would look at the columns too often.
_PAIRS = 2**22
# The kernels that "loo" chooses from.
# With "arcsine" and "infinite_rbf" beside them the mean score on half of the visible tables (900
# rows) rose by 0.0006, for five thirds of the work.
CHOSEN = ("laplacian", "exponential", "rbf")


class KernelInputs(BaseEstimator):
    """For an estimator with these parameters.

    Parameters
    ----------
    kernel : str, list of str, kernel or callable, default="loo"
        "loo" chooses "laplacian", "exponential" or "rbf", its width, the weights of the columns and
        C by leave-one-out on at most 2000 rows; a list of names replaces these three. Other names
        are "linear", "poly", "cosine", "sigmoid" (see `ulmus.kernels.Sigmoid`), "infinite_rbf" and
        "arcsine" (networks with infinitely many units), "precomputed". An object of
        `ulmus.kernels`, or a function of two sets of rows that gives the block between them.
    gamma : "mean", "loo" or float, default="mean"
        γ of a kernel that is given by name. "mean" takes it from the rows, as in `KernelFeatures`;
        "loo" chooses among seven multiples of that, from 1/64 to 64, by leave-one-out (on at most
        2000 rows).
    coef0 : float, default=1.0
        The constant in "poly" (of degree 3) and "sigmoid", and the bias' variance in "arcsine".
    scaling : {"auto", None}, default="auto"
        As in `RandomFeatures`, for kernels given by name; others see the inputs as they are.

    Attributes
    ----------
    kernel_ : kernel
        The kernel with its parameters.
    scaling_ : Scaling
        ``center`` and ``factor`` of each column.
    """

    kernel_: Kernel
    scaling_: Scaling
    _repr_html_inner, _repr_mimebundle_, __getstate__ = html_of, mimebundle_of, light_state

    @property
    def _precomputed(self: Any) -> bool:
        """Whether X is the kernel itself."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _rescales(self: Any) -> bool:
        return scales_inputs(self.kernel, self.scaling)

    def _check_inputs(self: Any) -> None:
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        check_scaling(self.scaling)

    def _counted(
        self, X: Rows, y: np.ndarray, sample_weight: Any
    ) -> tuple[np.ndarray, Rows, np.ndarray, np.ndarray | None]:
        """Which rows have a weight, and those rows."""
        every = np.arange(X.shape[0])
        if self._precomputed:
            check_precomputed(X)
        kept, y, weight = weighted_rows(every, y, sample_weight)
        if len(kept) < len(every):
            X = take(X, kept)
            X = take(X, kept, axis=1) if self._precomputed else X
        return kept, X, y, weight

    def _learn_scaling(self, X: Rows, weight: np.ndarray | None) -> None:
        self._settle_scaling(X, ColumnStatistics.of(X, weight))

    def _settle_scaling(self: Any, X: Rows, columns: ColumnStatistics) -> None:
        """Take the scale of X from its statistics."""
        if self._rescales:
            self.scaling_ = Scaling.auto(columns)
        else:
            self.scaling_ = Scaling.none(columns, floating(X, self.dtype))

    def _kernel(self: Any, rows: Rows, weight: np.ndarray | None, seed: int) -> Kernel:
        """The kernel, its γ the one given, or typical of the scaled rows."""
        arguments = self.kernel, self.gamma, self.degree, self.coef0
        return kernel_of(*arguments, rows, seed, weight=weight)

    def _kernel_outputs(self, X: Rows, points: Any, coef: Array, dtype: DType) -> Array:
        """Σⱼ k(x, zⱼ) coefⱼ for every row x, a block at a time, from kernel values of this type.

        Rows are scaled in the type of ``points``, so that equal ones stay equal.
        """
        scaled = dtype if self._precomputed else points.dtype
        if not self._precomputed:
            points = landmarks_like(points, X, dtype, self.scaling_.shift)
        shape = (X.shape[0], coef.shape[1])
        F = namespace(coef).zeros(shape, dtype=coef.dtype, device=coef.device)
        size = block_rows(coef.shape[0], 8, X.shape[1], True)
        if is_numpy(X):
            size = min(size, max(1, _PAIRS // max(1, coef.shape[0])))
        for part, block in blocks_of(X, size) if coef.shape[0] else ():
            rows = cast(self.scaling_.rows(block, scaled), dtype)
            matmul(cast(self.kernel_(rows, points), coef.dtype), coef, F[part, :])
        return F

    def _kernel_gradients(self, X: Rows, points: Rows, coef: np.ndarray) -> Slopes | None:
        """The gradients of Σⱼ k(x, zⱼ) coefⱼ at these rows; None where the kernel states none."""
        if self._precomputed:
            return None
        points = landmarks_like(points, X, np.float64, self.scaling_.shift)
        rows = self.scaling_.rows(X, np.float64)
        return kernel_gradients(self.kernel_, rows, points, coef, self.scaling_.factor)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags


# ---------------------------------------------------------------- which kernel
def trial_of(rows: Any, problem: Problem, grid: float | np.ndarray, count: Any, seed: int) -> Trial:
    """The rows on the host, or a sample of many, to choose a kernel by.

    Class weights stay as they are while a row is left out.
    """
    n, host = rows.shape[0], np.empty(0)
    chosen = np.arange(n)
    if n > CHOICE_ROWS:
        chosen = np.sort(sample_rows(seed, CHOICE_ROWS, n))
        _LOG.info("The kernel is chosen on %d of %d rows.", CHOICE_ROWS, n)
    part = problem.take(chosen)
    weight, unit = (None if c is None else placed(c, host) for c in (part.weight, part.unit))
    part = replace(part, targets=part.targets.placed(host), weight=weight, unit=unit)
    count = None if count is None else count[chosen]
    return Trial(on_host(some_rows(rows, chosen)), part, count, np.atleast_1d(grid))


def choose_kernel(model: Any, trial: Trial, seed: int) -> ErrorPath | None:
    """Give a model the best kernel and weights; the errors of every C, if that is chosen too."""
    weighs = isinstance(model.column_weights, str)
    tried = KernelChoice(model._chosen_names, weighs, seed).fit(trial)
    best = best_of(tried)
    model.kernel_, model.kernel_path_ = best.kernel, table_of(tried)
    model.scaling_ = model.scaling_.weighed(best.weights)
    model.column_weights_ = getattr(model, "column_weights_", 1.0) * best.weights
    return best.path if len(trial.C) > 1 else None


def choose_gamma(model: Any, trial: Trial) -> None:
    """Give a model the best multiple of its kernel's typical γ."""
    D = measured(model.kernel, trial.rows)
    tried = [trial.candidate(model.kernel, factor, D=D) for factor in WIDTHS]
    model.kernel_ = min(tried, key=lambda each: each.score).kernel
    table = table_of(tried)
    model.gamma_path_ = {
        key: table[key] for key in table if key not in ("kernel", "round", "C", "rows")
    }


def weighing_factor(model: Any, total: float) -> float:
    """What left-out errors are multiplied by where columns were weighed by the same rows.

    Their squares are too small by about one part in n for each weight: on madelon, 500 columns and
    1820 rows, sets of 90 % held 85 %, and hold 89 % with it.
    """
    chosen = bool(model._chosen_names) and isinstance(model.column_weights, str)
    if not chosen or np.ptp(on_host(model.column_weights_)) == 0.0:
        return 1.0
    return float(np.sqrt(1.0 + model.n_features_in_ / total))


def check_parameters(model: Any) -> None:
    """Refuse parameters of a `KernelELM` that cannot be used."""
    names, weights = model._chosen_names, model.column_weights
    check_scaling(model.scaling)
    if isinstance(model.kernel, list | tuple) and not names:
        raise InvalidParameterError("kernel=[] has no kernel to choose from; give names.")
    for name in names:
        check_kernel(name, model.gamma, model.degree, model.coef0)
        _check_name(name, isinstance(weights, str))
    if names and not isinstance(model.gamma, str):
        raise InvalidParameterError(
            f"gamma={model.gamma!r} is given, and kernel={model.kernel!r} chooses it; leave gamma "
            "out, or give one kernel by name."
        )
    if isinstance(weights, str):
        check_known("column_weights", weights, ("loo",))
    elif weights is not None and (model._precomputed or not (names or model.kernel in KERNELS)):
        raise InvalidParameterError(
            f"column_weights= needs a kernel that is given by name, and kernel={model.kernel!r} "
            "sees the inputs as they are; multiply the columns of X."
        )
    if not names:
        model._check_inputs()
        if model.gamma == "loo" and not has_gamma(model.kernel):
            raise InvalidParameterError(
                f"gamma='loo' needs a kernel with a gamma, and kernel={model.kernel!r} has none "
                "to choose; give one by name, such as 'rbf'."
            )
    _check_how(model)


def _check_name(name: Any, weighs: bool) -> None:
    if not (isinstance(name, str) and has_gamma(name) and is_definite(name)):
        raise InvalidParameterError(
            f"kernel={name!r} cannot be chosen by leave-one-out: it needs a name, a gamma and no "
            "negative eigenvalues. Give it alone."
        )
    if weighs and not has_gradient(name):
        raise InvalidParameterError(
            f"kernel={name!r} states no gradient, which column_weights='loo' needs; use "
            "column_weights=None, or add slopes(self, X, Z) to its class."
        )


def _check_how(model: Any) -> None:
    if not isinstance(model.method, LowRank | Randomized):
        check_known("method", model.method, ("auto", "exact", *NAMES))
    if model.method == "exact" and model.rank is not None:
        raise InvalidParameterError(
            "method='exact' uses the whole kernel; leave rank out, or choose another method."
        )
    how = model._approximation(n=np.inf)
    if how is not None and not model._chosen_names:
        check_method(model.kernel, how.method)
