"""Truths about the hinge loss: on hidden rows, on a kernel, and between the two."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import oracles
from conditioning import EPS, STEPS, assert_within
from ulmus.exceptions import InvalidInputError
from ulmus.features import RandomFeatures
from ulmus.methods import hinge as explicit
from ulmus.methods.box import Box, DenseCurvature, RowCurvature, interior, pull
from ulmus.methods.hinge import Hinge, RowCache, hinge, hinge_kernel, loops

seeds = integers(0, 10**6)
sizes = integers(2, 60)
widths = integers(1, 40)
bounds = sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4])
laws = settings(max_examples=40, deadline=None)
TOL = 1e-5
# Steps of coordinate descent whose rounding adds up before slopes are made anew.
MANY = 100.0


def make_hinge(seed, n, h, C=1.0, *, columns=1, weighted=False, dtype=float):
    """Hidden rows, and signs that half follow them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    H = RandomFeatures(h, random_state=seed % 1000).fit(X).transform(X).astype(dtype)
    truth = X @ rng.standard_normal((3, columns)) + rng.standard_normal((n, columns))
    upper = C * (rng.uniform(0.2, 3.0, n) if weighted else np.ones(n))
    return H, Hinge(np.where(truth > 0, 1.0, -1.0), upper)


def columns_of(problem):
    return [(j, problem.sign[:, j]) for j in range(problem.sign.shape[1])]


def gram(H):
    return H.astype(float) @ H.astype(float).T


def rounding(K, alpha):
    """What the rounding of many small steps may add to a row's slope."""
    return MANY * EPS * (1.0 + np.abs(K) @ alpha).max()


def unsettled(K, tol, upper, alpha):
    """How far two outputs may be apart that were both found to ``tol``.

    w is unique, and half the square that it is off by is no more than the gap, tol Σc.
    """
    gap = (tol + rounding(K, alpha)) * upper.sum()
    return 2 * np.sqrt(2 * gap * np.diagonal(K).max())


def assert_optimal(problem, alpha, K, tol=TOL):
    """No row violates the conditions by more than ``tol``, and so the gap is small too."""
    assert (alpha >= 0).all()
    assert (alpha <= problem.upper[:, None]).all()
    for j, y in columns_of(problem):
        a, c = alpha[:, j], problem.upper
        slack = rounding(K, a)
        assert oracles.hinge_violation(a, K, y, c) <= tol + slack
        gap = oracles.hinge_kernel_primal(a, K, y, c) - oracles.hinge_dual(a, K, y)
        assert -slack * c.sum() <= gap <= (tol + slack) * c.sum()


@laws
@given(seed=seeds, n=sizes, h=widths, C=bounds, weighted=booleans(), columns=sampled_from([1, 3]))
def test_no_row_violates_the_optimality_conditions(seed, n, h, C, weighted, columns):
    H, problem = make_hinge(seed, n, h, C, weighted=weighted, columns=columns)
    K = gram(H)
    rows = hinge(problem, H, tol=TOL)
    assert_optimal(problem, rows.alpha, K)
    assert rows.residual.max() <= TOL
    apart = MANY * EPS * (1.0 + np.abs(H).T @ rows.alpha).max()
    assert_within(rows.coef, H.T @ (problem.sign * rows.alpha), apart)
    blocks = hinge_kernel(problem, lambda i: K[i], np.diagonal(K), tol=TOL)
    assert_optimal(problem, blocks.alpha, K)


@laws
@given(
    seed=seeds, n=integers(2, 30), h=widths, C=sampled_from([0.1, 1.0, 30.0]), weighted=booleans()
)
def test_the_dual_value_is_a_general_solvers(seed, n, h, C, weighted):
    H, problem = make_hinge(seed, n, h, C, weighted=weighted)
    K, y = gram(H), problem.sign[:, 0]
    peer = oracles.hinge_by_general_solvers(K, y, problem.upper)
    expected = oracles.hinge_dual(peer, K, y)
    found = hinge(problem, H, tol=1e-8).alpha[:, 0]
    kernel = hinge_kernel(problem, lambda i: K[i], np.diagonal(K), tol=1e-8).alpha[:, 0]
    # Half the square that w is off by is at most what the dual value is, and that at most the gap.
    ours = (1e-8 + rounding(K, found)) * problem.upper.sum()
    theirs = oracles.hinge_kernel_primal(peer, K, y, problem.upper) - expected
    assert theirs <= 1e-5 * problem.upper.sum()
    apart = np.sqrt(2 * np.diagonal(K).max()) * (np.sqrt(ours) + np.sqrt(max(theirs, 0.0)))
    for alpha in (found, kernel):
        assert_within(oracles.hinge_dual(alpha, K, y), expected, ours + max(theirs, 0.0))
        assert_within(K @ (y * alpha), K @ (y * peer), apart)


