"""Neighbours of a class kept together and class means kept apart: (G + Q/C) β = R.

S = Σ HₜᵀΛₜHₜ − (1 − λ) Σ (μₜ − μ)(μₜ − μ)ᵀ over the classes t: local scatter less between-class
scatter. Each class mean may bring a negative eigenvalue, and with them G + S/C has no minimum to
solve for. Q is positive definite: S without its negative part and with a little of the identity, or
S with as much of the second term as leaves half of the system standing ("bounded").

λ and C are compared on rows held out, never by leaving rows out of G and R alone: S depends on the
class of every row that stays in it.
"""

import warnings
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
from ulmus.exceptions import IndefiniteWarning
from ulmus.graphs import laplacian
from ulmus.hidden import Hidden, KeptRows
from ulmus.methods.class_scatter import Points
from ulmus.methods.manifold_basis import manifold_gram, reduced_basis
from ulmus.methods.ridge_eigenbasis import Eigenbasis, rounding_of
from ulmus.problem import ErrorPath, Moments, Problem, Solution, Tally
from ulmus.targets import ClassTargets, coded
from ulmus.typing import Array

__all__ = ["FORMS", "Geometry", "discriminant", "folds", "penalty"]

FORMS = ("positive", "bounded", "printed")
# Held-out rows whose decision values are kept at every point, to calibrate probabilities by: fewer
# where that would be more than so many numbers, but at least so many rows.
_CALIBRATION, _KEPT, _LEAST = 500, 2**20, 100
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Geometry:
    """Hidden rows, their classes and weights, and a graph W within classes.

    ``rows`` are the rows whose scatter is meant: H itself, or the inputs where they are as wide.
    ``units`` is how many hidden units there are where H is in a basis of its rows, which are
    fewer; None is the width of H. The ridge is in units of S's mean eigenvalue over all of them.
    """

    H: Hidden
    targets: ClassTargets
    weight: Array | None
    W: Any
    rows: Hidden
    units: int | None = None

    @property
    def width(self) -> int:
        """Number of hidden units, h."""
        return self.H.width if self.units is None else self.units

    def take(self, rows: np.ndarray) -> "Geometry":
        """Some of the rows, with the edges between them and weights as a fit to them has."""
        part = Problem(self.H, self.targets, self.weight).among(rows)
        assert isinstance(part.targets, ClassTargets)
        W, own = self.W[rows][:, rows], self.rows.take(rows)
        own = part.H if self.rows is self.H else own
        return Geometry(part.H, part.targets, part.weight, W, own, self.units)

    def moments(self) -> Moments:
        """G and R."""
        return Problem(self.H, self.targets, self.weight).moments()

    def local(self) -> Array:
        """Σ HₜᵀΛₜHₜ, which is HᵀΛH: no edge joins two classes."""
        return manifold_gram(self.rows, laplacian(self.W, normalized=False))

    def offsets(self) -> Array:
        """μₜ − μ for every class that has rows, one a row."""
        codes, m = to_numpy(self.targets.codes), self.targets.n_classes
        counts = np.bincount(codes, minlength=m).astype(float)
        sums = zeros((m, self.rows.width), self.rows.X)
        for rows, h in self.rows.blocks():
            sums += matmul(self.targets.block(rows, h.dtype).T, h)
        mean = namespace(sums).sum(sums, axis=0) / float(counts.sum())
        present = np.flatnonzero(counts > 0)
        return take(sums, present) / from_numpy(counts[present, None], sums) - mean

    def reduced(self) -> tuple["Geometry", Array | None]:
        """The same with H kept where it fits, and in a basis of its rows where they are few."""
        same = self.rows is self.H
        if len(self.H) >= self.H.width or not same:
            H = self.H.kept()
            return replace(self, H=H, rows=H if same else self.rows), None
        span, rows = reduced_basis(self.H)
        H = Hidden(KeptRows(rows.shape[1], rows.dtype), rows)
        return replace(self, H=H, rows=H, units=self.width), span


