"""Truths about the graph's part of the solve."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.datasets import load_iris

import oracles
from conditioning import EPS, STEPS, Conditioning, assert_within
from laws.problems import make_rows
from ulmus import ELMClassifier, RandomFeatures, SemiSupervisedELMClassifier
from ulmus.graphs import KNNGraph, laplacian
from ulmus.hidden import Hidden
from ulmus.methods.iterative import (
    conjugate_gradients,
    manifold_operator,
    nystrom_preconditioner,
)
from ulmus.methods.manifold import manifold_primal
from ulmus.methods.manifold_basis import Labelled, manifold_basis, manifold_gram, point, surface
from ulmus.methods.unsupervised import Tight, smoothest
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, ValueTargets, coded

laws = settings(max_examples=25, deadline=None)
seeds, LAMS, CS = integers(0, 10**6), np.array([0.0, 0.1, 10.0]), np.array([0.1, 1.0, 100.0])


def world(seed, n, h, normalized=True, power=1, dtype=float):
    """Hidden rows of a random data set, and its Laplacian, sparse and dense."""
    X = make_rows(seed, n).astype(dtype)
    activation = "sigmoid" if seed % 2 else "tanh"
    layer = RandomFeatures(h, activation=activation, random_state=seed % 99).fit(X).layer(X)
    L = KNNGraph(3, normalized=normalized, power=power).laplacian(X)
    return Hidden(layer, X), L, L @ np.eye(n)


def labels(seed, n, classes):
    """l labelled rows, targets of two numbers or of classes, and uneven weights."""
    rng = np.random.default_rng(seed)
    known = np.sort(rng.choice(n, max(4, n // 3), replace=False))
    weight = rng.uniform(0.5, 2.0, len(known))
    if classes:
        return known, ClassTargets(np.arange(len(known)) % classes, classes), weight
    return known, ValueTargets(rng.standard_normal((len(known), 2))), weight


def expand(known, n, T, c):
    """Targets and weights over all rows, zero without a label."""
    T_all, c_all = np.zeros((n, T.shape[1])), np.zeros(n)
    T_all[known], c_all[known] = T, c
    return T_all, c_all


def conditioning(H, dense, T_all, c_all, lam):
    """Of SS-ELM: its ridge is 1, and C is in the weights."""
    return Conditioning.of(H.all(), T_all, 1.0, c_all, lam * H.all().T @ dense @ H.all())


@laws
@given(seed=seeds, h=integers(2, 40), normalized=booleans(), power=integers(1, 3))
def test_the_manifold_gram_is_its_formula(seed, h, normalized, power):
    H, L, dense = world(seed, 30, h, normalized, power)
    expected = H.all().T @ dense @ H.all()
    apart = STEPS * EPS * np.linalg.norm(H.all()) ** 2 * np.linalg.norm(dense, 2)
    assert_within(manifold_gram(H, L), expected, apart)
    with config_context(working_memory=1e-3):  # H does not fit, and is made again
        assert_within(manifold_gram(H, L), expected, apart)


@laws
@example(seed=101, n=38, h=39, classes=0)  # rows that are dependent but for a part of 1e−7
@given(seed=seeds, n=integers(12, 40), h=integers(2, 60), classes=sampled_from([0, 2, 3]))
def test_every_point_of_the_surface_is_the_formula(seed, n, h, classes):
    H, L, dense = world(seed, n, h)
    known, targets, weight = labels(seed, n, classes)
    basis = manifold_basis(H, L)
    rows = H.all()[known] @ basis.basis
    labelled = Labelled(basis, rows, targets, weight)
    T = coded(targets, slice(0, len(known)), float)
    for lam in LAMS:
        for C in CS:
            T_all, c_all = expand(known, n, T, C * weight)
            expected = oracles.semi_supervised(H.all(), dense, T_all, c_all, lam)
            apart = conditioning(H, dense, T_all, c_all, lam).weights
            assert_within(point(labelled, lam, C).coef, expected, apart)
            wide = oracles.semi_supervised_wide(H.all(), dense, T_all, c_all, lam)
            assert_within(wide, expected, apart)


@laws
@given(seed=seeds, n=integers(12, 30), h=integers(2, 60), classes=sampled_from([0, 2, 3]))
def test_the_surface_is_l_refits_at_every_point(seed, n, h, classes):
    H, L, dense = world(seed, n, h)
    known, targets, weight = labels(seed, n, classes)
    basis = manifold_basis(H, L)
    labelled = Labelled(basis, H.all()[known] @ basis.basis, targets, weight)
    T = coded(targets, slice(0, len(known)), float)
    found = surface(labelled, LAMS, CS)
    share = weight / weight.sum()
    for i, lam in enumerate(LAMS):
        for j, C in enumerate(CS):
            T_all, c_all = expand(known, n, T, C * weight)
            F = oracles.semi_supervised_left_out(H.all(), dense, T_all, c_all, lam)[known]
            rounding, rows = conditioning(H, dense, T_all, c_all, lam), H.all()[known]
            apart = rounding.left_out(rows, T - F, C * weight)
            assert_within(point(labelled, lam, C).loo, F, apart)
            apart = rounding.squared_error(rows, T - F, C * weight, weight)
            assert_within(found.squared_error[3 * i + j], share @ np.sum((T - F) ** 2, 1), apart)
    assert (found.error_rate is None) == (classes == 0)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_roughness_is_the_norm_of_the_weights_for_what_they_fit(classes):
    H, L, _ = world(5, 30, 40)
    known, targets, weight = labels(5, 30, classes)
    basis = manifold_basis(H, L)
    labelled = Labelled(basis, H.all()[known] @ basis.basis, targets, weight)
    found = surface(labelled, LAMS, CS)
    for i, lam in enumerate(LAMS):
        for j, C in enumerate(CS):
            beta = point(labelled, lam, C).coef
            F = H.all()[known] @ beta
            F = F - F.mean(axis=1, keepdims=True) if F.shape[1] > 1 else F
            expected = np.sum(beta**2) / np.mean(np.sum(F**2, axis=1))
            assert_allclose(found.roughness[3 * i + j], expected, rtol=1e-8)


@laws
@given(seed=seeds, n=integers(20, 40), h=integers(2, 15), lam=sampled_from(LAMS))
def test_direct_and_iterated_are_the_formula(seed, n, h, lam):
    H, L, dense = world(seed, n, h)
    known, targets, weight = labels(seed, n, 3)
    T = coded(targets, slice(0, len(known)), float)
    T_all, c_all = expand(known, n, T, 5.0 * weight)
    expected = oracles.semi_supervised(H.all(), dense, T_all, c_all, lam)
    problem = Problem(H.take(known), targets, weight)
    direct = manifold_primal(problem, manifold_gram(H, L), 5.0, lam)
    rounding = conditioning(H, dense, T_all, c_all, lam)
    assert_within(direct.coef, expected, rounding.weights)
    # It stops by the error in the norm of A, which is preconditioned.
    stopped = 1e-10 * np.sqrt(np.linalg.cond(rounding.A)) * rounding.size
    R = H.all().T @ (c_all[:, None] * T_all)
    for memory in (1024, 1e-3):
        with config_context(working_memory=memory):
            apply = manifold_operator(H, L, c_all, lam)
            solve = nystrom_preconditioner(apply, c_all, h, max(1, h // 2))
            found = conjugate_gradients(apply, R, solve, 1e-10, 500)
        assert_within(found.values, expected, rounding.weights + stopped)


@laws
@given(seed=seeds, n=integers(15, 40), h=integers(8, 60), lam=sampled_from([0.1, 10.0]))
def test_the_embedding_solves_the_generalised_problem(seed, n, h, lam):
    H, L, dense = world(seed, n, h)
    found = Tight(lam, 3).fit(H, L)
    A = np.eye(h) + lam * H.all().T @ dense @ H.all()
    B = H.all().T @ H.all()
    # μ = 1/γ is known to eps times the largest one.
    apart = STEPS * EPS * np.linalg.norm(B, 2) * found.values
    residual = A @ found.coef - found.values * (B @ found.coef)
    assert_within(residual, 0.0, apart * np.sqrt(np.linalg.norm(A, 2) * found.values))
    E = H.all() @ found.coef
    assert_within(E.T @ E, np.eye(3), np.sqrt(np.outer(apart, apart)))
    assert (np.diff(found.values) >= -apart[1:] * found.values[1:]).all()
    gamma = oracles.unsupervised(H.all(), dense, lam, 3)
    assert_within(found.values, gamma, apart * gamma)


def test_the_ordinary_eigenproblem_is_something_else():
    # A widely used package solves A v = γ v; on iris that clusters at about 0.6.
    X, _ = load_iris(return_X_y=True)
    layer = RandomFeatures(60, random_state=0).fit(X).layer(X)
    H, L = Hidden(layer, X), KNNGraph(5, weights="binary", normalized=False).laplacian(X)
    found = Tight(0.1, 3).fit(H, L).coef
    ordinary = np.linalg.eigh(np.eye(60) + 0.1 * manifold_gram(H, L))[1][:, 1:4]
    E, O = (np.linalg.qr(H.all() @ V)[0] for V in (found, ordinary))
    assert np.linalg.svd(E.T @ O)[1].min() < 0.9


@laws
@given(seed=seeds, n=integers(20, 50), k=integers(1, 4))
def test_lanczos_finds_what_a_dense_solver_finds(seed, n, k):
    rng = np.random.default_rng(seed)
    P, Q = rng.standard_normal((2, n, n))
    A, B = P @ P.T + np.eye(n), Q[:, : n // 2] @ Q[:, : n // 2].T  # B is singular
    gamma, V = smoothest(A.copy(), B, k)
    whole, _ = smoothest(A.copy(), B, n)
    apart = STEPS * EPS * np.linalg.norm(B, 2) * gamma
    assert_within(gamma, whole[:k], apart * gamma)
    lengths = np.sqrt(np.sum(V * (A @ V), axis=0))
    assert_within((A @ V - gamma * (B @ V)) / lengths, 0.0, apart * np.sqrt(np.linalg.norm(A, 2)))


@pytest.mark.parametrize("h", [10, 100])
def test_without_a_graph_and_with_every_label_it_is_elm(h):
    X, y = load_iris(return_X_y=True)
    settings = {"C": 3.0, "class_weight": "balanced", "random_state": 0}
    settings["features"] = RandomFeatures(h)
    plain = ELMClassifier(**settings).fit(X[:90], y[:90] // 1)
    for solver in ("spectral", "direct"):
        model = SemiSupervisedELMClassifier(**settings, lam=0.0, solver=solver)
        assert_allclose(model.fit(X[:90], y[:90]).beta_, plain.beta_, rtol=1e-5, atol=1e-7)


def test_a_graph_of_noise_only_adds_smoothness():
    # Sparse graphs of any origin go in; an isolated row has no say in the penalty.
    X, y = load_iris(return_X_y=True)
    W = sp.random_array(
        (150, 150), density=0.02, random_state=np.random.default_rng(0), format="csr"
    )
    few = np.where(np.arange(150) % 10 == 0, y, -1)
    model = SemiSupervisedELMClassifier(graph=laplacian(W.maximum(W.T)), random_state=0)
    assert model.fit(X, few).score(X, y) > 0.75
