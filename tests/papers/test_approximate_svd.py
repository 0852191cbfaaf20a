"""Algorithms 1 and 2 for matrices of any shape, and whether the printed bounds hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from papers.approximate_svd import (
    approximate_svd,
    expected_frobenius,
    expected_spectral,
    random_basis,
)


def matrix(shape, sizes, seed=0):
    """A matrix with given singular values."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(n, len(sizes))))[0] for n in shape)
    return U * sizes @ V.T


SPECTRA = {
    "slow": 1.0 / np.arange(1, 31),
    "fast": 0.5 ** np.arange(30),
    "flat": np.ones(30),
    "step": np.r_[np.ones(8), np.full(22, 1e-3)],
}


@pytest.mark.parametrize("shape", [(50, 30), (30, 50), (40, 40)])
def test_a_matrix_of_low_rank_is_found_whole(shape):
    sizes = np.r_[np.linspace(3.0, 1.0, 6), np.zeros(24)]
    A = matrix(shape, sizes)
    Q = random_basis(A, 6, 4, np.random.default_rng(0))
    assert Q.shape == (shape[0], 10)
    U, found, Vt = approximate_svd(A, Q)
    assert_allclose(U * found @ Vt, A, atol=1e-12)
    assert_allclose(found[:6], sizes[:6], atol=1e-12)
    assert_allclose(U[:, :6].T @ U[:, :6], np.eye(6), atol=1e-12)


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize(("rank", "oversampling"), [(4, 2), (8, 5), (8, 10)])
def test_the_mean_error_keeps_to_both_bounds(spectrum, rank, oversampling):
    sizes = SPECTRA[spectrum]
    A = matrix((45, 35), sizes)
    rng = np.random.default_rng(1)
    rests = [
        A - Q @ (Q.T @ A) for Q in (random_basis(A, rank, oversampling, rng) for _ in range(60))
    ]
    frobenius = np.mean([np.linalg.norm(rest) for rest in rests])
    spectral = np.mean([np.linalg.norm(rest, 2) for rest in rests])
    assert frobenius <= expected_frobenius(sizes, rank, oversampling)
    assert spectral <= expected_spectral(sizes, rank, oversampling)
    # No basis of that many columns does better than the singular vectors.
    least = np.linalg.norm(sizes[rank + oversampling :])
    assert min(np.linalg.norm(rest) for rest in rests) >= least * (1 - 1e-9)


def test_the_first_bound_is_no_loose_one():
    sizes = SPECTRA["flat"]
    A = matrix((45, 35), sizes)
    rng = np.random.default_rng(1)
    found = []
    for _ in range(60):
        Q = random_basis(A, 2, 2, rng)
        found.append(np.linalg.norm(A - Q @ (Q.T @ A)))
    assert np.mean(found) > 0.5 * expected_frobenius(sizes, 2, 2)


def test_the_bounds_need_two_more_columns():
    for bound in (expected_frobenius, expected_spectral):
        with pytest.raises(ValueError, match="at least 2"):
            bound(SPECTRA["slow"], 3, 1)
