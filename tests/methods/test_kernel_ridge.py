"""Kernel ridge as a value, without an estimator around it."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from ulmus.kernels import RBF
from ulmus.kernels.kernel_matrix import KernelMatrix, LowRank
from ulmus.methods import kernel_ridge
from ulmus.methods.dual import dual_path
from ulmus.methods.kernel_ridge import KernelRidge
from ulmus.problem import Problem
from ulmus.targets import ValueTargets

RNG = np.random.default_rng(0)
X, T = RNG.standard_normal((40, 3)), RNG.standard_normal((40, 2))
K = KernelMatrix(RBF(0.3), X)
PROBLEM = Problem(K, ValueTargets(T), intercept=True)


def fitted(method):
    return method.fit(PROBLEM, np.random.RandomState(0))


@pytest.mark.parametrize("definite", [True, False])
def test_the_whole_kernel_gives_the_dual_coefficients_of_the_formula(definite):
    solution, factor = fitted(KernelRidge(7.0, definite=definite))
    alpha, b = oracles.kernel_ridge(K.all(), T, 7.0, intercept=True)
    assert factor is None
    assert solution.path is None
    assert_allclose(solution.coef, alpha, atol=1e-8)
    assert_allclose(solution.intercept, b, atol=1e-8)


def test_a_factor_of_full_rank_gives_the_outputs_of_the_whole_kernel():
    whole, _ = fitted(KernelRidge(7.0))
    low, factor = fitted(KernelRidge(7.0, LowRank(rank=40)))
    F = [K.all() @ whole.coef, K.all()[:, factor.rows] @ low.coef]
    assert_allclose(F[1] + low.intercept, F[0] + whole.intercept, atol=1e-5)


def test_of_several_c_the_best_left_out_error_is_taken():
    grid = np.array([0.01, 1.0, 100.0])
    solution, _ = fitted(KernelRidge(grid))
    assert grid[np.argmin(solution.path.squared_error)] == solution.C


def test_of_many_rows_some_are_left_out(monkeypatch):
    path = dual_path(PROBLEM, np.array([7.0])).path
    whole, _ = fitted(KernelRidge(7.0, path=path))
    monkeypatch.setattr(kernel_ridge, "ALL_LEFT_OUT", 39)
    monkeypatch.setattr(kernel_ridge, "_SOME_LEFT_OUT", 12)
    some, _ = fitted(KernelRidge(7.0, path=path, factors=True))
    assert len(whole.loo_rows) == 40
    assert len(np.unique(some.loo_rows)) == 12
    assert_allclose(some.loo, whole.loo[some.loo_rows], atol=1e-10)
    assert_allclose(some.coef, whole.coef, atol=1e-10)
    assert_allclose(some.intercept, whole.intercept, atol=1e-10)


def test_it_is_a_value():
    with pytest.raises(FrozenInstanceError):
        KernelRidge(1.0).C = 2.0
    assert KernelRidge(1.0) == KernelRidge(1.0)
    assert [KernelRidge(1.0).name, KernelRidge(1.0, LowRank()).name] == ["exact", "rpcholesky"]