@laws
@given(seed=seeds, n=sizes, h=widths, C=bounds, columns=sampled_from([1, 3]))
def test_hidden_rows_are_the_kernel_of_their_products(seed, n, h, C, columns):
    H, problem = make_hinge(seed, n, h, C, columns=columns)
    K = gram(H)
    rows = hinge(problem, H, tol=1e-7)
    blocks = hinge_kernel(problem, lambda i: K[i], np.diagonal(K), tol=1e-7)
    F = K @ (problem.sign * blocks.alpha)
    assert_within(H @ rows.coef, F, unsettled(K, 1e-7, problem.upper, rows.alpha))


@laws
@given(seed=seeds, n=integers(4, 60), h=widths, C=bounds)
def test_float32_rows_are_the_problem_they_round_to(seed, n, h, C):
    H, problem = make_hinge(seed, n, h, C, dtype=np.float32)
    found = hinge(problem, H, tol=TOL)
    assert found.coef.dtype == np.float64
    assert_optimal(problem, found.alpha, gram(H))


@laws
@example(seed=97670, n=14, h=14, C=0.1)  # rounds to a matrix with a negative eigenvalue
@given(seed=seeds, n=integers(4, 60), h=widths, C=sampled_from([0.1, 1.0, 30.0]))
def test_a_float32_kernel_is_solved_to_its_rounding(seed, n, h, C):
    H, problem = make_hinge(seed, n, h, C)
    K = gram(H).astype(np.float32)
    found = hinge_kernel(problem, lambda i: K[i], np.diagonal(K).astype(float), tol=1e-4)
    eps = float(np.finfo(np.float32).eps)
    apart = STEPS * eps * np.sqrt(n) * np.diagonal(K).max() * found.alpha.max()
    assert_optimal(problem, found.alpha, K.astype(float), 1e-4 + apart)


@laws
@given(seed=seeds, n=integers(4, 50), h=widths, C=sampled_from([0.1, 1.0, 10.0]))
def test_the_objective_is_that_of_a_linear_support_vector_machine(seed, n, h, C):
    H, problem = make_hinge(seed, n, h, C)
    y = problem.sign[:, 0]
    if len(set(y)) < 2:
        return
    peer = LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=1e-6, max_iter=20000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it need not get there
        theirs = oracles.hinge_primal(peer.fit(H, y).coef_[0], H, y, problem.upper)
    found = hinge(problem, H, tol=1e-7)
    ours = oracles.hinge_primal(found.coef[:, 0], H, y, problem.upper)
    assert ours <= theirs + (1e-7 + rounding(gram(H), found.alpha)) * problem.upper.sum()
    assert theirs <= 1.05 * ours


@laws
@given(seed=seeds, n=integers(3, 40), h=widths, C=bounds)
def test_a_bound_twice_as_high_is_a_row_twice(seed, n, h, C):
    H, problem = make_hinge(seed, n, h, C)
    upper = problem.upper.copy()
    upper[0] *= 2
    twice = np.r_[np.arange(n), 0]
    a = hinge(Hinge(problem.sign, upper), H, tol=1e-7)
    b = hinge(Hinge(problem.sign[twice], problem.upper[twice]), H[twice], tol=1e-7)
    assert_within(H @ a.coef, H @ b.coef, unsettled(gram(H), 1e-7, upper, a.alpha))


@laws
@given(seed=seeds, n=integers(10, 60), h=integers(5, 40))
def test_coordinate_descent_alone_ends_with_no_row_put_aside(seed, n, h):
    H, problem = make_hinge(seed, n, h, 0.1)
    y, alpha, w = problem.sign[:, 0], np.zeros(n), np.zeros(h)
    loops().descend(H, y, problem.upper, alpha, w, 0, 10**6, 1e-4)
    assert_within(w, H.T @ (y * alpha), MANY * EPS * (1.0 + np.abs(H).T @ alpha).max())
    # Rows that were right when they were visited may be off by what the others moved after.
    assert oracles.hinge_violation(alpha, gram(H), y, problem.upper) <= 2e-4


