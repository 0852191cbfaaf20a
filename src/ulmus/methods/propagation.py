"""Labels spread over a graph: F = KCT / KC1 with K = (I + λΛ)⁻¹, without a hidden layer.

T are the labelled rows' targets, C their weights; a row's output is a mean of the labelled rows'
targets, each counted by how near the graph says it is. A labelled row that is left out loses its
own column of K, so that what the others say of it needs only K between labelled rows: exact
leave-one-out. For every λ the matrix is Λ plus another multiple of I, and one run of conjugate
gradients serves them all, because shifts do not change the space it searches in.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

__all__ = ["Spread", "kernel_blocks", "spread"]


@dataclass(frozen=True)
class Spread:
    """(I + λΛ)⁻¹ Y, how many steps it took, and the relative residual it ended with."""

    values: np.ndarray
    steps: int
    residual: float


def spread(
    laplacian: Any,
    Y: np.ndarray,
    lam: float,
    start: np.ndarray | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Spread:
    """Solve (I + λΛ) F = Y by conjugate gradients, every column at its own pace.

    ``start`` is an F that is close, such as that of slightly other labels.
    """
    lam = Y.dtype.type(lam)
    F = np.zeros_like(Y) if start is None else start.astype(Y.dtype)
    residual = Y.copy() if start is None else Y - F - lam * (laplacian @ F)
    size = np.maximum(_squares(Y), np.finfo(float).tiny)
    direction, energy = residual.copy(), _squares(residual)
    steps, worst = 0, float(np.sqrt(np.max(energy / size, initial=0.0)))
    while steps < max_iter and worst > tol:
        moved = laplacian @ direction
        moved *= lam
        moved += direction
        step = _ratio(energy, _products(direction, moved)).astype(Y.dtype)
        F += step * direction
        residual -= step * moved
        fresh = _squares(residual)
        direction *= _ratio(fresh, energy).astype(Y.dtype)
        direction += residual
        energy = fresh
        steps += 1
        worst = float(np.sqrt(np.max(energy / size)))
    if worst > tol:
        _warn(steps, worst, tol)
    return Spread(F, steps, worst)


def kernel_blocks(
    laplacian: Any,
    rows: np.ndarray,
    columns: np.ndarray,
    lams: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> np.ndarray:
    """(I + λΛ)⁻¹ between some rows and columns, for every λ: len(lams) × rows × columns.

    The iterates of all but the largest λ are needed at these rows alone, so that all of them cost
    what the largest does.
    """
    lams = np.asarray(lams, dtype=float)
    n, l = len(laplacian), len(columns)
    # (I + λΛ)⁻¹ = σ(Λ + σI)⁻¹ with σ = 1/λ; the other σ lie above the least by this much.
    least = 1.0 / lams.max()
    above = (1.0 / lams - least)[:, None]
    residual = np.zeros((n, l), dtype=laplacian.matrix.dtype)
    residual[columns, np.arange(l)] = 1.0
    direction, energy = residual.copy(), np.ones(l)
    found = np.zeros((len(lams), len(rows), l))
    searched = np.repeat(residual[rows].astype(float)[None], len(lams), axis=0)
    scale = before = np.ones((len(lams), l))
    last_step, last_turn = np.ones(l), np.zeros(l)
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
        fresh = _squares(residual)
        turn = _ratio(fresh, energy)
        searched *= (turn * shrunk**2)[:, None, :]
        searched += after[:, None, :] * residual[rows]
        direction *= turn.astype(direction.dtype)
        direction += residual
        before, scale, last_step, last_turn, energy = scale, after, step, turn, fresh
        steps += 1
        worst = float(np.sqrt(energy.max()))
    if worst > tol:
        _warn(steps, worst, tol)
    return found / lams[:, None, None]


def _products(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", A, B).astype(float)


def _squares(A: np.ndarray) -> np.ndarray:
    return _products(A, A)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a/b, and zero where b is."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    return np.divide(a, b, out=np.zeros(shape), where=b != 0)


def _warn(steps: int, worst: float, tol: float) -> None:
    warnings.warn(
        f"Conjugate gradients on the graph stopped after {steps} steps with a relative residual of "
        f"{worst:.1e}, above tol={tol:g}; raise max_iter or tol, or lower lam.",
        ConvergenceWarning,
        stacklevel=3,
    )
