"""MELM as printed: (G + S/C) β = HᵀT with the negative eigenvalues of S left in.

Where S/C outweighs G in one of their directions there is no minimum, and what is solved is a saddle
point. `ulmus.ManifoldELMClassifier` solves a positive definite system instead.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize

from papers.projection import printed_weights, projection
from ulmus import KNNGraph, RandomFeatures
from ulmus.graphs import laplacian


def printed_solution(G, S, C, R):
    """β without the directions in which both G and S are zero, and the count of eigenvalues < 0."""
    w, V = np.linalg.eigh(G + S / C)
    rounding = np.finfo(float).eps * len(w) * np.abs(w).max()
    sound = np.abs(w) > rounding
    return (V[:, sound] / w[sound]) @ (V[:, sound].T @ R), int(np.sum(w < -rounding))


def between(rows, codes):
    """Equation 13: Σ (μₜ − μ)(μₜ − μ)ᵀ over the classes."""
    apart = np.array([rows[codes == t].mean(axis=0) for t in np.unique(codes)]) - rows.mean(axis=0)
    return apart.T @ apart


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
        local = rows.T @ (laplacian(W, normalized=False) @ rows)
        S = local - (1 - self.lam) * between(rows, codes)
        self.beta_, self.n_negative_ = printed_solution(H.T @ H, S, self.C, H.T @ T)
        return self

    def predict(self, X):
        """The class with the largest output."""
        return self.classes_[np.argmax(self.features_.transform(X) @ self.beta_, axis=1)]


class LiteralManifoldELM(ClassifierMixin, BaseEstimator):
    """The paper's five steps with nothing of ours: definition 1 of inputs, as many units as these.

    Definition 1 and the number of units are of the images, so what step 1 projects goes into
    nothing; with ``project`` the projected rows take the images' place, all directions kept. Images
    have unit length, for the width that equation 8 prints presupposes distances of about one.
    Weights and biases are from U(−1, 1). The paper prints no number of neighbours.
    """

    def __init__(self, *, C, lam, project=False, n_neighbors=5, random_state=None):
        self.C = C
        self.lam = lam
        self.project = project
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X, y):
        """Fit β to images X and classes y."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        rows = normalize(X)
        W = printed_weights(rows, codes, self.n_neighbors)
        self.projection_ = projection(rows, W) if self.project else None
        rows = self._rows(X)
        S = (rows.T * np.asarray(W.sum(axis=1)).ravel()) @ rows - rows.T @ (W @ rows)
        S -= (1 - self.lam) * between(rows, codes)
        units = RandomFeatures(rows.shape[1], scaling=None, random_state=self.random_state)
        self.units_ = units.fit(rows)
        F, T = units.transform(rows), np.where(y[:, None] == self.classes_, 1.0, -1.0)
        # Images and hidden rows span all that G and S see, in few dimensions where they are few.
        B = np.linalg.qr(np.vstack([F, rows]).T)[0]
        FB = F @ B
        beta, self.n_negative_ = printed_solution(FB.T @ FB, B.T @ S @ B, self.C, FB.T @ T)
        self.beta_ = B @ beta
        return self

    def predict(self, X):
        """The class with the largest output."""
        F = self.units_.transform(self._rows(X))
        return self.classes_[np.argmax(F @ self.beta_, axis=1)]

    def _rows(self, X):
        rows = normalize(X)
        return rows if self.projection_ is None else rows @ self.projection_
