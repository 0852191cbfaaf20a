"""What a problem and its sums promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conditioning import EPS, STEPS, assert_within
from laws.problems import make_problem
from ulmus import problem as module
from ulmus.backends import namespace
from ulmus.hidden import Stored
from ulmus.problem import ErrorPath, Problem, Tally
from ulmus.targets import ClassTargets, ValueTargets, coded

C, LAM = np.array([0.1, 1.0, 10.0, 100.0]), np.array([0.0, 1.0, 0.0, 1.0])


def assert_sums(moments, H, Y, c):
    """Every sum, written out."""
    apart = STEPS * EPS * c.sum()
    assert_within(moments.gram, H.T @ (c[:, None] * H), apart)
    assert_within(moments.cross, H.T @ (c[:, None] * Y), apart)
    assert_within(moments.energy, c @ Y**2, apart)
    assert_within(moments.hidden, H.T @ c, apart)
    assert_within(moments.target, Y.T @ c, apart)
    assert_within(moments.weight, c.sum(), apart)
    assert moments.rows == len(H)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [6, 7])  # tanh units, and sigmoid ones, which have an offset
def test_moments_are_their_sums(seed, weighted, monkeypatch):
    monkeypatch.setattr(module, "PANEL", 3)
    p = make_problem(seed, 30, 8, classes=3, weighted=weighted)
    assert (p.H.offset != 0) == (seed == 7)
    c = np.ones(30) if p.weight is None else p.weight
    assert_sums(p.moments(), p.H.all(), np.eye(3)[p.targets.codes], c)


@pytest.mark.parametrize("seed", [6, 7])
def test_moments_about_the_first_means_are_the_same(seed, monkeypatch):
    # What a device with matrix units does, here on the host.
    monkeypatch.setattr(module, "has_matrix_units", lambda B: True)
    p = make_problem(seed, 30, 8, classes=3, weighted=True)
    plain = _plain_rounding(seed)
    moments = p.moments()
    assert_sums(moments, p.H.all(), np.eye(3)[p.targets.codes], p.weight)
    assert moments.rounding >= 32 * plain / 30  # of sums about the means, and short products


def _plain_rounding(seed):
    p = make_problem(seed, 30, 8, classes=3, weighted=True)
    return EPS * np.diagonal(p.H.all().T @ p.H.all()).max()


def test_rounding_grows_with_the_largest_sum_and_the_root_of_the_units():
    p = make_problem(6, 30, 9, classes=3)
    for dtype in (np.float64, np.float32):
        moments = Problem(Stored([p.H.all().T.astype(dtype)]), p.targets).moments()
        largest = np.diagonal(moments.gram).max()
        assert_allclose(moments.rounding, 3.0 * float(np.finfo(dtype).eps) * largest, rtol=1e-6)
    both, doubled = moments + moments, 2.0 * moments
    assert both.rounding == doubled.rounding == (moments * -2.0).rounding
    assert (moments - moments).rounding == both.rounding  # what is lost stays lost


def test_the_first_units_have_the_first_sums():
    p = make_problem(7, 30, 8, classes=3)
    some = p.moments().first(5)
    H, Y = p.H.all()[:, :5], np.eye(3)[p.targets.codes]
    assert_sums(some, H, Y, np.ones(30))


def test_a_frame_states_what_the_solve_sees():
    p = make_problem(7, 30, 8, classes=3, weighted=True)
    H, T, c = p.H.all(), coded(p.targets, slice(0, 30), float), p.weight
    plain = p.frame(p.moments())
    assert_allclose(plain.cross, H.T @ (c[:, None] * T), rtol=1e-12)
    assert plain.share == 0
    assert not plain.center.any()
    assert not plain.intercept(np.ones((8, 3))).any()
    p = Problem(p.H, p.targets, c, None, True)
    about = p.frame(p.moments())
    means = np.average(H, axis=0, weights=c), np.average(T, axis=0, weights=c)
    assert_allclose(about.center, means[0], rtol=1e-12)
    assert_allclose(about.level, means[1], rtol=1e-12)
    assert about.share == pytest.approx(1 / c.sum())
    assert_allclose(about.gram, (H - means[0]).T @ (c[:, None] * (H - means[0])), atol=1e-12)
    assert_allclose(about.cross, (H - means[0]).T @ (c[:, None] * (T - means[1])), atol=1e-12)
    beta = np.arange(24.0).reshape(8, 3)
    assert_allclose(about.intercept(beta), means[1] - means[0] @ beta, rtol=1e-12)


def test_what_a_row_loses_when_it_is_left_out():
    p = make_problem(6, 10, 5, weighted=True)
    rows = np.array([7, 2])
    assert_array_equal(p.unit_weight(rows), p.weight[rows])
    part = Problem(p.H, p.targets, p.weight, np.arange(10.0))
    assert_array_equal(part.unit_weight(rows), [7.0, 2.0])
    even = Problem(p.H, p.targets)
    assert_array_equal(even.unit_weight(rows), [1.0, 1.0])
    assert_array_equal(even.unit_weight(slice(4, 8)), np.ones(4))
    assert_array_equal(even.unit_weight(slice(4, None)), np.ones(6))


GRID = np.array([0.1, 1.0, 10.0])


def test_the_best_of_values_has_the_least_squared_error():
    path = ErrorPath(GRID, np.array([3.0, 1.0, 2.0]), None, "loo", 50)
    assert path.best == 1
    assert path.score == (0.0, 1.0)
    assert list(path.table()) == ["C", "squared_error"]


def test_the_best_of_classes_is_within_one_row_of_the_least_error_rate():
    squared = np.array([3.0, 2.0, 1.0])
    for rate, best in (([0.10, 0.12, 0.13], 1), ([0.10, 0.1201, 0.13], 0), ([0.1, 0.2, 0.1], 2)):
        path = ErrorPath(GRID, squared, np.array(rate), "loo", 50)  # a row is 0.02
        assert path.best == best
        assert path.score == (rate[best], squared[best])
    table = ErrorPath(GRID, squared, np.array(rate), "loo", 50, lam=GRID).table()
    assert list(table) == ["lam", "C", "squared_error", "error_rate"]


def test_of_points_that_tie_the_smoothest_is_best():
    squared, rough = np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 3.0, 2.0, 1.0])
    rates = np.array([0.10, 0.10, 0.119, 0.2])

    def best(rows, kind="loo", error_rate=rates):
        return ErrorPath(squared, squared, error_rate, kind, rows, squared, rough).best

    assert best(49) == 1
    assert best(50) == 2  # one row more, 0.02, counts as equal from fifty rows on
    assert best(60) == 1  # 0.0167 is less than what the third point is worse by
    assert best(50, "validation") == 1
    assert best(50, error_rate=None) == 0


@pytest.mark.parametrize("classes", [True, False])
def test_validation_rows_count_as_much_as_left_out_ones(classes):
    rates = (np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.0, 0.1])) if classes else (None, None)
    own = ErrorPath(GRID, np.array([1.0, 2.0, 3.0]), rates[0], "loo", 30, roughness=GRID)
    other = ErrorPath(GRID, np.array([3.0, 2.0, 1.0]), rates[1], "validation", 10)
    both = own.with_validation(other)
    assert_allclose(both.squared_error, [1.5, 2.0, 2.5])
    assert (both.kind, both.rows, both.best) == ("validation", 40, 0)
    if classes:
        assert_allclose(both.error_rate, [0.15, 0.15, 0.25])
        assert_allclose(both.error, 0.15)


def test_a_class_that_is_missing_has_sums_of_zero():
    p = make_problem(6, 10, 5, classes=2)
    moments = Problem(p.H, ClassTargets(p.targets.codes, 3)).moments()
    assert not moments.cross[:, 2].any()
    assert moments.target[2] == 0
    assert namespace.is_numpy(moments.gram)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_parts_of_rows_and_points_add_up(classes, weighted):
    rng = np.random.default_rng(classes)
    targets = ValueTargets(rng.standard_normal((20, 2)))
    if classes:
        targets = ClassTargets(rng.integers(0, classes, 20), classes)
    weight = rng.uniform(0.5, 2.0, 20) if weighted else None
    T = coded(targets, slice(0, 20), np.dtype(float))
    residual = rng.standard_normal((20, 4, T.shape[1]))
    tally = Tally(Problem(None, targets, weight), C, LAM, "cv")
    for rows in (np.arange(0, 20, 2), np.arange(1, 20, 2)):
        for where in (np.array([0, 3]), slice(1, 3)):
            tally.add(rows, where, residual[rows][:, where])
    path = tally.path()
    assert (path.kind, path.rows) == ("cv", 20)
    assert_array_equal(path.C, C)
    assert_array_equal(path.lam, LAM)
    expected = np.average(np.sum(residual**2, axis=2), axis=0, weights=weight)
    assert_allclose(path.squared_error, expected)
    assert (path.error_rate is None) == (classes == 0)
    if classes:
        F = T[:, None, :] - residual
        names = F[..., 0] > 0 if classes == 2 else F.argmax(axis=2)
        expected = np.average(names != targets.codes[:, None], axis=0, weights=weight)
        assert_allclose(path.error_rate, expected)
