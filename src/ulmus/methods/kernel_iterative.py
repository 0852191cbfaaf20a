"""Kernel ridge by conjugate gradients on the whole of K, in single precision.

(K + I/C)α = S is solved for all rows, and in the same steps for all but a random part of them,
which are left out together: with B = √c K √c, a row that is left out has c = 0. A step is one
product with K, which is made once, where a Cholesky factor takes n/3 of them. The preconditioner is
K's randomly pivoted Cholesky factor F of few columns: (I/C + FFᵀ)⁻¹, by Woodbury's formula.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul, symmetric_product
from ulmus.backends.namespace import cast, is_numpy, to_numpy
from ulmus.hidden import sample_rows
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.kernels.lowrank import partial_cholesky
from ulmus.methods.iterative import gradient_steps
from ulmus.problem import Problem, Solution
from ulmus.targets import coded, copy_weight

# The relative residual to reach: outputs are then within about .001 of their deviation of those of
# a Cholesky factor, on six visible tables. Steps, of which 20 to 40 are usual.
TOL, _STEPS = 1e-3, 100
# The most C of weights of one: with more float32 is too coarse.
_MOST_C = 300.0
# With so many rows for each output and unit of √C the steps, about 5√C, take less time than a
# Cholesky factor of single precision.
_ROWS = 100.0
# Columns of the preconditioner.
_COLUMNS = 500
# Rows that are left out together, which give quantiles to a point.
_LEFT_OUT = 1000
_REASON = (
    "many rows: conjugate gradients on the whole kernel in single precision, to a relative "
    f"residual of {TOL:g}; {{}} rows were left out together"
)


@dataclass(frozen=True)
class _Part:
    """The problem of some of the rows: √c (zero for the others), targets about their level, F.

    ``unit`` is √c at length one where there is an intercept, else zero; ``share`` is c/Σc.
    """

    root: np.ndarray
    unit: np.ndarray
    share: np.ndarray
    level: np.ndarray
    S: np.ndarray
    F: np.ndarray
    inner: Cholesky

    @classmethod
    def of(cls, weight: np.ndarray, T: np.ndarray, F: np.ndarray, C: float, centred: bool) -> Self:
        """From the weights c, targets and the factor of all rows."""
        share = float(centred) * weight / weight.sum()
        root, level = np.sqrt(weight)[:, None], share @ T
        unit = float(centred) * root / np.linalg.norm(root)
        F = F * root.astype(F.dtype)
        F -= unit.astype(F.dtype) * (unit.T.astype(F.dtype) @ F)
        inner = Cholesky(add_to_diagonal(self_product(F.T).astype(float), 1.0 / C))
        return cls(root, unit, share, level, root * (T - level), F, inner)

    def centred(self, V: np.ndarray) -> np.ndarray:
        """V without its part along √c, where there is an intercept."""
        return V - self.unit * (self.unit.T @ V)

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """(I + C FFᵀ)⁻¹R."""
        inner = self.inner.solve(matmul(self.F.T, R.astype(self.F.dtype)))
        return self.centred(R - matmul(self.F, inner.astype(self.F.dtype)))


def iterates(problem: Problem, C: float) -> bool:
    """Whether conjugate gradients are the faster way."""
    C = C * copy_weight(problem.weight, problem.unit)
    enough = _ROWS * problem.targets.outputs * np.sqrt(C)
    return C <= _MOST_C and len(problem.H) >= enough and is_numpy(problem.H.array)


def iterated(problem: Problem, C: float, seed: int) -> Solution | None:
    """The solution at one C, and some rows left out; None where the steps do not suffice."""
    H, rng, n = problem.H, check_random_state(seed), len(problem.H)
    H = KernelMatrix(H.kernel, cast(H.X, np.float32))
    some = np.sort(sample_rows(rng, min(_LEFT_OUT, n // 4), n))
    T = np.asarray(coded(problem.targets, slice(0, n), np.float64))
    weight = np.ones(n) if problem.weight is None else to_numpy(problem.weight)
    F = partial_cholesky(H, min(_COLUMNS, n), 0.0, rng, False, None).H.all()
    fewer = weight.copy()
    fewer[some] = 0.0
    parts = [_Part.of(c, T, F, C, problem.intercept) for c in (weight, fewer)]
    K = [panel.astype(np.float32, copy=False) for _, panel in H.panels()]
    alphas = _solved(K, parts, C)
    if alphas is None:
        return None
    coefs = [part.root * alpha for part, alpha in zip(parts, alphas, strict=True)]
    products = np.split(symmetric_product(K, np.hstack(coefs).astype(np.float32)), 2, axis=1)
    b, other = (part.level - part.share @ KV for part, KV in zip(parts, products, strict=True))
    loo = products[1][some] + other
    return Solution(coefs[0], b, C, "cg", some, loo, reason=_REASON.format(len(some)))


def _solved(K: list[np.ndarray], parts: list[_Part], C: float) -> list[np.ndarray] | None:
    """α of every part by (I + CB)α = CS; None where the steps do not suffice."""

    def each(V: np.ndarray) -> list[np.ndarray]:
        return np.split(V, len(parts), axis=1)

    def apply(V: np.ndarray) -> np.ndarray:
        wide = np.hstack([part.root * v for part, v in zip(parts, each(V), strict=True)])
        KV = C * symmetric_product(K, wide.astype(np.float32))
        return np.hstack(
            [part.centred(part.root * v) for part, v in zip(parts, each(KV), strict=True)]
        )

    def precondition(R: np.ndarray) -> np.ndarray:
        return np.hstack([part.precondition(r) for part, r in zip(parts, each(R), strict=True)])

    start = np.hstack([C * part.S for part in parts])
    found = gradient_steps(apply, start, precondition, TOL, _STEPS)
    return each(found.values) if found.residual <= TOL else None
