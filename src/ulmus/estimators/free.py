"""SS-ELM whose outputs on the given rows are free of the hidden layer.

With many more rows than units Hβ cannot hold what the graph knows. So the graph speaks first, as
in label spreading, and β is then fitted to what it said of every row.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from ulmus.backends.random import sample_rows
from ulmus.graphs import Laplacian
from ulmus.methods.propagation import kernel_blocks, spread
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, ValueTargets, chosen, coded, wrong

__all__ = ["GraphLabels", "graph_lams", "spread_labels"]

_LAMS = np.array([1.0, 3.0, 9.0, 24.0, 49.0, 99.0, 199.0])
# λ = 99 is label spreading's usual α = λ / (1 + λ) = 0.99. It wins among equals.
_USUAL = 99.0
# Columns of the kernel that are in memory at once, times rows.
_ENTRIES = 2**25
_HIDDEN_SHARE = 0.2
# Which class is named is settled long before the last digits are.
_ROUGH = 1e-2
_FEW = 50


@dataclass(frozen=True)
class GraphLabels:
    """What the graph says of every row.

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
    path: dict | None
    steps: int

    @property
    def outputs(self):
        """F: for classes between −1 and 1; of rows that no label leads to, zero."""
        return _means(self.mass, self.targets)

    def pseudo_targets(self, known):
        """Hard classes of F, or its values; given ones where they are ``known``."""
        F = self.outputs
        if isinstance(self.targets, ClassTargets):
            codes = chosen(F).astype(np.intp)
            codes[known] = self.targets.codes
            return ClassTargets(codes, self.targets.n_classes)
        F[known] = self.targets.values
        return ValueTargets(F.astype(float))


def spread_labels(laplacian, known, targets, weight, lams, tol, max_iter, before=None):
    """Spread the labels of the ``known`` rows over the graph, by the best λ of ``lams``.

    ``before`` is what the graph said with other labels, to start from; its λ is kept.
    """
    narrow = Laplacian(laplacian.matrix.astype(np.float32), laplacian.power)
    rows = np.flatnonzero(known)
    sources = _sources(targets, weight)
    reached = _reached(laplacian, rows)
    start = path = error = None
    if before is not None:
        lam = before.lam
        if before.mass.shape[1] == sources.shape[1]:
            start = before.mass
    elif len(lams) == 1:
        lam = float(lams[0])
    else:
        errors = _left_out(narrow, rows, targets, weight, lams, tol, max_iter)
        lam = _best(lams, errors, isinstance(targets, ClassTargets), len(rows))
        if errors is not None:
            path, error = {"lam": lams, "error": errors}, float(errors[list(lams).index(lam)])
    Y = np.zeros((len(laplacian), sources.shape[1]), dtype=np.float32)
    Y[rows] = sources
    found = spread(narrow, Y, lam, start, tol, max_iter)
    mass = found.values
    # Rounding must not lead where no edge does.
    mass[~reached] = 0.0
    return GraphLabels(targets, mass, reached, lam, error, path, found.steps)


def graph_lams(lam):
    """The values of λ to choose from."""
    return _LAMS if isinstance(lam, str) else np.atleast_1d(np.asarray(lam, dtype=float))


def _sources(targets, weight):
    """C[Y, 1] of the labelled rows."""
    every = slice(0, len(targets))
    Y = np.column_stack([targets.block(every, np.dtype(np.float64)), np.ones(len(targets))])
    return (weight[:, None] * Y).astype(np.float32)


def _means(mass, targets):
    """F = KCT / KC1."""
    total = mass[..., -1:]
    Y = np.divide(mass[..., :-1], total, out=np.zeros_like(mass[..., :-1]), where=total > 0)
    F = targets.encoded(Y)
    return np.where(total > 0, F, 0.0)


def _reached(laplacian, rows):
    """The rows in a component of the graph that has a labelled row."""
    _, component = connected_components(laplacian.matrix, directed=False)
    return np.isin(component, component[rows])


def _best(lams, errors, classes, l):
    """The λ with the least error, and of equals the one nearest to the usual one.

    One wrong row more says nothing, once there are fifty rows and it is not too much.
    """
    if errors is None:
        return float(lams[np.argmin(np.abs(np.log(lams / _USUAL)))])
    slack = 1.0 / l if classes and l >= _FEW else 0.0
    tied = lams[errors <= errors.min() + slack + 1e-12]
    return float(tied[np.argmin(np.abs(np.log(tied / _USUAL)))])


def _left_out(laplacian, rows, targets, weight, lams, tol, max_iter):
    """The error on labelled rows left out for every λ; None where that says nothing.

    Each row once where the kernel's columns fit, a fifth of them together where they do not.
    """
    n, l = len(laplacian), len(rows)
    if n * l <= _ENTRIES:
        K = kernel_blocks(laplacian, rows, rows, lams, max(tol, _ROUGH), max_iter)
        K[:, np.arange(l), np.arange(l)] = 0.0
        mass = _reweighted(K @ _sources(targets, weight).astype(float), targets, weight)
        return _errors(mass, targets, np.arange(l), weight)
    hidden = np.sort(sample_rows(0, int(_HIDDEN_SHARE * l), l))
    others = np.setdiff1d(np.arange(l), hidden)
    Y = np.zeros((n, targets.width + 1), dtype=np.float32)
    rest = Problem(None, targets, weight).among(others)
    Y[rows[others]] = _sources(rest.targets, rest.weight)
    start, mass = None, []
    for lam in lams:
        start = spread(laplacian, Y, lam, start, max(tol, _ROUGH), max_iter).values
        mass.append(start[rows[hidden]])
    return _errors(np.stack(mass), targets, hidden, weight)


def _reweighted(mass, targets, weight):
    """What the other labels say of each row, where its class weighs more once it has left."""
    problem = Problem(None, targets, weight)
    if problem.reweighs:
        for leaving in problem.leavings():
            more = (leaving.b - 1.0) * mass[:, leaving.rows, leaving.code]
            mass[:, leaving.rows, leaving.code] += more
            mass[:, leaving.rows, -1] += more
    return mass


def _errors(mass, targets, rows, weight):
    """The error of the means on those of the labelled ``rows`` that can be judged, for every λ."""
    F, T = _means(mass, targets), coded(targets, rows, np.dtype(np.float64))
    share = np.where(mass[0, :, -1] > 0, weight[rows], 0.0)
    if isinstance(targets, ClassTargets):
        # The only row of its class has no others to name it.
        counts = np.bincount(targets.codes, minlength=targets.n_classes)
        share *= counts[targets.codes[rows]] > 1
    if not share.any():
        return None
    share /= share.sum()
    if isinstance(targets, ClassTargets):
        return wrong(np.broadcast_to(T, F.shape), F) @ share
    return ((F - T) ** 2).sum(axis=2) @ share