def penalty(local: Array, offsets: Array, lam: float, amount: float, width: int) -> Eigenbasis:
    """Q: the positive part of S, and ``amount`` of its mean eigenvalue in every direction.

    S has ``width`` eigenvalues; those that ``local`` has no direction for are zero.
    """
    values, V = eigh(_scatter(local, offsets, lam), overwrite=True)
    xp = namespace(values)
    values = xp.clip(values, min=0.0)
    return Eigenbasis(values + amount * (float(xp.sum(values)) / width or 1.0), V, 0.0)


def discriminant(
    geometry: Geometry, points: Points, form: str, amount: float, held: list[np.ndarray]
) -> tuple[Solution, int]:
    """β at the best of the points by the rows ``held`` out in turn, or at the only one.

    With it comes how many negative eigenvalues S has.
    """
    small, span = geometry.reduced()
    path, kept = _held_out(small, points, form, amount, held)
    # Nothing to choose by: the middle of the grid is no worse a guess than another.
    best = len(points.C) // 2 if path is None else path.best
    lam, C = float(points.lam[best]), float(points.C[best])
    system = _System(small, form, amount)
    coef = next(system.coefs(lam, np.array([C])))
    if form == "printed":
        _warn(_negative(system.whole(lam, C)))
    rows, loo = kept[0], kept[1][:, best]
    if not len(rows):  # every class is a single row: nothing can be held out
        rows = np.arange(len(small.H))
        loo = to_numpy(matmul(doubles(small.H.all()), coef))
    coef = coef if span is None else matmul(span, coef)
    zero = zeros(coef.shape[1], coef)
    solution = Solution(coef, zero, C, form, rows, loo, path, None, lam)
    return solution, _negative(system.scatter(lam))


def folds(codes: np.ndarray, n_folds: int, seed: int) -> list[np.ndarray]:
    """Rows to hold out in turn: each class is dealt out evenly, but never the only row of one."""
    rng = np.random.RandomState(seed)
    fold = np.full(len(codes), -1)
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        if len(rows) > 1:
            fold[rows] = np.arange(len(rows)) % n_folds
    held = [np.flatnonzero(fold == k) for k in range(n_folds)]
    return [rows for rows in held if len(rows)]


class _System:
    """G + Q/C for one set of rows."""

    def __init__(self, geometry: Geometry, form: str, amount: float) -> None:
        self.moments, self.form, self.amount = geometry.moments(), form, amount
        self.local, self.offsets = geometry.local(), geometry.offsets()
        self.width = geometry.width
        self.cross = geometry.targets.encoded(self.moments.cross)

    def coefs(self, lam: float, Cs: np.ndarray) -> Iterator[Array]:
        """β for every C."""
        return getattr(self, f"_{self.form}")(lam, Cs)

    def _positive(self, lam: float, Cs: np.ndarray) -> Iterator[Array]:
        Q = penalty(self.local, self.offsets, lam, self.amount, self.width)
        # β = Lγ turns Q into the identity and G into a diagonal: every C is a division.
        xp = namespace(Q.values)
        root = Q.basis / xp.sqrt(Q.values)
        inner = matmul(root.T, matmul(self.moments.gram, root))
        w, U = eigh(column_major(inner), overwrite=True)
        L = matmul(root, U)
        Z = matmul(L.T, self.cross)
        whitened = Eigenbasis(w, L, rounding_of(self.moments, L))
        for C in Cs.tolist():
            yield matmul(L, whitened.inverse(C)[:, None] * Z)

    def _bounded(self, lam: float, Cs: np.ndarray) -> Iterator[Array]:
        xp = namespace(self.local)
        amount = float(xp.linalg.trace(self.local)) / self.width or 1.0
        amount *= self.amount
        for C in map(float, Cs):
            whole = self.moments.gram + self.local / C
            floor = max(amount / C, self.moments.rounding)
            factor = Cholesky(add_to_diagonal(whole, floor), overwrite=True)
            beta, D = factor.solve(self.cross), factor.solve(contiguous(self.offsets.T))
            core = matmul(self.offsets, D)
            most = 0.5 / max(float(xp.linalg.eigvalsh(core)[-1]), float(np.finfo(float).tiny))
            strength = min((1.0 - lam) / C, most)
            # (A − s DᵀD)⁻¹ by Woodbury, with the few class means alone.
            inner = add_to_diagonal(-strength * core, 1.0)
            right = strength * matmul(self.offsets, beta)
            yield beta + matmul(D, xp.linalg.solve(inner, right))

    def _printed(self, lam: float, Cs: np.ndarray) -> Iterator[Array]:
        for C in Cs:
            w, V = eigh(self.whole(lam, float(C)), overwrite=True)
            # Directions in which both G and S are zero are left out.
            size = np.abs(to_numpy(w))
            sound = np.flatnonzero(size > _EPS * len(size) * size.max())
            w, V = take(w, sound), take(V, sound, axis=1)
            yield matmul(V / w, matmul(V.T, self.cross))

    def whole(self, lam: float, C: float) -> Array:
        """G + S/C."""
        return column_major(self.moments.gram + self.scatter(lam) / C)

    def scatter(self, lam: float) -> Array:
        """S."""
        return _scatter(self.local, self.offsets, lam)


