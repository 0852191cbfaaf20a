"""The space of a kernel, cut to few columns, as a hidden layer."""

import logging
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ulmus.arguments import check_arguments
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    cast,
    contiguous,
    gathered,
    is_single,
    itemsize,
    namespace,
    placed,
    same_place,
    take,
)
from ulmus.docstrings import documented
from ulmus.exceptions import InvalidParameterError
from ulmus.features.base import FeatureMap
from ulmus.features.scaling import Scaling, check_scaling
from ulmus.fitted import OnDevice
from ulmus.hidden import fits, sample_rows
from ulmus.kernels import Kernel, Precomputed
from ulmus.kernels.definition import (
    KernelName,
    check_kernel,
    check_method,
    check_precomputed,
    kernel_of,
    scales_inputs,
)
from ulmus.kernels.kernel_matrix import (
    GivenKernel,
    KernelMatrix,
    LowRank,
    Randomized,
    approximation_of,
)
from ulmus.kernels.lowrank import factor_of
from ulmus.kernels.pairs import into, landmarks_like, some_rows
from ulmus.slopes import Slopes, kernel_gradients
from ulmus.typing import Array, DType, Rows, Seed

_LOG = logging.getLogger(__name__)
_DEFAULT_RANK = 1000
# Landmarks are looked for among as many rows as leave room for this many columns of each.
_ROOM = 2000


@dataclass(frozen=True)
class KernelLayer:
    """H = k(x, landmarks) W, worked out in W's precision and given in ``dtype``."""

    kernel: Kernel
    landmarks: Any
    W: Array
    scaling: Scaling
    dtype: DType
    offset: ClassVar[float] = 0.0

    @property
    def width(self) -> int:
        """Columns of H."""
        return int(self.W.shape[1])

    def __call__(self, X: Rows, out: Array | None = None) -> Array:
        """H for these rows."""
        K = self.kernel(self.scaling.rows(X, self.W.dtype), self.landmarks)
        if self.W.dtype == self.dtype:
            return matmul(K, self.W, out)
        return into(out, cast(matmul(K, self.W), self.dtype))

    def slopes(self, X: Rows, coef: np.ndarray) -> Slopes | None:
        """The gradients of H coef at these rows, of NumPy; None where the kernel has none."""
        rows, factor = self.scaling.rows(X, self.W.dtype), self.scaling.factor
        return kernel_gradients(self.kernel, rows, self.landmarks, self.W @ coef, factor)

    def units(self, columns: slice) -> "KernelLayer":
        """Some of the columns, as a layer of their own."""
        return replace(self, W=contiguous(self.W[:, columns]))


