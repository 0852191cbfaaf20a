"""What a file may hold besides plain data: these classes and functions, and no others.

A name in a file is looked up here and nowhere else. To add a class is one entry in
`layouts`, `table_layouts` or `scikit` beside this file, with what its attributes must be, or
`register` where it is defined. A kernel that is derived from `ulmus.kernels.Kernel` with a name is
known once its class exists, and no sooner: reading a file imports nothing that is not listed here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import scipy.special
from sklearn.metrics import pairwise
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from ulmus.kernels import KERNELS
from ulmus.persistence import layouts, scikit, table_layouts
from ulmus.persistence.rules import Layout

__all__ = ["FUNCTIONS", "TYPES", "Known", "known", "name_of", "register"]


@dataclass(frozen=True)
class Known:
    """A class that files may hold.

    ``layout`` says what its attributes must be, ``fresh`` has those that are not stored but made
    anew by the reader.
    """

    name: str
    layout: Layout = field(default_factory=Layout)
    fresh: dict[str, Callable[[], Any]] = field(default_factory=dict)
    cls: type | None = None

    def load(self) -> type:
        """The class itself; its module is imported when it is first asked for."""
        if self.cls is not None:
            return self.cls
        module, _, name = self.name.rpartition(".")
        found: type = getattr(import_module(module), name)
        return found


def register(cls: type) -> type:
    """Allow files to hold objects of a class of your own.

    The attributes of such an object are stored, or the fields of a dataclass; they must be data, or
    objects that files may hold. `load` makes the object without a call of ``__init__`` (a dataclass
    by its fields) and sets its attributes, so register only classes that cannot be led astray by
    their attributes. Whoever loads the file must have registered the class as well.

    Parameters
    ----------
    cls : type
        The class; the same is given back, so that this can be used as a decorator.

    Returns
    -------
    cls : type
        The class.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator, TransformerMixin
    >>> from ulmus.persistence import register
    >>> @register
    ... class Halves(TransformerMixin, BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         return self
    ...
    ...     def transform(self, X):
    ...         return X / 2
    """
    if not isinstance(cls, type):
        raise TypeError(f"register takes a class, not {cls!r}.")
    name = f"{cls.__module__}.{cls.__qualname__}"
    _KNOWN[name] = Known(name, cls=cls)
    return cls


def known(name: str) -> Known | None:
    """The entry of a class by its full name, if there is one."""
    return _with_kernels().get(name)


def name_of(cls: type) -> str | None:
    """The full name under which files may hold objects of this very class."""
    for name, entry in _with_kernels().items():
        if name.endswith(f".{cls.__name__}") and entry.load() is cls:
            return name
    return None


def _with_kernels() -> dict[str, Known]:
    """All that files may hold, the kernels that have been defined by now among them."""
    for cls in KERNELS.values():
        own = cls.__module__.startswith("ulmus.kernels.")
        name = f"{'ulmus.kernels' if own else cls.__module__}.{cls.__qualname__}"
        if name not in _KNOWN or _KNOWN[name].cls is not cls:
            _KNOWN[name] = Known(name, layouts.kernel_layout(cls), cls=cls)
    return _KNOWN


# How many threads there are is the reader's affair, and so is a folder of cached results.
_FRESH: dict[str, dict[str, Callable[[], Any]]] = {
    "sklearn.cluster.KMeans": {"_n_threads": _openmp_effective_n_threads},
    "sklearn.pipeline.Pipeline": {"memory": lambda: None},
}
_KNOWN = {
    name: Known(name, layout, _FRESH.get(name, {}))
    for name, layout in (layouts.LAYOUTS | table_layouts.LAYOUTS | scikit.LAYOUTS).items()
}
_with_kernels()

# Functions of one array, and kernels of two. Some functions of several are compiled loops over a
# count that is one of their arguments.
FUNCTIONS: dict[str, Any] = {
    f"{place}.{name}": function
    for place, module in (("scipy.special", scipy.special), ("numpy", np))
    for name, function in sorted(vars(module).items())
    if isinstance(function, np.ufunc)
    and function.__name__ == name
    and function.nin == function.nout == 1
}
FUNCTIONS |= {
    f"sklearn.metrics.pairwise.{name}": getattr(pairwise, name)
    for name in (
        "additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "laplacian_kernel",
        "linear_kernel", "polynomial_kernel", "rbf_kernel", "sigmoid_kernel",
    )
}  # fmt: skip

# Classes that stand for themselves, as in dtype=np.float32.
TYPES: dict[str, type] = {t.__name__: t for t in (bool, float, int, object, str)}
TYPES |= {
    f"numpy.{name}": getattr(np, name)
    for name in (
        "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128", "str_", "object_",
        "number", "integer", "floating",
    )
}  # fmt: skip