def _calibration(points: int, outputs: int) -> int:
    """How many rows to keep the decision values of, at every point."""
    return min(_CALIBRATION, max(_LEAST, _KEPT // (points * outputs)))


def _held_out(
    geometry: Geometry, points: Points, form: str, amount: float, held: list[np.ndarray]
) -> tuple[ErrorPath | None, tuple[np.ndarray, Array]]:
    """The errors of all points on rows held out, and decision values of some of these rows."""
    whole = Problem(geometry.H, geometry.targets, geometry.weight)
    tally = Tally(whole, points.C, points.lam, "cv")
    kept, values = [np.empty(0, dtype=np.intp)], []
    needed = _calibration(len(points.C), geometry.targets.outputs)
    share = -(-needed // max(1, len(held)))
    for rows in held:
        rest = np.setdiff1d(np.arange(len(geometry.H)), rows)
        system = _System(geometry.take(rest), form, amount)
        H = doubles(geometry.H.take(rows).all())
        T, few = coded(geometry.targets, rows, H.dtype), rows[:share]
        some = np.empty((len(few), len(points.C), T.shape[1]))
        for lam in np.unique(points.lam):
            where = np.flatnonzero(points.lam == lam).tolist()
            for k, coef in zip(where, system.coefs(float(lam), points.C[where]), strict=True):
                F = matmul(H, coef)
                tally.add(rows, slice(k, k + 1), (T - F)[:, None, :])
                some[:, k, :] = to_numpy(F[: len(few), :])
        kept.append(few)
        values.append(some)
        if not points.chosen and sum(map(len, kept)) >= needed:
            break
    rows = np.concatenate(kept)
    path = tally.path() if points.chosen and len(held) else None
    return path, (rows, np.concatenate(values) if values else np.empty((0, len(points.C))))


def _scatter(local: Array, offsets: Array, lam: float) -> Array:
    """S."""
    return column_major(local - (1.0 - lam) * matmul(offsets.T, offsets))


def _negative(A: Array) -> int:
    """How many eigenvalues are below zero by more than rounding."""
    w = to_numpy(namespace(A).linalg.eigvalsh(A))
    return int(np.sum(w < -_EPS * len(w) * np.abs(w).max()))


def _warn(negative: int) -> None:
    if negative:
        warnings.warn(
            f"G + S/C has {negative} negative eigenvalues, so what is solved is a saddle point and "
            "no minimum; form='positive' leaves them out.",
            IndefiniteWarning,
            stacklevel=4,
        )
