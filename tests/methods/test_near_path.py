"""The best C near a known one, beside the path of every C."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ulmus.kernels import RBF, Exponential
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.methods import near_path as module
from ulmus.methods.dual import dual_path
from ulmus.methods.near_path import near_path
from ulmus.problem import ErrorPath, Problem
from ulmus.targets import ClassTargets, ValueTargets

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 2))
H = KernelMatrix(RBF(0.5), X)
Y = np.sin(2.0 * X[:, :1]) + 0.3 * RNG.standard_normal((80, 1))
PROBLEMS = {
    "values": Problem(H, ValueTargets(Y), intercept=True),
    "weighted": Problem(H, ValueTargets(Y), RNG.uniform(0.5, 2.0, 80), np.full(80, 0.5)),
    "classes": Problem(H, ClassTargets(np.digitize(Y[:, 0], [-0.3, 0.3]), 3)),
}
GRID = 10.0 ** np.arange(-3.0, 4.0, 0.5)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("start", [1e-3, 0.3, 1e3])
def test_what_is_tried_has_the_errors_of_the_whole_path_and_no_better_neighbour(problem, start):
    whole, found = dual_path(problem, GRID), near_path(problem, GRID, start)
    places = np.searchsorted(GRID, found.path.C)
    assert_allclose(found.path.squared_error, whole.path.squared_error[places], rtol=1e-8)
    if found.path.error_rate is not None:
        assert_allclose(found.path.error_rate, whole.path.error_rate[places])
    best = np.searchsorted(GRID, found.C)
    around = {max(best - 1, 0), best, min(best + 1, len(GRID) - 1)}
    assert around <= set(places)
    assert found.path.C[found.path.best] == found.C


def test_from_anywhere_the_values_have_the_best_c():
    problem = PROBLEMS["values"]
    best = dual_path(problem, GRID)
    for start in (1e-3, 1e3):
        found = near_path(problem, GRID, start)
        assert found.C == best.C
        assert_allclose(found.coef, best.coef, atol=1e-8)


def test_from_a_good_start_three_are_tried():
    best = dual_path(PROBLEMS["values"], GRID).C
    assert len(near_path(PROBLEMS["values"], GRID, best).path.C) == 3


def test_below_the_rounding_of_the_kernel_all_are_tried():
    same = KernelMatrix(RBF(0.5), np.ones((20, 1)))
    problem = Problem(same, ValueTargets(Y[:20]))
    assert len(near_path(problem, 10.0 ** np.arange(10.0, 22.0, 2.0), 1e20).path.C) == 6


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_single_precision_finds_the_same_errors_but_for_its_rounding(problem):
    exact, fast = (near_path(problem, GRID, 1.0, fast=fast) for fast in (False, True))
    assert fast.C == exact.C
    assert_allclose(fast.path.squared_error, exact.path.squared_error, rtol=1e-4)
    assert_allclose(fast.loo, exact.loo, atol=1e-3)


def test_from_a_large_c_few_large_ones_and_a_small_one_are_tried():
    grid = 10.0 ** np.arange(-4.0, 8.5, 0.5)
    rough = KernelMatrix(Exponential(1.0), X)
    noisy = near_path(Problem(rough, ValueTargets(Y), intercept=True), grid, 1e8)
    assert noisy.C < 100.0
    clear = Problem(rough, ValueTargets(X[:, :1]), intercept=True)
    assert_allclose(near_path(clear, grid, 1e8).path.C, [1e2, 1e6, 1e8])


def test_a_solution_that_is_known_is_not_found_again(monkeypatch):
    problem, calls = PROBLEMS["values"], []
    best = dual_path(problem, GRID)
    expected = near_path(problem, GRID, best.C)
    original = module.at_one
    monkeypatch.setattr(module, "at_one", lambda *a: calls.append(a[4]) or original(*a))
    found = near_path(problem, GRID, best.C, known=best)
    assert len(calls) == 2
    assert best.C not in calls
    assert_allclose(found.path.squared_error, expected.path.squared_error)


@pytest.mark.parametrize("weight", [1e-3, 1e3])
def test_c_is_large_or_for_single_precision_by_what_it_does_with_the_weights(weight):
    grid = 10.0 ** np.arange(-4.0, 8.5, 0.5)
    plain = Problem(KernelMatrix(Exponential(1.0), X), ValueTargets(X[:, :1]), intercept=True)
    equal = replace(plain, weight=np.full(80, weight), unit=np.full(80, weight))
    for fast in (False, True):
        one = near_path(plain, grid, 1e8, fast)
        other = near_path(equal, grid / weight, 1e8 / weight, fast)
        assert_allclose(weight * other.path.C, one.path.C)
        assert_allclose(other.path.squared_error, one.path.squared_error, rtol=1e-3)


def _path(C, squared, rates=None):
    C, squared = np.array(C), np.array(squared)
    return ErrorPath(C, squared, rates if rates is None else np.array(rates), "loo", 1000)


@pytest.mark.parametrize(
    ("path", "left"),
    [
        # Values: as good within one per cent.
        (_path([1e1, 1e2, 1e6], [0.3, 0.2010, 0.2]), 2),
        (_path([1e1, 1e2, 1e6], [0.3, 0.2030, 0.2]), 3),
        # Classes: within a fifth, and no more than one row more is wrong.
        (_path([1e1, 1e2, 1e6], [0.3, 0.23, 0.2], [0.02, 0.011, 0.01]), 2),
        (_path([1e1, 1e2, 1e6], [0.3, 0.23, 0.2], [0.02, 0.012, 0.01]), 3),
        (_path([1e1, 1e2, 1e6], [0.3, 0.25, 0.2], [0.02, 0.010, 0.01]), 3),
        # Nothing is left out where the best one is small, or nothing small was tried.
        (_path([1e1, 1e2, 1e6], [0.1, 0.2, 0.2]), 3),
        (_path([1e4, 1e6], [0.2, 0.2]), 2),
    ],
)
def test_large_c_are_left_out_where_a_smaller_one_is_as_good(path, left):
    found = module._without_large(path, int(np.sum(path.C < 1e3)))
    assert found.C.tolist() == path.C[:left].tolist()
    assert len(found.squared_error) == left
    assert found.error_rate is None or len(found.error_rate) == left


@pytest.mark.parametrize("noise", [0.3, 0.0])
def test_of_many_rows_only_exact_targets_have_a_large_c(noise):
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((120, 1))
    y = np.sin(2.0 * Z) + noise * rng.standard_normal(Z.shape)
    problem = Problem(KernelMatrix(RBF(0.5), Z), ValueTargets(y))
    grid = 10.0 ** np.arange(-2.0, 9.0)
    found = near_path(problem, grid, 1e6, fast=True)
    assert (found.C > 1e2) == (noise == 0.0)
    assert found.path.C[found.path.best] == found.C
