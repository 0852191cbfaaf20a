"""Each formula in naive NumPy, importing nothing from Ulmus."""

import numpy as np
import scipy.linalg
import scipy.optimize


def one_vs_rest(y, classes):
    """±1 targets; one column for two classes."""
    T = 2.0 * (y[:, None] == classes) - 1.0
    return T[:, 1:] if len(classes) == 2 else T


def ridge(H, T, C, weight=None):
    """(HᵀCH + I/C)⁻¹ HᵀCT by a general solver."""
    c = np.ones(len(H)) if weight is None else weight
    A = H.T @ (c[:, None] * H) + np.eye(H.shape[1]) / C
    return np.linalg.solve(A, H.T @ (c[:, None] * T))


def ridge_about_means(H, T, C, weight=None):
    """β and b of ½ Σ c‖t − hβ − b‖² + ‖β‖²/2C: b is a column of ones without a penalty."""
    c = np.ones(len(H)) if weight is None else weight
    H1 = np.column_stack([H, np.ones(len(H))])
    penalty = np.diag(np.r_[np.full(H.shape[1], 1 / C), 0.0])
    solution = np.linalg.solve(H1.T @ (c[:, None] * H1) + penalty, H1.T @ (c[:, None] * T))
    return solution[:-1], solution[-1]


def left_out(H, T, C, weight=None, unit=None, intercept=False):
    """Each row's prediction by the model refitted without it: n refits."""
    c = np.ones(len(H)) if weight is None else weight
    u = c if unit is None else unit
    F = np.empty_like(T, dtype=float)
    for i in range(len(H)):
        rest = c.copy()
        rest[i] -= u[i]
        if intercept:
            coef, b = ridge_about_means(H, T, C, rest)
            F[i] = H[i] @ coef + b
        else:
            F[i] = H[i] @ ridge(H, T, C, rest)
    return F


def sigmoid_layer(X, A, b):
    """1 / (1 + exp(−(XA + b)))."""
    return 1.0 / (1.0 + np.exp(-(X @ A + b)))


def squared_distances(X, A):
    """‖x − a‖² for every row and centre."""
    return ((X[:, None, :] - A[None, :, :]) ** 2).sum(axis=2)


def generalised_cross_validation(H, T, C, intercept=False):
    """‖T − F‖²/n / (1 − tr/n)² with the hat matrix written out."""
    n = len(H)
    penalty = np.full(H.shape[1], 1 / C)
    if intercept:
        H, penalty = np.column_stack([H, np.ones(n)]), np.r_[penalty, 0.0]
    hat = H @ np.linalg.solve(H.T @ H + np.diag(penalty), H.T)
    return np.sum((T - hat @ T) ** 2) / n / (1 - np.trace(hat) / n) ** 2


def knn_affinity(X, k, heat=False):
    """Each row to its k nearest others, either way round, by sorting every distance."""
    D = np.sqrt(squared_distances(X, X))
    np.fill_diagonal(D, np.inf)
    chosen = np.zeros(D.shape, bool)
    for i, row in enumerate(D):
        chosen[i, np.argsort(row, kind="stable")[:k]] = True
    t = D[chosen].mean()
    W = np.where(chosen, np.exp(-(D**2) / (2 * t**2)) if heat else 1.0, 0.0)
    return np.maximum(W, W.T)


def laplacian(W, normalized, power=1):
    """D − W or I − D^(−½) W D^(−½), to a power, dense."""
    d = W.sum(axis=1)
    if normalized:
        r = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
        L = np.diag((d > 0).astype(float)) - r[:, None] * W * r
    else:
        L = np.diag(d) - W
    return np.linalg.matrix_power(L, power)


def semi_supervised(H, L, T, c, lam):
    """Equation 16 of the SS-ELM paper: (I + HᵀCH + λHᵀLH)⁻¹ HᵀCT; c is zero without a label."""
    A = np.eye(H.shape[1]) + H.T @ (c[:, None] * H) + lam * H.T @ L @ H
    return np.linalg.solve(A, H.T @ (c[:, None] * T))


def semi_supervised_wide(H, L, T, c, lam):
    """Equation 17, for more units than rows: Hᵀ(I + CHHᵀ + λLHHᵀ)⁻¹ CT."""
    K = H @ H.T
    A = np.eye(len(H)) + c[:, None] * K + lam * L @ K
    return H.T @ np.linalg.solve(A, c[:, None] * T)


def unsupervised(H, L, lam, k):
    """Equation 20, (I + λHᵀLH) v = γ HᵀH v, by a general solver: the 2nd to (k+1)-th γ and v."""

    A, B = np.eye(H.shape[1]) + lam * H.T @ L @ H, H.T @ H
    gamma, V = scipy.linalg.eig(A, B)
    gamma, V = gamma.real, V.real
    order = np.argsort(np.where(np.isfinite(gamma) & (gamma > 0), gamma, np.inf))[1 : k + 1]
    V = V[:, order]
    return gamma[order], V / np.linalg.norm(H @ V, axis=0)


def hinge_primal(w, H, y, c):
    """½‖w‖² + Σ c max(0, 1 − y hw)."""
    return 0.5 * w @ w + np.sum(c * np.maximum(0.0, 1.0 - y * (H @ w)))


def hinge_dual(alpha, K, y):
    """Σ α − ½ (yα)ᵀK(yα); no more than the primal, and equal to it at the optimum alone."""
    return alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha)


def hinge_kernel_primal(alpha, K, y, c):
    """The primal at w = Σ αyφ(x), from the kernel alone."""
    F = K @ (y * alpha)
    return 0.5 * (y * alpha) @ F + np.sum(c * np.maximum(0.0, 1.0 - y * F))


def hinge_violation(alpha, K, y, c):
    """The largest violation of the optimality conditions of the box problem, row by row."""
    g = y * (K @ (y * alpha)) - 1.0
    worst = 0.0
    for a, bound, slope in zip(alpha, c, g, strict=True):
        if a <= 0:
            worst = max(worst, -slope)
        elif a >= bound:
            worst = max(worst, slope)
        else:
            worst = max(worst, abs(slope))
    return worst


def hinge_by_a_general_solver(K, y, c, ridge=1e-9):
    """α by bounded least squares: with Q + ridge·I = RᵀR the dual is ½‖Rα − R⁻ᵀ1‖²."""
    R = np.linalg.cholesky(np.outer(y, y) * K + ridge * np.eye(len(y))).T
    b = scipy.linalg.solve_triangular(R, np.ones(len(y)), trans="T")
    return scipy.optimize.lsq_linear(R, b, (0.0, c), method="bvls", tol=1e-20, max_iter=10_000).x
