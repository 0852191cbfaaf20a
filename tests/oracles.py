"""Each formula in naive NumPy, importing nothing from Ulmus.

Systems are formed in extended precision and solved until their residuals vanish in it, so that an
answer is right to float64's last digits as long as the condition is below 1e15.
"""

import numpy as np
import scipy.linalg
import scipy.optimize


def one_vs_rest(y, classes):
    """±1 targets; one column for two classes."""
    T = 2.0 * (y[:, None] == classes) - 1.0
    return T[:, 1:] if len(classes) == 2 else T


def extended(*arrays):
    """The arrays in extended precision."""
    return (np.asarray(array, np.longdouble) for array in arrays)


def solve(A, R, steps=3):
    """A⁻¹R: a general solver's answer, corrected by what its residuals in A's precision tell."""
    factor = scipy.linalg.lu_factor(A.astype(float))
    X = np.zeros_like(R)
    for _ in range(steps + 1):
        X = X + scipy.linalg.lu_solve(factor, (R - A @ X).astype(float))
    return X


def sums(H, T, c, penalty):
    """HᵀCH + penalty and HᵀCT; the penalty is of each column alone if it is a row of numbers."""
    H, T, c, penalty = extended(H, T, c, penalty)
    penalty = np.diag(penalty) if penalty.ndim == 1 else penalty
    return H.T @ (c[:, None] * H) + penalty, H.T @ (c[:, None] * T)


def refits(H, T, c, u, penalty):
    """h·β for each row h, β fitted with the row's weight less by u: n solves."""
    A, R = sums(H, T, c, penalty)
    H, T, u = extended(H, T, u)
    rows = zip(H, T, u, strict=True)
    F = [h @ solve(A - x * np.outer(h, h), R - x * np.outer(h, t)) for h, t, x in rows]
    return np.array(F, float)


def ridge(H, T, C, weight=None):
    """(HᵀCH + I/C)⁻¹ HᵀCT."""
    c = np.ones(len(H)) if weight is None else weight
    return solve(*sums(H, T, c, np.full(H.shape[1], 1 / C))).astype(float)


def ridge_about_means(H, T, C, weight=None):
    """β and b of ½ Σ c‖t − hβ − b‖² + ‖β‖²/2C: b is a column of ones without a penalty."""
    c = np.ones(len(H)) if weight is None else weight
    H1, penalty = np.column_stack([H, np.ones(len(H))]), np.r_[np.full(H.shape[1], 1 / C), 0.0]
    solution = solve(*sums(H1, T, c, penalty)).astype(float)
    return solution[:-1], solution[-1]


def left_out(H, T, C, weight=None, unit=None, intercept=False):
    """Each row's prediction by the model refitted without it: n refits."""
    c = np.ones(len(H)) if weight is None else weight
    u = c if unit is None else unit
    penalty = np.full(H.shape[1], 1 / C)
    if intercept:
        H, penalty = np.column_stack([H, np.ones(len(H))]), np.r_[penalty, 0.0]
    return refits(H, T, c, u, penalty)


def jackknife_plus(fit, X, y, Z, count, coverage):
    """Ends (n × m × 2) for the rows Z: a refit for each row, which counts as often as it is there.

    ``fit`` takes rows, targets and weights and gives a function of rows.
    """
    lower, upper = [], []
    for i in range(len(X)):
        rest = count.astype(float)
        rest[i] -= 1.0
        there = rest > 0
        model = fit(X[there], y[there], rest[there])
        error = np.abs(y[i] - model(X[i : i + 1])[0])
        lower += count[i] * [model(Z) - error]
        upper += count[i] * [model(Z) + error]
    place = int(np.ceil(coverage * (count.sum() + 1) - 1e-9)) - 1
    low, high = np.sort(lower, axis=0)[::-1][place], np.sort(upper, axis=0)[place]
    return np.stack([low, high], axis=-1)


def balanced(codes, count):
    """Weights by which every class that has rows has the same total; rows count ``count`` times."""
    totals = np.bincount(codes, weights=count)
    present = totals > 1e-9 * totals.sum()
    factor = np.zeros(len(totals))
    factor[present] = totals.sum() / (present.sum() * totals[present])
    return count * factor[codes]


