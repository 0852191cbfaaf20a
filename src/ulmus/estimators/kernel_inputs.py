"""The rows of an estimator as its kernel sees them."""

import numpy as np

from ulmus.backends.namespace import floating, take
from ulmus.estimators.labels import weighted_rows
from ulmus.features.scaling import ColumnStatistics, Scaling, check_scaling, scaled_for_kernel
from ulmus.kernels import Kernel
from ulmus.kernels.naming import check_kernel, check_precomputed, kernel_of, scales_inputs
from ulmus.kernels.pairs import landmarks_like
from ulmus.slopes import kernel_gradients

__all__ = ["KernelInputs"]


class KernelInputs:
    """For an estimator with ``kernel``, ``gamma``, ``degree``, ``coef0`` and ``scaling``."""

    kernel_: Kernel
    scaling_: Scaling

    @property
    def _precomputed(self):
        """Whether X is the kernel itself."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _rescales(self):
        return scales_inputs(self.kernel, self.scaling)

    def _check_inputs(self):
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        check_scaling(self.scaling)

    def _counted(self, X, y, sample_weight):
        """Which rows have a weight, and those rows."""
        every = np.arange(X.shape[0])
        if self._precomputed:
            check_precomputed(X)
        kept, y, weight = weighted_rows(every, y, sample_weight)
        if len(kept) < len(every):
            X = take(X, kept)
            X = take(X, kept, axis=1) if self._precomputed else X
        return kept, X, y, weight

    def _learn_scaling(self, X, weight):
        self._settle_scaling(X, ColumnStatistics.of(X, weight))

    def _settle_scaling(self, X, columns):
        """Take the scale of X from its statistics."""
        if self._rescales:
            self.scaling_ = Scaling.auto(columns)
        else:
            self.scaling_ = Scaling.none(columns, floating(X, self.dtype))

    def _scaled(self, X, dtype):
        return scaled_for_kernel(X, self.scaling_, self._rescales, dtype)

    def _kernel(self, rows, weight, seed, factor=1.0):
        """The kernel, its γ the one given, or typical of the scaled rows times ``factor``."""
        arguments = self.kernel, self.gamma, self.degree, self.coef0
        return kernel_of(*arguments, rows, seed, factor, weight)

    def _kernel_gradients(self, X, points, coef):
        """The gradients of Σⱼ k(x, zⱼ) coefⱼ at these rows; None where the kernel states none."""
        if self._precomputed:
            return None
        points = landmarks_like(points, X, np.float64, self.scaling_.shift)
        rows = self._scaled(X, np.float64)
        return kernel_gradients(self.kernel_, rows, points, coef, self.scaling_.factor)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags
