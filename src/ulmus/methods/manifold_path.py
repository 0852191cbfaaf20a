"""Leave-one-out over the whole grid of C and λ, from one eigendecomposition."""

from dataclasses import dataclass, replace

import numpy as np

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import namespace, to_numpy
from ulmus.hidden import Hidden, ScaledColumns, row_blocks, rows_at_once
from ulmus.methods.dual import RowSpectrum, row_space
from ulmus.methods.manifold_basis import ManifoldBasis
from ulmus.methods.ridge import solve
from ulmus.problem import ErrorPath, Problem, Solution, Tally
from ulmus.targets import Targets, coded
from ulmus.typing import Array

__all__ = ["Labelled", "point", "surface"]

# Validation rows H_v V and their targets.
Validation = tuple[Array, Targets]


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

    def problem(self, lam: float) -> Problem:
        """The plain ridge problem that λ leads to."""
        H = Hidden(ScaledColumns(self.basis.scales(lam)), self.rows)
        return Problem(H, self.targets, self.weight)


def surface(
    labelled: Labelled, lams: np.ndarray, Cs: np.ndarray, validation: Validation | None = None
) -> ErrorPath:
    """The error of every pair of λ and C on labelled rows left out, all C of a λ together.

    A validation set is rarely larger than the labelled one. Left-out rows are as
    unbiased, so their errors are averaged in as well.
    """
    at = _few if labelled.few else _many
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
