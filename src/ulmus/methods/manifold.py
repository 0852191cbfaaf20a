"""SS-ELM as published: labelled rows are fitted, and neighbours in the graph get similar outputs.

½‖β‖² + ½ Σ cᵢ‖tᵢ − hᵢβ‖² + (λ/2) tr (Hβ)ᵀΛ(Hβ), with C and λ given or chosen by leaving out each
labelled row.
"""

from dataclasses import dataclass, replace

import numpy as np

from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles, placed, zeros
from ulmus.exceptions import InvalidParameterError
from ulmus.hidden import Hidden, fits
from ulmus.methods.iterative import (
    ConjugateGradients,
    conjugate_gradients,
    manifold_operator,
    nystrom_preconditioner,
)
from ulmus.methods.manifold_basis import (
    GraphSolution,
    Labelled,
    ManifoldBasis,
    manifold_basis,
    manifold_gram,
    point,
    surface,
)
from ulmus.methods.quadratic_penalty import QuadraticPenalty
from ulmus.methods.ridge import solved
from ulmus.problem import ErrorPath, Moments, Problem, Solution
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import AtHand, OnGraph
from ulmus.targets import coded
from ulmus.typing import Array

# Random vectors of the preconditioner.
_SKETCH = 100


@dataclass(frozen=True)
class Manifold:
    """Values of C and λ, how to solve, and when conjugate gradients stop."""

    C: np.ndarray
    lam: np.ndarray
    solver: str
    stop: ConjugateGradients

    def fit(self, source: OnGraph) -> GraphSolution:
        """β at the one pair of C and λ, or at the best."""
        solver, reason = self._solver(source)
        if solver == "spectral":
            return self._spectral(source, reason)
        C, lam = float(self.C[0]), float(self.lam[0])
        if solver == "cg":
            return self._iterated(source, C, lam, reason)
        M = manifold_gram(source.rows(), source.laplacian, source.watch)
        return GraphSolution.of(manifold_primal(source.labelled(), M, C, lam), reason)

    def _solver(self, source: OnGraph) -> tuple[str, str]:
        """Which way of solving, and why."""
        one, H = len(self.C) == len(self.lam) == 1, source.every
        if not one and self.solver in ("direct", "cg"):
            raise InvalidParameterError(
                f"solver={self.solver!r} solves for one C and one lam; give both as numbers, or "
                "use solver='spectral'."
            )
        if isinstance(H, HiddenBlocks):
            return "spectral", "sums over blocks give HᵀΛH alone"
        if self.solver != "auto":
            return self.solver, "asked for"
        if not one:
            return "spectral", "one eigendecomposition serves every C and lam"
        if len(H) < H.width:
            return "spectral", "fewer rows than units: the work is done in the span of the rows"
        if not fits(H.width, H.width, 16):
            return "cg", "the h × h matrices do not fit in working_memory"
        return "direct", "one C and one lam: one Cholesky factorisation"

    def _spectral(self, source: OnGraph, reason: str) -> GraphSolution:
        """Every C and λ from the eigenvectors of HᵀΛH."""
        basis = source.basis
        if basis is None:
            basis = manifold_basis(source.rows(), source.laplacian, source.watch)
        problem = source.labelled()
        rows = _coordinates(source.some, basis)
        labelled = Labelled(basis, rows, problem.targets, problem.weight)
        C, lam, path, table = float(self.C[0]), float(self.lam[0]), None, None
        if len(self.C) * len(self.lam) > 1:
            held = None
            if source.held is not None:
                held = _coordinates(source.held[0], basis), source.held[1]
            path = surface(labelled, self.lam, self.C, held)
            row, column = divmod(path.best, len(self.C))
            C, lam, table = float(self.C[column]), float(self.lam[row]), self._table(path)
        found = replace(point(labelled, lam, C), method="spectral", path=path)
        return GraphSolution.of(found, reason, surface=table, reused=basis)

    def _table(self, path: ErrorPath) -> dict[str, np.ndarray]:
        """The errors, every λ a row and every C a column."""
        shape = len(self.lam), len(self.C)
        errors = {name: each.reshape(shape) for name, each in path.table().items()}
        return errors | {"lam": self.lam, "C": self.C}

    def _iterated(self, source: OnGraph, C: float, lam: float, reason: str) -> GraphSolution:
        """One C and λ by conjugate gradients; without the matrix no rows can be left out."""
        H, problem = source.rows(), source.labelled()
        c = np.zeros(len(H))
        c[source.known] = C * source.weight
        weight = placed(c, H.X)
        apply = manifold_operator(H, source.laplacian, weight, lam)
        rows = doubles(problem.H.all())
        T = coded(problem.targets, slice(0, len(source.targets)), rows.dtype)
        assert problem.weight is not None
        found = conjugate_gradients(
            apply,
            matmul(rows.T, C * problem.weight[:, None] * T),
            nystrom_preconditioner(apply, weight, H.width, min(_SKETCH, H.width)),
            self.stop.tol,
            self.stop.max_iter,
        )
        fitted, every = matmul(rows, found.values), np.arange(len(source.targets))
        zero = zeros(fitted.shape[1], fitted)
        solution = Solution(found.values, zero, C, "cg", every, fitted, lam=lam)
        return GraphSolution.of(solution, reason, steps=found.steps)


def manifold_primal(problem: Problem, M: Array, C: float, lam: float) -> Solution:
    """β = (G + I/C + λM/C)⁻¹ R from labelled rows and M = HᵀΛH of all rows, each left out once."""
    source = AtHand(problem, calibrating=len(problem.H))
    found = solved(_Smoothness(np.array([C]), M, lam), source, chooses=False, asked=False)
    return replace(found, method="direct", moments=None, lam=lam)


@dataclass(frozen=True)
class _Smoothness(QuadraticPenalty):
    """I/C + λM/C; leaving out a label does not change it."""

    M: Array
    lam: float

    def factor(self, moments: Moments, problem: Problem, C: float) -> Cholesky:
        A = moments.gram + (self.lam / C) * self.M
        return Cholesky(add_to_diagonal(A, 1.0 / C), overwrite=True)


def _coordinates(H: Hidden, basis: ManifoldBasis) -> Array:
    """H V of some rows."""
    return matmul(doubles(H.all()), basis.basis)
