"""The rows of a problem as the dual needs them: K = BBᵀ, and β from its coefficients.

Rows are hidden rows, fewer than units, or they are known by their kernel alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.gram import Gram
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, eps, namespace, take, zeros
from ulmus.hidden import block_rows, row_blocks
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.problem import Problem
from ulmus.targets import coded
from ulmus.typing import Array

_ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class RowSpace(ABC):
    """A problem's rows, of which the dual needs only the products.

    ``root`` is √c, ``part`` the part of c a row loses when it is left out, T the targets and ``Y``
    their basis; ``level`` is the mean of t where there is an intercept, and zero otherwise.
    """

    root: Array
    part: Array
    T: Array
    Y: Array
    level: Array
    intercept: bool

    @abstractmethod
    def products(self) -> Array:
        """K = BBᵀ in float64, about the means where there is an intercept."""

    @abstractmethod
    def coef(self, alpha: Array) -> Array:
        """β = Bᵀα, or what stands for it."""

    @abstractmethod
    def center(self, coef: Array) -> Array:
        """What the mean row maps to."""

    @property
    def rounding(self) -> float:
        """How far the eigenvalues of K may be off before it is factored."""
        return 0.0

    @property
    def definite(self) -> bool:
        """Whether a negative eigenvalue of K is an error; else its direction is left out."""
        return True

    @property
    def S(self) -> Array:
        """√c (T − level)."""
        return self.root * (self.T - self.level)

    @property
    def share(self) -> Array:
        """cᵢ/Σc: the leverage that the intercept alone gives a row."""
        root = self.root[:, 0]
        return float(self.intercept) * root**2 / float(root @ root)

    def kernel(self) -> tuple[Array, float]:
        """K, and what was added to it along √c.

        About the means, K√c = 0: the intercept has taken that direction. Lifting it to K's
        own size keeps it out of the inverse, where 1/C would make it large.
        """
        K = self.products()
        lift = float(namespace(K).linalg.trace(K)) * self.intercept
        if lift:
            root = self.root[:, 0]
            K += lift * (self.root @ self.root.T) / float(root @ root)
        return K, lift

    def left_out(
        self, alpha: Array, diagonal: Array, ridge: Array, lift: float, rows: Any = None
    ) -> Array:
        """Residuals (rows × … × m) of rows (None: all) that lose ``part`` of their weight."""
        xp, column = namespace(alpha), (-1, *[1] * (diagonal.ndim - 1))
        every = slice(None) if rows is None else rows
        part, own = xp.reshape(take(self.part, every), column), diagonal
        if self.intercept:
            own = own - xp.reshape(take(self.share, every), column) / (lift + ridge)
        # Part of a row stays: its leverage shrinks by the part that leaves.
        rest = (1.0 - part) / ridge + part * own
        # Of a row that no other resembles nothing is left.
        rest = xp.maximum(rest, _ROUNDING * diagonal)
        root = xp.reshape(take(self.root[:, 0], every), (-1, *[1] * (alpha.ndim - 1)))
        return alpha / rest[..., None] / root


@dataclass(frozen=True)
class HiddenRows(RowSpace):
    """Fewer rows than units: the hidden rows whole, and their mean."""

    H: Array
    mean: Array

    def products(self) -> Array:
        """BBᵀ, some units at a time."""
        products = Gram(self.H.shape[0], self.H)
        for _, B in self._columns():
            products.add(B.T)
        return products.total()

    def coef(self, alpha: Array) -> Array:
        """β = Bᵀα."""
        parts = [matmul(B.T, alpha) for _, B in self._columns()]
        return namespace(alpha).concat(parts)

    def center(self, coef: Array) -> Array:
        """The mean hidden row times β."""
        return self.mean @ coef

    def _columns(self) -> Iterator[tuple[slice, Array]]:
        """B = √c (H − mean) in float64, some units at a time."""
        n, h = self.H.shape
        for units in row_blocks(h, block_rows(n, 8)):
            H = self.H[:, units] - self.mean[units] if self.intercept else self.H[:, units]
            yield units, H * self.root


@dataclass(frozen=True)
class KernelRows(RowSpace):
    """Rows known by their kernel alone; β is stated by its dual coefficients √c α."""

    K: Array
    mean: Array
    entry: float
    inner: bool = True

    @property
    def definite(self) -> bool:
        """Whether the kernel is an inner product."""
        return self.inner

    @property
    def rounding(self) -> float:
        """√n times how far an entry may be off, which is ``entry``."""
        return self.entry * float(np.sqrt(self.root.shape[0]))

    def products(self) -> Array:
        """√c K √c. Takes K's memory."""
        K = self.K
        if self.intercept:
            share = self.share
            K -= self.mean
            K -= self.mean[:, None] - float(share @ self.mean)
        K *= self.root
        K *= self.root.T
        return K

    def coef(self, alpha: Array) -> Array:
        """√c α: about the means they sum to zero, so they serve the rows as they are."""
        return self.root * alpha

    def center(self, coef: Array) -> Array:
        """The mean row's kernel with every row, times the coefficients."""
        return self.mean @ coef


def row_space(problem: Problem) -> RowSpace:
    """The rows of a problem."""
    every = slice(0, len(problem.H))
    whole = problem.H.all()
    xp = namespace(whole)
    weight = zeros(len(problem.H), whole) + 1.0 if problem.weight is None else problem.weight
    T = coded(problem.targets, every, xp.float64)
    share = weight / float(xp.sum(weight)) * float(problem.intercept)
    rows = (
        xp.sqrt(weight)[:, None],
        problem.unit_weight(every) / weight,
        T,
        problem.targets.block(every, xp.float64),
        share @ T,
        problem.intercept,
    )
    # A product in float64 needs a copy of the rows, which only an intercept is worth.
    mean = share @ doubles(whole) if problem.intercept else zeros(whole.shape[1], whole)
    if isinstance(problem.H, KernelMatrix):
        size = float(xp.max(xp.abs(weight * xp.linalg.diagonal(whole))))
        return KernelRows(*rows, whole, mean, eps(problem.H.dtype) * size, problem.H.definite)
    return HiddenRows(*rows, whole, mean)
