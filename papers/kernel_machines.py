"""What the kernel methods of the SS-ELM paper's tables share: f(x) = Σ αⱼ k(x, xⱼ).

LapRLS, LapSVM and TSVM stand beside SS-ELM there. They are for comparison and not for use.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ulmus.kernels import Kernel


@dataclass(frozen=True)
class KernelMachine:
    """f(x) = k(x, X) α, with a column for each class, or one for two classes."""

    kernel: Kernel
    X: np.ndarray
    alpha: np.ndarray

    def predict(self, rows):
        """The class of each row, from 0 on."""
        F = self.kernel(rows, self.X) @ self.alpha
        return F.argmax(axis=1) if F.shape[1] > 1 else (F[:, 0] > 0).astype(int)


def signs(y, n_classes):
    """1 for a row's own class and −1 for the others; of two classes the second column alone."""
    T = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)
    return T[:, 1:] if n_classes == 2 else T


def kernel_features(K, missing=0.0):
    """Z and W with Z = KW and ZZᵀ = K, but for a part ``missing`` of the trace and rounding."""
    values, U = scipy.linalg.eigh(K, driver="evd")
    share = np.cumsum(np.maximum(values, 0.0)) / values.clip(0.0).sum()
    kept = (share > missing) & (values > len(K) * np.finfo(float).eps * values[-1])
    root = np.sqrt(values[kept])
    return U[:, kept] * root, U[:, kept] / root


def squared_hinge(Z, t, c, start=None, max_iter=200):
    """The w that minimises ½‖w‖² + ½ Σ cᵢ max(0, 1 − tᵢ zᵢw)², by Newton's method in the primal.

    Few steps are needed: the rows within the margin settle, and then a step is exact.
    """
    w = np.zeros(Z.shape[1]) if start is None else start
    f = Z @ w
    for _ in range(max_iter):
        inside = t * f < 1.0
        goal = _least_squares(Z[inside], t[inside], c[inside])
        ahead = Z @ goal
        if np.array_equal(t * ahead < 1.0, inside):
            return goal
        step = _line_search(w, goal, f, ahead, t, c)
        if np.max(np.abs(step * (goal - w)), initial=0.0) <= 1e-10 * np.max(np.abs(w), initial=0.0):
            break
        w, f = w + step * (goal - w), f + step * (ahead - f)
    return w


def _least_squares(Z, t, c):
    """The minimum of ½‖w‖² + ½ Σ cᵢ(tᵢ − zᵢw)², by columns or by rows, whichever are fewer."""
    A = Z * np.sqrt(c)[:, None]
    b = t * np.sqrt(c)
    n, r = A.shape
    if n < r:
        return A.T @ scipy.linalg.solve(A @ A.T + np.eye(n), b, assume_a="pos")
    return scipy.linalg.solve(A.T @ A + np.eye(r), A.T @ b, assume_a="pos")


def _line_search(w, goal, f, ahead, t, c):
    """The step that lowers the objective most: where its slope, which only rises, is zero."""
    d, rise = goal - w, ahead - f

    def slope(step):
        short = np.maximum(1.0 - t * (f + step * rise), 0.0)
        return (w + step * d) @ d - (c * short * t) @ rise

    low, high = 0.0, 1.0
    while slope(high) < 0.0:
        low, high = high, 2.0 * high
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high
