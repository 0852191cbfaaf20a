"""The rows of an estimator as its kernel sees them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import cast, floating, is_numpy, namespace, take
from ulmus.features.scaling import ColumnStatistics, Scaling, check_scaling
from ulmus.hidden import block_rows, blocks_of
from ulmus.kernels import Kernel
from ulmus.kernels.definition import check_kernel, check_precomputed, kernel_of, scales_inputs
from ulmus.kernels.pairs import landmarks_like
from ulmus.slopes import Slopes, kernel_gradients
from ulmus.summary import html_of, mimebundle_of
from ulmus.targets import weighted_rows
from ulmus.typing import Array, DType, Rows


class KernelInputs(BaseEstimator):
    """For an estimator with these parameters.

    Parameters
    ----------
    kernel : str, list of str, kernel or callable, default="loo"
        "loo" chooses "laplacian", "exponential" or "rbf", its width and weights of the columns,
        together with C, by leave-one-out on at most 2000 rows; a list of names is chosen from in
        the same way. By name too: "linear", "poly", "cosine", "sigmoid" (see
        `ulmus.kernels.Sigmoid`), "infinite_rbf" and "arcsine" (networks with infinitely many
        units), "precomputed". An object of `ulmus.kernels`, or a function of two sets of rows that
        gives the block between them.
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
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where X had any.
    """

    kernel_: Kernel
    scaling_: Scaling
    _repr_html_inner, _repr_mimebundle_ = html_of, mimebundle_of

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

    def _scaled(self, X: Rows, dtype: DType) -> Rows:
        return self.scaling_.rows(X, dtype)

    def _kernel(
        self: Any, rows: Rows, weight: np.ndarray | None, seed: int, factor: float = 1.0
    ) -> Kernel:
        """The kernel, its γ the one given, or typical of the scaled rows times ``factor``."""
        arguments = self.kernel, self.gamma, self.degree, self.coef0
        return kernel_of(*arguments, rows, seed, factor, weight)

    def _kernel_outputs(self, X: Rows, points: Any, coef: Array, dtype: DType) -> Array:
        """Σⱼ k(x, zⱼ) coefⱼ for every row x, a block at a time, from kernel values of this type."""
        if not self._precomputed:
            points = landmarks_like(points, X, dtype, self.scaling_.shift)
        shape = (X.shape[0], coef.shape[1])
        F = namespace(coef).zeros(shape, dtype=coef.dtype, device=coef.device)
        size = block_rows(coef.shape[0], 8, X.shape[1], not is_numpy(X))
        for part, block in blocks_of(X, size) if coef.shape[0] else ():
            K = self.kernel_(self._scaled(block, dtype), points)
            matmul(cast(K, coef.dtype), coef, F[part, :])
        return F

    def _kernel_gradients(self, X: Rows, points: Rows, coef: np.ndarray) -> Slopes | None:
        """The gradients of Σⱼ k(x, zⱼ) coefⱼ at these rows; None where the kernel states none."""
        if self._precomputed:
            return None
        points = landmarks_like(points, X, np.float64, self.scaling_.shift)
        rows = self._scaled(X, np.float64)
        return kernel_gradients(self.kernel_, rows, points, coef, self.scaling_.factor)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags
