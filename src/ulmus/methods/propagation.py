"""Labels spread over a graph: F = KCY / KC1 with K = (I + λΛ)⁻¹, without a hidden layer.

Y are the labelled rows' targets, C their weights; a row's output is a mean of the labelled rows'
targets, each weighted by its nearness in the graph. A labelled row that is left out loses its
own column of K, so that its output without it needs only K between labelled rows: exact
leave-one-out. It is also the output of a row that is taken out of the graph and then predicted by
its neighbours: of a system that loses row i, KᵢCY is scaled by 1/λKᵢᵢ, numerator and denominator
alike.

All λ share the products with Λ. Where Λ is normalised and λ is not very large, a `chebyshev` series
of known length is summed. Else, for every λ the matrix is Λ plus another multiple of I, and one run
of conjugate gradients serves them all, because shifts do not change the space it searches in.
Everything is linear in the labels: other labels on the same rows cost what is different about them.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ulmus.backends.namespace import (
    cast,
    doubles,
    from_numpy,
    is_numpy,
    namespace,
    placed,
    ratio,
    to_numpy,
)
from ulmus.graphs import Laplacian
from ulmus.hidden import row_blocks
from ulmus.methods.chebyshev import length, series, summed
from ulmus.methods.iterative import warn_of_steps
from ulmus.targets import ClassTargets, Targets
from ulmus.typing import Array

# Relative errors: K between labelled rows needs few digits; with 3e-4 probabilities of 2000 rows of
# USPS are right to 5e-5. Far from its label a row's mass is small, and that of other labels is
# added to it.
_ROUGH, _FINE = 3e-4, 1e-6
# Steps of conjugate gradients, and how many are taken before the residual is looked at.
_STEPS, _TOGETHER = 1000, 8
# Smaller λ go on until their residual is this part of the tolerance: far from its label a row's
# mass is as small, and classes are ratios of it.
_FAR = 1e-9
# Columns that the host works on at once: fewer cost as many steps through the graph, and of more
# arrays no longer stay in its cache (of 8 to 128, 32 and 64 took least at 2000 and 7291 rows).
_COLUMNS = 32
# The longest series: λ = 300 needs 170 terms where conjugate gradients take 120 to 150 steps, whose
# number grows less from there on.
_LONGEST = 300
# Numbers up to which the host multiplies column by column. SciPy's product with 2 to 5 columns of
# 2000 rows takes 0.16 to 0.18 ms, that with one 0.03; of 60 000 rows 5 together take half as long.
_ONE_BY_ONE = 10_000
# The least degree, of the mean, that makes a label weigh more. Far rows have degrees of 1e−60, and
# residuals are 1e−6 of the heaviest label: they would drown the other labels of its class.
_LEAST_DEGREE = 1e-4
# More numbers than this are not kept for other labels.
_KEPT = 2**26
# Changed labels up to which each has a column of its own, rather than each class.
_FEW = 16


@dataclass(frozen=True)
class SpreadLabels:
    """Labels on one graph, for every λ.

    ``between`` is K between the ``compared`` rows, in ascending order. ``mass`` is KY at all
    rows, where the labelled ``rows`` have the ``columns`` Y.
    """

    compared: np.ndarray
    between: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(
        cls,
        laplacian: Laplacian,
        lams: np.ndarray,
        compared: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
        before: "SpreadLabels | None" = None,
    ) -> "SpreadLabels":
        """The labels spread; ``before`` are others on the same graph."""
        if before is None:
            none = np.empty(0, dtype=np.intp)
            empty = np.zeros((len(lams), len(laplacian), 0), dtype=np.float32)
            before = cls(none, np.zeros((len(lams), 0, 0)), none, np.zeros((0, 0)), empty)
        mass, change = before._nearest(_everywhere(rows, columns, len(laplacian)))
        changed = np.flatnonzero(change.any(axis=1))
        fresh = compared[~np.isin(compared, before.compared)]
        few = np.union1d(changed, fresh)
        if len(few) <= _FEW:
            found = spread(laplacian, _units(few, len(change)), lams, tol=_FINE)
            mass += found @ change[few]
            K = found[:, compared][:, :, np.isin(few, fresh)]
        else:
            moved = change.any(axis=0)
            mass[:, :, moved] += spread(laplacian, change[:, moved], lams, tol=_FINE)
            K = spread(laplacian, _units(fresh, len(change)), lams, compared)
        return cls(compared, before._with(compared, K), rows, columns, mass)

    def _with(self, compared: np.ndarray, fresh: np.ndarray) -> np.ndarray:
        """K between other rows, with the columns of those that are compared for the first time."""
        old = np.isin(compared, self.compared)
        places, every = np.searchsorted(self.compared, compared[old]), np.arange(len(fresh))
        K = np.empty((len(fresh), len(compared), len(compared)))
        K[np.ix_(every, old, old)] = self.between[np.ix_(every, places, places)]
        K[:, :, ~old], K[:, ~old] = fresh, np.swapaxes(fresh, 1, 2)
        return K

    def _nearest(self, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For every column of Y the mass of the one here that is most like it, and what it lacks.

        So a class keeps its mass when others come before it in the order of names.
        """
        mine = _everywhere(self.rows, self.columns, len(Y))
        # A column of zeros, whose mass is zero, is as good a start as any.
        mine = np.column_stack([np.zeros(len(Y), dtype=Y.dtype), mine])
        unlike = (mine**2).sum(axis=0)[:, None] - 2.0 * mine.T @ Y
        nearest = unlike.argmin(axis=0)
        none = np.zeros((*self.mass.shape[:2], 1), dtype=np.float32)
        return np.concatenate([none, self.mass], axis=2)[:, :, nearest], Y - mine[:, nearest]

    def kept(self) -> "SpreadLabels | None":
        """The same, where it is small enough to be kept for other labels."""
        return self if self.mass.size <= _KEPT else None


