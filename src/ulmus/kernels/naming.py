"""Which kernel an estimator's arguments name."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ulmus.arguments import check_number, check_whole, is_number
from ulmus.backends.namespace import eps, floating, is_sparse, namespace
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.hidden import sample_rows
from ulmus.kernels.definition import KERNELS, Kernel, parameters_of
from ulmus.kernels.given import Pairwise
from ulmus.kernels.pairs import some_rows
from ulmus.typing import Array, Rows

__all__ = [
    "KernelName",
    "check_kernel",
    "check_method",
    "check_precomputed",
    "has_gamma",
    "is_definite",
    "kernel_of",
    "scales_inputs",
]

KernelName = str | Kernel | Callable[..., Any]

# Methods that factor K by its pivots, which all must be positive.
_BY_PIVOTS = ("rpcholesky", "nystrom")
# The mean distance is taken over at most this many rows: its error is then far below what any
# width is sensitive to.
_WIDTH_ROWS = 2000
# Powers of a polynomial past this are zero or overflow.
_HIGHEST = 100
# How far a precomputed kernel may be from its transpose, in units of its largest entry's rounding.
_ASYMMETRY = 1e5


def scales_inputs(kernel: KernelName, scaling: str | None) -> bool:
    """Whether the inputs are scaled: only for kernels known by name, which act on columns."""
    return scaling == "auto" and isinstance(kernel, str) and kernel != "precomputed"


def has_gamma(kernel: KernelName) -> bool:
    """Whether the kernel is given by name and has a γ."""
    return isinstance(kernel, str) and "gamma" in parameters_of(KERNELS[kernel])


def check_kernel(kernel: KernelName, gamma: Any, degree: Any, coef0: Any) -> None:
    """Refuse arguments that name no kernel."""
    if isinstance(kernel, str) and kernel not in KERNELS:
        known = ", ".join(map(repr, KERNELS))
        raise InvalidParameterError(
            f"kernel={kernel!r} is unknown; use one of {known}, or a function of two sets of rows."
        )
    if not isinstance(kernel, str) and not callable(kernel):
        raise InvalidParameterError(
            f"kernel={kernel!r} is neither a name nor a function of two sets of rows."
        )
    if not (isinstance(gamma, str) and gamma in ("mean", "loo")):
        words = "'mean' (from the mean distance between rows) or a positive number"
        check_number("gamma", gamma, words)
    if not isinstance(gamma, str) and not has_gamma(kernel):
        raise InvalidParameterError(
            f"gamma={gamma!r} belongs to a kernel that is given by name and has one; kernel="
            f"{kernel!r} has not."
        )
    check_whole("degree", degree, least=1, most=_HIGHEST)
    if is_definite(kernel):
        words = "zero or more, or the kernel would not be positive definite"
        check_number("coef0", coef0, words, zero=True)
    elif not is_number(coef0, -np.inf):
        raise InvalidParameterError(f"coef0={coef0!r} must be a number.")


def is_definite(kernel: KernelName) -> bool:
    """Whether the kernel is an inner product; of a function that is assumed, and checked later."""
    stated = KERNELS[kernel] if isinstance(kernel, str) else kernel
    return getattr(stated, "definite", True)


def check_method(kernel: KernelName, method: str) -> None:
    """Refuse a method that needs an inner product, for a kernel that is none."""
    if method in _BY_PIVOTS and not is_definite(kernel):
        raise InvalidParameterError(
            f"method={method!r} needs a positive semi-definite kernel, and kernel={kernel!r} "
            "is not; use method='eig' or 'randomized', which leave its negative eigenvalues out."
        )


def kernel_of(
    kernel: KernelName,
    gamma: str | float,
    degree: int,
    coef0: float,
    rows: Rows,
    seed: int,
    factor: float = 1.0,
    weight: np.ndarray | None = None,
) -> Kernel:
    """The kernel, its scale learned from (scaled) rows where ``gamma`` is not a number.

    ``factor`` multiplies a learned γ; a row counts as often as its weight says.
    """
    if not isinstance(kernel, str):
        return kernel if isinstance(kernel, Kernel) else Pairwise(kernel)
    cls, n = KERNELS[kernel], rows.shape[0]
    own = parameters_of(cls)
    if own and n > _WIDTH_ROWS:
        sample = np.sort(sample_rows(seed, _WIDTH_ROWS, n))
        rows, weight = some_rows(rows, sample), None if weight is None else weight[sample]
    values = {"degree": int(degree), "coef0": float(coef0)}
    if "gamma" in own:
        learned = isinstance(gamma, str)
        found = factor * cls.typical_gamma(rows, weight) if learned else gamma
        values["gamma"] = float(found)
    return cls(**cls.learned(rows, weight), **{key: values[key] for key in values if key in own})


def check_precomputed(K: Array) -> None:
    """Refuse a matrix that is no kernel between rows of one set."""
    if is_sparse(K):
        raise InvalidInputError(
            "kernel='precomputed' needs a dense matrix, and X is sparse; use X.toarray()."
        )
    n, m = K.shape
    if n != m:
        raise InvalidInputError(
            f"kernel='precomputed' needs the square matrix of the kernel between all training "
            f"rows, and X has shape {(n, m)}."
        )
    xp = namespace(K)
    apart, largest = float(xp.max(xp.abs(K - K.T))), float(xp.max(xp.abs(K)))
    if apart > _ASYMMETRY * eps(floating(K)) * largest:
        raise InvalidInputError(
            f"The precomputed kernel is not symmetric: K and its transpose differ by {apart:.2g}. "
            "If that is rounding, use (K + K.T) / 2."
        )
