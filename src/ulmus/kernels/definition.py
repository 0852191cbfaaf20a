"""The base class of kernels, their names, and the kernel of an estimator's arguments."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields, is_dataclass
from types import FunctionType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ulmus.arguments import check_number, check_whole, is_number, is_whole
from ulmus.backends.namespace import eps, floating, is_numpy, is_sparse, namespace, take
from ulmus.exceptions import ExportError, InvalidInputError, InvalidParameterError
from ulmus.hidden import row_blocks, sample_rows
from ulmus.kernels.pairs import FEW_ROWS, into, mean_distance, some_rows
from ulmus.typing import Array, Rows

# Every kernel with a name, by its names.
KERNELS: dict[str, type["Kernel"]] = {}
_LARGEST = float(np.finfo(float).max)
KernelName: TypeAlias = "str | Kernel | Callable[..., Any]"
# Most rows that the mean distance is taken over: its error is then far smaller than any change of
# the width that matters.
_WIDTH_ROWS = 2000
# Powers of a polynomial past this are zero or overflow.
_HIGHEST = 100
# How far a precomputed kernel may be from its transpose, in units of its largest entry's rounding.
_ASYMMETRY = 1e5


class Kernel(ABC):
    """k(x, z) for blocks of rows; the base class of kernels.

    A new kernel is one subclass. With a ``name``, estimators accept it by that name, and models
    that use it can be saved; a program that loads such a file must define the class first. Without
    a name, it is passed as an object.

    Its parameters are the fields of a frozen dataclass. ``gamma``, ``degree`` and ``coef0`` are
    taken from the arguments of the estimator, and `learned` may set others from the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from ulmus import KernelELMRegressor
    >>> from ulmus.kernels import Kernel
    >>> @dataclass(frozen=True)
    ... class Smallest(Kernel, name="smallest"):
    ...     def __call__(self, X, Z, out=None):
    ...         return np.minimum(X, Z.T)
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> model = KernelELMRegressor("smallest", scaling=None).fit(X, np.sqrt(X[:, 0]))
    >>> round(model.score(X, np.sqrt(X[:, 0])), 2)
    1.0
    """

    # Whether K is positive semi-definite; if not, its negative eigenvalues are set to zero.
    definite: ClassVar[bool] = True
    # Whether the gradient is p · sign(z − x), column by column, in place of p z + q x.
    by_signs: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None, alias: str | None = None) -> None:
        """Make the class known by ``name``, and by ``alias``."""
        super().__init_subclass__()
        for known in filter(None, (name, alias)):
            taken = KERNELS.get(known)
            if taken is not None and _place(taken) != _place(cls):
                raise InvalidParameterError(
                    f"{_place(cls)} cannot have the name {known!r}, which is that of "
                    f"{_place(taken)}; choose another."
                )
            KERNELS[known] = cls

    @abstractmethod
    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        """The block k(xᵢ, zⱼ), written into ``out`` when one is given."""

    def diagonal(self, X: Rows) -> Array:
        """k(xᵢ, xᵢ); override it where a formula gives them without blocks."""
        some = (some_rows(X, rows) for rows in row_blocks(X.shape[0], FEW_ROWS))
        blocks = [self(part, part) for part in some]
        xp = namespace(blocks[0])
        return xp.concat([xp.linalg.diagonal(block) for block in blocks])

    @classmethod
    def typical_gamma(cls, rows: Rows, weight: np.ndarray | None) -> float:
        """γ where it is not given: 1/2σ², σ the mean distance between the (scaled) rows."""
        return 0.5 / mean_distance(rows, weight) ** 2

    @classmethod
    def learned(cls, rows: Rows, weight: np.ndarray | None) -> dict[str, Any]:
        """Fields that are estimated from the (scaled) rows, where the kernel is given by name."""
        return {}

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array | None] | None:
        """p and q (None: zeros) of ∂k(x, z)/∂x = p z + q x, in NumPy; None: no such gradient.

        Where the class has ``by_signs = True`` the gradient is p · sign(z − x).
        """
        return None

    def onnx(self, x: Any, Z: np.ndarray) -> Any:
        """k(x, z) for a graph's rows x (`ulmus.exporting.onnx_graph.Value`) and landmarks Z."""
        raise ExportError(
            f"The kernel {self!r} cannot be written as ONNX: it has no method onnx(self, x, Z). "
            "Add one to its class, or fit with another kernel, such as 'rbf'."
        )


def parameter(
    default: Any, *, above: float = -np.inf, least: float = -np.inf, most: float = np.inf
) -> Any:
    """A field of a kernel whose value is in a range; files with other values are refused.

    Parameters
    ----------
    default : bool, int or float
        The default value. Its type is that of all values: a flag, a whole number, or a finite
        number.
    above : float, default=-inf
        Values are larger than this.
    least : float, default=-inf
        The smallest value.
    most : float, default=inf
        The largest value.

    Returns
    -------
    field : dataclasses.Field
        For the body of a dataclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from ulmus.kernels import RBF, parameter
    >>> @dataclass(frozen=True)
    ... class Narrow(RBF):
    ...     gamma: float = parameter(10.0, above=0)
    >>> Narrow()
    Narrow(gamma=10.0)
    """

    def sound(value: Any) -> bool:
        if isinstance(default, bool):
            return isinstance(value, bool | np.bool_)
        if isinstance(default, int) and not is_whole(value):
            return False
        return is_number(value, max(least, -_LARGEST), min(most, _LARGEST)) and value > above

    return field(default=default, metadata={"sound": sound})


def parameters_of(cls: type[Kernel]) -> dict[str, Callable[[Any], bool]]:
    """The fields of a kernel, and the check of each; a field without a check takes any value."""
    own: tuple[Field[Any], ...] = fields(cls) if is_dataclass(cls) else ()
    return {each.name: each.metadata.get("sound", lambda value: True) for each in own}


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


