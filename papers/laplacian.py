"""LapRLS and LapSVM: kernel methods with a graph, by their constants γ_A and γ_I.

Both minimise (1/l) Σ loss(tᵢ, f(xᵢ)) + γ_A‖f‖² + γ_I fᵀΛf, the sum over l labelled rows and the
graph over all. The last two terms are the squared length of f in the space of another kernel k̃
(Sindhwani, Niyogi and Belkin 2005), so either is a plain kernel method of the labelled rows: with
B = (γ_A I + γ_I ΛK)⁻¹E, E the labelled columns of the identity, K̃ = KB and f = K̃a = K(Ba).
The loss is the square for LapRLS, and for LapSVM the square of the hinge, as in its primal form
(Melacci and Belkin 2011). Neither has a bias.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from papers.kernel_machines import kernel_features, squared_hinge


def lap_rls(K, T):
    """Weights a of the labelled rows under the squared loss; K is k̃ between them."""
    return scipy.linalg.solve(K + len(K) * np.eye(len(K)), T, assume_a="pos")


def lap_svm(K, T):
    """Weights a of the labelled rows under the squared hinge; K is k̃ between them."""
    Z, W = kernel_features(K)
    c = np.full(len(K), 1.0 / len(K))
    return W @ np.column_stack([squared_hinge(Z, t, c) for t in T.T])


def deformation(K, laplacian, labelled, gamma_A, gamma_I):
    """B for one γ_A and γ_I, by one solve of n × n."""
    system = gamma_I * (laplacian @ K)
    system[np.diag_indices(len(K))] += gamma_A
    return np.linalg.solve(system, np.eye(len(K))[:, labelled])


@dataclass(frozen=True)
class Basis:
    """Coordinates Z = KW of all rows with ZZᵀ = K and ZᵀΛZ = diag(w): B for any constants."""

    Z: np.ndarray
    W: np.ndarray
    w: np.ndarray

    def deformation(self, labelled, gamma_A, gamma_I):
        """B for one γ_A and γ_I, by one product."""
        return self.W @ (self.Z[labelled] / (gamma_A + gamma_I * self.w)).T


def basis(K, laplacian):
    """The coordinates, by two eigendecompositions."""
    Z, W = kernel_features(K)
    M = Z.T @ (laplacian @ Z)
    w, V = scipy.linalg.eigh(0.5 * (M + M.T), driver="evd")
    return Basis(Z @ V, W @ V, np.maximum(w, 0.0))


def solutions(K, laplacian, labelled, T, solve, gammas_A, gammas_I):
    """α (rows × outputs) of f = Kα for every pair of constants, those that smooth most first.

    ``solve`` is `lap_rls` or `lap_svm`; T has −1 and 1 for the labelled rows, one class against all
    others in a column.
    """
    pairs = [(A, I) for I in sorted(gammas_I)[::-1] for A in sorted(gammas_A)[::-1]]
    factored = basis(K, laplacian) if len(pairs) > 1 else None
    for gamma_A, gamma_I in pairs:
        if factored is None:
            B = deformation(K, laplacian, labelled, gamma_A, gamma_I)
        else:
            B = factored.deformation(labelled, gamma_A, gamma_I)
        deformed = K[labelled] @ B
        yield B @ solve(0.5 * (deformed + deformed.T), T)