@laws
@given(seed=seeds, n=sizes, h=widths, C=bounds, factor=sampled_from([1e-3, 0.3, 3.0, 1e3]))
def test_where_it_starts_makes_no_difference(seed, n, h, C, factor):
    H, problem = make_hinge(seed, n, h, C)
    K = gram(H)
    other = Hinge(problem.sign, factor * problem.upper)
    start = hinge(other, H).alpha
    assert_optimal(problem, hinge(problem, H, start, tol=TOL).alpha, K)
    found = hinge_kernel(problem, lambda i: K[i], np.diagonal(K), start, tol=TOL)
    assert_optimal(problem, found.alpha, K)


def test_blocks_grow_rather_than_undo_each_others_work():
    H, problem = make_hinge(2, 1200, 60, 100.0)
    K = gram(H)
    found = hinge_kernel(problem, lambda i: K[i], np.diagonal(K))
    assert found.residual.max() <= 1e-3
    assert found.steps.max() <= 15


@laws
@given(seed=seeds, n=integers(2, 60), h=widths, C=bounds)
def test_every_way_to_the_answer_gives_it(seed, n, h, C):
    # Coordinate descent and the interior point method, whichever the sizes would choose.
    H, problem = make_hinge(seed, n, h, C)
    K, y = gram(H), problem.sign[:, 0]
    p = np.full(n, -1.0)
    Q = K * np.outer(y, y)
    for curvature in (DenseCurvature(Q), RowCurvature(H * y[:, None])):
        box = Box(curvature, p, problem.upper)
        alpha, steps = interior(box, np.zeros(n), TOL, 200)
        assert steps <= 60
        assert np.abs(pull(alpha, problem.upper, Q @ alpha - 1)).max() <= 10 * TOL
    alpha, slope = np.zeros(n), p.copy()
    if h >= 3 and C <= 1.0:
        loops().descend_gram(Q, slope, problem.upper, alpha, 100_000, TOL)
        assert_within(slope, Q @ alpha - 1, rounding(Q, alpha))
        assert np.abs(pull(alpha, problem.upper, slope)).max() <= TOL


@pytest.mark.parametrize("h", [20, 300])
@pytest.mark.parametrize("C", [1.0, 1000.0])
def test_a_start_at_the_answer_needs_no_steps_to_speak_of(h, C):
    H, problem = make_hinge(3, 200, h, C, columns=2)
    first = hinge(problem, H)
    again = hinge(problem, H, first.alpha)
    assert again.steps.max() <= 10
    assert again.steps.sum() < first.steps.sum() / 2
    K = gram(H)
    first = hinge_kernel(problem, lambda i: K[i], np.diagonal(K))
    again = hinge_kernel(problem, lambda i: K[i], np.diagonal(K), first.alpha)
    assert_array_equal(again.steps, 0)


def test_the_interior_point_method_is_reached_and_agrees(monkeypatch):
    H, problem = make_hinge(1, 400, 50, 100.0)
    found = hinge(problem, H, tol=1e-6)
    assert found.residual.max() <= 1e-6
    monkeypatch.setattr(explicit, "fits", lambda *size: False)
    by_coordinates = hinge(problem, H, tol=1e-3, max_iter=100)
    assert by_coordinates.steps.max() == 100
    assert by_coordinates.residual.max() > 1e-3


@pytest.mark.parametrize("megabytes", [0.02, 0.1, 1.0, 100])
def test_the_memory_for_a_kernel_changes_the_way_and_not_the_answer(megabytes):
    H, problem = make_hinge(5, 300, 40, 5.0, columns=3)
    K = gram(H)
    held = []
    with config_context(working_memory=megabytes):
        capacity = RowCache(lambda i: K[i], np.diagonal(K)).capacity
        assert capacity * 300 * 8 <= max(megabytes * 2**20, 2 * 300 * 8)

        def rows(indices):
            held.append(len(indices))
            return K[indices]

        found = hinge_kernel(problem, rows, np.diagonal(K), tol=1e-4, max_iter=5000)
    assert_optimal(problem, found.alpha, K, 1e-4)
    assert max(held) <= capacity
    if megabytes >= 1:
        assert sum(held) <= 300  # every row once, for all three problems


@pytest.mark.parametrize("cut", [np.s_[:, :-1], np.s_[:-1], np.s_[:, [0, *range(30)]]])
def test_a_kernel_of_another_shape_is_refused(cut):
    H, problem = make_hinge(0, 30, 5)
    K = gram(H)
    with pytest.raises(InvalidInputError, match="of shape"):
        hinge_kernel(problem, lambda i: K[i][cut], np.diagonal(K))


