"""Leaving a row out under balanced weights is a refit whose weights are balanced without it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose
from sklearn.frozen import FrozenEstimator

import oracles
from conditioning import Conditioning, assert_within
from laws.problems import make_problem, make_rows, primal, scatter
from ulmus import (
    ELMClassifier,
    GraphELMClassifier,
    KernelELMClassifier,
    KNNGraph,
    RandomFeatures,
    SemiSupervisedELMClassifier,
)
from ulmus.balance import leavings
from ulmus.hidden import Stored
from ulmus.kernels.kernel_matrix import GivenKernel
from ulmus.methods import ridge as ridge_module
from ulmus.methods.class_scatter import Points
from ulmus.methods.discriminant import Geometry
from ulmus.methods.dual import dual, dual_path
from ulmus.methods.manifold import manifold_primal
from ulmus.methods.manifold_basis import Labelled, manifold_basis, manifold_gram, point, surface
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, coded

seeds = integers(0, 10**6)
COUNTS = ["once", "whole", "parts", "any"]
counts = sampled_from(COUNTS)
GRID = np.logspace(-2, 3, 3)
laws = settings(max_examples=30, deadline=None)


def counted(seed, n, kind):
    """How often each row counts: once, a whole number of times, less than once, or any."""
    rng = np.random.default_rng(seed)
    if kind == "once":
        return np.ones(n)
    if kind == "whole":
        return rng.integers(1, 4, n).astype(float)
    return rng.uniform(0.1, 0.9, n) if kind == "parts" else rng.uniform(0.1, 3.0, n)


def make_balanced(seed, n, h, classes, kind, lonely=False):
    """A problem with balanced weights, and how often each row counts."""
    problem = make_problem(seed, n, h, classes=classes)
    codes = problem.targets.codes.copy()
    codes[: 2 * classes] = np.repeat(np.arange(classes), 2)
    if lonely:
        codes[codes == classes - 1] = 0
        codes[0] = classes - 1
    count = counted(seed, n, kind)
    weight = oracles.balanced(codes, count)
    unit = weight * np.minimum(1.0, 1.0 / count)
    totals = np.bincount(codes, weights=count, minlength=classes)
    return Problem(problem.H, ClassTargets(codes, classes, totals), weight, unit), count


def T_of(problem):
    return coded(problem.targets, slice(0, len(problem.targets)), float)


def refits(problem, count, C):
    """The naive answer."""
    H, T = problem.H.all(), T_of(problem)
    return oracles.balanced_left_out(
        lambda c, i: H[i] @ oracles.ridge(H, T, C, c), problem.targets.codes, count
    )


def mean_square(problem, F):
    return np.average(np.sum((T_of(problem) - F) ** 2, axis=1), weights=problem.weight)


def tolerance(H, T, C, weight, penalty=0.0):
    """How far a row that is left out may be off: what a refit tells of a row that it does not know.

    Rows that count less than once are interpolated between, to a part of 1e-12.
    """
    rounding = Conditioning.of(H, T, 1 / C, weight, penalty)
    return rounding.new_rows(H) + 1e-12 * (1.0 + rounding.size * np.linalg.norm(H, axis=1)[:, None])


def assert_left_out(problem, C, found, expected, penalty=0.0):
    """The same outputs."""
    apart = tolerance(problem.H.all(), T_of(problem), C, problem.weight, penalty)
    assert_within(found, expected, apart)


def assert_mean_square(problem, C, found, F, penalty=0.0):
    """The same error."""
    T = T_of(problem)
    apart = tolerance(problem.H.all(), T, C, problem.weight, penalty)
    apart = np.sum((2 * np.abs(T - F) + apart) * apart, axis=1)
    assert_within(found, mean_square(problem, F), np.average(apart, weights=problem.weight))


every_problem = given(
    seed=seeds,
    n=integers(8, 30),
    h=integers(1, 40),
    classes=sampled_from([2, 3]),
    kind=counts,
    lonely=booleans(),
)


@laws
@every_problem
def test_every_row_left_out_at_one_C_is_a_refit(seed, n, h, classes, kind, lonely):
    p, count = make_balanced(seed, n, h, classes, kind, lonely)
    for C in (0.1, 30.0):
        expected = refits(p, count, C)
        assert_left_out(p, C, primal(p, C, np.arange(n)).loo, expected)
        assert_left_out(p, C, dual(p, C).loo, expected)


@laws
@every_problem
def test_the_error_of_every_C_is_that_of_refits(seed, n, h, classes, kind, lonely):
    p, count = make_balanced(seed, n, h, classes, kind, lonely)
    F = [refits(p, count, C) for C in GRID]
    for solution in (primal(p, GRID, np.arange(n), None), dual_path(p, GRID)):
        for C, error, expected in zip(GRID, solution.path.squared_error, F, strict=True):
            assert_mean_square(p, C, error, expected)
        assert_left_out(p, solution.C, solution.loo, F[list(GRID).index(solution.C)])


@pytest.mark.parametrize("kind", COUNTS)
@pytest.mark.parametrize("few", [True, False])
def test_classes_with_few_rows_and_with_many_are_left_out_alike(monkeypatch, kind, few):
    monkeypatch.setattr(ridge_module, "_EIGEN", 1e9 if few else 0.0)
    p, count = make_balanced(5, 60, 12, 3, kind)
    rows = np.arange(0, 60, 7)
    solution = primal(p, GRID, rows, rows)
    F = [refits(p, count, C)[rows] for C in GRID]
    squared = [
        np.average(np.sum((T_of(p)[rows] - f) ** 2, axis=1), weights=p.weight[rows]) for f in F
    ]
    assert_allclose(solution.path.squared_error, squared, rtol=1e-7)
    assert solution.path.rows == len(rows)
    assert_allclose(solution.loo, F[list(GRID).index(solution.C)], rtol=1e-7, atol=1e-7)


@laws
@given(seed=seeds, n=integers(8, 25), classes=sampled_from([2, 3]), kind=counts)
def test_a_kernel_is_left_out_as_refits_are(seed, n, classes, kind):
    p, count = make_balanced(seed, n, 3, classes, kind)
    X = make_rows(seed, n)
    K, T = oracles.kernel_values("rbf", X, X), T_of(p)

    def refit(c, i):
        kept = np.flatnonzero(c > 1e-12)
        alpha, _ = oracles.kernel_ridge(K[np.ix_(kept, kept)], T[kept], 10.0, c[kept])
        return K[i, kept] @ alpha

    expected = oracles.balanced_left_out(refit, p.targets.codes, count)
    p = Problem(GivenKernel(K), p.targets, p.weight, p.unit)
    # k(x, x) is one: a row is of length one in the kernel's own features.
    A = K * np.sqrt(np.outer(p.weight, p.weight)) + np.eye(n) / 10.0
    size = np.linalg.norm(np.sqrt(p.weight)[:, None] * T) / np.sqrt(p.weight.min())
    apart = Conditioning(A, 1 / 10.0, size).weights
    assert_within(dual(p, 10.0).loo, expected, apart)
    found = dual_path(p, np.array([10.0]))
    apart = np.sum((2 * np.abs(T - expected) + apart) * apart, axis=1)
    apart = np.average(apart, weights=p.weight)
    assert_within(found.path.squared_error[0], mean_square(p, expected), apart)


@laws
@given(
    seed=seeds,
    n=integers(12, 30),
    h=integers(2, 40),
    labels=integers(6, 12),
    classes=sampled_from([2, 3]),
)
def test_labelled_rows_of_a_manifold_are_left_out_as_refits_are(seed, n, h, labels, classes):
    p, _ = make_balanced(seed, n, h, classes, "once")
    rng, lam, C = np.random.default_rng(seed), 0.7, 20.0
    known = np.sort(rng.choice(n, labels, replace=False))
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, labels - classes)])
    totals = np.bincount(codes, minlength=classes).astype(float)
    weight = oracles.balanced(codes, np.ones(labels))
    targets, L = ClassTargets(codes, classes, totals), KNNGraph(3).laplacian(p.H.X)
    H, T = p.H.all(), coded(targets, slice(0, labels), float)
    T_all = np.zeros((n, T.shape[1]))
    T_all[known] = T

    def refit(c, i):
        c_all = np.zeros(n)
        c_all[known] = C * c
        return H[known[i]] @ oracles.semi_supervised(H, L @ np.eye(n), T_all, c_all, lam)

    expected = oracles.balanced_left_out(refit, codes, np.ones(labels))
    squared = np.average(np.sum((T - expected) ** 2, axis=1), weights=weight)
    basis = manifold_basis(p.H, L)
    labelled = Labelled(basis, H[known] @ basis.basis, targets, weight)
    found = surface(labelled, np.array([lam]), np.array([C, 1.0]))
    part = Problem(p.H.take(known), targets, weight)
    penalty = lam / C * H.T @ (L @ H)
    apart = Conditioning.of(H[known], T, 1 / C, weight, penalty).new_rows(H[known])
    mean = np.average(np.sum((2 * np.abs(T - expected) + apart) * apart, axis=1), weights=weight)
    assert_within(found.squared_error[0], squared, mean)
    assert_within(point(labelled, lam, C).loo, expected, apart)
    direct = manifold_primal(part, manifold_gram(p.H, L), C, lam)
    assert_within(direct.loo, expected, apart)


@laws
@given(
    seed=seeds,
    n=integers(10, 25),
    h=integers(1, 35),
    classes=sampled_from([2, 3]),
    kind=counts,
    lam=sampled_from([0.0, 0.5, 10.0]),
)
def test_class_scatter_is_left_out_as_refits_are(seed, n, h, classes, kind, lam):
    p, count = make_balanced(seed, n, h, classes, kind)
    H, T, codes = p.H.all(), T_of(p), p.targets.codes

    def left_out(C):
        def refit(c, i):
            c = np.where(c > 1e-12, c, 0.0)
            return H[i] @ oracles.graph_elm(H, codes, T, lam, C, c)

        return oracles.balanced_left_out(refit, codes, count)

    Cs = np.array([0.1, 10.0])
    found = scatter(p, Points(np.full(2, lam), Cs))
    F = [left_out(C) for C in Cs]
    penalty = lam * H.T @ oracles.same_class_laplacian(codes, p.weight) @ H
    for C, error, expected in zip(Cs, found.path.squared_error, F, strict=True):
        assert_mean_square(p, C, error, expected, penalty)
    assert_left_out(p, found.C, found.loo, F[list(Cs).index(found.C)], penalty)
    one = scatter(p, Points(np.array([lam]), Cs[:1], chosen=False))
    assert_left_out(p, Cs[0], one.loo, F[0], penalty)


def test_rows_held_out_together_leave_balanced_weights():
    p, _ = make_balanced(3, 30, 6, 3, "any")
    kept = np.flatnonzero(np.arange(30) % 4)
    rest = p.among(kept)
    codes, factor = p.targets.codes[kept], p.targets.totals.sum() / (3 * p.targets.totals)
    count = p.weight[kept] / factor[codes]
    assert_allclose(rest.weight, oracles.balanced(codes, count))
    W = KNNGraph(3).affinity(p.H.X, p.targets.codes)
    geometry = Geometry(p.H, p.targets, p.weight, W).take(kept)
    assert_allclose(geometry.weight, rest.weight)


def test_a_class_that_leaves_with_its_last_row_leaves_its_share_to_the_others():
    codes, totals = np.array([0, 0, 1, 1, 2]), np.array([2.0, 2.0, 1.0])
    weight = oracles.balanced(codes, np.ones(5))
    last = list(leavings(codes, totals, weight, np.arange(5)))[-1]
    assert (last.rows.tolist(), last.b.tolist()) == ([4], [1.0])
    rest = oracles.balanced(codes[:4], np.ones(4))
    assert_allclose(last.a * weight[:4], rest)


# ---------------------------------------------------------------- estimators
def some_rows(n=60, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(0.5, n) - 1, classes - 1)
    return rng.standard_normal((n, 4)) + 0.8 * y[:, None], y


def errors_of_refits(model, X, y, C, weight=None, semi=False):
    """The balanced error of the model fitted anew without each row."""
    known = np.flatnonzero(y >= 0)
    wrong = []
    for i in known:
        if semi:  # the row stays, without its label
            rest = y.copy()
            rest[i] = -1
            fitted, at = model.set_params(C=C).fit(X, rest), X[[i]]
        else:
            kept = np.delete(np.arange(len(X)), i)
            options = {} if weight is None else {"sample_weight": weight[kept]}
            fitted, at = model.set_params(C=C).fit(X[kept], y[kept], **options), X[[i]]
        wrong.append(float(fitted.predict(at)[0] != y[i]))
    count = np.ones(len(known)) if weight is None else weight
    return np.average(wrong, weights=oracles.balanced(y[known], count))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_hidden", [12, 40])
@pytest.mark.parametrize("kind", [ELMClassifier, GraphELMClassifier])
def test_the_path_of_an_estimator_is_that_of_its_refits(kind, n_hidden, weighted):
    X, y = some_rows(18)
    weight = counted(1, len(X), "parts") if weighted else None
    frozen = FrozenEstimator(RandomFeatures(n_hidden, random_state=0).fit(X))
    Cs, options = [0.1, 100.0], {} if kind is ELMClassifier else {"lam": 1.0}
    make = lambda C: kind(frozen, C=C, class_weight="balanced", **options)  # noqa: E731
    path = make(Cs).fit(X, y, sample_weight=weight)
    assert path.selection_ == "loo"
    expected = [errors_of_refits(make(1.0), X, y, C, weight) for C in Cs]
    assert_allclose(path.loo_path_["error_rate"], expected, atol=1e-12)


def test_the_path_of_a_kernel_is_that_of_its_refits():
    X, y = some_rows(30)
    Cs = [0.1, 10.0]
    make = lambda C: KernelELMClassifier(  # noqa: E731
        "rbf", gamma=0.3, scaling=None, C=C, class_weight="balanced"
    )
    expected = [errors_of_refits(make(1.0), X, y, C) for C in Cs]
    assert_allclose(make(Cs).fit(X, y).loo_path_["error_rate"], expected, atol=1e-12)


@pytest.mark.parametrize("n_hidden", [30, 150])
def test_the_surface_of_the_default_is_that_of_its_refits(n_hidden):
    X, y = some_rows()
    y[np.arange(60) % 3 > 0] = -1
    Cs, graph = [0.1, 10.0], KNNGraph(4).laplacian(X)
    make = lambda C: SemiSupervisedELMClassifier(  # noqa: E731
        n_hidden=n_hidden, C=C, lam=[0.1, 3.0], graph=graph, coupling="published", random_state=0
    )
    found = make(Cs).fit(X, y)
    for row, lam in enumerate([0.1, 3.0]):
        one = make(1.0).set_params(lam=lam)
        expected = [errors_of_refits(one, X, y, C, semi=True) for C in Cs]
        assert_allclose(found.surface_["error_rate"][row], expected, atol=1e-12)


def test_labels_spread_over_a_graph_are_left_out_as_refits_are():
    X, y = some_rows()
    y[np.arange(60) % 3 > 0] = -1
    make = lambda lam: SemiSupervisedELMClassifier(  # noqa: E731
        n_hidden=30,
        C=1.0,
        lam=lam,
        graph=KNNGraph(4).laplacian(X),
        coupling="free",
        class_weight="balanced",
        random_state=0,
    )
    table, known = make([1.0, 9.0]).fit(X, y).candidates_, np.flatnonzero(y >= 0)
    for lam in (1.0, 9.0):
        wrong = []
        for i in known:
            rest = y.copy()
            rest[i] = -1
            wrong.append(float(make(lam).fit(X, rest).transduction_[i] != y[i]))
        (error,) = table["error"][(table["kind"] == "free") & (table["lam"] == lam)]
        assert_allclose(error, np.mean(wrong), atol=1e-6)


def test_weights_as_they_were_give_other_errors():
    p, _ = make_balanced(3, 20, 6, 3, "once")
    kept = Problem(p.H, ClassTargets(p.targets.codes, 3), p.weight, p.unit)
    a, b = (primal(q, GRID, np.arange(20), None).path.squared_error for q in (p, kept))
    assert np.max(np.abs(a / b - 1.0)) > 0.01


def test_stored_rows_are_left_out_alike():
    p, count = make_balanced(3, 20, 6, 3, "once")
    stored = Problem(Stored([p.H.all().T.copy()]), p.targets, p.weight, p.unit)
    found = primal(stored, GRID, np.arange(20), None)
    squared = [mean_square(p, refits(p, count, C)) for C in GRID]
    assert_allclose(found.path.squared_error, squared, rtol=1e-6)