def balanced_left_out(refit, codes, count, unit=None):
    """Each row's outputs by ``refit``, of the weights that are balanced without it and its number.

    A row loses ``unit`` of its count; None is one, or all of it where that is less.
    """
    F, unit = [], np.minimum(count, 1.0) if unit is None else unit
    for i in range(len(codes)):
        rest = count.copy()
        rest[i] -= unit[i]
        F.append(refit(balanced(codes, rest), i))
    return np.array(F)


def sigmoid_layer(X, A, b):
    """1 / (1 + exp(−(XA + b)))."""
    return 1.0 / (1.0 + np.exp(-(X @ A + b)))


def squared_distances(X, A):
    """‖x − a‖² for every row and centre."""
    return ((X[:, None, :] - A[None, :, :]) ** 2).sum(axis=2)


def nearest(X, k):
    """Every distance, and which are those of a row to its k nearest others, by sorting."""
    D = np.sqrt(squared_distances(X, X))
    np.fill_diagonal(D, np.inf)
    chosen = np.zeros(D.shape, bool)
    for i, row in enumerate(D):
        chosen[i, np.argsort(row, kind="stable")[:k]] = True
    return D, chosen


def knn_width(X, k):
    """The mean distance to the k nearest others."""
    D, chosen = nearest(X, k)
    return D[chosen].mean()


def knn_affinity(X, k, heat=False):
    """Each row to its k nearest others, either way round."""
    D, chosen = nearest(X, k)
    t = knn_width(X, k)
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
    return solve(*sums(H, T, c, smoothness(H, L, lam))).astype(float)


def smoothness(H, L, lam):
    """I + λHᵀLH."""
    H, L = extended(H, L)
    return np.eye(H.shape[1]) + lam * (H.T @ (L @ H))


def semi_supervised_wide(H, L, T, c, lam):
    """Equation 17, for more units than rows: Hᵀ(I + CHHᵀ + λLHHᵀ)⁻¹ CT."""
    H, L, T, c = extended(H, L, T, c)
    K = H @ H.T
    A = np.eye(len(H)) + c[:, None] * K + lam * (L @ K)
    return (H.T @ solve(A, c[:, None] * T)).astype(float)


def semi_supervised_left_out(H, L, T, c, lam):
    """Each row's outputs by equation 16 without its label, though it keeps its place in L."""
    return refits(H, T, c, c, smoothness(H, L, lam))


def unsupervised(H, L, lam, k):
    """Equation 20, (I + λHᵀLH) v = γ HᵀH v, by a general solver: the 2nd to (k+1)-th γ.

    Solved for 1/γ, because HᵀH may be singular.
    """
    A, B = smoothness(H, L, lam).astype(float), H.T @ H
    return 1 / scipy.linalg.eigh(B, A, eigvals_only=True)[::-1][1 : k + 1]


def kernel_values(name, X, Z, gamma=1.0, coef0=1.0, degree=3, spread=1.0):
    """Each kernel by its formula, one pair at a time."""
    K = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            K[i, j] = _kernel_value(name, x, z, gamma, coef0, degree, spread)
    return K


def _kernel_value(name, x, z, gamma, coef0, degree, spread):
    if name == "linear":
        return x @ z
    if name == "poly":
        return (gamma * x @ z + coef0) ** degree
    if name == "cosine":
        return x @ z / np.sqrt((x @ x) * (z @ z))
    if name == "sigmoid":
        return np.tanh(gamma * x @ z + coef0)
    if name == "rbf":
        return np.exp(-gamma * np.sum((x - z) ** 2))
    if name == "laplacian":
        return np.exp(-gamma * np.sum(np.abs(x - z)))
    if name == "exponential":
        return np.exp(-gamma * np.sqrt(np.sum((x - z) ** 2)))
    if name == "arcsine":
        u, v, w = (coef0 + gamma * a @ b for a, b in ((x, z), (x, x), (z, z)))
        return 2 / np.pi * np.arcsin(2 * u / np.sqrt((1 + 2 * v) * (1 + 2 * w)))
    node, center = 0.5 / gamma, spread**2
    near, far = 2 * node + node**2 / center, 2 * center + node
    return np.exp(-(x @ x + z @ z) / (2 * far) - np.sum((x - z) ** 2) / (2 * near))


