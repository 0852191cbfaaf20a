"""Each formula in naive NumPy, importing nothing from Ulmus."""

import numpy as np
import scipy.linalg


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


def same_class_laplacian(codes, weight=None):
    """GELM's graph, written out: rows of a class are joined with weight cᵢcⱼ/N."""
    c = np.ones(len(codes)) if weight is None else weight
    same = codes[:, None] == codes[None, :]
    W = same * np.outer(c, c) / (same @ c)[:, None]
    return np.diag(W.sum(axis=1)) - W


def graph_elm(H, codes, T, lam, C, weight=None):
    """(HᵀCH + λHᵀΛH + I/C)⁻¹ HᵀCT with the n × n graph."""
    c = np.ones(len(H)) if weight is None else weight
    kept = c > 0
    H, codes, T, c = H[kept], codes[kept], T[kept], c[kept]
    A = H.T @ (c[:, None] * H) + np.eye(H.shape[1]) / C
    A += lam * H.T @ same_class_laplacian(codes, c) @ H
    return np.linalg.solve(A, H.T @ (c[:, None] * T))


def graph_elm_left_out(H, codes, T, lam, C, weight=None, unit=None):
    """Each row's outputs by the model refitted without it, its class's mean included."""
    c = np.ones(len(H)) if weight is None else weight
    u = c if unit is None else unit
    F = np.empty_like(T, dtype=float)
    for i in range(len(H)):
        rest = c.copy()
        rest[i] -= u[i]
        F[i] = H[i] @ graph_elm(H, codes, T, lam, C, rest)
    return F


def heat_within(X, codes, k):
    """Heat weights between each row and its k nearest of its own class, either way round."""
    n = len(X)
    D = np.sqrt(squared_distances(X, X))
    chosen = np.zeros((n, n), bool)
    for i in range(n):
        own = [j for j in range(n) if j != i and codes[j] == codes[i]]
        chosen[i, sorted(own, key=lambda j: D[i, j])[:k]] = True
    t = D[chosen].mean()
    W = np.where(chosen, np.exp(-(D**2) / (2 * t**2)), 0.0)
    return np.maximum(W, W.T)


def _pairs(Z, W):
    S = np.zeros((Z.shape[1], Z.shape[1]))
    for i in range(len(Z)):
        for j in range(i):
            S += W[i, j] * np.outer(Z[i] - Z[j], Z[i] - Z[j])
    return S


def manifold_scatter(Z, X, codes, lam, k):
    """S of MELM: local scatter of Z on the graph of X, less 1 − λ times that of the class means."""
    S = _pairs(Z, heat_within(X, codes, k))
    for t in np.unique(codes):
        gap = Z[codes == t].mean(axis=0) - Z.mean(axis=0)
        S -= (1 - lam) * np.outer(gap, gap)
    return S


def manifold_elm(H, T, S, C, ridge, weight=None):
    """(G + (S⁺ + εI)/C)⁻¹ R, ε = ridge times the mean eigenvalue of S⁺."""
    c = np.ones(len(H)) if weight is None else weight
    w, V = np.linalg.eigh(S)
    plus = (V * np.maximum(w, 0)) @ V.T
    Q = plus + ridge * np.trace(plus) / len(plus) * np.eye(len(plus))
    return np.linalg.solve(H.T @ (c[:, None] * H) + Q / C, H.T @ (c[:, None] * T))
