"""Truths about the solve that join modules."""

import numpy as np
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose

import oracles
from conditioning import EPS, STEPS, Conditioning, assert_within, with_ones
from laws.problems import make_problem, primal
from ulmus.hidden import Stored
from ulmus.methods.dual import dual, dual_path
from ulmus.methods.ridge import solve
from ulmus.problem import Problem
from ulmus.targets import ValueTargets, coded

seeds = integers(0, 10**6)
sizes = integers(2, 40)
widths = integers(1, 40)
kinds = sampled_from([0, 2, 3])
GRID = np.logspace(-3, 3, 7)

laws = settings(max_examples=40, deadline=None)


def everything(problem):
    return np.arange(len(problem.H))


def T_of(problem):
    return coded(problem.targets, slice(0, len(problem.H)), float)


def conditioning(problem, C):
    """Of the problem at C, and its rows, with a column for an intercept where it has one."""
    H, penalty = problem.H.all(), 0.0
    if problem.intercept:
        H, penalty = with_ones(H, 1 / C)
    return Conditioning.of(H, T_of(problem), 1 / C, problem.weight, penalty), H


def unit_of(problem):
    return problem.unit_weight(slice(0, len(problem.H)))


def assert_same_weights(problem, C, a, b):
    """The same outputs and the same β."""
    H, (rounding, _) = problem.H.all(), conditioning(problem, C)
    assert_within(H @ a, H @ b, rounding.outputs)
    assert_within(a, b, rounding.weights)


def assert_left_out(problem, C, found, expected):
    """The same outputs of rows left out."""
    rounding, H = conditioning(problem, C)
    apart = rounding.left_out(H, T_of(problem) - expected, unit_of(problem))
    assert_within(found, expected, apart)


@laws
@given(seed=seeds, n=sizes, h=widths, classes=kinds, weighted=booleans(), C=sampled_from(GRID))
def test_primal_is_dual_is_the_formula(seed, n, h, classes, weighted, C):
    p = make_problem(seed, n, h, classes=classes, weighted=weighted)
    expected = oracles.ridge(p.H.all(), T_of(p), C, p.weight)
    assert_same_weights(p, C, primal(p, C, everything(p)).coef, expected)
    assert_same_weights(p, C, dual(p, C).coef, expected)
    assert_same_weights(p, C, dual_path(p, np.array([C])).coef, expected)


@laws
@given(seed=seeds, n=sizes, h=widths, weighted=booleans(), C=sampled_from(GRID))
def test_an_intercept_is_a_column_of_ones_without_penalty(seed, n, h, weighted, C):
    p = make_problem(seed, n, h, weighted=weighted, intercept=True)
    H, (rounding, _) = p.H.all(), conditioning(p, C)
    coef, b = oracles.ridge_about_means(H, T_of(p), C, p.weight)
    for solution in (primal(p, C, everything(p)), dual(p, C), dual_path(p, np.array([C]))):
        assert_within(H @ solution.coef + solution.intercept, H @ coef + b, rounding.outputs)
        assert_within(solution.coef, coef, rounding.weights)
        # The mean row times β is part of it.
        apart = rounding.outputs + np.linalg.norm(H.mean(axis=0)) * rounding.weights
        assert_within(solution.intercept, b, apart)


@laws
@given(
    seed=seeds,
    n=integers(3, 40),
    h=widths,
    classes=kinds,
    weighted=booleans(),
    intercept=booleans(),
    C=sampled_from(GRID),
)
def test_leaving_one_out_is_n_refits(seed, n, h, classes, weighted, intercept, C):
    p = make_problem(seed, n, h, classes=classes, weighted=weighted, intercept=intercept)
    expected = oracles.left_out(p.H.all(), T_of(p), C, p.weight, intercept=intercept)
    assert_left_out(p, C, primal(p, C, everything(p)).loo, expected)
    assert_left_out(p, C, dual(p, C).loo, expected)


