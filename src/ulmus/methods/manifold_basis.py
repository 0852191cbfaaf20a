"""The manifold penalty ½λ tr (Hβ)ᵀΛ(Hβ) in the coordinates where it is a sum of squares.

Let M = HᵀΛH = V diag(w) Vᵀ. With β = V γ/√(1 + λw) the penalised problem

    ½‖β‖² + ½ Σ cᵢ‖tᵢ − hᵢβ‖² + ½λ tr βᵀMβ

is a plain ridge in γ on the rows hᵢV/√(1 + λw). So one eigendecomposition serves every λ and
every C, with all that ridge offers (leave-one-out over the whole grid, the dual, weights).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import column_major, eigh, matmul, qr
from ulmus.backends.namespace import (
    doubles,
    from_numpy,
    gathered,
    is_numpy,
    namespace,
    to_numpy,
    zeros,
)
from ulmus.fitted import OnDevice
from ulmus.graphs import Laplacian
from ulmus.hidden import GivenRows, Hidden, block_rows, fits, row_blocks, rows_at_once
from ulmus.methods.dual import RowSpectrum, row_space
from ulmus.methods.ridge import solve
from ulmus.problem import ErrorPath, Problem, Solution, Tally
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.targets import ClassTargets, Targets, coded
from ulmus.typing import Array

Watch = Callable[[float, float | None], None] | None
# Validation rows H_v V and their targets.
Validation = tuple[Array, Targets]
# Units processed together: their smoothed columns are the only n × … array besides H.
_UNITS = 256
# Rows whose products are summed in the input's precision before the sum is added in float64.
_ROWS = 16384


@dataclass(frozen=True)
class ManifoldBasis:
    """V (h × r), orthonormal, and w (r): VᵀHᵀΛHV = diag(w), and H V Vᵀ = H."""

    basis: OnDevice[Array]
    values: OnDevice[Array]

    def scales(self, lam: float) -> Array:
        """1/√(1 + λw)."""
        return 1.0 / namespace(self.values).sqrt(1.0 + lam * self.values)


@dataclass(frozen=True)
class GraphSolution(Solution):
    """A solution for rows on a graph, whose ``loo`` are fitted values where no row is left out.

    ``reason`` is why it was found so, ``error`` the left-out error at the point that was chosen,
    ``surface`` and ``candidates`` are those of all that were tried, ``left_out`` what the average
    of candidates gives left-out rows, and ``reused`` is what other labels on the same rows can
    start from. ``why`` is the reason for the coupling.
    """

    lam: float = 0.0
    selection: str = "fixed"
    error: float | None = None
    surface: dict[str, np.ndarray] | None = None
    candidates: dict[str, np.ndarray] | None = None
    left_out: dict[str, np.ndarray] | None = None
    steps: int = 1
    reused: Any = None
    coupling: str = "published"
    why: str | None = None

    @classmethod
    def of(cls, found: Solution, reason: str, **more: Any) -> "GraphSolution":
        """A solution, with the error of its path."""
        if found.path is not None:
            more = {"selection": found.path.kind, "error": found.path.error} | more
        return cls(**{**vars(found), "reason": reason}, **more)

    def score(self, targets: Any, weight: np.ndarray) -> float | None:
        """What an estimator's `score` would be on left-out labelled rows, where these chose."""
        if self.selection != "loo" or self.error is None:
            return None
        if isinstance(targets, ClassTargets):
            return 1.0 - self.error
        spread = float(np.average((targets.values**2).sum(axis=1), weights=weight))
        return 1.0 - self.error / spread if spread else None


def manifold_basis(
    H: Hidden | HiddenBlocks, laplacian: Laplacian, watch: Watch = None
) -> ManifoldBasis:
    """The coordinates described at the top of this file.

    With fewer rows than units the work is done in the span of the rows, if they are at hand.
    """
    if isinstance(H, HiddenBlocks):
        return basis_of(H.smoothed_gram(laplacian))
    if len(H) >= H.width:
        return basis_of(manifold_gram(H, laplacian, watch))
    few, span = in_span(H)
    smooth = laplacian.placed(few.X, few.dtype) @ few.X
    found = basis_of(_symmetric(matmul(few.X.T, smooth)))
    return replace(found, basis=matmul(span, found.basis))


