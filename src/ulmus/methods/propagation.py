"""Labels spread over a graph: F = KCT / KC1 with K = (I + λΛ)⁻¹, without a hidden layer.

T are the labelled rows' targets, C their weights; a row's output is a mean of the labelled rows'
targets, each weighted by its nearness in the graph. A labelled row that is left out loses its
own column of K, so that its output without it needs only K between labelled rows: exact
leave-one-out. For every λ the matrix is Λ plus another multiple of I, and one run of conjugate
gradients serves them all, because shifts do not change the space it searches in.
"""

import numpy as np

from ulmus.backends.linalg import column_products
from ulmus.graphs import Laplacian
from ulmus.methods.iterative import Iterated, conjugate_gradients, warn_of_steps

__all__ = ["kernel_blocks", "spread", "spread_by_all"]


def spread(
    laplacian: Laplacian,
    Y: np.ndarray,
    lam: float,
    start: np.ndarray | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Iterated:
    """(I + λΛ)⁻¹ Y; ``start`` is one that is close, such as that of slightly other labels."""

    def smoothed(F: np.ndarray) -> np.ndarray:
        found: np.ndarray = laplacian @ F
        found *= Y.dtype.type(lam)
        return found

    return conjugate_gradients(smoothed, Y, lambda R: R, tol, max_iter, start)


def kernel_blocks(
    laplacian: Laplacian,
    rows: np.ndarray,
    columns: np.ndarray,
    lams: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> np.ndarray:
    """(I + λΛ)⁻¹ between some rows and columns, for every λ: len(lams) × rows × columns."""
    Y = np.zeros((len(laplacian), len(columns)), dtype=laplacian.matrix.dtype)
    Y[columns, np.arange(len(columns))] = 1.0
    return spread_by_all(laplacian, Y, lams, rows, tol, max_iter)


def spread_by_all(
    laplacian: Laplacian,
    Y: np.ndarray,
    lams: np.ndarray,
    rows: np.ndarray | slice = slice(None),
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> np.ndarray:
    """(I + λΛ)⁻¹Y at some rows, for every λ: len(lams) × rows × columns of Y.

    The iterates of all but the largest λ are needed at these rows alone, so that all of them cost
    what the largest does.
    """
    lams = np.asarray(lams, dtype=float)
    # (I + λΛ)⁻¹ = σ(Λ + σI)⁻¹ with σ = 1/λ; the other σ lie above the least by this much.
    least = 1.0 / lams.max()
    above = (1.0 / lams - least)[:, None]
    residual = Y.copy()
    direction, energy = residual.copy(), _products(residual, residual)
    size = np.where(energy > 0, energy, 1.0)
    searched = np.repeat(residual[rows].astype(float)[None], len(lams), axis=0)
    found = np.zeros_like(searched)
    scale = before = np.ones((len(lams), Y.shape[1]))
    last_step, last_turn = np.ones(Y.shape[1]), np.zeros(Y.shape[1])
    steps, worst = 0, 1.0
    while steps < max_iter and worst > tol:
        moved = laplacian @ direction
        moved += residual.dtype.type(least) * direction
        step = _ratio(energy, _products(direction, moved))
        # A shifted system's residual is the same one, scaled.
        after = _ratio(
            scale * before * last_step,
            step * last_turn * (before - scale) + before * last_step * (1.0 + above * step),
        )
        shrunk = _ratio(after, scale)
        found += (step * shrunk)[:, None, :] * searched
        residual -= step.astype(residual.dtype) * moved
        fresh = _products(residual, residual)
        turn = _ratio(fresh, energy)
        searched *= (turn * shrunk**2)[:, None, :]
        searched += after[:, None, :] * residual[rows]
        direction *= turn.astype(direction.dtype)
        direction += residual
        before, scale, last_step, last_turn, energy = scale, after, step, turn, fresh
        steps += 1
        worst = float(np.sqrt((energy / size).max()))
    if worst > tol:
        warn_of_steps(steps, worst, tol)
    return found / lams[:, None, None]


def _products(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    products: np.ndarray = column_products(A, B).astype(float)
    return products


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a/b, and zero where b is."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    return np.divide(a, b, out=np.zeros(shape), where=b != 0)
