"""SS-ELM for many rows: labels are spread over the graph first, and β follows.

With many more rows than units Hβ cannot fit what the graph gives. So every row gets a mean of the
labels near it, as in label spreading (see `propagation`), and β is fitted to the classes or values
that come of it.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, namespace, placed
from ulmus.exceptions import UnreachedRowsWarning
from ulmus.fitted import OnDevice
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden, sample_rows
from ulmus.methods.iterative import ConjugateGradients
from ulmus.methods.manifold import GraphSolution
from ulmus.methods.propagation import kernel_blocks, spread
from ulmus.methods.ridge import Ridge, solve
from ulmus.problem import Moments, Problem, Solution, Tally
from ulmus.sources.source import OnGraph, Sample, Summed
from ulmus.targets import ClassTargets, Targets, ValueTargets, chosen, coded

__all__ = ["Followed", "GraphLabels", "Spreading", "label_mass", "means", "reached_rows"]

_LAMS = np.array([1.0, 3.0, 9.0, 24.0, 49.0, 99.0, 199.0])
# λ = 99 is label spreading's usual α = λ / (1 + λ) = 0.99. It wins among equals.
_USUAL = 99.0
# Columns of the kernel that are in memory at once, times rows.
_ENTRIES = 2**25
# The part of the labelled rows that is held out where they are too many to leave out singly.
_HELD_SHARE = 0.2
# Relative residuals: the choice of λ needs few digits, and far from its label a row's outputs are
# small, so that a class needs more.
_ROUGH, _FINE = 1e-2, 1e-5
# Labelled rows from which on one wrong row more counts as equal.
_FEW = 50
# Where other labels change the classes of more than this part of the rows, sums are made anew.
_CHANGED = 0.25


@dataclass(frozen=True)
class GraphLabels:
    """Labels spread over all rows.

    ``mass`` is (I + λΛ)⁻¹CY with a last column for (I + λΛ)⁻¹C1, ``reached`` the rows that some
    label leads to, ``error`` the error on labelled rows left out (the error rate of classes, the
    mean squared error of numbers; None where no row can be left out), ``path`` the error for
    every λ that was tried.
    """

    targets: ClassTargets | ValueTargets
    mass: np.ndarray
    reached: np.ndarray
    lam: float
    error: float | None
    path: dict[str, np.ndarray] | None
    steps: int

    @property
    def outputs(self) -> np.ndarray:
        """F: for classes between −1 and 1; of rows that no label leads to, zero."""
        return means(self.mass, self.targets)

    def pseudo_targets(self, known: np.ndarray) -> ClassTargets | ValueTargets:
        """Hard classes of F, or its values; given ones where they are ``known``."""
        F = self.outputs
        if isinstance(self.targets, ClassTargets):
            codes = chosen(F).astype(np.intp)
            codes[known] = self.targets.codes
            return ClassTargets(codes, self.targets.n_classes)
        F[known] = self.targets.values
        return ValueTargets(F.astype(float))


@dataclass(frozen=True)
class Followed:
    """What other labels start from: labels spread before, targets made of them, C and sums."""

    labels: GraphLabels
    pseudo: ClassTargets | ValueTargets
    C: float
    sums: OnDevice[Moments | None]


@dataclass(frozen=True)
class Spreading:
    """C of the ridge, values of λ (None: seven from 1 to 199), and when to stop."""

    C: float | np.ndarray
    lam: np.ndarray | None
    stop: ConjugateGradients

    def fit(self, source: OnGraph) -> GraphSolution:
        """Spread the labels, and fit β to what comes of it."""
        return self.follow(source, self.spread(source))

    def refit(self, source: OnGraph, before: Followed) -> GraphSolution:
        """The same for other labels, at the same λ; C stays where sums serve again."""
        labels, old = self.spread(source, before.labels), before.pseudo
        pseudo, H = labels.pseudo_targets(source.known), source.rows()
        same = np.array_equal(labels.reached, before.labels.reached)
        same = same and labels.mass.shape == before.labels.mass.shape
        changed = np.flatnonzero((pseudo.array != old.array).reshape(len(H), -1).any(axis=1))
        if not same or before.sums is None or len(changed) > _CHANGED * len(H):
            return self.follow(source, labels)
        sums = _retargeted(before.sums, H, changed, old, pseudo) if len(changed) else before.sums
        sample = Sample(Problem(H, pseudo.placed(H.X)), None, changed[:0])
        solution = Ridge(before.C).fit(Summed(sums, sample))
        return _solution(source, labels, pseudo, replace(solution, moments=sums))

    def spread(self, source: OnGraph, before: GraphLabels | None = None) -> GraphLabels:
        """The labels over all rows; warns of rows that none leads to.

        ``before`` are those spread from other labels, to start from; their λ is kept.
        """
        narrow = source.laplacian
        narrow = Laplacian(narrow.matrix.astype(np.float32), narrow.power)
        rows, tol = np.flatnonzero(source.known), min(self.stop.tol, _FINE)
        sources = label_mass(source.targets, source.weight)
        reached = reached_rows(source.laplacian, rows)
        start, path, error = None, None, None
        lams = _LAMS if self.lam is None else self.lam
        if before is not None:
            lam = before.lam
            start = before.mass if before.mass.shape[1] == sources.shape[1] else None
        elif len(lams) == 1:
            lam = float(lams[0])
        else:
            errors = _left_out(narrow, rows, source, lams, tol, self.stop.max_iter)
            lam = _best(lams, errors, isinstance(source.targets, ClassTargets), len(rows))
            if errors is not None:
                path, error = {"lam": lams, "error": errors}, float(errors[list(lams).index(lam)])
        Y = np.zeros((len(narrow), sources.shape[1]), dtype=np.float32)
        Y[rows] = sources
        found = spread(narrow, Y, lam, start, tol, self.stop.max_iter)
        # Rounding must not lead where no edge does.
        found.values[~reached] = 0.0
        _warn_of_unreached(reached)
        targets: Any = source.targets
        return GraphLabels(targets, found.values, reached, lam, error, path, found.steps)

    def follow(self, source: OnGraph, labels: GraphLabels) -> GraphSolution:
        """β for the classes or values that were spread."""
        pseudo, H = labels.pseudo_targets(source.known), source.rows()
        rows = np.flatnonzero(labels.reached)
        part = H if len(rows) == len(H) else H.take(rows)
        solution = solve(Problem(part, pseudo.take(rows).placed(H.X)), self.C)
        return _solution(source, labels, pseudo, solution)


def _solution(
    source: OnGraph, labels: GraphLabels, pseudo: ClassTargets | ValueTargets, found: Solution
) -> GraphSolution:
    """The labelled rows are few among those fitted: their outputs hardly change without one."""
    fitted, every = matmul(doubles(source.some.all()), found.coef), np.arange(len(source.targets))
    return GraphSolution.of(
        replace(found, lam=labels.lam, method="graph", loo_rows=every, loo=fitted, path=None),
        "labels are spread before β is solved for",
        selection="fixed" if labels.path is None else "loo",
        error=labels.error,
        spread_path=labels.path,
        steps=labels.steps,
        # Of fewer rows than units there are no sums, and no need of them.
        reused=Followed(labels, pseudo, found.C, found.moments),
        coupling="free",
    )


def _retargeted(sums: Moments, H: Hidden, rows: np.ndarray, old: Targets, new: Targets) -> Moments:
    """The sums once these rows' targets are others: HᵀH stays as it is."""
    every = np.dtype(float)
    gone, come = (placed(each.block(rows, every), H.X) for each in (old, new))
    part, cross = H.take(rows), 0.0 * sums.cross
    for some, block in part.blocks():
        cross += matmul(doubles(block).T + H.offset, (come - gone)[some, :])
    sum_ = namespace(cross).sum
    return replace(
        sums,
        cross=sums.cross + cross,
        energy=sums.energy + sum_(come**2 - gone**2, axis=0),
        target=sums.target + sum_(come - gone, axis=0),
    )


