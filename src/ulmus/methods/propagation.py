"""Labels spread over a graph: F = KCY / KC1 with K = (I + λΛ)⁻¹, without a hidden layer.

Y are the labelled rows' targets, C their weights; a row's output is a mean of the labelled rows'
targets, each weighted by its nearness in the graph. A labelled row that is left out loses its
own column of K, so that its output without it needs only K between labelled rows: exact
leave-one-out. It is also the output of a row that is taken out of the graph and then asked of its
neighbours: of a system that loses row i, KᵢCY is scaled by 1/λKᵢᵢ, numerator and denominator alike.

For every λ the matrix is Λ plus another multiple of I, and one run of conjugate gradients serves
them all, because shifts do not change the space it searches in. Everything is linear in the
labels: other labels on the same rows cost what is different about them.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse.csgraph import connected_components

from ulmus.backends.linalg import column_products
from ulmus.backends.namespace import (
    cast,
    doubles,
    from_numpy,
    is_numpy,
    namespace,
    placed,
    take,
    to_numpy,
)
from ulmus.graphs import Laplacian
from ulmus.methods.iterative import ConjugateGradients, ratio, warn_of_steps
from ulmus.targets import ClassTargets, Targets
from ulmus.typing import Array

__all__ = [
    "SpreadLabels",
    "label_columns",
    "label_strengths",
    "means",
    "reached_rows",
    "spread",
    "total_mass",
]

# Relative residuals: K between labelled rows needs few digits. Far from its label a row's mass is
# small, and that of other labels is added to it.
_ROUGH, _FINE = 1e-3, 1e-6
# Steps of conjugate gradients, and how many a device takes before the residual is looked at.
_STEPS, _TOGETHER = 1000, 8
# Smaller λ go on until their residual is this part of the tolerance: far from its label a row's
# mass is as small, and classes are ratios of it.
_FAR = 1e-9
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
        stop: ConjugateGradients | None = None,
    ) -> "SpreadLabels":
        """The labels spread; ``before`` are others on the same graph."""
        if before is None:
            none = np.empty(0, dtype=np.intp)
            empty = np.zeros((len(lams), len(laplacian), 0), dtype=np.float32)
            before = cls(none, np.zeros((len(lams), 0, 0)), none, np.zeros((0, 0)), empty)
        tol, steps = (_FINE, _STEPS) if stop is None else (stop.tol, stop.max_iter)
        tol, steps = min(tol, _FINE), max(steps, _STEPS)
        mass, change = before._nearest(_everywhere(rows, columns, len(laplacian)))
        changed = np.flatnonzero(change.any(axis=1))
        fresh = compared[~np.isin(compared, before.compared)]
        few = np.union1d(changed, fresh)
        if len(few) <= _FEW:
            found = spread(laplacian, _units(few, len(change)), lams, tol=tol, max_iter=steps)
            mass += found @ change[few]
            K = found[:, compared][:, :, np.isin(few, fresh)]
        else:
            moved = change.any(axis=0)
            mass[:, :, moved] += spread(laplacian, change[:, moved], lams, tol=tol, max_iter=steps)
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
    lams = np.asarray(lams, dtype=float)
    # (I + λΛ)⁻¹ = σ(Λ + σI)⁻¹ with σ = 1/λ; the other σ lie above the least by this much.
    least = 1.0 / lams.max()
    residual = from_numpy(Y, laplacian.matrix.data)  # where the graph is
    xp, single = namespace(residual), partial(cast, dtype=residual.dtype)
    rows = rows if isinstance(rows, slice) else placed(rows, residual)
    residual, direction = (xp.asarray(residual, copy=True) for _ in range(2))
    energy = _products(residual, residual)
    searched = xp.stack([take(residual, rows)] * len(lams))
    found = xp.zeros_like(searched)
    size, above = energy, from_numpy((1.0 / lams - least)[:, None], residual)
    scale = before = 1.0 + 0.0 * above * energy
    last_step, last_turn = 1.0 + 0.0 * energy, 0.0 * energy
    steps, worst, done = 0, float(Y.shape[1] > 0), 0
    while steps < max_iter and worst > tol:
        moved = laplacian @ direction
        moved += least * direction
        step = ratio(energy, _products(direction, moved))
        # A shifted system's residual is the same one, scaled.
        after = ratio(
            scale * before * last_step,
            step * last_turn * (before - scale) + before * last_step * (1.0 + above * step),
        )
        shrunk = ratio(after, scale)
        found[done:] += single(step * shrunk)[:, None, :] * searched
        residual -= single(step) * moved
        fresh = _products(residual, residual)
        turn = ratio(fresh, energy)
        searched *= single(turn * shrunk**2)[:, None, :]
        searched += single(after)[:, None, :] * take(residual, rows)
        direction *= single(turn)
        direction += residual
        before, scale, last_step, last_turn, energy = scale, after, step, turn, fresh
        steps += 1
        # A device would wait for the host at every look.
        if is_numpy(residual) or steps % _TOGETHER == 0:
            left = to_numpy(xp.max(scale**2 * ratio(energy, size), axis=1)) ** 0.5
            more = int(np.count_nonzero(left[:-1] <= _FAR * tol))
            scale, before, above, searched = (x[more:] for x in (scale, before, above, searched))
            done, worst = done + more, float(left[-1])
    if worst > tol:
        warn_of_steps(steps, worst, tol)
    return to_numpy(found) / lams.astype(Y.dtype)[:, None, None]


def _products(A: Array, B: Array) -> Array:
    return doubles(column_products(A, B))


def label_columns(targets: Targets) -> np.ndarray:
    """Y of labelled rows: a column for each class, or the values and a column of ones."""
    Y = targets.block(slice(0, len(targets)), np.dtype(np.float32))
    if isinstance(targets, ClassTargets):
        return np.asarray(Y)
    return np.column_stack([Y, np.ones(len(Y), dtype=np.float32)])


def label_strengths(laplacian: Laplacian, rows: np.ndarray) -> np.ndarray:
    """What a label on each row has to weigh for all to have the same say far away.

    Λ maps √d to zero, and K leaves it as it is: far from its row a label's mass is ∝ √d of that row
    times √d of the other.
    """
    if laplacian.degree is None:
        return np.ones(len(rows))
    d = laplacian.degree[rows] / max(float(laplacian.degree.mean()), float(np.finfo(float).tiny))
    return np.where(d > 0, 1.0 / np.sqrt(np.where(d > 0, d, 1.0)), 1.0)


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


def reached_rows(laplacian: Laplacian, rows: np.ndarray) -> np.ndarray:
    """The rows in a component of the graph that has a labelled row."""
    _, component = connected_components(laplacian.matrix, directed=False)
    return np.isin(component, component[rows])
