"""The kernel methods of the SS-ELM paper's tables, each on a case whose answer is known."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons
from sklearn.svm import SVC, LinearSVC

from papers.kernel_machines import (
    KernelMachine,
    kernel_features,
    signs,
    squared_hinge,
)
from papers.laplacian import basis, deformation, lap_rls, lap_svm, solutions
from papers.transductive import transductive
from ulmus import KernelFeatures, SemiSupervisedELMClassifier
from ulmus.graphs import KNNGraph
from ulmus.kernels import RBF

KERNEL = RBF(2.0)
FEW = np.array([3, 10, 21, 34, 40, 47])
GAMMA_A, GAMMA_I = 1e-3, 0.05


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(60, noise=0.1, random_state=0)
    graph = KNNGraph(5, weights="binary")
    return X, y, KERNEL(X, X), graph.laplacian(X)


def solved(moons, solve, gamma_A=GAMMA_A, gamma_I=GAMMA_I):
    _, y, K, laplacian = moons
    T = signs(y[FEW], 2)
    (alpha,) = solutions(K, laplacian, FEW, T, solve, [gamma_A], [gamma_I])
    return alpha, T


def test_the_newton_steps_end_where_liblinear_does():
    rng = np.random.default_rng(0)
    Z, t = rng.standard_normal((80, 6)), np.sign(rng.standard_normal(80))
    peer = LinearSVC(C=0.35, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(Z, t)
    w = squared_hinge(Z, t, np.full(80, 0.7))
    assert_allclose(w, peer.coef_[0], atol=1e-6)
    assert_allclose(squared_hinge(Z, t, np.full(80, 0.7), rng.standard_normal(6)), w, atol=1e-9)


@pytest.mark.parametrize("columns", [3, 200])
def test_the_newton_steps_end_where_the_slope_is_zero(columns):
    rng = np.random.default_rng(1)
    Z, t = rng.standard_normal((60, columns)), np.sign(rng.standard_normal(60))
    c = 10.0 ** rng.uniform(-2, 3, 60)
    w = squared_hinge(Z, t, c)
    slope = w - Z.T @ (c * t * np.maximum(0.0, 1.0 - t * (Z @ w)))
    assert_allclose(slope, 0.0, atol=1e-8 * np.abs(Z.T @ (c * t)).max())


def test_features_have_the_kernel_for_products(moons):
    K = moons[2]
    Z, W = kernel_features(K)
    assert_allclose(Z @ Z.T, K, atol=1e-10)
    assert_allclose(K @ W, Z, atol=1e-6)
    few, _ = kernel_features(K, 0.05)
    assert few.shape[1] < Z.shape[1]
    assert 0.95 <= np.sum(few**2) / np.trace(K) < 1.0


def test_lap_rls_is_its_closed_form(moons):
    _, _, K, laplacian = moons
    alpha, T = solved(moons, lap_rls)
    J, Y = np.zeros((60, 60)), np.zeros((60, 1))
    J[FEW, FEW], Y[FEW] = 1.0, T
    L = laplacian.matrix.toarray()
    n = len(FEW)
    expected = np.linalg.solve(J @ K + GAMMA_A * n * np.eye(60) + GAMMA_I * n * L @ K, Y)
    assert_allclose(K @ alpha, K @ expected, atol=1e-9)


def test_lap_rls_is_ss_elm_in_the_kernels_space(moons):
    X, y, K, _ = moons
    alpha, _ = solved(moons, lap_rls)
    partial = np.full(60, -1)
    partial[FEW] = y[FEW]
    model = SemiSupervisedELMClassifier(
        KernelFeatures(KERNEL, method="eig", tol=1e-12),
        graph=KNNGraph(5, weights="binary"),
        C=1.0 / (GAMMA_A * len(FEW)),
        lam=GAMMA_I / GAMMA_A,
        class_weight=None,
        dtype=float,
    ).fit(X, partial)
    assert_allclose((K @ alpha)[:, 0], model.decision_function(X), atol=1e-5)


def test_lap_svm_has_no_slope_left(moons):
    _, _, K, laplacian = moons
    alpha, T = solved(moons, lap_svm)
    f = (K @ alpha)[:, 0]
    short = np.maximum(0.0, 1.0 - T[:, 0] * f[FEW])
    assert 0 < np.count_nonzero(short) <= len(FEW)
    fit = K[:, FEW] @ (T[:, 0] * short) / len(FEW)
    slope = GAMMA_A * f + GAMMA_I * K @ (laplacian @ f) - fit
    assert_allclose(slope, 0.0, atol=1e-10)


def test_lap_svm_without_the_graph_is_an_svm(moons):
    _, _, K, _ = moons
    alpha, T = solved(moons, lap_svm, gamma_I=0.0)
    Z, _ = kernel_features(K[np.ix_(FEW, FEW)])
    C = 0.5 / (GAMMA_A * len(FEW))
    peer = LinearSVC(C=C, fit_intercept=False, tol=1e-12, max_iter=10**6).fit(Z, T[:, 0])
    assert_allclose(K[FEW] @ alpha[:, 0], Z @ peer.coef_[0], atol=1e-5)
    assert_allclose(np.delete(alpha, FEW, axis=0), 0.0, atol=1e-12)


def test_one_factorisation_serves_all_constants(moons):
    _, _, K, laplacian = moons
    factored = basis(K, laplacian)
    for gamma_A, gamma_I in itertools.product((1e-4, 1.0), (1e-4, 1.0)):
        direct = deformation(K, laplacian, FEW, gamma_A, gamma_I)
        found = factored.deformation(FEW, gamma_A, gamma_I)
        assert_allclose(K @ found, K @ direct, rtol=1e-6, atol=1e-6 / gamma_A)


@pytest.mark.parametrize("solve", [lap_rls, lap_svm])
def test_the_graph_carries_two_labels_along_the_moons(solve):
    X, y = make_moons(200, noise=0.03, random_state=0)
    ends = np.array([np.argmin(X[:, 0]), np.argmax(X[:, 0])])
    laplacian = KNNGraph(5, weights="binary").laplacian(X)
    kernel = RBF(10.0)
    T = signs(y[ends], 2)
    (alpha,) = solutions(kernel(X, X), laplacian, ends, T, solve, [1e-6], [1e-2])
    assert np.mean(KernelMachine(kernel, X, alpha).predict(X) == y) > 0.99
    assert np.mean(SVC(gamma=2.0).fit(X[ends], y[ends]).predict(X) == y) < 0.9


def test_of_many_classes_each_is_set_against_the_others():
    T = signs(np.array([0, 2, 1]), 3)
    assert T.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    assert signs(np.array([0, 1]), 2).tolist() == [[-1], [1]]
    model = KernelMachine(RBF(1.0), np.eye(3), T[[0, 2, 1]])
    assert model.predict(np.eye(3)).tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def two_clusters():
    """Two long clusters, and one label in each that lie so that the line between them is wrong."""
    rng = np.random.default_rng(0)
    X = rng.uniform([-0.3, -1.8], [0.3, 1.8], (24, 2))
    y = np.repeat([0, 1], 12)
    X[y == 1, 0] += 2.0
    X[0], X[12] = [0.0, 0.7], [2.0, -0.7]
    return X, y, np.array([0, 12])


def test_a_tsvm_goes_between_the_clusters(two_clusters):
    X, y, few = two_clusters
    t = np.array([-1.0, 1.0])
    Z = np.column_stack([X - X.mean(axis=0), np.ones(24)])
    assert np.mean(SVC(kernel="linear").fit(X[few], y[few]).predict(X) == y) < 0.9
    w, labels = transductive(Z, few, t, 1e-2)
    assert ((Z @ w > 0) == y).all()
    assert ((labels > 0) == y).all()


def objective(Z, few, labels, gamma):
    """What a TSVM minimises, at the best w for these labels."""
    c = np.full(len(Z), 1.0 / (gamma * (len(Z) - len(few))))
    c[few] = 1.0 / (gamma * len(few))
    w = squared_hinge(Z, labels, c)
    return w @ w + c @ np.maximum(0.0, 1.0 - labels * (Z @ w)) ** 2


def test_no_exchange_of_two_labels_is_better(two_clusters):
    X, _, few = two_clusters
    Z = np.column_stack([X - X.mean(axis=0), np.ones(24)])
    _, labels = transductive(Z, few, np.array([-1.0, 1.0]), 1e-2)
    least = objective(Z, few, labels, 1e-2)
    others = np.setdiff1d(np.arange(24), few)
    for i, j in itertools.product(others[labels[others] > 0], others[labels[others] < 0]):
        exchanged = labels.copy()
        exchanged[[i, j]] = exchanged[[j, i]]
        assert objective(Z, few, exchanged, 1e-2) >= least


def test_a_tsvm_keeps_the_share_of_positive_labels():
    rng = np.random.default_rng(0)
    Z, t = rng.standard_normal((43, 2)), np.array([1.0, -1.0, -1.0])
    _, labels = transductive(Z, np.arange(3), t, 1e-2)
    assert labels[:3].tolist() == t.tolist()
    assert np.count_nonzero(labels[3:] > 0) == 13
