"""What conjugate gradients and their preconditioner promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from ulmus.backends.namespace import ratio
from ulmus.methods.iterative import conjugate_gradients, nystrom_preconditioner


def make_operator(values, seed=0):
    """A with these eigenvalues, and β ↦ Aβ."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values),) * 2))[0]
    A = (Q * values) @ Q.T
    return A, lambda beta: A @ beta


def as_it_is(R):
    return R


def test_a_sketch_of_every_direction_is_the_inverse():
    A, apply = make_operator(np.linspace(2.0, 50.0, 12))
    R = np.random.default_rng(1).standard_normal((12, 3))
    solve = nystrom_preconditioner(apply, R, 12, 12)
    expected = np.linalg.solve(np.eye(12) + A, R)
    # Up to a factor: the smallest eigenvalue is mapped to one.
    assert_allclose(solve(R), 3.0 * expected, rtol=1e-8)
    found = conjugate_gradients(apply, R, solve, 1e-10, 50)
    assert found.steps == 1
    assert_allclose(found.values, expected, rtol=1e-8)


def test_a_ratio_to_nothing_is_zero():
    found = ratio(np.array([3.0, 3.0, 3.0]), np.array([2.0, 0.0, -1.0]))
    assert_array_equal(found, [1.5, 0.0, 0.0])


def test_the_right_side_stays_as_it_is():
    _, apply = make_operator(np.linspace(0.0, 3.0, 6))
    R = np.random.default_rng(1).standard_normal((6, 2))
    R[:, 1] = 0.0
    before = R.copy()
    found = conjugate_gradients(apply, R, as_it_is, 1e-10, 20)
    assert_array_equal(R, before)
    assert_array_equal(found.values[:, 1], 0.0)


def test_a_sketch_takes_out_the_large_eigenvalues():
    A, apply = make_operator(np.r_[np.logspace(3, 6, 8), np.linspace(0.0, 1.0, 92)])
    R = np.random.default_rng(1).standard_normal((100, 2))
    solve = nystrom_preconditioner(apply, R, 100, 20)
    plain, helped = (conjugate_gradients(apply, R, p, 1e-8, 500) for p in (as_it_is, solve))
    assert helped.steps < plain.steps / 2
    expected = np.linalg.solve(np.eye(100) + A, R)
    for found in (plain, helped):
        assert_allclose(found.values, expected, atol=1e-6)
        assert found.residual <= 1e-8


def test_a_column_of_zeros_is_solved_by_zero():
    A, apply = make_operator(np.linspace(2.0, 50.0, 12))
    R = np.column_stack([np.zeros(12), np.ones(12)])
    found = conjugate_gradients(apply, R, as_it_is, 1e-10, 50)
    assert not found.values[:, 0].any()
    assert_allclose(found.values, np.linalg.solve(np.eye(12) + A, R), rtol=1e-7)


@pytest.mark.parametrize("most", [0, 2])
def test_steps_that_do_not_suffice_are_told(most):
    A, apply = make_operator(np.linspace(2.0, 50.0, 12))
    R = np.ones((12, 1))
    with pytest.warns(ConvergenceWarning, match=f"after {most} steps .* above tol=1e-10"):
        found = conjugate_gradients(apply, R, as_it_is, 1e-10, most)
    assert found.steps == most
    left = R - found.values - A @ found.values
    assert_allclose(found.residual, np.linalg.norm(left) / np.linalg.norm(R), rtol=1e-8)
