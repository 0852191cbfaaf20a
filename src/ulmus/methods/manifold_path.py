"""Leave-one-out over the whole grid of C and λ, from one eigendecomposition."""

from dataclasses import dataclass

import numpy as np

from ulmus.backends.linalg import column_major, eigh, matmul
from ulmus.backends.namespace import (
    from_numpy,
    namespace,
    put_rows,
    take,
    to_numpy,
    zeros,
)
from ulmus.hidden import Hidden, ScaledColumns, row_blocks, rows_at_once
from ulmus.methods.leaving_rows import Decomposed, reweighted
from ulmus.methods.manifold_basis import ManifoldBasis
from ulmus.methods.ridge import solve
from ulmus.methods.ridge_eigenbasis import ridge
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, coded, wrong
from ulmus.typing import Array, Targets

__all__ = ["Labelled", "Point", "Surface", "point", "surface"]

_FEW = 50


@dataclass(frozen=True)
class Labelled:
    """The rows that have a label, in the manifold's coordinates.

    ``rows`` is H_l V, ``weight`` what each row weighs at C = 1.
    """

    basis: ManifoldBasis
    rows: Array
    targets: Targets
    weight: Array

    @property
    def few(self) -> bool:
        """Whether there are fewer of them than coordinates."""
        return bool(self.rows.shape[0] < self.basis.values.shape[0])

    @property
    def T(self) -> Array:
        """Their targets."""
        return coded(self.targets, slice(0, len(self.targets)), self.rows.dtype)

    def problem(self, lam: float) -> Problem:
        """The plain ridge problem that λ leads to."""
        H = Hidden(ScaledColumns(self.basis.scales(lam)), self.rows)
        return Problem(H, self.targets, self.weight)


@dataclass(frozen=True)
class Surface:
    """Errors for every λ (down) and C (across).

    ``kind`` says what they were measured on, "loo" or "validation", and ``rows`` is how many rows
    were left out. ``roughness`` is ‖β‖² per unit of fitted variance.
    """

    lam: np.ndarray
    C: np.ndarray
    squared_error: np.ndarray
    error_rate: np.ndarray | None
    roughness: np.ndarray
    kind: str
    rows: int

    @property
    def slack(self) -> float:
        """The error rate that one labelled row makes, if that is little."""
        return 1.0 / self.rows if self.rows >= _FEW else 0.0

    @property
    def best(self) -> tuple[int, int]:
        """Least squared error; of classes, the smoothest of those with the least error rate.

        With few labels many points name equally many rows wrong, and their squared errors say
        more about the scale of f than about its sign. A row that is left out keeps its place in the
        graph, so its neighbours tell more of it than they would of a new row, and that favours
        rough solutions: without a validation set one row more counts as equal, once there are
        fifty rows and it is not too much.
        """
        score = self.squared_error
        if self.error_rate is not None:
            slack = self.slack if self.kind == "loo" else 0.0
            tied = self.error_rate <= self.error_rate.min() + slack + 1e-12
            score = np.where(tied, self.roughness, np.inf)
        row, column = divmod(int(np.argmin(score)), len(self.C))
        return row, column

    def table(self) -> dict[str, np.ndarray]:
        """The surface as arrays."""
        arrays = {"lam": self.lam, "C": self.C, "squared_error": self.squared_error}
        return arrays if self.error_rate is None else arrays | {"error_rate": self.error_rate}


@dataclass(frozen=True)
class Point:
    """β for one C and λ, and decision values ``loo`` of the labelled rows ``rows``, each left out.

    Of very many labelled rows ``rows`` are a sample.
    """

    coef: Array
    loo: Array
    rows: Array


def surface(
    labelled: Labelled,
    lams: np.ndarray,
    Cs: np.ndarray,
    validation: tuple[Array, Targets] | None = None,
) -> Surface:
    """The error of every λ and C on labelled rows left out, and on validation rows H_v V too.

    A validation set is rarely larger than the labelled one. Left-out rows are as honest, so
    they are counted along: twice the rows, half the luck.
    """
    slices = [
        _few(labelled, float(lam), Cs, validation)
        if labelled.few
        else _many(labelled, float(lam), Cs, validation)
        for lam in lams
    ]
    squared, rates, rough = (np.stack(parts) for parts in zip(*slices, strict=True))
    classes = isinstance(labelled.targets, ClassTargets)
    kind = "loo" if validation is None else "validation"
    n = len(labelled.targets)
    return Surface(lams, Cs, squared, rates if classes else None, rough, kind, n)


def point(labelled: Labelled, lam: float, C: float) -> Point:
    """β and left-out decision values for one λ and C."""
    solution = solve(labelled.problem(lam), C, seed=0)
    coef = matmul(labelled.basis.basis, solution.coef * labelled.basis.scales(lam)[:, None])
    return Point(coef, solution.loo, solution.loo_rows)


