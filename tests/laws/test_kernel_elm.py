"""Kernel ELM is the textbook solve, however it is done."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis.strategies import booleans, floats, integers
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import Ridge

import oracles
from conditioning import Conditioning, assert_within
from laws.problems import make_rows
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    LowRank,
    Randomized,
)
from ulmus.kernels import RBF

PLAIN = {"kernel": "rbf", "scaling": None, "gamma": 0.4}


def problem(seed=0, n=60, outputs=2):
    rng = np.random.default_rng(seed)
    X = make_rows(seed, n)
    return X, np.sin(X @ rng.standard_normal((3, outputs))) + 0.1 * rng.standard_normal(
        (n, outputs)
    )


@settings(max_examples=25, deadline=None)
@given(integers(0, 10**6), floats(-2, 6), booleans(), booleans())
def test_the_exact_solve_is_the_textbooks(seed, power, weighted, intercept):
    X, T = problem(seed, 25)
    C, weight = 10.0**power, np.random.default_rng(seed).uniform(0.3, 3, 25) if weighted else None
    model = KernelELMRegressor(C=C, fit_intercept=intercept, **PLAIN).fit(X, T, weight)
    K = RBF(0.4)(X, X)
    a, b = oracles.kernel_ridge(K, T, C, weight, intercept)
    Z = make_rows(seed + 1, 9)
    root = np.ones(25) if weight is None else np.sqrt(weight)
    A = root[:, None] * K * root + np.eye(25) / C
    rounding = Conditioning(A, 1 / C, np.linalg.norm(root[:, None] * T) / root.min())
    assert_within(model.predict(Z), RBF(0.4)(Z, X) @ a + b, rounding.weights)
    assert model.method_ == "exact"
    assert model.rank_ == 25


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_leaves_out_every_row_as_refits_do(intercept, weighted):
    X, T = problem(3, 40)
    weight = np.random.default_rng(0).uniform(0.2, 1.0, 40) if weighted else np.ones(40)
    grid = np.logspace(-2, 5, 8)
    model = KernelELMRegressor(C=grid, fit_intercept=intercept, **PLAIN).fit(X, T, weight)
    K = RBF(0.4)(X, X)
    for C, error in zip(grid, model.loo_path_["squared_error"], strict=True):
        F = oracles.kernel_left_out(K, T, C, weight, intercept)
        assert_allclose(error, np.average(np.sum((T - F) ** 2, axis=1), weights=weight), rtol=1e-6)


def test_the_path_holds_the_classes_left_out_too():
    X, T = problem(4, 50, 1)
    y = np.digitize(T[:, 0], [-0.4, 0.4])
    grid = np.logspace(-1, 4, 6)
    model = KernelELMClassifier(C=grid, **PLAIN).fit(X, y)
    K, targets = RBF(0.4)(X, X), oracles.one_vs_rest(y, np.arange(3))
    rates = [np.mean(oracles.kernel_left_out(K, targets, C).argmax(axis=1) != y) for C in grid]
    assert_allclose(model.loo_path_["error_rate"], rates)
    assert model.loo_score_ == 1 - rates[int(np.flatnonzero(grid == model.C_)[0])]


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_each_c_of_a_path_is_the_single_solve(C):
    X, T = problem(5)
    one = KernelELMRegressor(C=C, **PLAIN).fit(X, T)
    path = KernelELMRegressor(C=[C], **PLAIN).fit(X, T)
    assert (one.solver_, path.solver_) == ("dual", "spectral")
    assert_allclose(one.predict(X), path.predict(X), atol=1e-8)


@pytest.mark.parametrize("method", ["exact", "eig", "rpcholesky"])
def test_weight_two_is_the_row_twice(method):
    X, T = problem(6)
    twice = np.repeat(np.arange(60), np.where(np.arange(60) % 3, 1, 2))
    weight = np.bincount(twice).astype(float)
    # Fewer columns than there are directions would be others for other rows.
    how = method if method == "exact" else LowRank(tol=1e-10, method=method)
    model = KernelELMRegressor(method=how, random_state=0)
    a, b = clone(model).fit(X, T, weight), clone(model).fit(X[twice], T[twice])
    assert_allclose(a.predict(X), b.predict(X), atol=1e-8)
    assert_allclose(a.loo_path_["squared_error"], b.loo_path_["squared_error"], rtol=1e-6)


@pytest.mark.parametrize("method", ["rpcholesky", "nystrom", "randomized", "eig"])
def test_all_columns_are_the_exact_solve(method):
    X, T = problem(7)
    options = {"kernel": "rbf", "C": 10.0, "gamma": 2.0, "scaling": None, "random_state": 0}
    exact = KernelELMRegressor(**options).fit(X, T)
    full = KernelELMRegressor(method=method, rank=1.0, **options).fit(X, T)
    Z = make_rows(1, 20)
    assert_allclose(full.predict(Z), exact.predict(Z), atol=1e-4)


def test_few_columns_are_a_ridge_on_the_features():
    X, T = problem(9)
    low = KernelELMRegressor(C=5.0, method="eig", rank=12, **PLAIN).fit(X, T)
    features = KernelFeatures(method="eig", rank=12, **PLAIN)
    ridge = ELMRegressor(features, C=5.0).fit(X, T)
    theirs = Ridge(alpha=1 / 5.0).fit(features.fit_transform(X), T)
    Z = make_rows(1, 20)
    assert_allclose(low.predict(Z), ridge.predict(Z), atol=1e-8)
    assert_allclose(low.predict(Z), theirs.predict(features.transform(Z)), atol=1e-8)


def test_a_linear_kernel_is_a_ridge_on_the_rows():
    X, T = problem(10)
    theirs = Ridge(alpha=1 / 3.0).fit(X, T).predict(X)
    for method in ("exact", "rpcholesky"):
        model = KernelELMRegressor("linear", C=3.0, method=method, scaling=None).fit(X, T)
        assert_allclose(model.predict(X), theirs, atol=1e-8)


@pytest.mark.parametrize("method", ["exact", "rpcholesky", "randomized"])
def test_a_precomputed_kernel_is_the_same_kernel(method):
    X, T = problem(11)
    Z, rank = make_rows(1, 20), None if method == "exact" else 25
    options = {"method": method, "rank": rank, "random_state": 0}
    named = KernelELMRegressor(**PLAIN, **options).fit(X, T)
    given_ = KernelELMRegressor("precomputed", **options).fit(RBF(0.4)(X, X), T)
    function = KernelELMRegressor(RBF(0.4), **options).fit(X, T)
    called = KernelELMRegressor(lambda A, B: RBF(0.4)(A, B), **options).fit(X, T)
    assert_allclose(given_.predict(RBF(0.4)(Z, X)), named.predict(Z), atol=1e-7)
    assert_allclose(function.predict(Z), named.predict(Z), atol=1e-7)
    assert_allclose(called.predict(Z), named.predict(Z), atol=1e-7)
    assert given_.C_ == named.C_


@pytest.mark.parametrize(
    "kernel", ["rbf", "linear", "poly", "laplacian", "infinite_rbf", "arcsine"]
)
@pytest.mark.parametrize("method", ["exact", "rpcholesky"])
def test_sparse_rows_give_what_dense_rows_give(kernel, method):
    X, T = problem(12)
    X[X < 0] = 0
    Z = np.maximum(make_rows(1, 20), 0)
    options = {"method": method, "C": 10.0, "random_state": 0}
    dense = KernelELMRegressor(kernel, **options).fit(X, T)
    sparse = KernelELMRegressor(kernel, **options).fit(sp.csr_array(X), T)
    for model in (dense, sparse):
        assert_allclose(model.predict(Z), dense.predict(Z), atol=1e-5)
        assert_allclose(model.predict(sp.csr_array(Z)), dense.predict(Z), atol=1e-5)


def test_the_randomized_elm_is_algorithm_three_on_hidden_rows():
    X, T = problem(13)
    y = (T[:, 0] > 0).astype(int)
    model = ELMClassifier(n_hidden=30, solver=Randomized(12), C=8.0, random_state=0).fit(X, y)
    H = model.features_.transform(X)
    seed = np.random.RandomState(0).randint(2**31 - 2)
    omega = np.random.RandomState(seed).standard_normal((60, 22))
    targets = oracles.one_vs_rest(y, np.arange(2))
    alpha, _ = oracles.randomized_inverse(H @ H.T, targets, 8.0, omega)
    assert_allclose(model.beta_, H.T @ alpha, atol=1e-6)
    assert model.solver_ == "randomized"


@pytest.mark.parametrize("intercept", [False, True])
def test_a_full_sketch_is_the_plain_solve(intercept):
    X, T = problem(14)
    weight = np.random.default_rng(0).uniform(0.3, 2, 60)
    options = {"n_hidden": 20, "C": 100.0, "fit_intercept": intercept, "random_state": 0}
    fits = [
        ELMRegressor(solver=solver, **options).fit(X, T, weight)
        for solver in ("primal", "dual", Randomized())
    ]
    for model in fits:
        assert_allclose(model.predict(X), fits[0].predict(X), atol=1e-5)
    assert [model.solver_ for model in fits] == ["primal", "dual", "randomized"]