@laws
@given(seed=seeds, n=integers(3, 40), h=widths, intercept=booleans(), C=sampled_from(GRID))
def test_leaving_out_a_unit_of_weight_is_n_refits(seed, n, h, intercept, C):
    p = make_problem(seed, n, h, weighted=True)
    p = Problem(p.H, p.targets, p.weight, np.minimum(p.weight, 1.0), intercept)
    expected = oracles.left_out(p.H.all(), T_of(p), C, p.weight, p.unit, intercept)
    assert_left_out(p, C, primal(p, C, everything(p)).loo, expected)
    assert_left_out(p, C, dual(p, C).loo, expected)


@laws
@given(
    seed=seeds,
    n=integers(3, 40),
    h=widths,
    classes=kinds,
    weighted=booleans(),
    intercept=booleans(),
)
def test_the_path_holds_the_leave_one_out_error_of_every_C(
    seed, n, h, classes, weighted, intercept
):
    p = make_problem(seed, n, h, classes=classes, weighted=weighted, intercept=intercept)
    T, c = T_of(p), np.ones(n) if p.weight is None else p.weight
    F = [oracles.left_out(p.H.all(), T, C, p.weight, intercept=intercept) for C in GRID]
    squared = [np.average(np.sum((T - f) ** 2, axis=1), weights=c) for f in F]
    parts = zip((conditioning(p, C) for C in GRID), F, strict=True)
    apart = [rounding.squared_error(H, T - f, unit_of(p), c) for (rounding, H), f in parts]
    for solution in (primal(p, GRID), dual_path(p, GRID)):
        assert solution.path.rows == n
        assert_within(solution.path.squared_error, squared, apart)
        assert GRID[solution.path.best] == solution.C
        solve_naively = oracles.ridge_about_means if intercept else oracles.ridge
        expected = solve_naively(p.H.all(), T, solution.C, p.weight)
        expected = expected[0] if intercept else expected
        assert_same_weights(p, solution.C, solution.coef, expected)
        assert_left_out(p, solution.C, solution.loo, F[solution.path.best])
        if classes:
            label = T[:, 0] > 0 if classes == 2 else T.argmax(1)
            guess = [f[:, 0] > 0 if classes == 2 else f.argmax(1) for f in F]
            rate = np.array([np.average(g != label, weights=c) for g in guess])
            clear = [_margin(f) > 1e-7 for f in F]  # a tie may round either way
            assert_allclose(solution.path.error_rate[clear], rate[clear], atol=1e-12)


def _margin(F):
    """The least distance between a row's best and second-best decision."""
    if F.shape[1] == 1:
        return np.abs(F).min()
    best = np.sort(F, axis=1)
    return (best[:, -1] - best[:, -2]).min()


@laws
@given(seed=seeds, n=sizes, h=widths, weighted=booleans())
def test_moments_add_subtract_and_scale(seed, n, h, weighted):
    whole = make_problem(seed, n, h, classes=3, weighted=weighted)
    cut = n // 2 + 1
    parts = []
    for rows in (slice(0, cut), slice(cut, n)):
        if rows.start >= n:
            return
        weight = None if whole.weight is None else whole.weight[rows]
        targets = type(whole.targets)(whole.targets.codes[rows], 3)
        parts.append(
            Problem(type(whole.H)(whole.H.layer, whole.H.X[rows]), targets, weight).moments()
        )
    total = whole.moments()
    apart = STEPS * EPS * total.weight  # no entry of H or of the targets is beyond one
    for joined in (parts[0] + parts[1], 2.0 * (parts[0] + parts[1]) * 0.5):
        assert_moments(joined, total, apart)
    assert_moments(total - parts[1], parts[0], apart)
    assert_within(np.sum(total.energy), total.weight, apart)  # one-hot: Σ c‖y‖² = Σ c


def assert_moments(a, b, apart):
    for name in ("gram", "cross", "energy", "hidden", "target", "weight", "rows"):
        assert_within(getattr(a, name), getattr(b, name), apart)


