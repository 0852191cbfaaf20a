"""SS-ELM to the letter: equation 16, C₀/N of a row's class, C₀ and λ by the validation rows alone.

`ulmus.SemiSupervisedELMClassifier` counts left-out labelled rows along with the validation rows and
takes the smoothest of equals. Here the first of equals in the printed order of the grid is taken.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr, solve

from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph


def printed_grid(H, L, codes, C, lam):
    """β of (I + HᵀCH + λHᵀLH) β = HᵀCT for every C₀ and λ, the last λ fastest.

    The labelled rows, whose classes are ``codes``, come first. T is 1 for a row's own class and −1
    for the others.
    """
    few, count = H[: len(codes)], np.bincount(codes)
    T = np.where(codes[:, None] == np.arange(len(count)), 1.0, -1.0)
    # I + λHᵀLH = V(1 + λw)Vᵀ for every λ; what labels add has no more rows than labels.
    if len(H) < H.shape[1]:  # β is in the span of the rows, which has fewer dimensions
        Q, R = qr(H.T, mode="economic")
        w, V = np.linalg.eigh(R @ (L @ R.T))
        V = Q @ V
    else:
        w, V = np.linalg.eigh(H.T @ (L @ H))
    P = few @ V
    for constant in C:
        own = constant / count[codes]
        for weight in lam:
            scaled = P / (1.0 + weight * np.maximum(w, 0.0))
            alpha = np.linalg.solve(scaled @ P.T + np.diag(1.0 / own), T)
            yield V @ (scaled.T @ alpha)


def printed_solution(H, L, codes, C, lam):
    """β at one C₀ and λ: equation 16 by Cholesky, or equation 17 where units outnumber the rows."""
    count, c = np.bincount(codes), np.zeros(len(H))
    c[: len(codes)] = C / count[codes]
    T = np.zeros((len(H), len(count)))
    T[: len(codes)] = np.where(codes[:, None] == np.arange(len(count)), 1.0, -1.0)
    if len(H) >= H.shape[1]:
        few = H[: len(codes)]
        A = lam * (H.T @ (L @ H)) + (few.T * c[: len(codes)]) @ few
        A[np.diag_indices_from(A)] += 1.0
        return cho_solve(
            cho_factor(A, overwrite_a=True), few.T @ (c[: len(codes), None] * T[: len(codes)])
        )
    K = H @ H.T
    A = c[:, None] * K + lam * (L @ K)
    A[np.diag_indices_from(A)] += 1.0
    return H.T @ solve(A, c[:, None] * T, overwrite_a=True)


class PrintedSSELM:
    """Hidden layer, weights and choice as sections IV and VII of the SS-ELM paper state them."""

    def __init__(self, n_hidden, graph, C, lam, random_state):
        self.units = RandomFeatures(n_hidden, scaling=None, random_state=random_state)
        self.graph, self.C, self.lam = KNNGraph(**graph), C, lam

    def fit(self, X, codes, validation):
        """Fit to rows X, of which the first have classes ``codes``; choose by (rows, classes)."""
        H = self.units.fit(X).transform(X)
        if len(self.C) == len(self.lam) == 1:
            L = self.graph.laplacian(X)
            self.beta_ = printed_solution(H, L, codes, self.C[0], self.lam[0])
            return self
        rows, truth = self.units.transform(validation[0]), validation[1]
        grid = printed_grid(H, self.graph.laplacian(X), codes, self.C, self.lam)
        errors = lambda beta: np.mean(np.argmax(rows @ beta, axis=1) != truth)  # noqa: E731
        self.beta_ = min(grid, key=errors)  # the first of equals
        return self

    def predict(self, X):
        """The class with the largest output."""
        return np.argmax(self.units.transform(X) @ self.beta_, axis=1)
