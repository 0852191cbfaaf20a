"""Which kernel and which column weights a kernel ELM takes."""

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from ulmus.arguments import check_known
from ulmus.backends.namespace import on_host, placed
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.scaling import check_scaling
from ulmus.hidden import sample_rows
from ulmus.kernels import KERNELS
from ulmus.kernels.definition import check_kernel, has_gamma, has_gradient, is_definite
from ulmus.kernels.pairs import some_rows
from ulmus.methods.kernel_choice import CHOICE_ROWS, WIDTHS, KernelChoice, Trial, table_of
from ulmus.problem import ErrorPath, Problem
from ulmus.targets import numeric

_LOG = logging.getLogger(__name__)
# The kernels that "loo" chooses from.
CHOSEN = ("laplacian", "exponential", "rbf")


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
    best = min(tried, key=lambda each: each.score)
    model.kernel_, model.kernel_path_ = best.kernel, table_of(tried)
    model.scaling_ = model.scaling_.weighed(best.weights)
    model.column_weights_ = getattr(model, "column_weights_", 1.0) * best.weights
    return best.path if len(trial.C) > 1 else None


def choose_gamma(model: Any, trial: Trial) -> None:
    """Give a model the best multiple of its kernel's typical γ."""
    tried = [trial.candidate(model.kernel, factor) for factor in WIDTHS]
    model.kernel_ = min(tried, key=lambda each: each.score).kernel
    table = table_of(tried)
    model.gamma_path_ = {key: table[key] for key in table if key not in ("kernel", "round", "C")}


def check_choice(model: Any) -> None:
    """Refuse kernels that cannot be chosen from, and column weights that cannot be used."""
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
    elif (weights is not None and not (names or model.kernel in KERNELS)) or model._precomputed:
        _refuse_weights(model)


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


def _refuse_weights(model: Any) -> None:
    if model.column_weights is not None and not isinstance(model.column_weights, str):
        raise InvalidParameterError(
            f"column_weights= needs a kernel that is given by name, and kernel={model.kernel!r} "
            "sees the inputs as they are; multiply the columns of X."
        )


def given_weights(model: Any, d: int) -> np.ndarray | None:
    """Weights that a user gave, checked against the number of columns; None where none are."""
    if model.column_weights is None or isinstance(model.column_weights, str):
        return None
    given = np.asarray(on_host(model.column_weights))
    weights = numeric(given, "column_weights").astype(float)
    if weights.shape != (d,):
        raise InvalidInputError(
            f"column_weights has the shape {weights.shape}, and X has {d} columns; give one number "
            "for each."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InvalidInputError(
            "column_weights must be finite and not negative, and one of them more than zero."
        )
    return weights
