"""The classes and functions that a file may hold besides plain data.

A name in a file is looked up here and nowhere else, so that reading a file imports only what is
listed here: every public class of Ulmus, every named subclass of `ulmus.kernels.Kernel` that has
been defined, and the entries of `scikit` and `layouts` beside this file. `register` adds classes of
other packages.
"""

from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.special
from sklearn.metrics import pairwise

import ulmus
from ulmus.kernels import KERNELS, Pairwise
from ulmus.persistence import layouts, scikit
from ulmus.persistence.rules import Layout


class Known:
    """A class that files may hold; without a layout it is checked by what it declares."""

    def __init__(self, name: str, layout: Layout | None = None, cls: type | None = None) -> None:
        self.name, self._layout, self._cls = name, layout, cls

    def load(self) -> type:
        """The class; its module is imported on first use."""
        if self._cls is None:
            module, _, name = self.name.rpartition(".")
            self._cls = getattr(import_module(module), name)
        return self._cls

    @property
    def layout(self) -> Layout:
        """What its objects must be."""
        return layouts.layout_of(self.load()) if self._layout is None else self._layout


def register(cls: type) -> type:
    """Allow files to hold objects of a class of your own.

    The attributes of such an object are stored, or the fields of a dataclass; they must be data, or
    objects that files may hold. `load` creates the object without calling ``__init__`` (a dataclass
    by its fields) and sets its attributes, so register only classes that are safe for any values of
    their attributes. The program that loads the file must have registered the class as well.

    Parameters
    ----------
    cls : type
        The class. It is returned, so that `register` can be used as a decorator.

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
    _KNOWN[name] = Known(name, Layout(), cls)
    return cls


def skops_types() -> list[str]:
    """The types that Ulmus' own models consist of, for skops to trust.

    Returns
    -------
    names : list of str
        Full names of classes. They hold data and run no code when they are loaded. skops does not
        check their attributes, as `load` does. Types of other packages that you put into a model, a
        transformer for instance, are yours to add.

    Examples
    --------
    >>> from ulmus.persistence import skops_types
    >>> "ulmus.estimators.elm.ELMClassifier" in skops_types()
    True
    """
    found = [entry.load() for entry in _with_kernels().values()]
    own = [cls for cls in found if cls.__module__.startswith("ulmus.")]
    data = [np.dtype, sp.csr_array, sp.csr_matrix]
    return sorted({f"{cls.__module__}.{cls.__qualname__}" for cls in (*own, *data)})


def known(name: str) -> Known | None:
    """The entry of a class by its full name, if there is one."""
    return _with_kernels().get(_MOVED.get(name, name))


def known_as(cls: type) -> Known | None:
    """The entry of this very class, if there is one."""
    alike = [e for name, e in _with_kernels().items() if name.endswith(f".{cls.__name__}")]
    return next((entry for entry in alike if entry.load() is cls), None)


def _with_kernels() -> dict[str, Known]:
    """All known classes, including the kernels that have been defined by now."""
    kernels: list[type] = [Pairwise, *KERNELS.values()]
    for cls in kernels:
        own = cls.__module__.startswith("ulmus.kernels.")
        name = f"{'ulmus.kernels' if own else cls.__module__}.{cls.__qualname__}"
        if name not in _KNOWN or _KNOWN[name].load() is not cls:
            _KNOWN[name] = Known(name, cls=cls)
    return _KNOWN


# Names in files of earlier versions whose classes are in another module now.
_MOVED = {
    "ulmus.conformal.LeftOut": "ulmus.estimators.intervals.LeftOut",
    "ulmus.tables.clipped_columns.ClippedColumns": "ulmus.tables.table_model.ClippedColumns",
}
_PUBLIC = dict.fromkeys(f"ulmus.{name}" for name in dir(ulmus) if name[0].isupper())
_KNOWN = {n: Known(n, layout) for n, layout in (_PUBLIC | layouts.PARTS | scikit.LAYOUTS).items()}
_with_kernels()

# Functions of one array, and kernels of two arrays. NumPy and SciPy functions of several arguments
# are left out: some are compiled loops whose length is an argument.
FUNCTIONS: dict[str, Any] = {
    f"{place}.{name}": function
    for place, module in (("scipy.special", scipy.special), ("numpy", np))
    for name, function in sorted(vars(module).items())
    if isinstance(function, np.ufunc)
    and function.__name__ == name
    and function.nin == function.nout == 1
}
FUNCTIONS |= {
    f"sklearn.metrics.pairwise.{function.__name__}": function
    for function in pairwise.kernel_metrics().values()
}

# Classes that may be parameters themselves, as in dtype=np.float32.
TYPES: dict[str, type] = {t.__name__: t for t in (bool, float, int, object, str)}
TYPES |= {
    f"numpy.{name}": kind
    for name, kind in sorted(vars(np).items())
    if isinstance(kind, type) and issubclass(kind, np.number | np.bool_ | np.str_ | np.object_)
}
