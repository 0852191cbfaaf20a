"""MELM as printed: (G + S/C) β = HᵀT with the negative eigenvalues of S left in.

Where S/C outweighs G in one of their directions there is no minimum, and what is solved is a saddle
point. `ulmus.ManifoldELMClassifier` solves a positive definite system instead.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ulmus import KNNGraph, RandomFeatures
from ulmus.graphs import laplacian

__all__ = ["PrintedManifoldELM", "printed_solution"]


def printed_solution(G, S, C, R):
    """β without the directions in which both G and S are zero, and the count of eigenvalues < 0."""
    w, V = np.linalg.eigh(G + S / C)
    rounding = np.finfo(float).eps * len(w) * np.abs(w).max()
    sound = np.abs(w) > rounding
    return (V[:, sound] / w[sound]) @ (V[:, sound].T @ R), int(np.sum(w < -rounding))


class PrintedManifoldELM(ClassifierMixin, BaseEstimator):
    """The scatter S is that of hidden rows, or of the inputs, which is the paper's.

    ``n_negative_`` is the number of negative eigenvalues of G + S/C.
    """

    def __init__(self, n_hidden, *, C, lam=0.5, scatter="hidden", n_neighbors=5, random_state=None):
        self.n_hidden = n_hidden
        self.C = C
        self.lam = lam
        self.scatter = scatter
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X, y):
        """Fit β to rows X and classes y."""
        self.features_ = RandomFeatures(self.n_hidden, random_state=self.random_state).fit(X)
        scaling = self.features_.scaling_
        H, scaled = self.features_.transform(X), (X - scaling.center) * scaling.factor
        self.classes_, codes = np.unique(y, return_inverse=True)
        T = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        W = KNNGraph(self.n_neighbors).affinity(scaled, codes)
        rows = H if self.scatter == "hidden" else scaled
        means = np.array([rows[codes == t].mean(axis=0) for t in range(len(self.classes_))])
        apart = means - rows.mean(axis=0)
        S = rows.T @ (laplacian(W, normalized=False) @ rows) - (1 - self.lam) * apart.T @ apart
        self.beta_, self.n_negative_ = printed_solution(H.T @ H, S, self.C, H.T @ T)
        return self

    def predict(self, X):
        """The class with the largest output."""
        return self.classes_[np.argmax(self.features_.transform(X) @ self.beta_, axis=1)]
