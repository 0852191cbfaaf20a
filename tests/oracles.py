"""Each formula in naive NumPy, importing nothing from Ulmus."""

import numpy as np


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
