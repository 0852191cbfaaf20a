"""Rows embedded with their neighbours, by the hidden layer or by the graph alone.

Tight: the smooth directions of the hidden layer, (I + λHᵀΛH) v = γ HᵀH v for the smallest γ.
A = I + λHᵀΛH is positive definite always, and HᵀH often is not, so the problem is turned
round: HᵀH v = μ A v for the largest μ = 1/γ. With A = LLᵀ that is an ordinary eigenproblem of
L⁻¹HᵀHL⁻ᵀ, whose few largest vectors block Lanczos finds.

Free: with many more rows than units Hβ cannot follow the graph. So the rows are placed by the
smoothest functions on the graph, as spectral clustering does, and β is fitted to their places.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ulmus.backends.gram import Gram
from ulmus.backends.linalg import (
    Cholesky,
    add_to_diagonal,
    column_major,
    largest_eigenpairs,
    matmul,
    qr,
    signs,
)
from ulmus.backends.namespace import (
    contiguous,
    doubles,
    from_numpy,
    namespace,
    placed,
    to_numpy,
    zeros,
)
from ulmus.backends.neighbors import mean_of_copies
from ulmus.exceptions import InvalidInputError, UnreachedRowsWarning
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.methods.laplacian_eigenmaps import graph_spectrum
from ulmus.methods.manifold_basis import in_span, manifold_gram
from ulmus.methods.ridge import DEFAULT_GRID, Ridge, solve
from ulmus.problem import Problem, Solution
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import AtHand
from ulmus.targets import ValueTargets
from ulmus.typing import Array

# Fewest vectors in a block, and the residual, relative to the eigenvalue, that is small enough.
_SMALLEST_BLOCK, _TOLERANCE = 8, 1e-8
# An entry of HᵀH is off by this part of its trace, times the units or this many.
_ROUNDING, _FEW = float(np.finfo(float).eps), 100


@dataclass(frozen=True)
class Embedding:
    """β (h × k), b, and γ of each column, ascending. ‖Hβⱼ‖ = 1 and b = 0 where it is tight.

    Where it is free, ``fitted`` has the rows' places on the graph as "embedding_", which of them it
    reaches as "reached_", and "C_", "selection_" and "loo_score_" of the ridge from H to them.
    """

    coef: Array
    intercept: Array
    values: Array
    fitted: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tight:
    """The second to (k + 1)-th smoothest directions; the first is all but constant.

    Where the rows differ in fewer components they are all that is given, if ``fewer`` allows it.
    """

    lam: float
    n_components: int
    fewer: bool = False

    def fit(self, H: Hidden | HiddenBlocks, laplacian: Laplacian) -> Embedding:
        """With fewer rows than units the work is done in the span of the rows, if at hand."""
        if isinstance(H, HiddenBlocks):
            return self.of(H.smoothed_gram(laplacian), H.total(hidden_gram))
        if len(H) >= H.width:
            return self.of(manifold_gram(H, laplacian), hidden_gram(H))
        few, span = in_span(H)
        smooth = laplacian.placed(few.X, few.dtype) @ few.X
        return self.of(matmul(few.X.T, smooth), matmul(few.X.T, few.X), span)

    def of(self, M: Array, B: Array, span: Array | None = None) -> Embedding:
        """From M = HᵀΛH and B = HᵀH; ``span`` is what their coordinates stand for."""
        k = self.n_components
        values, V = smoothest(add_to_diagonal(self.lam * (M + M.T) / 2, 1.0), B, k + 1)
        differing = _differing(values, B)
        if differing < (1 if self.fewer else k):
            raise InvalidInputError(
                f"n_components={k} is too many: the rows differ in {differing} components, and in "
                "the others only by rounding. Use fewer components, or rows that differ more."
            )
        last = 1 + min(k, differing)
        values, V = values[1:last], V[:, 1:last]
        # vᵀHᵀHv = 1 is the constraint.
        xp = namespace(V)
        V = V / xp.sqrt(xp.sum(V * matmul(B, V), axis=0))
        coef = V if span is None else matmul(span, V)
        return Embedding(coef * signs(coef), zeros(coef.shape[1], coef), values)


@dataclass(frozen=True)
class Free:
    """The smoothest functions on the graph, and β fitted to them by leave-one-out.

    C is chosen on at most ``some`` rows, or on all.
    """

    n_components: int
    row_normalize: bool = False
    some: int | None = None

    def fit(self, H: Hidden, laplacian: Laplacian) -> Embedding:
        """Raises `GraphError` where most of the graph lies in small parts."""
        found = graph_spectrum(laplacian, self.n_components, H.X)
        _warn_of_parts(found, self.n_components)
        # Edges between rows that are the same are chance where neighbours are fewer.
        E = mean_of_copies(found.coordinates, H.X)
        E = of_unit_length(E) if self.row_normalize else E
        rows, others = np.flatnonzero(found.reached), np.flatnonzero(~found.reached)
        part = H.take(rows) if len(others) else H
        problem = Problem(part, ValueTargets(E[rows]).placed(H.X), intercept=True)
        ridge: Any = ridge_by_some(problem, self.some)
        spread = float(((E[rows] - E[rows].mean(axis=0)) ** 2).sum(axis=1).mean())
        if len(others):  # the model alone places them
            F = matmul(doubles(H.take(others).all()), ridge.coef) + ridge.intercept
            E[others] = to_numpy(of_unit_length(F) if self.row_normalize else F)
        fitted = {
            "embedding_": from_numpy(E, H.X, H.dtype),
            "reached_": placed(found.reached, H.X),
            "C_": ridge.C,
            "selection_": "loo" if ridge.path.rows == len(rows) else "loo-sample",
            "loo_score_": 1.0 - ridge.path.score[1] / spread if spread else 1.0,
        }
        return Embedding(ridge.coef, ridge.intercept, placed(found.values, H.X), fitted)


def ridge_by_some(problem: Problem, some: int | None) -> Solution:
    """The ridge of all rows, whose C was chosen by leaving out each of some of them; None: of all.

    The path is that of the rows it was chosen on.
    """
    if some is None or len(problem.H) <= some:
        return solve(problem, DEFAULT_GRID, seed=0)
    rows = np.sort(np.random.RandomState(0).permutation(len(problem.H))[:some])
    chosen = solve(problem.take(rows), DEFAULT_GRID, seed=0)
    found = Ridge(chosen.C, asked=False).fit(AtHand(problem, 0))
    return replace(found, path=chosen.path)


def of_unit_length(E: Array) -> Array:
    """Every row divided by its length; rows of zeros stay."""
    xp = namespace(E)
    lengths = xp.linalg.vector_norm(E, axis=1, keepdims=True)
    return E / xp.where(lengths > 0, lengths, 0.0 * lengths + 1.0)


def _warn_of_parts(found: Any, n_components: int) -> None:
    """Warn of rows that the graph does not place, and of parts that it does not separate."""
    unreached, words = int(np.count_nonzero(~found.reached)), []
    if unreached:
        words.append(
            f"{unreached} of {len(found.reached)} rows lie in small parts of the graph that no "
            "edge joins to the rest; the model alone places them. More neighbours would help."
        )
    if found.parts > n_components + 1:
        words.append(
            f"The graph falls into {found.parts} large parts, and {n_components} columns tell no "
            "more than some of them apart. More neighbours would join them; more n_components "
            "would show their insides."
        )
    for each in words:
        warnings.warn(each, UnreachedRowsWarning, stacklevel=2)


def _differing(values: Array, B: Array) -> int:
    """In how many directions after the first rows differ by more than rounding: else γ = 1/0.

    A is at least the identity, so μ = 1/γ is off by no more than B is.
    """
    size = float(namespace(B).linalg.trace(B))
    least = _ROUNDING * max(B.shape[0], _FEW) * size
    return int(np.sum(1.0 / to_numpy(values) > least)) - 1


def smoothest(A: Array, B: Array, k: int) -> tuple[Array, Array]:
    """The k smallest γ of A v = γ B v with A positive definite, ascending, and their v."""
    factor = Cholesky(column_major(A), overwrite=True)

    def apply(Y: Array) -> Array:
        return factor.whiten(matmul(factor.colour(Y.T).T, B).T).T

    mu, Y = largest(apply, B, k)
    tiny = float(np.finfo(float).tiny)
    return 1.0 / namespace(mu).clip(mu, min=tiny), factor.colour(Y.T)


def largest(apply: Callable[[Array], Array], like: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a positive semi-definite operator, descending, and vectors.

    The operator is as large as ``like``, and works where that lives.
    Vectors are rows here, for ``apply`` and in the result. Block Lanczos with full
    reorthogonalisation: a product with a block of vectors costs little more than with one, and
    the start is the same every time. Where the spectrum does not decay, so that the subspace
    would grow to half of all directions, the operator is written out.
    """
    block = max(_SMALLEST_BLOCK, 6 * (k // 10))
    n, xp = like.shape[0], namespace(like)
    room = n // 2
    K, SK = (xp.empty((room, n), dtype=xp.float64, device=like.device) for _ in range(2))
    Q = from_numpy(np.random.RandomState(0).standard_normal((block, n)), like)
    size, check = 0, 6 * k
    while size + block <= room:
        for _ in range(2 if size else 0):  # twice is enough
            Q = Q - matmul(matmul(Q, K[:size, :].T), K[:size, :])
        Q = qr(Q.T)[0].T
        K[size : size + block, :], SK[size : size + block, :] = Q, apply(Q)
        size += block
        if size >= check:
            mu, Y = _ritz(K[:size, :], SK[:size, :], k)
            found = matmul(Y, K[:size, :])
            residual = matmul(Y, SK[:size, :]) - mu[:, None] * found
            if bool(xp.all(xp.linalg.vector_norm(residual, axis=1) <= _TOLERANCE * mu)):
                return mu, found
            check = size + max(block, size // 8)
        Q = SK[size - block : size, :]
    whole = xp.eye(n, dtype=xp.float64, device=like.device)
    return _ritz(whole, apply(whole), k)


def _ritz(K: Array, SK: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of K S Kᵀ, descending, and their vectors as rows."""
    T, xp = matmul(K, SK.T), namespace(K)
    mu, Y = largest_eigenpairs((T + T.T) / 2, k)
    return xp.flip(mu), contiguous(xp.flip(Y.T, axis=0))


def hidden_gram(H: Hidden) -> Array:
    """HᵀH with the offset given back."""
    products, sums, xp = Gram(H.width, H.X), zeros((H.width, 1), H.X), namespace(H.X)
    for _, block in H.blocks():
        products.add(block)
        ones = xp.ones((block.shape[0], 1), dtype=block.dtype, device=block.device)
        sums += matmul(block.T, ones)
    o = H.offset
    return products.total() + o * (sums + sums.T) + o**2 * len(H)
