"""Ridge with a penalty on local within-class less between-class scatter: (G + Q/C) β = R.

S = Σ HₜᵀΛₜHₜ − (1 − λ) Σ (μₜ − μ)(μₜ − μ)ᵀ over the classes t. Each class mean may cause a negative
eigenvalue, so that G + S/C has no minimum. Q is positive definite: the positive part of S plus a
multiple of the identity ("positive"), or S with the second term reduced until at least half of the
system without it remains ("bounded").

λ and C are compared on rows held out, not by leaving rows out of G and R: S depends on the class of
every row.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import Cholesky, add_to_diagonal, column_major, eigh, matmul
from ulmus.backends.namespace import (
    contiguous,
    doubles,
    from_numpy,
    namespace,
    take,
    to_numpy,
    zeros,
)
from ulmus.graphs import laplacian
from ulmus.hidden import Hidden
from ulmus.methods.class_scatter import Points
from ulmus.methods.manifold_basis import in_span, manifold_gram
from ulmus.methods.quadratic_penalty import Eigenbasis, rounding_of
from ulmus.problem import ErrorPath, Problem, Solution, Tally
from ulmus.targets import ClassTargets, coded
from ulmus.typing import Array

FORMS = ("positive", "bounded")
# Held-out rows whose decision values at every point are kept to calibrate probabilities; fewer
# where they would exceed the second number of values, but at least the third number of rows.
_CALIBRATION, _KEPT, _LEAST = 500, 2**20, 100
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Geometry:
    """Hidden rows, their classes and weights, and a graph W within classes.

    ``units`` is how many hidden units there are where H is in a basis of its rows, which are
    fewer; None is the width of H. The ridge is in units of S's mean eigenvalue over all of them.
    """

    H: Hidden
    targets: ClassTargets
    weight: Array | None
    W: Any
    units: int | None = None

    @property
    def problem(self) -> Problem:
        """The rows without their graph."""
        return Problem(self.H, self.targets, self.weight)

    @property
    def width(self) -> int:
        """Number of hidden units, h."""
        return self.H.width if self.units is None else self.units

    def take(self, rows: np.ndarray) -> "Geometry":
        """Some of the rows, with the edges between them and weights as in a fit to them alone."""
        part: Any = self.problem.among(rows)
        return Geometry(part.H, part.targets, part.weight, self.W[rows][:, rows], self.units)

    def local(self) -> Array:
        """Σ HₜᵀΛₜHₜ, which is HᵀΛH: no edge joins two classes."""
        return manifold_gram(self.H, laplacian(self.W, normalized=False))

    def offsets(self) -> Array:
        """μₜ − μ for every class that has rows, one a row."""
        codes, m = to_numpy(self.targets.codes), self.targets.n_classes
        counts = np.bincount(codes, minlength=m).astype(float)
        sums = zeros((m, self.H.width), self.H.X)
        for rows, h in self.H.blocks():
            sums += matmul(self.targets.block(rows, h.dtype).T, h)
        mean = namespace(sums).sum(sums, axis=0) / float(counts.sum())
        present = np.flatnonzero(counts > 0)
        return take(sums, present) / from_numpy(counts[present, None], sums) - mean

    def reduced(self) -> tuple["Geometry", Array | None]:
        """The same with H kept where it fits, and in a basis of its rows where they are few."""
        if len(self.H) >= self.H.width:
            return replace(self, H=self.H.kept()), None
        few, span = in_span(self.H)
        return replace(self, H=few, units=self.width), span


@dataclass(frozen=True)
class Discriminant:
    """Pairs of λ and C to choose from by the rows ``held`` out in turn, or one pair.

    ``ridge`` is what Q has more than S in every direction, in units of S's mean eigenvalue.
    """

    points: Points
    form: str
    ridge: float
    held: list[np.ndarray]

    def fit(self, geometry: Geometry) -> tuple[Solution, int]:
        """β at the best of the points, and how many negative eigenvalues S has."""
        small, span = geometry.reduced()
        path, rows, values = self._held_out(small)
        # Without held-out rows the middle of the grid is used.
        best = len(self.points.C) // 2 if path is None else path.best
        lam, C = float(self.points.lam[best]), float(self.points.C[best])
        system = _System(small, self.ridge)
        coef = next(self._coefs(system, lam, np.array([C])))
        loo = values[:, best]
        if not len(rows):  # every class is a single row: nothing can be held out
            rows = np.arange(len(small.H))
            loo = to_numpy(matmul(doubles(small.H.all()), coef))
        coef = coef if span is None else matmul(span, coef)
        zero = zeros(coef.shape[1], coef)
        solution = Solution(coef, zero, C, self.form, rows, loo, path, None, lam)
        return solution, system.negative(lam)

    def _coefs(self, system: "_System", lam: float, Cs: np.ndarray) -> Iterator[Array]:
        """β for every C."""
        return (system.positive if self.form == "positive" else system.bounded)(lam, Cs)

    def _held_out(self, geometry: Geometry) -> tuple[ErrorPath | None, np.ndarray, Array]:
        """The errors of all points on rows held out, some of these rows, and their outputs."""
        points, targets = self.points, geometry.targets
        tally = Tally(geometry.problem, points.C, points.lam, "cv")
        needed = _calibration(len(points.C), targets.outputs)
        share = -(-needed // max(1, len(self.held)))
        kept, values = [np.empty(0, dtype=np.intp)], [np.empty((0, len(points.C), targets.outputs))]
        for rows in self.held:
            rest = np.setdiff1d(np.arange(len(geometry.H)), rows)
            system = _System(geometry.take(rest), self.ridge)
            H = doubles(geometry.H.take(rows).all())
            T, few = coded(targets, rows, H.dtype), rows[:share]
            some = np.empty((len(few), len(points.C), T.shape[1]))
            for lam in np.unique(points.lam):
                where = np.flatnonzero(points.lam == lam).tolist()
                coefs = self._coefs(system, float(lam), points.C[where])
                for k, coef in zip(where, coefs, strict=True):
                    F = matmul(H, coef)
                    tally.add(rows, slice(k, k + 1), (T - F)[:, None, :])
                    some[:, k, :] = to_numpy(F[: len(few), :])
            kept.append(few)
            values.append(some)
            if not points.chosen and sum(map(len, kept)) >= needed:
                break
        path = tally.path() if points.chosen and len(self.held) else None
        return path, np.concatenate(kept), np.concatenate(values)


def folds(codes: np.ndarray, n_folds: int, seed: int) -> list[np.ndarray]:
    """Rows to hold out in turn: each class is split evenly, except classes of a single row."""
    rng = np.random.RandomState(seed)
    fold = np.full(len(codes), -1)
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        if len(rows) > 1:
            fold[rows] = np.arange(len(rows)) % n_folds
    held = [np.flatnonzero(fold == k) for k in range(n_folds)]
    return [rows for rows in held if len(rows)]


def _calibration(points: int, outputs: int) -> int:
    """How many rows to keep the decision values of, at every point."""
    return min(_CALIBRATION, max(_LEAST, _KEPT // (points * outputs)))


class _System:
    """G + Q/C for one set of rows."""

    def __init__(self, geometry: Geometry, ridge: float) -> None:
        self.moments, self.ridge, self.width = geometry.problem.moments(), ridge, geometry.width
        self.local, self.offsets = geometry.local(), geometry.offsets()
        self.cross = geometry.targets.encoded(self.moments.cross)

    def scatter(self, lam: float) -> Array:
        """S."""
        return column_major(self.local - (1.0 - lam) * matmul(self.offsets.T, self.offsets))

    def negative(self, lam: float) -> int:
        """How many eigenvalues of S are below zero by more than rounding."""
        w = to_numpy(namespace(self.local).linalg.eigvalsh(self.scatter(lam)))
        return int(np.sum(w < -_EPS * len(w) * np.abs(w).max()))

    def penalty(self, lam: float) -> Eigenbasis:
        """Q: the positive part of S, and ``ridge`` of its mean eigenvalue in every direction.

        S has ``width`` eigenvalues; those that ``local`` has no direction for are zero.
        """
        values, V = eigh(self.scatter(lam), overwrite=True)
        xp = namespace(values)
        values = xp.clip(values, min=0.0)
        return Eigenbasis(values + self.ridge * (float(xp.sum(values)) / self.width or 1.0), V, 0.0)

    def positive(self, lam: float, Cs: np.ndarray) -> Iterator[Array]:
        """β = Lγ turns Q into the identity and G into a diagonal: every C is a division."""
        Q = self.penalty(lam)
        root = Q.basis / namespace(Q.values).sqrt(Q.values)
        inner = matmul(root.T, matmul(self.moments.gram, root))
        w, U = eigh(column_major(inner), overwrite=True)
        L = matmul(root, U)
        Z = matmul(L.T, self.cross)
        whitened = Eigenbasis(w, L, rounding_of(self.moments, L))
        for C in Cs.tolist():
            yield matmul(L, whitened.inverse(C)[:, None] * Z)

    def bounded(self, lam: float, Cs: np.ndarray) -> Iterator[Array]:
        """(A − s DᵀD)⁻¹ by Woodbury, with the few class means D alone."""
        xp = namespace(self.local)
        ridge = self.ridge * (float(xp.linalg.trace(self.local)) / self.width or 1.0)
        for C in Cs.tolist():
            whole = self.moments.gram + self.local / C
            floor = max(ridge / C, self.moments.rounding)
            factor = Cholesky(add_to_diagonal(whole, floor), overwrite=True)
            beta, D = factor.solve(self.cross), factor.solve(contiguous(self.offsets.T))
            core = matmul(self.offsets, D)
            most = 0.5 / max(float(xp.linalg.eigvalsh(core)[-1]), float(np.finfo(float).tiny))
            strength = min((1.0 - lam) / C, most)
            inner = add_to_diagonal(-strength * core, 1.0)
            right = strength * matmul(self.offsets, beta)
            yield beta + matmul(D, xp.linalg.solve(inner, right))
