"""Truths about the within-class scatter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose

import oracles
from conditioning import EPS, Conditioning, assert_within
from laws.problems import make_problem, scatter, scatter_of_sums
from ulmus.hidden import Stored
from ulmus.methods.class_scatter import Classes, Points, Recoding
from ulmus.methods.ridge import solve
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, coded

laws = settings(max_examples=25, deadline=None)
seeds = integers(0, 10**6)
LAMS, CS = np.array([0.0, 0.5, 20.0]), np.array([0.1, 3.0, 1e3])
GRID = Points(*(A.ravel() for A in np.meshgrid(LAMS, CS, indexing="ij")))


def world(seed, n, h, classes, weighted):
    problem = make_problem(seed, n, h, classes=classes, weighted=weighted)
    T = coded(problem.targets, slice(0, n), float)
    return problem, problem.H.all(), problem.targets.codes, T


def conditioning(H, codes, T, lam, C, weight):
    """Of the system with the n × n graph; K has its ridge divided by 1 + λ."""
    scatter = H.T @ oracles.same_class_laplacian(codes, weight) @ H
    return Conditioning.of(H, T, 1 / C, weight, lam * scatter)


def left_out_apart(rounding, H, codes, lam, c, residual):
    """How far left-out outputs may be off: det A over det A without the row magnifies rounding."""
    totals = np.array([c[codes == code].sum() for code in codes])
    means = np.array(
        [np.average(H[codes == code], axis=0, weights=c[codes == code]) for code in codes]
    )
    alone = totals - c <= EPS * totals
    v = lam * np.where(alone, 0.0, c * totals) / np.where(alone, 1.0, totals - c)
    inverse, D = np.linalg.inv(rounding.A), H - means
    hh, hd, dd = (np.sum(a @ inverse * b, axis=1) for a, b in ((H, H), (H, D), (D, D)))
    rest = (1 - c * hh) * (1 - v * dd) - c * v * hd**2
    size = 1.0 + np.abs(residual).max(axis=1) / rounding.size
    return (rounding.outputs * size / rest)[:, None]


@laws
@given(
    seed=seeds,
    n=integers(8, 40),
    h=integers(2, 60),
    classes=sampled_from([2, 3, 5]),
    weighted=booleans(),
    lam=sampled_from(LAMS),
    C=sampled_from(CS),
)
def test_class_sums_are_the_graph_of_all_pairs(seed, n, h, classes, weighted, lam, C):
    problem, H, codes, T = world(seed, n, h, classes, weighted)
    expected = oracles.graph_elm(H, codes, T, lam, C, problem.weight)
    point = Points(np.array([lam]), np.array([C]), chosen=False)
    found = [scatter(problem, point), scatter(problem, Points(point.lam, point.C))]
    found.append(scatter_of_sums(problem.moments(), problem, point, None, np.arange(n)))
    rounding = conditioning(H, codes, T, lam, C, problem.weight)
    for solution in found:
        assert_within(H @ solution.coef, H @ expected, rounding.outputs)
        assert_within(solution.coef, expected, rounding.weights)


@laws
@given(
    seed=seeds,
    n=integers(8, 30),
    h=integers(2, 50),
    classes=sampled_from([2, 3, 5]),
    weighted=booleans(),
)
def test_leaving_out_is_n_refits_class_means_and_all(seed, n, h, classes, weighted):
    problem, H, codes, T = world(seed, n, h, classes, weighted)
    path = scatter(problem, GRID).path
    c = np.ones(n) if problem.weight is None else problem.weight
    for k, (lam, C) in enumerate(zip(GRID.lam, GRID.C, strict=True)):
        F = oracles.graph_elm_left_out(H, codes, T, lam, C, problem.weight)
        rounding = conditioning(H, codes, T, lam, C, problem.weight)
        apart = left_out_apart(rounding, H, codes, lam, c, T - F)
        expected = c @ np.sum((T - F) ** 2, axis=1) / c.sum()
        squared = c @ np.sum((2 * np.abs(T - F) + apart) * apart, axis=1) / c.sum()
        assert_within(path.squared_error[k], expected, squared)
        one = scatter(problem, Points(np.array([lam]), np.array([C]), chosen=False))
        assert_within(one.loo, F[one.loo_rows], apart[one.loo_rows])


def test_a_row_of_weight_two_is_two_rows_when_one_leaves():
    problem, H, codes, T = world(3, 20, 8, 3, False)
    weight = np.where(np.arange(20) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(20), weight.astype(int))
    expected = oracles.graph_elm_left_out(H[twice], codes[twice], T[twice], 2.0, 5.0)
    weighted = replace(problem, weight=weight, unit=np.ones(20))
    found = scatter(weighted, Points(np.array([2.0]), np.array([5.0]), chosen=False))
    _, first = np.unique(twice, return_index=True)
    assert_allclose(found.loo, expected[first], rtol=1e-6)


@laws
@given(seed=seeds, n=integers(10, 40), h=integers(2, 60), weighted=booleans())
def test_without_scatter_it_is_plain_ridge(seed, n, h, weighted):
    problem, H, codes, T = world(seed, n, h, 3, weighted)
    plain = solve(problem, CS, 0)
    found = scatter(problem, Points(np.zeros(3), CS))
    assert found.C == plain.C
    c = np.ones(n) if weighted is False else problem.weight
    for k, C in enumerate(CS):
        rounding = conditioning(H, codes, T, 0.0, C, problem.weight)
        residual = T - oracles.left_out(H, T, C, problem.weight)
        apart = rounding.squared_error(H, residual, c, c)
        assert_within(found.path.squared_error[k], plain.path.squared_error[k], apart)
        if found.C == C:
            assert_within(H @ found.coef, H @ plain.coef, rounding.outputs)


def test_from_sums_some_rows_are_left_out_as_from_all_rows():
    problem, *_ = world(1, 200, 10, 3, True)
    rows = np.arange(0, 200, 7)
    left_out = scatter(problem, GRID)
    summed = scatter_of_sums(problem.moments(), problem, GRID, None, np.arange(5))
    assert_allclose(summed.path.squared_error, left_out.path.squared_error, rtol=1e-9)
    some = replace(problem, H=problem.H.take(rows), weight=problem.weight[rows])
    some = replace(some, targets=ClassTargets(problem.targets.codes[rows], 3))
    sampled = scatter_of_sums(problem.moments(), some, GRID, None, np.arange(5)).path
    assert sampled.kind == "loo"
    chosen = scatter_of_sums(problem.moments(), problem, GRID, rows, np.arange(5)).path
    assert_allclose(sampled.squared_error, chosen.squared_error, rtol=1e-9)


@pytest.mark.parametrize("h", [5, 50])
def test_a_class_of_one_row_has_no_scatter(h):
    problem, H, codes, T = world(5, 24, h, 3, False)
    codes[:], codes[1::2], codes[4] = 0, 1, 2
    T = coded(problem.targets, slice(0, 24), float)
    for lam in (0.0, 3.0):
        found = scatter(problem, Points(np.array([lam]), np.array([2.0]), chosen=False))
        assert_allclose(found.coef, oracles.graph_elm(H, codes, T, lam, 2.0), rtol=1e-4, atol=1e-6)
        expected = oracles.graph_elm_left_out(H, codes, T, lam, 2.0)
        assert_allclose(found.loo, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lam", [0.0, 2.0])
def test_small_columns_keep_their_say_in_float32(lam):
    """What tells the classes apart lies in small columns, whose rounding is small too."""
    rng = np.random.default_rng(0)
    scale = np.logspace(0, -3, 60)
    H = rng.standard_normal((400, 60))
    codes = (H @ rng.standard_normal(60) > 0).astype(np.intp)
    errors = []
    for dtype in (np.float64, np.float32):
        p = Problem(Stored([(H * scale).T.astype(dtype)]), ClassTargets(codes, 2))
        path = scatter(p, Points(np.array([lam]), np.array([1e6]))).path
        errors.append(path.squared_error[0])
    assert_allclose(errors[1], errors[0], rtol=1e-4)


def test_more_classes_than_units_are_recoded_in_as_many_directions_as_units():
    problem, *_ = world(3, 40, 4, 9, False)
    moments = problem.moments()
    classes = Classes.of(moments.cross, moments.energy)
    found = Recoding.of(classes.M, classes)
    assert found.O.shape == (9, 4)  # nothing is classes by classes
    assert found.weights.shape == (4, 4)
