"""Truths about the scatter of neighbours and of class means."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

import oracles
from conditioning import EPS, STEPS, Conditioning, assert_within
from laws.problems import make_problem
from ulmus import RandomFeatures
from ulmus.graphs import KNNGraph
from ulmus.hidden import Hidden
from ulmus.methods import discriminant as module
from ulmus.methods.class_scatter import Points
from ulmus.methods.discriminant import FORMS, Discriminant, Geometry, _System, folds
from ulmus.targets import ClassTargets, coded

laws = settings(max_examples=25, deadline=None)
seeds = integers(0, 10**6)


def world(seed, n, h, classes=3, weighted=False):
    problem = make_problem(seed, n, h, classes=classes, weighted=weighted)
    codes = problem.targets.codes
    codes[: 2 * classes] = np.arange(2 * classes) % classes  # two rows of every class at least
    W = KNNGraph(3).affinity(problem.H.X, codes)
    return Geometry(problem.H, problem.targets, problem.weight, W)


def discriminant(geometry, points, form, ridge, held):
    return Discriminant(points, form, ridge, held).fit(geometry)


def one(lam, C):
    return Points(np.array([lam]), np.array([C]), chosen=False)


def conditioning(H, T, S, C, weight):
    """Of (G + (S⁺ + εI)/C) β = R with ε a hundredth of the mean eigenvalue of S⁺."""
    w, V = np.linalg.eigh(S)
    plus = (V * np.maximum(w, 0)) @ V.T
    return Conditioning.of(H, T, 0.01 * np.trace(plus) / len(plus) / C, weight, plus / C)


@laws
@given(seed=seeds, n=integers(8, 30), h=integers(2, 40), lam=sampled_from([0.0, 0.4, 1.0]))
def test_the_scatter_is_its_double_loop(seed, n, h, lam):
    g = world(seed, n, h)
    H = g.H.all()
    expected = oracles.manifold_scatter(H, g.H.X, g.targets.codes, lam, 3)
    offsets = g.offsets()
    apart = STEPS * EPS * np.linalg.norm(H) ** 2
    assert_within(g.local() - (1 - lam) * offsets.T @ offsets, expected, apart)
    Q = _System(g, 0.01).penalty(lam)
    values, V = np.linalg.eigh(expected)
    plus = (V * np.maximum(values, 0)) @ V.T + 0.01 * np.maximum(values, 0).mean() * np.eye(h)
    assert_within((Q.basis * Q.values) @ Q.basis.T, plus, apart)


@laws
@given(
    seed=seeds,
    n=integers(8, 30),
    h=integers(2, 50),
    weighted=booleans(),
    lam=sampled_from([0.0, 0.4, 1.0]),
    C=sampled_from([0.01, 1.0, 100.0]),
)
def test_the_solution_is_the_formula_with_many_units_and_few(seed, n, h, weighted, lam, C):
    g = world(seed, n, h, weighted=weighted)
    H, T = g.H.all(), coded(g.targets, slice(0, n), float)
    S = oracles.manifold_scatter(H, g.H.X, g.targets.codes, lam, 3)
    expected = H @ oracles.manifold_elm(H, T, S, C, 0.01, g.weight)
    found, _ = discriminant(g, one(lam, C), "positive", 0.01, [])
    assert_within(H @ found.coef, expected, conditioning(H, T, S, C, g.weight).outputs)


@laws
@given(
    seed=seeds,
    h=integers(3, 12) | integers(35, 60),
    lam=sampled_from([0.0, 0.4, 1.0]),
    spread=sampled_from([0.01, 1]),
)
def test_bounded_class_means_leave_half_of_the_system(seed, h, lam, spread):
    rng, codes = np.random.default_rng(seed), np.arange(30) % 3
    X = np.eye(3)[codes] + spread * rng.standard_normal((30, 3))
    H = Hidden(RandomFeatures(h, random_state=seed % 99).fit(X).layer(X), X)
    g = Geometry(H, ClassTargets(codes, 3), None, KNNGraph(3).affinity(X, codes))
    H, T = H.all(), oracles.one_vs_rest(codes, np.arange(3))
    local = oracles.manifold_scatter(H, X, codes, 1.0, 3)
    gaps = np.array([H[codes == t].mean(axis=0) - H.mean(axis=0) for t in range(3)])
    for C in (2.0**-8, 1.0, 1e3):
        expected, bounded = oracles.manifold_elm_bounded(H, T, local, gaps, lam, C, 0.01)
        found, _ = discriminant(g, one(lam, C), "bounded", 0.01, [])
        ridge = 0.01 * np.trace(local) / h / C
        apart = 2 * Conditioning.of(H, T, ridge, None, local / C).outputs  # half of it is left
        assert_within(H @ found.coef, H @ expected, apart)
        if C == 2.0**-8 and lam < 1:
            assert bounded == (spread < 1)  # both ways are met


@laws
@given(seed=seeds, n=integers(12, 40), h=integers(2, 60), form=sampled_from(FORMS))
def test_what_is_solved_is_positive_definite(seed, n, h, form):
    # Positive definite: no direction lets the objective fall without end, so outputs are bounded.
    # With A = G + Q/C, Σ FT is βᵀAβ and Σ F² is βᵀGβ: Q is not negative, or A at least half of G.
    g, least = world(seed, n, h), 1.0 if form == "positive" else 0.5
    for C in (2.0**-8, 1.0, 1e3):
        found, _ = discriminant(g, one(0.0, C), form, 0.01, [])
        F = g.H.all() @ found.coef
        T = coded(g.targets, slice(0, n), float)
        assert np.sum(F * T) >= least * np.sum(F**2) - 1e-6 * np.sum(T**2)


def test_without_class_means_all_forms_agree():
    g = world(7, 40, 10)
    found = [discriminant(g, one(1.0, 1.0), form, 1e-9, [])[0].coef for form in FORMS]
    assert_allclose(found[0], found[1], rtol=1e-4)


def test_the_negative_eigenvalues_of_the_scatter_are_counted():
    # Fewer rows than units: where rows of a class agree, only the class means have a say.
    g = world(7, 16, 30, classes=4)
    S = oracles.manifold_scatter(g.H.all(), g.H.X, g.targets.codes, 0.0, 3)
    for form in FORMS:
        _, count = discriminant(g, one(0.0, 1e-4), form, 0.01, [])
        assert count == np.sum(np.linalg.eigvalsh(S) < -1e-9) == 3


def test_a_row_that_is_held_out_has_no_say():
    g = world(3, 40, 8)
    held = folds(g.targets.codes, 3, 0)
    points = Points(np.array([0.0, 0.0, 0.5, 0.5]), np.array([0.1, 1.0, 0.1, 1.0]))
    found, _ = discriminant(g, points, "positive", 0.01, held)
    errors = np.zeros(4)
    for rows in held:
        rest = np.setdiff1d(np.arange(40), rows)
        for k, (lam, C) in enumerate(zip(points.lam, points.C, strict=True)):
            fitted, _ = discriminant(g.take(rest), one(lam, C), "positive", 0.01, [])
            F = g.H.take(rows).all() @ fitted.coef
            errors[k] += np.sum((coded(g.targets, rows, float) - F) ** 2)
    assert_allclose(found.path.squared_error, errors / 40, rtol=1e-6)
    assert found.path.kind == "cv"
    assert found.path.rows == len(found.loo) == len(found.loo_rows) == 40


@pytest.mark.parametrize("chosen", [False, True])
def test_decisions_are_kept_of_about_as_many_rows_as_calibrate(chosen, monkeypatch):
    monkeypatch.setattr(module, "_CALIBRATION", 10)
    g = world(3, 60, 8)
    held = folds(g.targets.codes, 6, 0)
    points = Points(np.array([0.5]), np.array([1.0]), chosen=chosen)
    found, _ = discriminant(g, points, "positive", 0.01, held)
    # Two of each fold: of all six where all are needed for the error, else of as many as will do.
    assert_array_equal(
        found.loo_rows, np.concatenate([rows[:2] for rows in held[: 6 if chosen else 5]])
    )
    rest = np.setdiff1d(np.arange(60), held[0])
    fitted, _ = discriminant(g.take(rest), one(0.5, 1.0), "positive", 0.01, [])
    assert_allclose(found.loo[:2], g.H.all()[held[0][:2]] @ fitted.coef, rtol=1e-8)


def test_a_class_without_rows_has_no_mean():
    g = world(3, 40, 8)
    more = replace(g, targets=ClassTargets(g.targets.codes, 5))
    assert_allclose(more.offsets(), g.offsets())
    assert np.isfinite(discriminant(more, one(0.5, 1.0), "positive", 0.01, [])[0].coef).all()


def test_taking_rows_takes_their_edges():
    g = world(3, 40, 8)
    rows = np.array([3, 5, 6, 20, 21, 22, 39])
    some = g.take(rows)
    assert_allclose(some.W.toarray(), g.W.toarray()[np.ix_(rows, rows)])
    assert_allclose(some.H.all(), g.H.all()[rows])
    assert_array_equal(some.targets.codes, g.targets.codes[rows])


def test_folds_deal_every_class_out():
    codes = np.array([0] * 10 + [1] * 3 + [2])
    held = folds(codes, 5, 0)
    assert len(held) == 5
    assert_array_equal(np.sort(np.concatenate(held)), np.arange(13))  # the only row of 2 stays
    for rows in held:
        rest = np.setdiff1d(np.arange(14), rows)
        assert set(codes[rest]) == {0, 1, 2}
        assert np.sum(codes[rows] == 0) == 2


def test_hidden_rows_that_do_not_fit_are_made_again():
    g = world(5, 60, 12)
    held = folds(g.targets.codes, 3, 0)
    points = Points(np.full(3, 0.5), np.array([0.1, 1.0, 10.0]))
    expected, _ = discriminant(g, points, "positive", 0.01, held)
    with config_context(working_memory=1e-3):
        found, _ = discriminant(g, points, "positive", 0.01, held)
    assert_allclose(found.coef, expected.coef, rtol=1e-7)


def test_a_graph_within_classes_is_a_graph_of_each_class():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((700, 2)), (rng.uniform(size=700) < 0.2).astype(int)
    W = KNNGraph(4, weights="binary").affinity(X, codes)
    assert W[codes == 0][:, codes == 1].nnz == 0
    for code in (0, 1):  # one class is past the number of rows that are searched densely
        own = KNNGraph(4, weights="binary").affinity(X[codes == code])
        assert (W[codes == code][:, codes == code] != own).nnz == 0
    lone = KNNGraph(4).affinity(X[:3], np.arange(3))
    assert lone.nnz == 0