def basis_of(M: Array) -> ManifoldBasis:
    """The coordinates of M = HᵀΛH, which is overwritten."""
    w, V = eigh(M, overwrite=True)
    return ManifoldBasis(V, namespace(w).clip(w, min=0.0))


def in_span(H: Hidden) -> tuple[Hidden, Array]:
    """The rows of H in an orthonormal basis W of them, H W (n × n), and W (h × n).

    From HHᵀ they would cost no more, but there rows that are linearly dependent up to 1e−7 could
    not be distinguished from rounding.
    """
    W, R = qr(doubles(H.all()).T)
    return Hidden(GivenRows(len(H), R.dtype), column_major(R.T)), W


def manifold_gram(H: Hidden, laplacian: Laplacian, watch: Watch = None) -> Array:
    """M = HᵀΛH (h × h, float64), some units at a time; nothing is n × n.

    H is kept if it fits in scikit-learn's ``working_memory``, else computed again for every group
    of units. ``watch`` is called with the units done and their total.
    """
    n, h, X = len(H), H.width, gathered(H.X)
    kept = H.layer(X) if fits(n, h, H.itemsize) else None
    operator = laplacian.placed(X, H.layer.dtype)
    M = np.zeros((h, h), order="F") if is_numpy(X) else zeros((h, h), X)
    # The layer leaves a constant out of H, which is added to M as in Problem.moments, with Λ for C.
    ones = laplacian @ np.ones(n)
    smoothed = from_numpy(ones[:, None], X, H.layer.dtype)
    slopes = zeros((h, 1), X)
    for group in row_blocks(h, _UNITS):
        columns = kept[:, group] if kept is not None else H.layer.units(group)(X)
        smooth = operator @ columns
        for rows in row_blocks(n, _ROWS):
            slopes[group, :] += doubles(matmul(columns[rows, :].T, smoothed[rows, :]))
            if kept is not None:
                M[: group.stop, group] += matmul(kept[rows, : group.stop].T, smooth[rows, :])
            else:
                first = H.layer.units(slice(0, group.stop))
                for part in row_blocks(rows.stop - rows.start, block_rows(group.stop, H.itemsize)):
                    here = slice(rows.start + part.start, rows.start + part.stop)
                    M[: group.stop, group] += matmul(first(X[here, :]).T, smooth[here, :])
        if watch is not None:
            watch(group.stop, h)
    o = H.offset
    M += o * (slopes + slopes.T) + o**2 * float(ones.sum())
    return _symmetric(M)


def _symmetric(A: Array) -> Array:
    """A whose upper triangle is right, with the lower one to match."""
    xp = namespace(A)
    upper = xp.triu(A)
    return column_major(upper + xp.triu(upper, k=1).T)


# ---------------------------------------------------------------- C and λ
@dataclass(frozen=True)
class Labelled:
    """The rows that have a label, in the manifold's coordinates.

    ``rows`` is H_l V, ``weight`` what each row weighs at C = 1.
    """

    basis: ManifoldBasis
    rows: Array
    targets: Targets
    weight: Any

    def problem(self, lam: float) -> Problem:
        """The plain ridge problem that λ leads to."""
        scales = self.basis.scales(lam)
        H = Hidden(GivenRows(scales.shape[0], scales.dtype, factors=scales), self.rows)
        return Problem(H, self.targets, self.weight)


def surface(
    labelled: Labelled, lams: np.ndarray, Cs: np.ndarray, validation: Validation | None = None
) -> ErrorPath:
    """The error of every pair of λ and C on labelled rows left out, all C of a λ together.

    A validation set is rarely larger than the labelled one. Left-out rows are as
    unbiased, so their errors are averaged in as well.
    """
    at = _few if labelled.rows.shape[0] < labelled.basis.values.shape[0] else _many
    paths = [at(labelled, lam, Cs, validation) for lam in lams.tolist()]
    squared, rough = (
        np.concatenate([getattr(path, name) for path in paths])
        for name in ("squared_error", "roughness")
    )
    rates = [path.error_rate for path in paths if path.error_rate is not None]
    return replace(
        paths[0],
        C=np.tile(Cs, len(lams)),
        lam=np.repeat(lams, len(Cs)),
        squared_error=squared,
        error_rate=np.concatenate(rates) if rates else None,
        roughness=rough,
    )


