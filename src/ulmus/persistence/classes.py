"""What a file may hold besides plain data: these classes and functions, and no others.

A name in a file is looked up here and nowhere else. To add a class is one line: its name below, or
`register` where it is defined.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import scipy.special
from sklearn.metrics import pairwise
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

__all__ = ["FUNCTIONS", "TYPES", "Known", "known", "name_of", "register"]


@dataclass(frozen=True)
class Known:
    """A class that files may hold.

    ``fresh`` has the attributes that are not stored but made anew by the reader, and ``check``
    raises where attributes do not fit each other and compiled code would trust that they do.
    """

    name: str
    fresh: dict[str, Callable[[], Any]] = field(default_factory=dict)
    check: Callable[[Any], None] | None = None
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
    return _KNOWN.get(name)


def name_of(cls: type) -> str | None:
    """The full name under which files may hold objects of this very class."""
    for name, entry in _KNOWN.items():
        if name.endswith(f".{cls.__name__}") and entry.load() is cls:
            return name
    return None


def _centres_fit(kmeans: Any) -> None:
    # Its loops read as many columns of the centres as the rows have.
    centers = getattr(kmeans, "cluster_centers_", None)
    if centers is not None and centers.shape != (kmeans.n_clusters, kmeans.n_features_in_):
        raise ValueError("KMeans has centres that do not fit its number of clusters and columns")


def _categories_fit(encoder: Any) -> None:
    # It writes a one into each row at a place that these say, and nothing looks at the place again.
    if not hasattr(encoder, "categories_"):
        return
    none = [None] * len(encoder.categories_)
    drops = none if encoder._drop_idx_after_grouping is None else encoder._drop_idx_after_grouping
    rare = encoder._default_to_infrequent_mappings if encoder._infrequent_enabled else none
    widths = encoder._n_features_outs
    for kinds, mapping, drop, width in zip(encoder.categories_, rare, drops, widths, strict=True):
        reach = len(kinds)
        sound = kinds.dtype.kind in "OUS" or bool((np.diff(kinds[kinds == kinds]) > 0).all())
        if mapping is not None:
            sound &= mapping.shape == kinds.shape and mapping.min() >= 0
            reach = int(mapping.max()) + 1
        if drop is not None:
            sound &= 0 <= drop < reach
            reach -= 1
        if not sound or width != reach:
            raise ValueError("OneHotEncoder has categories that do not fit its columns")


_ULMUS = (
    "ulmus.ELMClassifier",
    "ulmus.ELMEmbedding",
    "ulmus.ELMKMeans",
    "ulmus.ELMNMF",
    "ulmus.ELMRegressor",
    "ulmus.ELMSpectralClustering",
    "ulmus.GraphELMClassifier",
    "ulmus.KNNGraph",
    "ulmus.KernelELMClassifier",
    "ulmus.KernelELMRegressor",
    "ulmus.KernelFeatures",
    "ulmus.ManifoldELMClassifier",
    "ulmus.RBFFeatures",
    "ulmus.RandomFeatures",
    "ulmus.SemiSupervisedELMClassifier",
    "ulmus.SemiSupervisedELMRegressor",
    "ulmus.SparseELMClassifier",
    "ulmus.estimators.free.GraphLabels",
    "ulmus.features.scaling.ColumnStatistics",
    "ulmus.features.scaling.Scaling",
    "ulmus.graphs.Laplacian",
    "ulmus.kernels.Arcsine",
    "ulmus.kernels.InfiniteRBF",
    "ulmus.kernels.Laplacian",
    "ulmus.kernels.Linear",
    "ulmus.kernels.Pairwise",
    "ulmus.kernels.Polynomial",
    "ulmus.kernels.Precomputed",
    "ulmus.kernels.RBF",
    "ulmus.kernels.Shifted",
    "ulmus.problem.Moments",
    "ulmus.problem.RowMoments",
    "ulmus.solvers.manifold.ManifoldBasis",
    "ulmus.tables.TableEncoder",
    "ulmus.tabular.TableModel",
    "ulmus.tabular.view.View",
    "ulmus.targets.ClassTargets",
    "ulmus.targets.ValueTargets",
)
# What people put in features= and graph=, or around an estimator, and what those hold when fitted.
# Neighbours transformers are there to be a parameter: fitted ones hold a tree, which no file does.
_SCIKIT_LEARN = (
    "sklearn.compose.ColumnTransformer",
    "sklearn.compose.TransformedTargetRegressor",
    "sklearn.compose.make_column_selector",
    "sklearn.decomposition.NMF",
    "sklearn.decomposition.PCA",
    "sklearn.decomposition.TruncatedSVD",
    "sklearn.frozen.FrozenEstimator",
    "sklearn.impute.MissingIndicator",
    "sklearn.impute.SimpleImputer",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.kernel_approximation.RBFSampler",
    "sklearn.neighbors.KNeighborsTransformer",
    "sklearn.neighbors.RadiusNeighborsTransformer",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.preprocessing.FunctionTransformer",
    "sklearn.preprocessing.MaxAbsScaler",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.Normalizer",
    "sklearn.preprocessing.OrdinalEncoder",
    "sklearn.preprocessing.PolynomialFeatures",
    "sklearn.preprocessing.RobustScaler",
    "sklearn.preprocessing.StandardScaler",
)
_SPECIAL = (
    # How many threads there are is the reader's affair, and so is a folder of cached results.
    Known("sklearn.cluster.KMeans", {"_n_threads": _openmp_effective_n_threads}, _centres_fit),
    Known("sklearn.pipeline.Pipeline", {"memory": lambda: None}),
    Known("sklearn.preprocessing.OneHotEncoder", check=_categories_fit),
)
_KNOWN = {name: Known(name) for name in (*_ULMUS, *_SCIKIT_LEARN)}
_KNOWN |= {entry.name: entry for entry in _SPECIAL}

# Functions of arrays alone.
FUNCTIONS: dict[str, Any] = {
    f"{place}.{name}": function
    for place, module in (("scipy.special", scipy.special), ("numpy", np))
    for name, function in sorted(vars(module).items())
    if isinstance(function, np.ufunc) and function.__name__ == name
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