def _everywhere(rows: np.ndarray, columns: np.ndarray, n_rows: int) -> np.ndarray:
    Y = np.zeros((n_rows, columns.shape[1]), dtype=np.float32)
    Y[rows] = columns
    return Y


def _units(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """Columns of the identity."""
    return _everywhere(rows, np.eye(len(rows)), n_rows)


def spread(
    laplacian: Laplacian,
    Y: np.ndarray,
    lams: np.ndarray,
    rows: np.ndarray | slice = slice(None),
    tol: float = _ROUGH,
    max_iter: int = _STEPS,
) -> np.ndarray:
    """(I + λΛ)⁻¹Y at some rows, for every λ: len(lams) × rows × columns of Y.

    λ are in ascending order. Iterates of all but the largest are needed at these rows alone, and
    until they have converged, which smaller λ do sooner.
    """
    if not Y.shape[1]:
        return np.zeros((len(lams), len(Y[rows]), 0), Y.dtype)
    if is_numpy(laplacian.matrix.data) and Y.shape[1] > _COLUMNS:
        groups = (Y[:, some] for some in row_blocks(Y.shape[1], _COLUMNS))
        parts = [spread(laplacian, each, lams, rows, tol, max_iter) for each in groups]
        return np.concatenate(parts, axis=2)
    lams = np.asarray(lams, dtype=float)
    if laplacian.degree is not None and laplacian.power == 1:
        count = length(lams.max(), tol)
        if count <= min(max_iter, _LONGEST):
            return _by_series(laplacian, Y, series(lams, count), rows)
    # (I + λΛ)⁻¹ = σ(Λ + σI)⁻¹ with σ = 1/λ; the other σ lie above the least by this much.
    least = 1.0 / lams.max()
    search = _Search(laplacian, Y, least)
    rows = rows if isinstance(rows, slice) else placed(rows, search.residual)
    shifts = _Shifts(1.0 / lams - least, search, rows)
    steps, worst = 0, 1.0
    while steps < max_iter and worst > tol:
        count = min(_TOGETHER, max_iter - steps)
        left = shifts.follow(search, rows, count)
        steps, worst = steps + count, float(left[-1])
        shifts.leave(int(np.count_nonzero(left[:-1] <= _FAR * tol)))
    if worst > tol:
        warn_of_steps(steps, worst, tol)
    found = np.moveaxis(to_numpy(shifts.found), 0, 2)
    found /= lams.astype(Y.dtype)[:, None, None]
    return found


def _by_series(laplacian: Laplacian, Y: np.ndarray, factors: np.ndarray, rows: Any) -> np.ndarray:
    """The same on a normalised Laplacian, whose eigenvalues are two at most."""
    F = from_numpy(np.ascontiguousarray(Y.T), laplacian.matrix.data)
    rows = rows if isinstance(rows, slice) else placed(rows, F)
    found = summed(partial(_product, laplacian), F, factors, rows)
    return np.swapaxes(to_numpy(found), 1, 2)


def _product(laplacian: Laplacian, F: Array) -> Array:
    """ΛF, where every column of F is a row here."""
    if is_numpy(F) and F.size <= _ONE_BY_ONE:
        return np.stack([laplacian @ each for each in F])
    return (laplacian @ F.T).T


class _Search:
    """Conjugate gradients on Λ + σI from zero. Every column of Y is a row here, in one piece."""

    def __init__(self, laplacian: Laplacian, Y: np.ndarray, shift: float) -> None:
        self.laplacian, self.shift = laplacian, shift
        self.residual = from_numpy(np.ascontiguousarray(Y.T), laplacian.matrix.data)
        self.direction = namespace(self.residual).asarray(self.residual, copy=True)
        self.size = self.energy = _products(self.residual, self.residual)

    def step(self) -> tuple[Array, Array]:
        """One step: how far along the direction, and how much of it the next one keeps."""
        moved = self.shift * self.direction
        moved += _product(self.laplacian, self.direction)
        step = ratio(self.energy, _products(self.direction, moved))
        self.residual = self.residual - cast(step[:, None], moved.dtype) * moved
        fresh = _products(self.residual, self.residual)
        kept, self.energy = ratio(fresh, self.energy), fresh
        self.direction *= cast(kept[:, None], moved.dtype)
        self.direction += self.residual
        return step, kept


class _Shifts:
    """The same for larger σ, ``above`` this one: their residuals are its own, scaled.

    ``found`` and ``searched`` are columns × σ × rows. What several steps add to them are sums of
    ``searched`` and of the steps' residuals, so they are made once for all of these steps.
    """

    def __init__(self, above: np.ndarray, search: _Search, rows: Any) -> None:
        xp = namespace(search.residual)
        self.above, self.done = from_numpy(above[:, None], search.residual), 0
        self.searched = xp.stack([search.residual[:, rows]] * len(above), axis=1)
        self.found = xp.zeros_like(self.searched)
        self.scale = self.before = 1.0 + 0.0 * self.above * search.energy
        self.last_step, self.last_kept = 1.0 + 0.0 * search.energy, 0.0 * search.energy

    def follow(self, search: _Search, rows: Any, count: int) -> np.ndarray:
        """Some steps; how large the residuals are now, relative to Y."""
        xp, each = namespace(search.residual), list[Array]()
        # The factors of ``searched`` and of every residual.
        found = xp.stack([0.0 * self.scale] * (1 + count), axis=2)
        searched = xp.asarray(found, copy=True)
        searched[:, :, 0] += 1.0
        for k in range(count):
            step, kept = search.step()
            each.append(search.residual[:, rows])
            shrunk = self._shrunk(step, kept)
            found += (step * shrunk)[:, :, None] * searched
            searched *= (kept * shrunk**2)[:, :, None]
            searched[:, :, 1 + k] = self.scale
        residuals = xp.stack(each, axis=1)
        plus, self.searched = (
            some[:, :, :1] * self.searched + xp.matmul(some[:, :, 1:], residuals)
            for some in (_by_column(found, residuals), _by_column(searched, residuals))
        )
        self.found[:, self.done :, :] += plus
        left = xp.max(self.scale**2 * ratio(search.energy, search.size), axis=1)
        return np.sqrt(to_numpy(left))

    def _shrunk(self, step: Array, kept: Array) -> Array:
        """The factor by which a step shrinks the shifted residuals further than its own."""
        after = ratio(
            self.scale * self.before * self.last_step,
            step * self.last_kept * (self.before - self.scale)
            + self.before * self.last_step * (1.0 + self.above * step),
        )
        self.before, self.scale = self.scale, after
        self.last_step, self.last_kept = step, kept
        return ratio(after, self.before)

    def leave(self, count: int) -> None:
        """Leave the first ones as they are."""
        self.done += count
        for name in ("scale", "before", "above"):
            setattr(self, name, getattr(self, name)[count:])
        self.searched = self.searched[:, count:, :]


def _by_column(factors: Array, like: Array) -> Array:
    return cast(namespace(factors).permute_dims(factors, (1, 0, 2)), like.dtype)


def _products(A: Array, B: Array) -> Array:
    return doubles(namespace(A).vecdot(A, B))


def label_columns(targets: Targets) -> np.ndarray:
    """Y of labelled rows: a column for each class, or the values and a column of ones."""
    Y = targets.block(slice(0, len(targets)), np.dtype(np.float32))
    if isinstance(targets, ClassTargets):
        return np.asarray(Y)
    return np.column_stack([Y, np.ones(len(Y), dtype=np.float32)])


def label_strengths(laplacian: Laplacian, rows: np.ndarray) -> np.ndarray:
    """What a label on each row has to weigh so that all count the same far away.

    Λ maps √d to zero, and K leaves it as it is: far from its row a label's mass is ∝ √d of that row
    times √d of the other.
    """
    if laplacian.degree is None:
        return np.ones(len(rows))
    d = laplacian.degree[rows] / max(float(laplacian.degree.mean()), float(np.finfo(float).tiny))
    return np.where(d > 0, 1.0 / np.sqrt(np.maximum(d, _LEAST_DEGREE)), 1.0)


def total_mass(mass: Array, targets: Targets) -> Array:
    """KC1."""
    if isinstance(targets, ClassTargets):
        return namespace(mass).sum(mass, axis=-1, keepdims=True)
    return mass[..., -1:]


def means(mass: Array, targets: Targets, factors: np.ndarray | None = None) -> Array:
    """F = KCY / KC1, with C a factor for each class; where no label leads, zero."""
    if factors is not None:
        mass = mass * from_numpy(factors, mass, mass.dtype)
    total = total_mass(mass, targets)
    F = targets.encoded(ratio(mass[..., : targets.width], total))
    return namespace(F).where(total > 0, F, 0.0 * F)


def contradicted(laplacian: Laplacian, targets: Any) -> float:
    """The part of the rows whose neighbours have mostly another class than their target."""
    W = abs(laplacian.matrix)
    W.setdiag(0.0)
    votes, every = W @ label_columns(targets), np.arange(len(targets))
    return float(np.mean(votes.max(axis=1) > votes[every, targets.codes]))
