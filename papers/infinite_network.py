"""Equation 16 of the kernel paper with a general covariance: infinitely many erf units.

The printed form lacks two factors of two: it is the kernel of erf(z/√2). The covariance of
`ulmus.kernels.Arcsine` is diag(c, γ, …, γ).
"""

import numpy as np

from ulmus.kernels import Arcsine


def whitened(X, covariance):
    """Rows whose inner products are x̃ᵀΣz̃ with x̃ = (1, x); Σ may be singular."""
    w, V = np.linalg.eigh(covariance)
    if w[0] < -1e-10 * max(w[-1], 0.0):
        raise ValueError(f"covariance has the eigenvalue {w[0]:.2g}; use one with none below zero.")
    return np.column_stack([np.ones(len(X)), X]) @ (V * np.sqrt(np.maximum(w, 0.0)))


def sigmoid_network(X, Z, covariance, printed=False):
    """E[erf(ṽᵀx̃) erf(ṽᵀz̃)] for ṽ ~ N(0, Σ), or as printed, which is that of erf(z/√2).

    The bias comes first in Σ, the ``covariance`` (d + 1 × d + 1).
    """
    kernel = Arcsine(gamma=0.5 if printed else 1.0, coef0=0.0)
    return kernel(whitened(X, covariance), whitened(Z, covariance))
