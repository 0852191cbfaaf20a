"""The kernel of infinitely many erf units with any covariance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import erf

from papers.infinite_network import sigmoid_network
from ulmus.kernels import Arcsine

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(6, 3)), RNG.normal(size=(4, 3))
HALF = RNG.normal(size=(4, 4))
SIGMA = HALF @ HALF.T


def printed(x, z):
    """Equation 16, one pair at a time."""
    x, z = np.r_[1, x], np.r_[1, z]
    lengths = (1 + x @ SIGMA @ x) * (1 + z @ SIGMA @ z)
    return 2 / np.pi * np.arcsin(x @ SIGMA @ z / np.sqrt(lengths))


def test_as_printed_it_is_equation_16():
    expected = [[printed(x, z) for z in Z] for x in X]
    assert_allclose(sigmoid_network(X, Z, SIGMA, printed=True), expected, atol=1e-12)


@pytest.mark.parametrize(("as_printed", "scale"), [(False, 1.0), (True, np.sqrt(0.5))])
def test_a_wide_random_network_tends_to_it(as_printed, scale):
    V = RNG.multivariate_normal(np.zeros(4), SIGMA, size=200_000)
    H, G = (erf(scale * np.column_stack([np.ones(len(A)), A]) @ V.T) for A in (X, Z))
    found = sigmoid_network(X, Z, SIGMA, printed=as_printed)
    assert_allclose(H @ G.T / len(V), found, atol=0.01)


def test_with_a_diagonal_covariance_it_is_the_librarys():
    diagonal = np.diag([0.7, 2.0, 2.0, 2.0])
    expected = Arcsine(gamma=2.0, coef0=0.7)(X, Z)
    assert_allclose(sigmoid_network(X, Z, diagonal), expected, atol=1e-12)


def test_a_covariance_with_a_negative_eigenvalue_is_refused():
    with pytest.raises(ValueError, match="none below zero"):
        sigmoid_network(X, Z, np.diag([1.0, 1.0, 1.0, -1.0]))