@documented
class KernelFeatures(FeatureMap):
    """The low-rank space of a kernel: rows φ(x) with φ(x)ᵀφ(z) ≈ k(x, z).

    As ``features=`` it makes any estimator of Ulmus a kernel method.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        "rbf", "laplacian", "exponential", "linear", "poly", "cosine", "sigmoid" (see
        `ulmus.kernels.Sigmoid`), "infinite_rbf" and "arcsine" (networks with infinitely many
        units), "precomputed", the name or an object of a class derived from
        `ulmus.kernels.Kernel`, or a function of two sets of rows that gives the block between them.
    rank : int, float or None, default=None
        Largest number of columns. A float is a fraction of the rows. None means 1000, or no limit
        if ``tol`` is given.
    tol : float or None, default=None
        Stop when the missing fraction of the kernel's trace is this small. None means no such
        limit, or 1e-7 if ``rank`` is None too.
    gamma : "mean" or float, default="mean"
        γ of the kernel. "mean" takes it from the rows: 1/2σ² with σ their mean distance for
        "rbf" and the units of "infinite_rbf", 1/σ for "laplacian" and "exponential", and
        one over the mean squared length for "poly", "sigmoid" and "arcsine".
    degree : int, default=3
        Degree of "poly", which may be called "polynomial" too.
    coef0 : float, default=1.0
        The constant in "poly" and "sigmoid", and the bias' variance in "arcsine".
    method : str, LowRank or Randomized, default="rpcholesky"
        "rpcholesky" is randomly pivoted Cholesky; "nystrom" draws landmarks uniformly;
        "randomized" is a random sketch (two passes over the kernel matrix, by blocks); "eig" the
        exact eigenvectors, which alone hold n × n.
    scaling : {"auto", None}, default="auto"
        As in `RandomFeatures`, for kernels given by name; others see the inputs as they are.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    kernel_ : kernel
        The kernel with its parameters.
    landmarks_ : array of shape (n_landmarks, n_features)
        The scaled rows that the kernel is evaluated with; the numbers of the columns if the kernel
        is precomputed. All rows for "randomized" and "eig".
    weights_ : ndarray of shape (n_landmarks, rank)
        The coefficients of their kernel values.
    rank_ : int
        Number of columns.
    approximation_error_ : float
        The missing fraction of the kernel's trace. If the rows do not fit in working memory, it is
        measured, and the landmarks are chosen, on a random sample of the rows.
    approximation_path_ : ndarray of shape (rank,)
        The missing fraction after each column.

    See Also
    --------
    RBFFeatures : Units around random centres, without the whitening.
    KernelELMClassifier : The kernel solve, exact where that is possible.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus import KernelFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> phi = KernelFeatures(tol=1e-6, random_state=0).fit(X)
    >>> H = phi.transform(X)
    >>> rows = (X - phi.scaling_.center) * phi.scaling_.factor
    >>> bool(np.abs(H @ H.T - phi.kernel_(rows, rows)).max() < 1e-3)
    True
    """

    kernel_: Kernel
    rank_: int
    approximation_error_: float
    weights_: OnDevice[Array]
    landmarks_: OnDevice[Any]
    approximation_path_: OnDevice[Array]

    def __init__(
        self,
        kernel: KernelName = "rbf",
        rank: int | float | None = None,
        *,
        tol: float | None = None,
        gamma: str | float = "mean",
        degree: int = 3,
        coef0: float = 1.0,
        method: str | LowRank | Randomized = "rpcholesky",
        scaling: str | None = "auto",
        dtype: DType = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.rank = rank
        self.tol = tol
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.scaling = scaling
        self.dtype = dtype
        self.random_state = random_state

    @property
    def n_hidden(self) -> int:  # type: ignore[override]
        """Number of columns, once they are found."""
        return self.rank_

    def layer(self, like: Rows, dtype: DType = None) -> KernelLayer:
        """The map as a function of rows that live where ``like`` lives."""
        same_place(X=like, weights_=self.weights_)
        dtype = self._precision(like, dtype)
        landmarks, work = self.landmarks_, dtype
        if self.kernel != "precomputed":
            # Landmarks in float64 are there because float32 would not do.
            work = dtype if is_single(landmarks.dtype) else namespace(like).float64
            landmarks = landmarks_like(landmarks, like, work, self.scaling_.shift)
        W, scaling = cast(placed(self.weights_, like), work), self.scaling_.placed(like)
        return KernelLayer(self.kernel_, landmarks, W, scaling, dtype)

    def onnx(self, x: Any) -> Any:
        """H as nodes of an ONNX graph with rows x."""
        return kernel_graph(self, x, self.landmarks_) @ self.weights_

    def truncate(self, n_hidden: int) -> Self:
        """The same map with only its first columns."""
        narrow = copy(self)
        narrow.weights_ = self.weights_[:, :n_hidden]
        if approximation_of(self.method, self.rank, self.tol).method in ("rpcholesky", "nystrom"):
            # The first columns need the first landmarks alone.
            narrow.weights_ = contiguous(narrow.weights_[:n_hidden, :])
            narrow.landmarks_ = some_rows(self.landmarks_, slice(0, n_hidden))
        narrow.rank_ = narrow.weights_.shape[1]
        narrow.approximation_path_ = self.approximation_path_[:n_hidden]
        narrow.approximation_error_ = float(narrow.approximation_path_[-1])
        return narrow

    def _draw(self, X: Rows, rng: np.random.RandomState, weight: np.ndarray | None) -> None:
        X = gathered(X)
        dtype, n = self._precision(X, None), X.shape[0]
        seed = rng.randint(np.iinfo(np.int32).max)
        if self.kernel == "precomputed":
            check_precomputed(X)
            self.kernel_: Kernel = Precomputed()
            K: KernelMatrix = GivenKernel(cast(X, dtype))
            rows: Any = np.arange(n)
        else:
            # Rows of Dask blocks are copied to memory here; an array gives a view of itself.
            X = take(X, candidates(n, dtype, seed))
            rows = self.scaling_.rows(X, dtype)
            self.kernel_ = kernel_of(
                self.kernel, self.gamma, self.degree, self.coef0, rows, seed + 1
            )
            K = KernelMatrix(self.kernel_, rows)
        how = approximation_of(self.method, self.rank, self.tol)
        found = factor_of(K, how, len(K), _DEFAULT_RANK, rng)
        rows = some_rows(rows, found.rows)
        self.landmarks_ = rows if self.kernel == "precomputed" else cast(rows, found.dtype)
        self.weights_, self.rank_ = found.W, found.rank
        self.approximation_error_ = found.error
        self.approximation_path_ = placed(found.path, found.W)

    def check_parameters(self) -> None:
        """Refuse arguments that cannot be used."""
        check_arguments(self)
        check_scaling(self.scaling)
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if isinstance(self.gamma, str) and self.gamma == "loo":
            raise InvalidParameterError(
                "gamma='loo' needs the targets; use KernelELMClassifier or KernelELMRegressor."
            )
        how = approximation_of(self.method, self.rank, self.tol)
        check_method(self.kernel, how.method)

    @property
    def _rescales(self) -> bool:
        return scales_inputs(self.kernel, self.scaling)

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def kernel_graph(model: Any, x: Any, landmarks: Any) -> Any:
    """k(x, z) of a model's kernel and scale, as nodes of an ONNX graph with rows x."""
    Z = landmarks_like(landmarks, np.empty((0, 0)), np.dtype(float), model.scaling_.shift)
    return model.kernel_.onnx(model.scaling_.onnx(x), Z)


def candidates(n: int, dtype: DType, seed: int) -> np.ndarray | slice:
    """The rows to look for landmarks among."""
    if fits(n, _ROOM, itemsize(dtype)):
        return slice(None)
    most = n
    while not fits(most, _ROOM, itemsize(dtype)):
        most //= 2
    _LOG.info("Landmarks are looked for among %d of %d rows, as many as fit.", most, n)
    return np.sort(sample_rows(seed + 2, max(most, 1), n))
