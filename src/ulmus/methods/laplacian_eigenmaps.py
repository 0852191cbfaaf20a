"""The smoothest functions on a graph: Λv = γv for the smallest γ, without a hidden layer.

A part of the graph that no edge leaves has an eigenvector u of γ = 0 to itself: constant where Λ is
D − W, √d where it is normalised. A function of the rows is f = v/u, which does not depend on how
many neighbours a row has. The γ that are wanted crowd near zero, where Lanczos is slow to tell them
apart; it is given a polynomial of Λ instead that spreads them, and is small over all the others.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ulmus.backends.gram import sparse_operator
from ulmus.backends.linalg import eigh, signs
from ulmus.backends.namespace import from_numpy, namespace, to_numpy
from ulmus.exceptions import GraphError
from ulmus.graphs import Laplacian

# A part with a smaller share of the rows is left out: it would take a column for few rows.
_SHARE = 0.01
# Up to this many rows all eigenvectors are sooner found than a few.
_DENSE_ROWS = 500
# The least share of the largest γ that Chebyshev's polynomial is small from.
_CUT = 0.004
_ROUGH, _TOL, _RESTARTS = 1e-2, 1e-7, 1000
# γ/γ_max that is zero up to rounding.
_ZERO = 1e-9


@dataclass(frozen=True)
class GraphSpectrum:
    """Coordinates of the rows (n × k), and γ of each column, ascending.

    ``reached`` are the rows of large parts; the others' coordinates are zero. ``parts`` counts the
    large ones: with more than one the first columns tell them apart.
    """

    coordinates: np.ndarray
    values: np.ndarray
    reached: np.ndarray
    parts: int


def graph_spectrum(laplacian: Laplacian, k: int, like: Any = None) -> GraphSpectrum:
    """The k smoothest functions on the graph but the constant one; of length one, D-orthogonal.

    In a graph of p large parts the first p − 1 are constant on each: every part against the
    larger ones together. The others are zero on all parts but one. Long runs of products are where
    ``like`` lives.
    """
    matrix, n = sp.csr_array(laplacian.matrix, dtype=float), len(laplacian)
    members = _large_parts(matrix)
    columns = _contrasts(members, n)[: k + 1]
    values = [0.0] * len(columns)
    for rows in members:
        found, F = _functions(matrix[rows][:, rows], min(k + 1, len(rows)), like)
        spread = np.zeros((len(found), n))
        spread[:, rows] = F.T
        values.extend(found)
        columns.extend(spread)
    if len(values) < k:
        raise GraphError(f"n_components={k} is too many: the graph gives at most {len(values)}.")
    order = np.argsort(values, kind="stable")[:k]
    E = np.column_stack([columns[i] for i in order])
    reached = np.zeros(n, dtype=bool)
    reached[np.concatenate(members)] = True
    powers = np.maximum(np.asarray(values)[order], 0.0) ** laplacian.power
    return GraphSpectrum(E * signs(E), powers, reached, len(members))


def smallest_eigenpairs(A: Any, k: int, like: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenvalues of a sparse positive semi-definite A, ascending, and vectors."""
    n = A.shape[0]
    if n <= max(_DENSE_ROWS, 3 * k):
        values, V = eigh(A.toarray().astype(float))
        return values[:k], V[:, :k]
    start = np.random.RandomState(0).standard_normal(n)
    # Lanczos looks from below, so that a little is added.
    top = 1.02 * float(eigsh(A, 1, v0=start, tol=1e-2, return_eigenvectors=False)[0])
    turned = LinearOperator(A.shape, matvec=lambda x: top * x - A @ x, dtype=float)
    # However rough, these lie above the eigenvalues that are wanted, so that no cut is too low.
    values, V = _largest_of(turned, A, k, start, _ROUGH)
    cut = max(_CUT * top, 2.0 * values[-1])
    if 2.0 * cut >= top:
        return _largest_of(turned, A, k, start, _TOL)
    return _largest_of(_chebyshev(A, cut, top, like), A, k, V.sum(axis=1), _TOL)


def _large_parts(matrix: Any) -> list[np.ndarray]:
    """The rows of every part that is large enough, the largest first."""
    n = matrix.shape[0]
    count, part = connected_components(matrix, directed=False)
    sizes = np.bincount(part, minlength=count)
    large = [p for p in np.argsort(-sizes, kind="stable") if sizes[p] >= max(2, _SHARE * n)]
    if 2 * sizes[large].sum() < n:
        raise GraphError(
            f"The graph falls into {count} parts, and most rows lie in parts with less than "
            f"{_SHARE:.0%} of them; more neighbours would join them."
        )
    return [np.flatnonzero(part == p) for p in large]


def _contrasts(members: list[np.ndarray], n: int) -> list[np.ndarray]:
    """Columns of length one that tell the parts apart, each from the larger ones together."""
    columns = []
    before = len(members[0])
    for j, rows in enumerate(members[1:], start=1):
        own, f = len(rows), np.zeros(n)
        f[rows] = np.sqrt(before / (own * (before + own)))
        f[np.concatenate(members[:j])] = -np.sqrt(own / (before * (before + own)))
        columns.append(f)
        before += own
    return columns


def _functions(A: Any, k: int, like: Any) -> tuple[np.ndarray, np.ndarray]:
    """γ and f = v/u√n of a connected graph but for the constant one."""
    values, V = smallest_eigenpairs(A, k, like)
    # Edges may weigh so little that rounding splits this part in two, whose u are then mixed;
    # what is left of a constant by all vectors of γ = 0 is positive all the same.
    null = V[:, values <= max(_ZERO * A.diagonal().max(), values[0])]
    u = np.abs(null @ null.sum(axis=0))
    u /= np.linalg.norm(u)
    u = np.maximum(u, np.finfo(float).eps * u.max())
    return values[1:], V[:, 1:] / (np.sqrt(len(u)) * u)[:, None]


def _chebyshev(A: Any, cut: float, top: float, like: Any) -> LinearOperator:
    """A polynomial of A: one at zero, falling to ``cut``, and small from there to ``top``."""
    middle, half = (top + cut) / 2, (top - cut) / 2
    degree = round(2.0 / np.sqrt(cut / top))
    scale = 1.0 / np.cosh(degree * np.arccosh(middle / half))
    like = np.empty(0) if like is None else like
    B = sparse_operator(A, like, namespace(like).float64)

    def apply(x: np.ndarray) -> np.ndarray:
        before = from_numpy(x.reshape(-1, 1), like)
        now = (middle * before - B @ before) / half
        for _ in range(degree - 1):
            before, now = now, (2.0 / half) * (middle * now - B @ now) - before
        return scale * to_numpy(now).ravel()

    return LinearOperator(A.shape, matvec=apply, dtype=float)


def _largest_of(
    operator: LinearOperator, A: Any, k: int, start: np.ndarray, tol: float
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the largest eigenvalues of a function of A, and A's own values, ascending."""
    try:
        _, V = eigsh(operator, k, which="LA", v0=start, tol=tol, maxiter=_RESTARTS)
    except ArpackNoConvergence as error:
        raise GraphError(
            f"The {k} smoothest functions on the graph were not found in {_RESTARTS} restarts of "
            "Lanczos; lower n_components, or give the graph more neighbours."
        ) from error
    values, Y = eigh(V.T @ (A @ V))
    return values, V @ Y