def _warn_of_unreached(reached: np.ndarray) -> None:
    unreached = int(np.count_nonzero(~reached))
    if unreached:
        warnings.warn(
            f"{unreached} of {len(reached)} rows are joined to no labelled row by the graph; "
            "the model alone names them. More neighbours, or a label among them, would help.",
            UnreachedRowsWarning,
            stacklevel=2,
        )


def label_mass(targets: Targets, weight: np.ndarray) -> np.ndarray:
    """C[Y, 1] of the labelled rows."""
    every = slice(0, len(targets))
    Y = np.column_stack([targets.block(every, np.dtype(np.float64)), np.ones(len(targets))])
    sources: np.ndarray = (weight[:, None] * Y).astype(np.float32)
    return sources


def means(mass: np.ndarray, targets: Targets) -> np.ndarray:
    """F = KCT / KC1."""
    total = mass[..., -1:]
    Y = np.divide(mass[..., :-1], total, out=np.zeros_like(mass[..., :-1]), where=total > 0)
    F = targets.encoded(Y)
    return np.where(total > 0, F, 0.0)


def reached_rows(laplacian: Laplacian, rows: np.ndarray) -> np.ndarray:
    """The rows in a component of the graph that has a labelled row."""
    _, component = connected_components(laplacian.matrix, directed=False)
    return np.isin(component, component[rows])