@dataclass(frozen=True)
class Pairwise(Kernel):
    """A function of two sets of rows that returns the kernel matrix between them.

    Parameters
    ----------
    function : callable
        A function of two arrays of rows that returns one number for each pair.

    Examples
    --------
    >>> from sklearn.metrics.pairwise import cosine_similarity
    >>> from ulmus.kernels import Pairwise
    >>> Pairwise(cosine_similarity)(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])).round(3)
    array([[0.707]])
    """

    function: Callable[..., Any] = field(
        metadata={"sound": lambda value: isinstance(value, np.ufunc | FunctionType)}
    )

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        name = getattr(self.function, "__name__", repr(self.function))
        try:
            block = self.function(X, Z)
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"kernel={name} failed on {X.shape[0]} and {Z.shape[0]} rows, with "
                f"{type(error).__name__}: {error}"
            ) from error
        block = block.toarray() if is_sparse(block) else block
        if is_numpy(X):
            block = np.asarray(block)
        shape, found = (X.shape[0], Z.shape[0]), getattr(block, "shape", None)
        if found != shape:
            raise InvalidInputError(
                f"The kernel {name} gave an array of shape {found} for {shape[0]} and "
                f"{shape[1]} rows; it must give one number for each pair, {shape}."
            )
        xp = namespace(block)
        if not bool(xp.all(xp.isfinite(block))):
            raise InvalidInputError(f"The kernel {name} gave values that are not finite.")
        return into(out, block)


@dataclass(frozen=True)
class Precomputed(Kernel, name="precomputed"):
    """A precomputed kernel matrix: X has rows of it, and Z the numbers of its columns.

    Examples
    --------
    >>> from ulmus.kernels import Precomputed
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> Precomputed()(K, np.array([1]))
    array([[1.],
           [3.]])
    """

    def __call__(self, X: Rows, Z: Rows, out: Array | None = None) -> Array:
        if is_sparse(X):
            raise InvalidInputError("A precomputed kernel must be dense; use X.toarray().")
        return into(out, take(X, Z, axis=1))

    def diagonal(self, X: Rows) -> Array:
        return namespace(X).linalg.diagonal(X)


def scales_inputs(kernel: KernelName, scaling: str | None) -> bool:
    """Whether the inputs are scaled: only for kernels known by name, which act on columns."""
    return scaling == "auto" and isinstance(kernel, str) and kernel != "precomputed"


def has_gradient(kernel: str) -> bool:
    """Whether a kernel that is given by name states its gradient."""
    return KERNELS[kernel].slopes is not Kernel.slopes


def has_gamma(kernel: KernelName) -> bool:
    """Whether the kernel is given by name and has a γ."""
    return isinstance(kernel, str) and "gamma" in parameters_of(KERNELS[kernel])


def is_definite(kernel: KernelName) -> bool:
    """Whether the kernel is positive semi-definite; assumed of a function, and checked later."""
    return getattr(KERNELS[kernel] if isinstance(kernel, str) else kernel, "definite", True)


def check_kernel(kernel: KernelName, gamma: Any, degree: Any, coef0: Any) -> None:
    """Refuse arguments that do not define a kernel."""
    if kernel not in KERNELS if isinstance(kernel, str) else not callable(kernel):
        known = ", ".join(map(repr, KERNELS))
        raise InvalidParameterError(
            f"kernel={kernel!r} is unknown; use one of {known}, or a function of two sets of rows."
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


def check_method(kernel: KernelName, method: str) -> None:
    """Refuse a method with Cholesky pivots for a kernel that is not positive semi-definite."""
    if method in ("rpcholesky", "nystrom") and not is_definite(kernel):
        raise InvalidParameterError(
            f"method={method!r} needs a positive semi-definite kernel, and kernel={kernel!r} "
            "is not; use method='eig' or 'randomized', which leave its negative eigenvalues out."
        )


def check_precomputed(K: Array) -> None:
    """Refuse a matrix that is not a symmetric kernel matrix."""
    if is_sparse(K):
        raise InvalidInputError(
            "kernel='precomputed' needs a dense matrix, and X is sparse; use X.toarray()."
        )
    if K.shape[0] != K.shape[1]:
        raise InvalidInputError(
            f"kernel='precomputed' needs the square matrix of the kernel between all training "
            f"rows, and X has shape {tuple(K.shape)}."
        )
    xp = namespace(K)
    apart, largest = float(xp.max(xp.abs(K - K.T))), float(xp.max(xp.abs(K)))
    if apart > _ASYMMETRY * eps(floating(K)) * largest:
        raise InvalidInputError(
            f"The precomputed kernel is not symmetric: K and its transpose differ by {apart:.2g}. "
            "If that is rounding, use (K + K.T) / 2."
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
    """The kernel; where ``gamma`` is not a number it is estimated from the (scaled) rows.

    ``factor`` multiplies an estimated γ; ``weight`` are sample weights.
    """
    if not isinstance(kernel, str):
        return kernel if isinstance(kernel, Kernel) else Pairwise(kernel)
    cls, n = KERNELS[kernel], rows.shape[0]
    own = parameters_of(cls)
    if own and n > _WIDTH_ROWS:
        sample = np.sort(sample_rows(seed, _WIDTH_ROWS, n))
        rows, weight = some_rows(rows, sample), None if weight is None else weight[sample]
    values: dict[str, Any] = {"degree": int(degree), "coef0": float(coef0)}
    if "gamma" in own:
        learned = factor * cls.typical_gamma(rows, weight) if isinstance(gamma, str) else gamma
        values["gamma"] = float(learned)
    return cls(**cls.learned(rows, weight), **{key: values[key] for key in values if key in own})
