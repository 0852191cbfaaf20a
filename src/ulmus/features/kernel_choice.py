"""Which kernel an estimator's arguments name, and the rows it sees."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ulmus.arguments import check_number, check_whole, is_number
from ulmus.backends.namespace import (
    cast,
    eps,
    floating,
    is_sparse,
    namespace,
    placed,
)
from ulmus.backends.random import sample_rows
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.scaling import Scaling
from ulmus.kernels import (
    RBF,
    Arcsine,
    Cosine,
    InfiniteRBF,
    Kernel,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from ulmus.pairs import Shifted, mean_distance, mean_square, some_rows
from ulmus.typing import Array, DType, Rows

__all__ = [
    "KernelName",
    "check_kernel",
    "check_method",
    "check_precomputed",
    "has_gamma",
    "is_definite",
    "kernel_of",
    "landmarks_like",
    "scaled_for_kernel",
    "scales_inputs",
]

KernelName = str | Kernel | Callable[..., Any]

_NAMES = (
    "rbf", "linear", "poly", "polynomial", "cosine", "sigmoid", "laplacian", "infinite_rbf",
    "arcsine", "precomputed",
)  # fmt: skip
_WITHOUT_GAMMA = ("linear", "cosine", "precomputed")
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
    return isinstance(kernel, str) and kernel not in _WITHOUT_GAMMA


def check_kernel(kernel: KernelName, gamma: Any, degree: Any, coef0: Any) -> None:
    """Refuse arguments that name no kernel."""
    if isinstance(kernel, str) and kernel not in _NAMES:
        known = ", ".join(map(repr, _NAMES))
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
    if isinstance(kernel, Kernel):
        return kernel.definite
    return not (isinstance(kernel, str) and kernel == "sigmoid")


def check_method(kernel: KernelName, method: str) -> None:
    """Refuse a method that needs an inner product, for a kernel that is none."""
    if method in _BY_PIVOTS and not is_definite(kernel):
        raise InvalidParameterError(
            f"method={method!r} needs a positive semi-definite kernel, and kernel={kernel!r} "
            "is not; use method='eig' or 'halko', which leave its negative eigenvalues out."
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
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        return Pairwise(kernel)
    if kernel == "precomputed":
        return Precomputed()
    if kernel in ("linear", "cosine"):
        return Linear() if kernel == "linear" else Cosine()
    n = rows.shape[0]
    if n > _WIDTH_ROWS:
        sample = np.sort(sample_rows(seed, _WIDTH_ROWS, n))
        rows, weight = some_rows(rows, sample), None if weight is None else weight[sample]
    g = float(factor) * _typical(kernel, rows, weight) if isinstance(gamma, str) else float(gamma)
    if kernel == "rbf":
        return RBF(g)
    if kernel == "laplacian":
        return Laplacian(g)
    if kernel == "sigmoid":
        return Sigmoid(g, float(coef0))
    if kernel in ("poly", "polynomial"):
        return Polynomial(g, float(coef0), int(degree))
    if kernel == "arcsine":
        return Arcsine(g, float(coef0))
    # Centres spread in every direction as far as the rows reach in all.
    return InfiniteRBF(g, float(np.sqrt(mean_square(rows, weight))))


def _typical(kernel: str, rows: Rows, weight: np.ndarray | None) -> float:
    """γ by the rows' mean distance σ, 1/2σ² or 1/σ, or 1 over their mean squared length."""
    if kernel == "laplacian":
        return 1.0 / mean_distance(rows, weight, city=True)
    if kernel in ("poly", "polynomial", "sigmoid", "arcsine"):
        return 1.0 / mean_square(rows, weight)
    return 0.5 / mean_distance(rows, weight) ** 2


def scaled_for_kernel(X: Rows, scaling: Scaling, scales: bool, dtype: DType) -> Any:
    """The rows as the kernel sees them: scaled, and sparse ones as they are but for the scale."""
    if not scales:
        return cast(X, dtype)
    if is_sparse(X):
        return Shifted(scaling.sparse(X, dtype), scaling.shift.astype(dtype))
    rows = namespace(X).empty(X.shape, dtype=dtype, device=X.device)
    scaling.dense(X, rows)
    return rows


def landmarks_like(landmarks: Any, like: Rows, dtype: DType, shift: np.ndarray) -> Any:
    """Landmarks where ``like`` lives, and stated as its rows will be: centred, or only scaled."""
    if is_sparse(like):
        if isinstance(landmarks, Shifted):
            return Shifted(landmarks.rows.astype(dtype), landmarks.shift.astype(dtype))
        if is_sparse(landmarks):
            return landmarks.astype(dtype)
        landmarks = placed(landmarks, like)
        if shift.any():
            return Shifted((landmarks + shift).astype(dtype), shift.astype(dtype))
        return landmarks.astype(dtype)
    if isinstance(landmarks, Shifted):
        landmarks = landmarks.rows.toarray() - landmarks.shift
    if is_sparse(landmarks):
        landmarks = landmarks.toarray()
    return cast(placed(landmarks, like), dtype)


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