def point(labelled: Labelled, lam: float, C: float) -> Solution:
    """β and left-out decision values for one λ and C; of very many rows, those of a sample."""
    found = solve(labelled.problem(lam), C, seed=0)
    coef = matmul(labelled.basis.basis, found.coef * labelled.basis.scales(lam)[:, None])
    return replace(found, coef=coef, lam=lam)


def _few(
    labelled: Labelled, lam: float, Cs: np.ndarray, validation: Validation | None
) -> ErrorPath:
    """Errors and roughness for every C at one λ, from one l × l eigendecomposition.

    α and β are those of `dual` on the rows PD^½, P = H_l V and D = 1/(1 + λw).
    """
    problem = labelled.problem(lam)
    rows = row_space(problem)
    spectrum = RowSpectrum.of(problem, rows, *rows.kernel())
    path = spectrum.path(Cs)
    # β is V Bᵀα, so that ‖β‖² is αᵀBBᵀα.
    B = labelled.rows * labelled.basis.scales(lam) ** 2
    B *= rows.root
    U, square = spectrum.basis, self_product(B)
    l, m, xp, parts = len(labelled.targets), labelled.targets.outputs, namespace(B), []
    held = None if validation is None else _Held(validation, Cs)
    for where in row_blocks(len(Cs), rows_at_once(l * m)):
        weights, shape = spectrum.weights(Cs[where]), (-1, len(Cs[where]), m)
        alpha = matmul(U, weights)
        fitted = matmul(U, spectrum.values[:, None] * weights) / rows.root
        energy = xp.reshape(matmul(square, alpha) * alpha, shape)
        parts.append(to_numpy(xp.sum(energy, axis=(0, 2)) / _spread(xp.reshape(fitted, shape))))
        if held is not None:
            held.add(where, xp.reshape(matmul(held.rows, matmul(B.T, alpha)), shape))
    path = replace(path, roughness=np.concatenate(parts))
    return path if held is None else path.with_validation(held.path())


def _many(
    labelled: Labelled, lam: float, Cs: np.ndarray, validation: Validation | None
) -> ErrorPath:
    """The same with more labelled rows than coordinates, where errors seldom tie."""
    problem = labelled.problem(lam)
    path = solve(problem, Cs, seed=0).path
    assert path is not None
    if validation is not None:
        held = _Held(validation, Cs)
        for k, C in enumerate(Cs.tolist()):
            coef = solve(problem, C, seed=0).coef * labelled.basis.scales(lam)[:, None]
            held.add(slice(k, k + 1), matmul(held.rows, coef)[:, None, :])
        path = path.with_validation(held.path())
    return replace(path, roughness=path.squared_error)


class _Held:
    """Errors on validation rows."""

    def __init__(self, validation: Validation, Cs: np.ndarray) -> None:
        self.rows, targets = validation
        self._T = coded(targets, slice(0, len(targets)), self.rows.dtype)
        self._tally = Tally(Problem(None, targets), Cs, kind="validation")

    def add(self, where: slice, F: Array) -> None:
        """Count them by their decision values at some of the C (rows × C × m)."""
        self._tally.add(slice(0, self._T.shape[0]), where, self._T[:, None, :] - F)

    def path(self) -> ErrorPath:
        """The mean errors."""
        return self._tally.path()


def _spread(F: Array) -> Array:
    """Mean square of the decision values about each row's mean over classes."""
    xp = namespace(F)
    if F.shape[2] > 1:
        F = F - xp.mean(F, axis=2, keepdims=True)
    return xp.clip(xp.mean(xp.sum(F**2, axis=2), axis=0), min=float(np.finfo(float).tiny))
