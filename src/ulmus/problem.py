"""What is to be solved, apart from how.

A ``Problem`` is ½ Σ cᵢ‖tᵢ − hᵢβ‖² + (1/2C)‖β‖². All a primal solver needs of its
rows are the ``Moments`` G = HᵀCH, R = HᵀCY and YᵀCY: they add over batches,
subtract when a batch is taken back, and scale when the past should fade.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.linalg import accumulate_gram, empty_gram, matmul, mirror
from ulmus.backends.namespace import eps
from ulmus.hidden import Hidden
from ulmus.typing import Array, Targets

__all__ = ["Moments", "Path", "Problem", "Solution"]


@dataclass(frozen=True)
class Moments:
    """Sums over rows: all that a primal solve keeps of its data.

    ``gram`` is HᵀCH (h × h), ``cross`` HᵀCY (h × b), ``energy`` YᵀCY (b × b; its
    trace is Σ c‖y‖²), ``weight`` Σ c, ``rows`` the count, and ``rounding`` the
    relative precision the products were made in.
    """

    gram: Array
    cross: Array
    energy: Array
    weight: float
    rows: float
    rounding: float = float(np.finfo(float).eps)

    def __add__(self, other: "Moments") -> "Moments":
        return self._combine(other, 1.0)

    def __sub__(self, other: "Moments") -> "Moments":
        return self._combine(other, -1.0)

    def __mul__(self, factor: float) -> "Moments":
        return Moments(
            factor * self.gram,
            factor * self.cross,
            factor * self.energy,
            factor * self.weight,
            factor * self.rows,
            self.rounding,
        )

    __rmul__ = __mul__

    def summed(self) -> "Moments":
        """These sums; the counterpart of ``RowMoments.summed``."""
        return self

    def _combine(self, other: "Moments", sign: float) -> "Moments":
        return Moments(
            self.gram + sign * other.gram,
            self.cross + sign * other.cross,
            self.energy + sign * other.energy,
            self.weight + sign * other.weight,
            self.rows + sign * other.rows,
            max(self.rounding, other.rounding),
        )


@dataclass(frozen=True)
class RowMoments:
    """The moments of fewer rows than units, kept as the rows: n × h is less than h × h."""

    B: Array
    Y: Array
    weight: float
    rounding: float

    @property
    def rows(self) -> float:
        """How many rows."""
        return float(len(self.B))

    def summed(self) -> Moments:
        """The sums over these rows."""
        gram = empty_gram(self.B.shape[1], self.B)
        accumulate_gram(gram, self.B, {})
        Y = self.Y.astype(float)
        cross = matmul(self.B.T, self.Y.astype(self.B.dtype)).astype(float)
        return Moments(mirror(gram), cross, Y.T @ Y, self.weight, self.rows, self.rounding)


@dataclass(frozen=True)
class Problem:
    """Fit targets from hidden rows: ½ Σ cᵢ‖tᵢ − hᵢβ‖² + (1/2C)‖β‖².

    ``weight`` is c, positive, or None for ones. ``unit`` is how much of its
    weight a row loses when it is left out, or None for all of it: a row of weight
    two stands for two rows, and only one of them leaves.
    """

    H: Hidden
    targets: Targets
    weight: Array | None = None
    unit: Array | None = None

    def unit_weight(self, rows: Any) -> Array:
        """What each of ``rows`` loses when it is left out."""
        if self.weight is None:
            return np.ones(len(self.targets))[rows]
        return (self.weight if self.unit is None else self.unit)[rows]

    def moments(self) -> Moments:
        """One pass over the rows."""
        basis = self.targets.coding.shape[0]
        gram, scratch = None, {}
        cross, energy = np.zeros((self.H.width, basis)), np.zeros((basis, basis))
        for rows, B in self.H.blocks():
            Y = self.targets.block(rows, B.dtype)
            if self.weight is not None:
                root = np.sqrt(self.weight[rows]).astype(B.dtype)[:, None]
                B *= root
                Y = Y * root
            gram = empty_gram(self.H.width, B) if gram is None else gram
            accumulate_gram(gram, B, scratch)
            cross += matmul(B.T, Y)
            energy += Y.T.astype(float) @ Y.astype(float)
        n = len(self.H)
        total = float(n) if self.weight is None else float(np.sum(self.weight))
        return Moments(mirror(gram), cross, energy, total, float(n), eps(self.H.layer.dtype))


@dataclass(frozen=True)
class Path:
    """The error for every C of a grid.

    ``kind`` is "loo" or "gcv" (generalised cross-validation, from moments
    alone); ``rows`` is how many rows the error was measured on.
    """

    C: np.ndarray
    squared_error: np.ndarray
    error_rate: np.ndarray | None
    kind: str
    rows: int

    @property
    def best(self) -> int:
        """Least error rate where there is one, and least squared error among equals."""
        if self.error_rate is None:
            return int(np.argmin(self.squared_error))
        return int(np.lexsort((self.squared_error, self.error_rate))[0])

    @property
    def score(self) -> tuple[float, float]:
        """The errors at the best C, to compare paths by."""
        rate = 0.0 if self.error_rate is None else float(self.error_rate[self.best])
        return rate, float(self.squared_error[self.best])

    def table(self) -> dict[str, np.ndarray]:
        """The curve as columns."""
        columns = {"C": self.C, "squared_error": self.squared_error}
        return columns if self.error_rate is None else columns | {"error_rate": self.error_rate}


@dataclass(frozen=True)
class Solution:
    """β, how it was found, and what leaving rows out says of it.

    ``loo`` holds leave-one-out decision values of the rows ``loo_rows``,
    ``path`` the curve C was chosen from if it was, and ``moments`` the sums.
    """

    coef: Array
    C: float
    method: str
    loo_rows: np.ndarray
    loo: np.ndarray
    path: Path | None = None
    moments: "Moments | RowMoments | None" = None
