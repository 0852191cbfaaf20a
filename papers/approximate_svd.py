"""Algorithms 1 and 2 of the randomized ELM paper for any matrix, and its bounds (17) and (18)."""

import numpy as np


def random_basis(A, rank, oversampling, rng):
    """Q with A ≈ QQᵀA: an orthonormal basis of AΩ, Ω Gaussian (Algorithm 2, steps 1 to 4)."""
    Omega = rng.standard_normal((A.shape[1], rank + oversampling))
    return np.linalg.qr(A @ Omega)[0]


def approximate_svd(A, Q):
    """U, σ and Vᵀ with A ≈ UΣVᵀ, from the SVD of the small QᵀA (Algorithm 1)."""
    inner, sizes, Vt = np.linalg.svd(Q.T @ A, full_matrices=False)
    return Q @ inner, sizes, Vt


def expected_frobenius(sizes, rank, oversampling):
    """Bound (17) on E‖A − QQᵀA‖ in the Frobenius norm, from the singular values of A."""
    _check(oversampling)
    return np.sqrt(1.0 + rank / (oversampling - 1)) * np.linalg.norm(sizes[rank:])


def expected_spectral(sizes, rank, oversampling):
    """Bound (18) on E‖A − QQᵀA‖ in the spectral norm."""
    _check(oversampling)
    least = (1.0 + np.sqrt(rank / (oversampling - 1))) * sizes[rank]
    spread = np.e * np.sqrt(rank + oversampling) / oversampling
    return least + spread * np.linalg.norm(sizes[rank:])


def _check(oversampling):
    if oversampling < 2:
        raise ValueError(
            f"oversampling={oversampling!r} must be at least 2 for the bounds to hold."
        )
