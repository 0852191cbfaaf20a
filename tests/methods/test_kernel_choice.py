"""Kernels, widths and column weights by leave-one-out, without an estimator around them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from ulmus import slopes
from ulmus.kernels import LaplacianKernel
from ulmus.kernels.definition import kernel_of
from ulmus.kernels.kernel_matrix import KernelMatrix, MeasuredKernel, measured
from ulmus.kernels.pairs import Shifted, weighed_columns
from ulmus.methods import kernel_ridge
from ulmus.methods.kernel_ridge import KernelChoice, Trial, best_of, table_of
from ulmus.problem import Problem
from ulmus.targets import ValueTargets

NAMES = ("laplacian", "exponential", "rbf")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
T = np.sin(2.0 * X[:, :1]) + 0.3 * X[:, 1:2] + 0.05 * RNG.standard_normal((60, 1))
GRID = np.array([0.1, 10.0, 1000.0])


def trial(rows=X, T=T, count=None):
    weight = None if count is None else count.astype(float)
    unit = None if count is None else np.ones(len(T))
    problem = Problem(None, ValueTargets(T), weight, unit, intercept=True)
    return Trial(rows, problem, weight, GRID)


@pytest.mark.parametrize("name", NAMES)
def test_left_out_errors_on_weighed_columns_are_those_of_refits(name):
    weights = np.array([2.0, 1.0, 0.1, 0.5])
    found = trial().candidate(name, 1.0, weights)
    K = oracles.kernel_values(name, X * weights, X * weights, found.kernel.gamma, 0, 1, 1)
    for C, error in zip(GRID, found.path.squared_error, strict=True):
        left = oracles.kernel_left_out(K, T, C, intercept=True)
        assert_allclose(error, np.mean((T - left) ** 2), rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_roots_of_mean_squared_gradients(name):
    weights = np.array([2.0, 1.0, 0.1, 0.5])
    one = trial().candidate(name, 1.0, weights)

    def outputs(A):
        return one.kernel(A * weights, X * weights) @ one.solution.coef

    G = oracles.finite_differences(outputs, X)
    expected = np.sqrt((G**2).sum(axis=1).mean(axis=0))
    expected /= np.sqrt(np.mean(expected**2))
    assert_allclose(one.next_weights(None, 0), expected, rtol=1e-4)


def test_the_column_that_matters_weighs_most_and_none_vanishes():
    tried = KernelChoice(NAMES, True).fit(trial())
    weighed = [each.weights for each in tried if each.round == 2]
    assert weighed
    for weights in weighed:
        assert np.argmax(weights) == 0
        assert_allclose(np.mean(weights**2), 1.0)
        assert weights.min() >= 1e-3 * weights.max()


def test_a_row_that_counts_twice_is_two_rows():
    count = 1 + np.arange(60) % 2
    twice = trial(np.repeat(X, count, axis=0), np.repeat(T, count, axis=0))
    a, b = (KernelChoice(NAMES, True).fit(each) for each in (trial(count=count), twice))
    for one, other in zip(a, b, strict=True):
        assert one.name == other.name
        assert_allclose(one.weights, other.weights, rtol=1e-8)
        assert_allclose(one.squared, other.squared, rtol=1e-8)


def test_what_is_far_behind_on_few_rows_is_not_tried_on_all(monkeypatch):
    monkeypatch.setattr(kernel_ridge, "_FEW_ROWS", 30)
    whole = trial(T=np.sign(X[:, :1]))
    tried = KernelChoice(NAMES, True).fit(whole)
    assert {each.name for each in tried} < set(NAMES)
    assert all(len(each.rows) == 60 for each in tried)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_nearly_best_on_some_rows_is_compared_on_all(seed, monkeypatch):
    monkeypatch.setattr(kernel_ridge, "_FEW_ROWS", 20)
    monkeypatch.setattr(slopes, "_SOME_ROWS", 40)
    whole = trial()
    *few, last = KernelChoice(NAMES, True, seed).fit(whole)
    assert [len(each.rows) for each in (*few, last)] == [40] * len(few) + [60]
    assert best_of([*few, last]) is last
    least = min(each.correction * each.squared for each in few)
    close = [each for each in few if each.correction * each.squared <= 1.02 * least]
    # At its C, with its weights, of every kernel what is first: which has the least error?
    errors = dict[tuple[str, int], float]()
    for each in [best_of(few), *sorted(close, key=lambda one: one.correction * one.squared)]:
        if any(each.name == name for name, _ in errors):
            continue
        one = replace(whole, C=np.array([each.solution.C]))
        weights = each.weights if each.round else None
        found = one.candidate(each.name, each.factor, weights, each.round)
        errors[each.name, each.round] = found.score[1]
    assert (last.name, last.round) == min(errors, key=errors.get)
    (same,) = (each for each in few if (each.name, each.round) == (last.name, last.round))
    assert_array_equal(last.weights, same.weights)
    assert last.solution.C in last.path.C


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_target_that_no_column_explains_has_bounded_weights(noise):
    T = 3.0 + noise * np.random.default_rng(1).standard_normal((60, 1))
    for each in KernelChoice(NAMES, True).fit(trial(T=T)):
        assert 0 < each.weights.min() <= each.weights.max() <= 2.0  # √d, were all others zero


def test_weights_fitted_to_few_rows_must_win_by_more():
    plain, weighed = (trial().candidate("rbf", 1.0, np.ones(4), number) for number in (0, 1))
    assert_allclose(weighed.score[1], plain.score[1] * (1 + 2 * 4 / 60))


def test_more_columns_than_rows_are_not_weighed():
    wide = np.random.default_rng(0).standard_normal((60, 70))
    assert {each.round for each in KernelChoice(NAMES, True).fit(trial(wide))} == {0}
    twice = KernelChoice(NAMES, True).fit(trial(wide, count=np.r_[1, np.full(59, 2)]))
    assert {each.round for each in twice} > {0}  # as 119 rows would be


@pytest.mark.parametrize("name", NAMES)
def test_distances_that_are_known_give_the_kernel_of_the_rows(name):
    rows, weight = np.vstack([X, X[:3], 50.0 + X[:2]]), 1.0 + np.arange(65) % 3
    D = measured(name, rows)
    kernel = kernel_of(name, "mean", 3, 1.0, rows, 0, 2.0, weight)
    assert_allclose(2.0 * type(kernel).gamma_of(D, weight), kernel.gamma)
    K = MeasuredKernel(kernel, rows, D)
    assert_allclose(K.all(), KernelMatrix(kernel, rows).all(), atol=1e-7)
    assert_allclose(K.all(np.float32), K.all(), atol=1e-5)


def test_of_other_kernels_no_distances_are_known():
    assert measured("arcsine", X) is None


def test_the_table_has_a_line_for_each():
    tried = KernelChoice(NAMES, False).fit(trial())
    table = table_of(tried)
    assert set(table) == {"kernel", "gamma", "round", "C", "rows", "squared_error"}
    assert len(set(map(len, table.values()))) == 1


def test_sparse_columns_are_weighed_as_dense_ones():
    weights, shift = np.array([2.0, 1.0, 0.1, 0.5]), np.array([1.0, 0.0, 2.0, 0.0])
    rows = weighed_columns(Shifted(sp.csr_array(X), shift), weights)
    assert_allclose(rows.rows.toarray() - rows.shift, (X - shift) * weights)
    K = LaplacianKernel(0.3)
    assert_allclose(K(rows, rows), K(X * weights, X * weights), rtol=1e-9)
