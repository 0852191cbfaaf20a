"""What the box problem's solvers promise, whichever way they go."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ulmus.methods.box import Box, DenseCurvature, RowCurvature, interior, polish, pull, violation


@dataclass(frozen=True)
class Counted(DenseCurvature):
    """Q that remembers what was factored."""

    faces: list = field(default_factory=list)
    shifts: list = field(default_factory=list)

    def face(self, F):
        self.faces.append(F)
        return super().face(F)

    def shifted(self, D):
        self.shifts.append(D)
        return super().shifted(D)


def make_box(seed, n=30, upper=1.0, curvature=Counted):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    return Box(curvature(A @ A.T / n), rng.standard_normal(n), np.full(n, upper))


def residual(box, alpha):
    return violation(alpha, box.upper, box.gradient(alpha))


def test_the_pull_is_what_no_bound_holds():
    alpha, upper = np.array([0.0, 0.0, 1.0, 1.0, 0.5]), np.ones(5)
    gradient = np.array([2.0, -2.0, 2.0, -2.0, 2.0])
    assert_array_equal(pull(alpha, upper, gradient), [0.0, -2.0, 2.0, 0.0, 2.0])


def test_value_and_gradient_are_their_formulas():
    box = make_box(0)
    alpha = np.linspace(0.0, 1.0, 30)
    assert_allclose(box.value(alpha), 0.5 * alpha @ box.Q.Q @ alpha + box.p @ alpha)
    assert_allclose(box.gradient(alpha), box.Q.Q @ alpha + box.p)


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_is_found_and_every_factorisation_counted(seed):
    box = make_box(seed)
    alpha, steps = interior(box, np.zeros(30), 1e-9, 100)
    assert residual(box, alpha) <= 1e-9
    assert steps == len(box.Q.shifts) + len(box.Q.faces)
    assert steps <= 25


def test_after_so_many_steps_it_gives_the_lowest_point_it_met():
    box = make_box(1)
    start = np.full(30, 0.5)
    for most in range(12):
        alpha, steps = interior(make_box(1), start, 0.0, most)
        assert steps == most
        assert box.value(alpha) <= box.value(start)


def test_where_a_factor_says_nothing_the_start_stays():
    @dataclass(frozen=True)
    class Broken(Counted):
        def shifted(self, D):
            super().shifted(D)
            return lambda r: np.full(len(r), np.nan)

    box, start = make_box(2, curvature=Broken), np.full(30, 0.25)
    alpha, steps = interior(box, start, 1e-9, 50)
    assert_array_equal(alpha, start)
    assert steps == len(box.Q.shifts) == 1


@pytest.mark.parametrize("seed", range(5))
def test_newton_steps_end_where_few_variables_were_misjudged(seed):
    box = make_box(seed)
    answer, _ = interior(box, np.zeros(30), 1e-12, 100)
    free = np.flatnonzero((answer > 0) & (answer < 1))
    held = np.setdiff1d(np.arange(30), free)
    start = answer.copy()
    start[free] = 0.5
    start[held[0]] = 0.5  # belongs to a bound
    alpha, done, steps = polish(box, start, 1e-10, 20)
    assert done
    assert_allclose(alpha, answer, atol=1e-8)
    box = make_box(seed)
    _, done, counted = polish(box, start, 1e-10, 20)
    assert counted == steps == len(box.Q.faces)
    # What a bound holds firmly is never part of a step.
    gradient = np.abs(box.gradient(answer))
    firm = [i for i in held[1:] if gradient[i] > 0.5]
    assert firm
    assert not any(np.isin(firm, F).any() for F in box.Q.faces)


def test_newton_steps_give_up_where_they_do_not_suffice():
    box = make_box(0)
    alpha, done, steps = polish(box, np.full(30, 0.5), 1e-12, 1)
    assert not done
    assert steps == 1
    assert box.value(alpha) < box.value(np.full(30, 0.5))
    # The first step moves the free ones alone, and here there are none.
    alpha, done, steps = polish(box, np.zeros(30), 1e-12, 5)
    assert (done, steps) == (False, 0)
    assert not alpha.any()


def test_without_curvature_every_variable_goes_to_a_bound():
    p = np.array([1.0, -1.0, 0.5])
    box = Box(DenseCurvature(np.zeros((3, 3))), p, np.full(3, 2.0))
    alpha, done, _ = polish(box, np.ones(3), 1e-12, 50)
    assert done
    assert_array_equal(alpha, [0.0, 2.0, 0.0])


def test_a_face_that_rounding_makes_indefinite_is_raised_by_little():
    n = 40
    Q = np.ones((n, n)) - 1e-9 * np.eye(n)
    box = Box(DenseCurvature(Q), np.full(n, -1.0), np.ones(n))
    alpha, done, steps = polish(box, np.full(n, 0.5), 1e-6, 3)
    assert done
    assert steps == 1  # Newton's step but for a part of a millionth
    assert_allclose(alpha.sum(), 1.0, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_rows_stand_for_their_products(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((20, 6))
    thin, thick = RowCurvature(A), DenseCurvature(A @ A.T)
    assert (thin.rank, thick.rank) == (6, 20)
    x, D = rng.standard_normal(20), rng.uniform(0.1, 10.0, 20)
    assert_allclose(thin.apply(x), thick.apply(x), rtol=1e-10)
    F = np.array([3, 7, 19])
    assert_allclose(thin.face(F), thick.face(F), rtol=1e-10)
    assert_allclose(thin.shifted(D)(x), thick.shifted(D)(x), rtol=1e-8)
    assert_allclose(thick.shifted(D)(x), np.linalg.solve(A @ A.T + np.diag(D), x), rtol=1e-8)