def kernel_ridge(K, T, C, weight=None, intercept=False):
    """Dual coefficients and constant: stationary points of ½Σc(t − Ka − b)² + aᵀKa/2C."""
    n, c = len(K), np.ones(len(K)) if weight is None else weight
    K, T, c = extended(K, T, c)
    A = K + np.diag(1 / (C * c))
    if not intercept:
        return solve(A, T).astype(float), np.zeros(T.shape[1])
    bordered = np.block([[A, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = solve(bordered, np.vstack([T, np.zeros((1, T.shape[1]))])).astype(float)
    return solution[:n], solution[n]


def kernel_left_out(K, T, C, weight=None, intercept=False):
    """Each row's prediction by the model refitted without it."""
    F, c = np.empty_like(T), np.ones(len(K)) if weight is None else weight
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        a, b = kernel_ridge(K[np.ix_(rest, rest)], T[rest], C, c[rest], intercept)
        F[i] = K[i, rest] @ a + b
    return F


def randomized_inverse(K, T, C, omega):
    """Algorithm 3 of the randomized ELM paper, step by step, with its random matrix given."""
    Q, _ = np.linalg.qr(K @ omega)
    U, D, _ = np.linalg.svd(Q.T @ K @ Q)
    G = Q @ U * np.sqrt(D)
    inner = np.linalg.inv(np.eye(len(D)) / C + G.T @ G)
    return C * (T - G @ (inner @ (G.T @ T))), G


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


def hinge_by_general_solvers(K, y, c):
    """α by two general solvers, the better of the two: each may stop early where K is singular."""
    found = [_by_gradients(K, y, c)] + [_by_least_squares(K, y, c, r) for r in (1e-6, 1e-9)]
    return max(found, key=lambda alpha: hinge_dual(alpha, K, y))


def _by_gradients(K, y, c):
    def loss(alpha):
        slope = y * (K @ (y * alpha)) - 1.0
        return 0.5 * alpha @ (slope - 1.0), slope

    options = {"maxiter": 10**5, "maxfun": 10**6, "ftol": 0.0, "gtol": 1e-12, "maxcor": 50}
    bounds = [(0.0, bound) for bound in c]
    return scipy.optimize.minimize(
        loss, np.zeros(len(y)), jac=True, bounds=bounds, method="L-BFGS-B", options=options
    ).x


def _by_least_squares(K, y, c, ridge):
    """With Q + ridge·I = RᵀR the dual is ½‖Rα − R⁻ᵀ1‖²."""
    R = np.linalg.cholesky(np.outer(y, y) * K + ridge * np.eye(len(y))).T
    b = scipy.linalg.solve_triangular(R, np.ones(len(y)), trans="T")
    return scipy.optimize.lsq_linear(R, b, (0.0, c), method="bvls", tol=1e-20, max_iter=10_000).x


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
    H, T, c = extended(H[kept], T[kept], c[kept])
    penalty = np.eye(H.shape[1]) / C + lam * (H.T @ (same_class_laplacian(codes[kept], c) @ H))
    return solve(*sums(H, T, c, penalty)).astype(float)


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


def manifold_elm_bounded(H, T, local, gaps, lam, C, ridge):
    """(A − s Σ gapᵀgap)⁻¹ R, A = G + (local + εI)/C, s = (1 − λ)/C or what leaves half of A."""
    floor = ridge * np.trace(local) / len(local) * np.eye(len(local))
    A, R = sums(H, T, np.ones(len(H)), (local + floor) / C)
    largest = np.linalg.eigvalsh((gaps @ solve(A, gaps.T.astype(A.dtype))).astype(float))[-1]
    s = min((1 - lam) / C, 0.5 / largest)
    return solve(A - s * gaps.T @ gaps, R).astype(float), s < (1 - lam) / C


def manifold_elm(H, T, S, C, ridge, weight=None):
    """(G + (S⁺ + εI)/C)⁻¹ R, ε = ridge times the mean eigenvalue of S⁺."""
    c = np.ones(len(H)) if weight is None else weight
    w, V = np.linalg.eigh(S)
    plus = (V * np.maximum(w, 0)) @ V.T
    Q = plus + ridge * np.trace(plus) / len(plus) * np.eye(len(plus))
    return solve(*sums(H, T, c, Q / C)).astype(float)


def finite_differences(f, X, step=1e-5):
    """∂f/∂x of every row by central differences; f gives (n, m), this gives (n, m, d)."""
    columns = []
    for j in range(X.shape[1]):
        apart = np.zeros(X.shape[1])
        apart[j] = step
        columns.append((f(X + apart) - f(X - apart)) / (2.0 * step))
    return np.stack(columns, axis=-1)
