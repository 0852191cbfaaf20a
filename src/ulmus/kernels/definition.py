"""What a kernel is, and the names that kernels are known by."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, field, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from ulmus.arguments import is_number, is_whole
from ulmus.backends.namespace import namespace
from ulmus.exceptions import ExportError, InvalidParameterError
from ulmus.hidden import row_blocks
from ulmus.kernels.pairs import FEW_ROWS, mean_distance, some_rows
from ulmus.typing import Array, Rows

# Every kernel with a name, by its names.
KERNELS: dict[str, type["Kernel"]] = {}
_LARGEST = float(np.finfo(float).max)


class Kernel(ABC):
    """k(x, z) for blocks of rows; derive from it to add a kernel.

    One class is all there is to write. With a ``name`` it can be given by that name wherever a
    kernel can, and models that use it can be saved; a file that holds it can be loaded where the
    class has been defined before. Without a name, it is given as an object.

    Parameters are the fields of a frozen dataclass. Of these ``gamma``, ``degree`` and ``coef0``
    are taken from the estimator's arguments, and `learned` may give others.

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

    # Whether K is positive semi-definite between any rows; if not, its negative part is left out.
    definite: ClassVar[bool] = True

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
        """Fields that follow from the (scaled) rows, where the kernel is given by name."""
        return {}

    def slopes(self, X: Rows, Z: Rows) -> tuple[Array, Array | None] | None:
        """p and q (None: zeros) of ∂k(x, z)/∂x = p z + q x, in NumPy; None: no such gradient."""
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
    """A field of a kernel whose value is in a range; a file in which it is not is refused.

    Parameters
    ----------
    default : bool, int or float
        The value where none is given. Others are flags or whole numbers where this is one, and
        finite numbers otherwise.
    above : float, default=-inf
        What they are larger than.
    least : float, default=-inf
        What they are not below.
    most : float, default=inf
        What they are not above.

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
    """The fields of a kernel, and the check of each value; without one, any value will do."""
    own: tuple[Field[Any], ...] = fields(cls) if is_dataclass(cls) else ()
    return {each.name: each.metadata.get("sound", lambda value: True) for each in own}


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