def test_a_row_is_undecided_unless_a_bound_holds_it_firmly():
    alpha, gradient = (
        np.array([0.0, 0.0, 1.0, 1.0, 0.5, 0.0, 1.0]),
        np.array([2.0, 1, -2, -1, 9, -9, 9]),
    )
    column = explicit._Column(loops(), np.ones((7, 1)), np.ones(7), np.ones(7), alpha, 1e-3)
    assert_array_equal(
        column.undecided(gradient, 1.5), [False, True, False, True, True, True, True]
    )


def test_coordinate_descent_leaves_half_of_the_steps_to_the_other_way(monkeypatch):
    H, problem = make_hinge(1, 400, 50, 100.0)
    calls = []

    def settle(column, max_iter, seed):
        calls.append(column.steps)

    monkeypatch.setattr(explicit, "_settle", settle)
    for most in (1, 200, 10_000):
        hinge(problem, H, tol=1e-9, max_iter=most)
    assert calls == [1, 100, explicit._EPOCHS]


def test_products_are_written_out_where_rows_are_fewer_than_units():
    H, problem = make_hinge(1, 60, 20)
    column = explicit._Column(loops(), H, problem.sign[:, 0], problem.upper, np.zeros(60), 1e-3)
    for count, kind in ((20, DenseCurvature), (21, RowCurvature)):
        rows, x = np.arange(count), np.linspace(-1.0, 1.0, count)
        box, A = column.box(rows, column.gradient()), H[rows] * problem.sign[rows]
        assert isinstance(box.Q, kind)
        assert_allclose(box.Q.apply(x), A @ (A.T @ x), atol=1e-12)
        assert_array_equal(box.p, -1.0)


def test_steps_that_lead_nowhere_are_not_taken_twice(monkeypatch):
    H, problem = make_hinge(1, 400, 50, 100.0)
    calls = []

    def nowhere(box, alpha, tol, max_steps):
        calls.append(max_steps)
        return alpha, 1

    monkeypatch.setattr(explicit, "interior", nowhere)
    found = hinge(problem, H, tol=1e-6, max_iter=200)
    assert len(calls) == 1
    assert found.steps.max() == 200  # the rest went to coordinate descent


def test_a_block_takes_violators_then_free_rows_then_the_least_held():
    #               two violate | three are free | five are held, less and less firmly
    alpha = np.array([0.0, 1.0, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 1.0, 0.0])
    gradient = np.array([-3.0, 2.0, 0.0, 0.0, 0.0, 9.0, 8.0, -7.0, -6.0, 5.0])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        for size, members in ((5, range(5)), (6, [0, 1, 2, 3, 4, 9]), (7, [0, 1, 2, 3, 4, 8, 9])):
            found = explicit._block(gradient, alpha, np.ones(10), size, rng)
            assert_array_equal(found, list(members))
        # Where there are too many, half of the block is for the worst violators.
        many = np.where(alpha == 0.5, 1.0, gradient)
        found = explicit._block(many, alpha, np.ones(10), 2, rng)
        assert_array_equal(found[:1], [0])


def test_rows_are_dropped_by_when_they_were_last_used():
    K = np.arange(36.0).reshape(6, 6)
    asked = []

    def rows(indices):
        asked.append(indices.tolist())
        return K[indices]

    with config_context(working_memory=3 * 6 * 8 / 2**20):
        cache = RowCache(rows, np.ones(6))
    for wanted, made in (
        ([0, 1], [0, 1]),
        ([2], [2]),
        ([0], None),
        ([3], [3]),  # 1 was used longest ago
        ([0, 2, 3], None),
        ([1, 3], [1]),
        ([3, 1, 2], None),
    ):
        before = len(asked)
        store, slots = cache.slots(np.array(wanted))
        assert_array_equal(store[slots], K[wanted])
        assert asked[before:] == ([] if made is None else [made])


def test_rows_of_zeros_and_rows_that_are_equal():
    H = np.vstack([np.zeros((3, 4)), np.ones((6, 4)), -np.ones((2, 4))])
    y = np.array([1, -1, 1, 1, 1, 1, -1, -1, 1, -1, 1.0])
    problem = Hinge(y[:, None], np.full(11, 2.0))
    K = H @ H.T
    for alpha in (
        hinge(problem, H, tol=TOL).alpha,
        hinge_kernel(problem, lambda i: K[i], np.diagonal(K), tol=TOL).alpha,
    ):
        assert_optimal(problem, alpha, K)
        assert_array_equal(alpha[:3], 2.0)  # nothing can be done for them