@laws
@given(seed=seeds, n=sizes, h=widths, C=sampled_from(GRID))
def test_a_row_of_weight_two_is_two_rows(seed, n, h, C):
    p = make_problem(seed, n, h)
    twice = np.r_[np.arange(n), 0]
    doubled = Problem(p.H.take(twice), type(p.targets)(p.targets.values[twice]))
    weight = np.ones(n)
    weight[0] = 2.0
    weighted = Problem(p.H, p.targets, weight, np.minimum(weight, 1.0))
    a, b = solve(doubled, C, 0), solve(weighted, C, 0)
    assert_same_weights(weighted, C, a.coef, b.coef)
    assert_left_out(weighted, C, a.loo[:n], b.loo)


@laws
@given(seed=seeds, n=sizes, h=widths)
def test_shuffling_rows_changes_nothing(seed, n, h):
    p = make_problem(seed, n, h, classes=3)
    order = np.random.default_rng(seed).permutation(n)
    q = Problem(p.H.take(order), type(p.targets)(p.targets.codes[order], 3))
    a, b = solve(p, GRID, 0), solve(q, GRID, 0)
    for C, one, other in zip(GRID, a.path.squared_error, b.path.squared_error, strict=True):
        rounding, H = conditioning(p, C)
        residual = T_of(p) - oracles.left_out(H, T_of(p), C)
        apart = rounding.squared_error(H, residual, np.ones(n), np.ones(n))
        assert_within(one, other, apart)
    assert_same_weights(p, 1.0, solve(p, 1.0, 0).coef, solve(q, 1.0, 0).coef)


@laws
@given(seed=seeds, n=integers(12, 40), h=integers(1, 6))
def test_huge_C_is_least_squares_and_tiny_C_is_zero(seed, n, h):
    p = make_problem(seed, n, h)
    H, T = p.H.all(), T_of(p)
    fitted = H @ np.linalg.lstsq(H, T, rcond=None)[0]
    least = np.linalg.svd(H, compute_uv=False)[-1] ** 2
    for C in (1e4, 1e8):
        rounding, _ = conditioning(p, C)
        # A ridge of 1/C takes this part of what the smallest singular direction explains.
        apart = rounding.outputs + rounding.size / (C * least + 1.0)
        assert_within(H @ primal(p, C, everything(p)).coef, fitted, apart)
        assert_within(H @ dual_path(p, np.array([C])).coef, fitted, apart)
    assert np.abs(solve(p, 1e-12, 0).coef).max() <= 1e-12 * np.linalg.norm(H) * np.linalg.norm(T)


@laws
@given(seed=seeds, n=integers(5, 60), h=integers(1, 60), classes=kinds)
def test_float32_is_close_to_float64(seed, n, h, classes):
    # Outputs within 1e-3 for C up to 10, and closer where the problem is well conditioned: H is off
    # by float32's eps, and what it is off by is magnified by √κ.
    wide = make_problem(seed, n, h, classes=classes)
    narrow = make_problem(seed, n, h, classes=classes, dtype=np.float32)
    assert narrow.H.all().dtype == np.float32
    for C in (0.1, 10.0):
        a, b = solve(wide, C, 0), solve(narrow, C, 0)
        assert b.coef.dtype == np.float64
        rounding, _ = conditioning(wide, C)
        kappa = np.linalg.norm(rounding.A, 2) * C
        apart = STEPS * float(np.finfo(np.float32).eps) * np.sqrt(kappa) * rounding.size
        assert_within(wide.H.all() @ a.coef, narrow.H.all() @ b.coef, min(apart, 1e-3))


def test_small_columns_keep_their_say_in_float32():
    """A low-rank factor's columns shrink; rounding of the large ones must not bury the small."""
    rng = np.random.default_rng(0)
    H = rng.standard_normal((400, 60)) * np.logspace(0, -3, 60)
    T = H @ (rng.standard_normal((60, 1)) / np.logspace(0, -3, 60))
    errors = []
    for dtype in (np.float64, np.float32):
        p = Problem(Stored([H.T.astype(dtype)]), ValueTargets(T))
        path = primal(p, np.array([1e6]), np.arange(0)).path
        errors.append(path.squared_error[0])
    assert errors[0] < 1e-3 * np.mean(T**2)
    assert errors[1] < 3 * errors[0]