def _few(
    labelled: Labelled, lam: float, Cs: np.ndarray, validation: tuple[Array, Targets] | None
) -> tuple[Array, Array, Array]:
    """Errors and roughness for every C at one λ, from one l × l eigendecomposition.

    With K = PDPᵀ, D = 1/(1 + λw), and √c K √c = U diag(κ) Uᵀ: α = U (κ + 1/C)⁻¹ Uᵀ √c T,
    β = V D Pᵀ √c α, and a row that is left out has residual αᵢ / (√cᵢ dᵢ).
    """
    P, T, xp = labelled.rows, labelled.T, namespace(labelled.rows)
    root = xp.sqrt(labelled.weight)[:, None]
    D = labelled.basis.scales(lam) ** 2
    B = root * P
    K = matmul(B * D, B.T)
    kappa, U = eigh(column_major(K))
    ridges = from_numpy(np.array([ridge(kappa, float(C), 0.0) for C in Cs]), kappa)
    shrink = 1.0 / (xp.clip(kappa, min=0.0)[:, None] + ridges)
    Z, bent = matmul(U.T, root * T), matmul(B * D**2, B.T)
    problem = labelled.problem(lam)
    parts = []
    for where in row_blocks(len(Cs), rows_at_once(T.shape[0] * T.shape[1])):
        some = shrink[:, where]
        stacked = xp.reshape(some[:, :, None] * Z[:, None, :], (U.shape[0], -1))
        alpha = matmul(U, stacked)
        shape = (-1, some.shape[1], T.shape[1])
        fitted = xp.reshape(matmul(K, alpha) / root, shape)
        smooth = xp.reshape(matmul(bent, alpha), shape)
        each = xp.reshape(alpha, shape)
        rough = to_numpy(xp.sum(smooth * each, axis=(0, 2)) / _spread(fitted))
        if problem.reweighs:
            F = zeros(each.shape, T) + T[:, None, :]
            for rows, k, left in reweighted(problem, Decomposed(kappa, U, Z), root, Cs[where]):
                put_rows(F[:, k, :], rows, take(T, rows) - left)
        else:
            diagonal = matmul(U**2, some)[:, :, None]
            F = T[:, None, :] - each / (diagonal * root[:, :, None])
        errors = _errors(T, F, labelled.weight)
        if validation is not None:
            rows, targets = validation
            F = xp.reshape(matmul(rows * D, matmul(B.T, alpha)), shape)
            errors = _pooled(errors, len(labelled.targets), *_held_out(F, targets))
        parts.append((*errors, rough))
    squared, rates, roughs = (np.concatenate(each) for each in zip(*parts, strict=True))
    return squared, rates, roughs


def _many(
    labelled: Labelled, lam: float, Cs: np.ndarray, validation: tuple[Array, Targets] | None
) -> tuple[Array, Array, Array]:
    """The same with more labelled rows than coordinates, where errors seldom tie."""
    path = solve(labelled.problem(lam), Cs, seed=0).path
    assert path is not None
    rate = path.squared_error if path.error_rate is None else path.error_rate
    if validation is None:
        return path.squared_error, rate, path.squared_error
    rows, targets = validation
    rows, parts = rows * labelled.basis.scales(lam), []
    for C in Cs:
        coef = solve(labelled.problem(lam), float(C), seed=0).coef
        parts.append(_held_out(matmul(rows, coef)[:, None, :], targets)[0])
    squared, rates = (np.concatenate(each) for each in zip(*parts, strict=True))
    measured = path.squared_error, rate
    squared, rate = _pooled(measured, path.rows, (squared, rates), len(targets))
    return squared, rate, squared


def _held_out(F: Array, targets: Targets) -> tuple[tuple[Array, Array], int]:
    """The errors of validation rows, and how many there are."""
    n = len(targets)
    return _errors(coded(targets, slice(0, n), F.dtype), F, zeros(n, F) + 1.0), n


def _pooled(
    a: tuple[Array, Array], n_a: int, b: tuple[Array, Array], n_b: int
) -> tuple[Array, Array]:
    """Errors over both sets of rows."""
    share = n_a / (n_a + n_b)
    squared, rate = (share * x + (1.0 - share) * y for x, y in zip(a, b, strict=True))
    return squared, rate


def _errors(T: Array, F: Array, weight: Array) -> tuple[Array, Array]:
    """Mean squared error, and part of rows named wrong, for every C (the middle axis of F)."""
    T, xp = T[:, None, :], namespace(F)
    share = weight / xp.sum(weight)
    squared = to_numpy(share @ xp.sum((T - F) ** 2, axis=2))
    return squared, to_numpy(share @ xp.astype(wrong(T, F), share.dtype))


def _spread(F: Array) -> Array:
    """Mean square of the decision values about each row's mean over classes."""
    xp = namespace(F)
    if F.shape[2] > 1:
        F = F - xp.mean(F, axis=2, keepdims=True)
    return xp.clip(xp.mean(xp.sum(F**2, axis=2), axis=0), min=float(np.finfo(float).tiny))
