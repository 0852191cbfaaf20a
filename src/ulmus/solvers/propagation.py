"""Labels spread over a graph: F = (I + λΛ)⁻¹ Y, without a hidden layer.

Y has the labelled rows' targets and zeros elsewhere, so that F = K_l T with the columns of the
kernel K = (I + λΛ)⁻¹ that belong to labelled rows. A labelled row that is left out loses its own
column, and (K_ll − diag K_ll) T is what the others say of it: exact leave-one-out from the l × l
block. For every λ the matrix is Λ plus another multiple of I, and one run of conjugate gradients
serves them all, because shifts do not change the space it searches in.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

__all__ = ["Spread", "kernel_blocks", "spread"]


@dataclass(frozen=True)
class Spread:
    """F (n × m), how many steps it took, and the relative residual it ended with."""

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

    ``start`` is an F that is close, such as that of other labels.
    """
    F = np.zeros_like(Y) if start is None else start.astype(Y.dtype)
    residual = Y - F - lam * (laplacian @ F) if start is not None else Y.copy()
    size = np.maximum(_squares(Y), np.finfo(Y.dtype).tiny)
    direction, energy = residual.copy(), _squares(residual)
    steps, worst = 0, float(np.sqrt(np.max(energy / size, initial=0.0)))
    while steps < max_iter and worst > tol:
        moved = direction + lam * (laplacian @ direction)
        step = _ratio(energy, np.einsum("ij,ij->j", direction, moved))
        F += step * direction
        residual -= step * moved
        fresh = _squares(residual)
        direction *= _ratio(fresh, energy)
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
    lams: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> np.ndarray:
    """(I + λΛ)⁻¹ between these rows, for every λ: an array of len(lams) × l × l.

    The iterates of the other shifts are needed at these rows alone, so that all λ together cost
    what the largest does.
    """
    lams = np.asarray(lams, dtype=float)
    n, l = len(laplacian), len(rows)
    least = 1.0 / lams.max()
    # (I + λΛ)⁻¹ = (Λ + σI)⁻¹ σ with σ = 1/λ; the others lie above the least σ by this much.
    above = (1.0 / lams - least)[:, None]
    residual = np.zeros((n, l), dtype=laplacian.matrix.dtype)
    residual[rows, np.arange(l)] = 1.0
    direction, energy = residual.copy(), np.ones(l)
    found = np.zeros((len(lams), l, l))
    searched = np.repeat(np.eye(l)[None], len(lams), axis=0)
    scale = before = np.ones((len(lams), l))
    last_step, last_turn = np.ones(l), np.zeros(l)
    steps, worst = 0, 1.0
    while steps < max_iter and worst > tol:
        moved = laplacian @ direction + least * direction
        step = _ratio(energy, np.einsum("ij,ij->j", direction, moved).astype(float))
        after = _ratio(
            scale * before * last_step,
            step * last_turn * (before - scale) + before * last_step * (1.0 + above * step),
        )
        found += (step * _ratio(after, scale))[:, None, :] * searched
        residual -= step.astype(residual.dtype) * moved
        fresh = _squares(residual)
        turn = _ratio(fresh, energy)
        part = residual[rows].astype(float)
        searched *= (turn * _ratio(after, scale) ** 2)[:, None, :]
        searched += after[:, None, :] * part
        direction *= turn.astype(direction.dtype)
        direction += residual
        before, scale, last_step, last_turn, energy = scale, after, step, turn, fresh
        steps += 1
        worst = float(np.sqrt(energy.max()))
    if worst > tol:
        _warn(steps, worst, tol)
    return found / lams[:, None, None]


def _squares(A: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", A, A).astype(float)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a/b, and zero where b is."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=b != 0)


def _warn(steps: int, worst: float, tol: float) -> None:
    warnings.warn(
        f"Conjugate gradients on the graph stopped after {steps} steps with a relative residual of "
        f"{worst:.1e}, above tol={tol:g}; raise max_iter or tol, or lower lam.",
        ConvergenceWarning,
        stacklevel=3,
    )
