"""What the array standard lacks, against NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ulmus.backends import linalg
from ulmus.backends.gram import split_factors
from ulmus.backends.linalg import Cholesky, NotPositiveDefinite


def positive(n, seed=0):
    B = np.random.default_rng(seed).standard_normal((n, n + 3))
    return np.asfortranarray(B @ B.T)


@pytest.mark.parametrize("n", [1, 6, 7, 8, 40])
def test_a_matrix_cut_into_blocks_has_the_same_factor(monkeypatch, n):
    A, B = positive(n), np.random.default_rng(1).standard_normal((n, 3))
    expected = np.linalg.cholesky(A).T
    monkeypatch.setattr(linalg, "_LARGEST_FACTOR", 0)
    monkeypatch.setattr(linalg, "_BLOCK", 7)
    kept = A.copy(order="F")
    factor = Cholesky(A)
    assert_allclose(A, kept, err_msg="A stays as it was")
    assert_allclose(np.triu(factor.factor), expected, atol=1e-10)
    assert_allclose(A @ factor.solve(B), B, atol=1e-8)
    diagonal = np.linalg.inv(kept).diagonal()
    assert_allclose(factor.inverse_diagonal(), diagonal)
    assert_allclose(np.triu(factor.factor), expected, atol=1e-10, err_msg="it can serve again")
    assert_allclose(factor.inverse_diagonal(last=min(3, n)), diagonal[-3:])
    last = Cholesky(A, overwrite=True)
    assert_allclose(last.inverse_diagonal(overwrite=True), diagonal)


@pytest.mark.parametrize("largest", [0, 100])
def test_what_is_not_positive_definite_is_refused(monkeypatch, largest):
    monkeypatch.setattr(linalg, "_LARGEST_FACTOR", largest)
    monkeypatch.setattr(linalg, "_BLOCK", 7)
    A = positive(20)
    A[15, 15] = -1.0
    with pytest.raises(NotPositiveDefinite):
        Cholesky(A)


# ---------------------------------------------------------------- factors in eleven bits
def _bits_lost(x):
    """x without the bits that a GPU's matrix units drop from a float32 factor."""
    return (x.view(np.int32) & ~np.int32(2**13 - 1)).view(np.float32)


def test_split_factors_multiply_to_float32_though_every_factor_loses_its_last_bits():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 30)).astype(np.float32)
    B = rng.standard_normal((30, 20)).astype(np.float32)
    exact, size = A.astype(float) @ B, np.abs(A).astype(float) @ np.abs(B)
    left, right = split_factors(A, B)
    assert_array_equal(_bits_lost(left[:, :30]), left[:, :30])
    assert_array_equal(left[:, :30] + left[:, 30:60], A)
    found = _bits_lost(left).astype(float) @ _bits_lost(right)
    assert (np.abs(found - exact) <= 2.0**-19 * size).all()
    plain = _bits_lost(A).astype(float) @ _bits_lost(B)
    assert (np.abs(plain - exact) / size).max() > 2.0**-12  # what the split is for