def _best(lams: np.ndarray, errors: np.ndarray | None, classes: bool, l: int) -> float:
    """The λ with the least error, and of equals the one nearest to the usual one.

    One wrong row more counts as equal from fifty rows on.
    """
    if errors is None:
        return float(lams[np.argmin(np.abs(np.log(lams / _USUAL)))])
    slack = 1.0 / l if classes and l >= _FEW else 0.0
    tied = lams[errors <= errors.min() + slack + 1e-12]
    return float(tied[np.argmin(np.abs(np.log(tied / _USUAL)))])


def _left_out(
    laplacian: Laplacian,
    rows: np.ndarray,
    source: OnGraph,
    lams: np.ndarray,
    tol: float,
    max_iter: int,
) -> np.ndarray | None:
    """The error on labelled rows left out for every λ; None where none can be judged.

    Each row once where the kernel's columns fit, a fifth of them together where they do not.
    """
    targets, weight = source.targets, source.weight
    n, l, tol = len(laplacian), len(rows), max(tol, _ROUGH)
    if n * l <= _ENTRIES:
        K = kernel_blocks(laplacian, rows, rows, lams, tol, max_iter)
        K[:, np.arange(l), np.arange(l)] = 0.0
        mass = _reweighted(K @ label_mass(targets, weight).astype(float), targets, weight)
        return _errors(mass, targets, np.arange(l), weight)
    held = np.sort(sample_rows(0, int(_HELD_SHARE * l), l))
    others = np.setdiff1d(np.arange(l), held)
    Y = np.zeros((n, targets.width + 1), dtype=np.float32)
    rest = Problem(None, targets, weight).among(others)
    assert rest.weight is not None
    Y[rows[others]] = label_mass(rest.targets, rest.weight)
    start, found = None, []
    for lam in lams.tolist():
        start = spread(laplacian, Y, lam, start, tol, max_iter).values
        found.append(start[rows[held]])
    return _errors(np.stack(found), targets, held, weight)


def _reweighted(mass: np.ndarray, targets: Targets, weight: np.ndarray) -> np.ndarray:
    """The mass of each row's others, where its class weighs more once it has left."""
    problem = Problem(None, targets, weight)
    if problem.reweighs:
        for leaving in problem.leavings():
            more = (leaving.b - 1.0) * mass[:, leaving.rows, leaving.code]
            mass[:, leaving.rows, leaving.code] += more
            mass[:, leaving.rows, -1] += more
    return mass


def _errors(
    mass: np.ndarray, targets: Targets, rows: np.ndarray, weight: np.ndarray
) -> np.ndarray | None:
    """The error of the means on those of the labelled ``rows`` that can be judged, for every λ."""
    F, T = means(mass, targets), coded(targets, rows, np.dtype(np.float64))
    share = np.where(mass[0, :, -1] > 0, weight[rows], 0.0)
    if isinstance(targets, ClassTargets):
        # The only row of its class has no others to name it.
        counts = np.bincount(targets.codes, minlength=targets.n_classes)
        share *= counts[targets.codes[rows]] > 1
    if not share.any():
        return None
    tally = Tally(Problem(None, targets.take(rows), share), np.ones(len(mass)))
    tally.add(slice(0, len(rows)), slice(0, len(mass)), np.moveaxis(T - F, 0, 1))
    return tally.path().errors
