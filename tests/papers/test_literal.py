"""The methods to the letter, each against the formula that its paper prints."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import normalize

import oracles
from papers import clustering, printed_clusters
from papers.printed_manifold import LiteralManifoldELM
from papers.printed_semi_supervised import PrintedSSELM, printed_grid, printed_solution
from papers.projection import printed_weights, projection
from papers.protocol import Case
from papers.randomized import run as randomized_run
from ulmus import ELMEmbedding, KNNGraph, RandomFeatures
from ulmus.features import RBFFeatures

X, y = load_wine(return_X_y=True)
SCALED = (X - X.mean(axis=0)) / X.std(axis=0)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("width", [12, 90])
def test_ss_elm_solves_equation_16_at_every_point_of_the_grid(width):
    order = RNG.permutation(len(X))[:60]
    rows, codes = SCALED[order], y[order][:20]
    H = oracles.sigmoid_layer(rows, RNG.uniform(-1, 1, (13, width)), 0.0)
    L = KNNGraph(5, weights="binary").laplacian(rows)
    dense = oracles.laplacian(oracles.knn_affinity(rows, 5), normalized=True)
    c = np.zeros(60)
    T = np.zeros((60, 3))
    T[:20] = oracles.one_vs_rest(codes, np.arange(3))
    found = printed_grid(H, L, codes, C=[0.1, 100.0], lam=[1e-3, 10.0])
    for C in (0.1, 100.0):
        c[:20] = C / np.bincount(codes)[codes]
        for lam in (1e-3, 10.0):
            expected = oracles.semi_supervised(H, dense, T, c, lam)
            assert_allclose(next(found), expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("width", [12, 90])
def test_ss_elm_with_one_point_solves_it_directly(width):
    order = RNG.permutation(len(X))[:60]
    H = oracles.sigmoid_layer(SCALED[order], RNG.uniform(-1, 1, (13, width)), 0.0)
    L = KNNGraph(5).laplacian(SCALED[order])
    (expected,) = printed_grid(H, L, y[order][:20], [10.0], [0.5])
    found = printed_solution(H, L, y[order][:20], 10.0, 0.5)
    assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def test_ss_elm_takes_the_first_point_with_the_fewest_validation_errors():
    order = RNG.permutation(len(X))
    train, held = SCALED[order[:80]], order[80:]
    C, lam = [1e-3, 1.0, 1e3], [1e-2, 1e2]
    model = PrintedSSELM(40, {"n_neighbors": 5}, C, lam, 0)
    model.fit(train, y[order[:15]], (SCALED[held], y[held]))
    H = model.units.transform(train)
    points = list(printed_grid(H, model.graph.laplacian(train), y[order[:15]], C, lam))
    rows = model.units.transform(SCALED[held])
    errors = [np.sum(np.argmax(rows @ beta, axis=1) != y[held]) for beta in points]
    assert_allclose(model.beta_, points[int(np.argmin(errors))])
    assert np.sum(model.predict(SCALED[held]) != y[held]) == min(errors)


def test_units_are_those_of_equation_6():
    units = RBFFeatures(
        30, node="random_gaussian", centers="uniform", scaling=None, random_state=3
    ).fit(SCALED)
    a, b = units.centers_, units.rates_
    assert np.all(np.abs(a) <= 1), "centres are U(−1, 1)"
    assert np.all((b >= 0) & (b <= 1)), "rates are U(0, 1)"
    expected = np.exp(-b * oracles.squared_distances(SCALED, a))
    assert_allclose(printed_clusters.equation_6(SCALED, 30, 3), expected, rtol=1e-9)


def naive_algorithm_2(H, k, seed, threshold, most):
    """Steps 2 to 7, one entry at a time."""
    rng = np.random.default_rng(seed)
    W, B = rng.random((len(H), k)), rng.random((k, H.shape[1]))
    for rounds in range(1, most + 1):  # noqa: B007 - it is returned
        WH, WWB = W.T @ H, W.T @ W @ B
        new_B = np.array([[B[a, u] * WH[a, u] / WWB[a, u] for u in range(B.shape[1])]
                          for a in range(k)])  # fmt: skip
        HB, WBB = H @ new_B.T, W @ new_B @ new_B.T
        new_W = np.array([[W[i, a] * HB[i, a] / WBB[i, a] for a in range(k)]
                          for i in range(len(H))])  # fmt: skip
        err = max(np.linalg.norm(new_W - W) / np.sqrt(W.size),
                  np.linalg.norm(new_B - B) / np.sqrt(B.size))  # fmt: skip
        W, B = new_W, new_B
        if err < threshold:
            break
    return W, B, rounds


@pytest.mark.parametrize(("threshold", "most"), [(1e-2, 500), (0.0, 7)])
def test_nmf_updates_and_stops_as_algorithm_2_says(threshold, most):
    H = RNG.random((12, 9))
    W, B, rounds = printed_clusters.multiplicative_nmf(H, 3, 1, threshold, most)
    expected = naive_algorithm_2(H, 3, 1, threshold, most)
    assert rounds == expected[2]
    assert (1 < rounds < 500) if threshold else rounds == most
    assert_allclose(W, expected[0], rtol=1e-9)
    assert_allclose(B, expected[1], rtol=1e-9)


def test_kernel_nmf_factorises_the_kernel_matrix_and_clusters_its_codes():
    K = np.kron(np.eye(3), np.ones((5, 5))) + 0.01
    Y, B, _ = naive_algorithm_2(K, 3, 0, 1e-4, 500)
    assert_allclose(Y @ B, K, atol=0.05)
    expected = printed_clusters.printed_k_means(B.T, 3, 0)
    assert np.array_equal(printed_clusters.kernel_nmf(K, 3, 0), expected)


def test_algorithm_1_starts_once_from_rows(monkeypatch):
    seen = []

    class Seen(printed_clusters.KMeans):
        def __init__(self, n_clusters, *, init, n_init, random_state):
            seen.append((init, n_init))
            super().__init__(n_clusters, init=init, n_init=n_init, random_state=random_state)

    monkeypatch.setattr(printed_clusters, "KMeans", Seen)
    printed_clusters.printed_k_means(SCALED, 3, 0)
    assert seen == [("random", 1)]


def naive_weights(rows, codes, k):
    W = np.zeros((len(rows), len(rows)))
    D = oracles.squared_distances(rows, rows)
    for i in range(len(rows)):
        own = [j for j in range(len(rows)) if j != i and codes[j] == codes[i]]
        for j in sorted(own, key=lambda j: D[i, j])[:k]:
            W[i, j] = W[j, i] = np.exp(-D[i, j] / 2)
    return W


def test_weights_are_those_of_equation_8():
    order = RNG.permutation(len(X))[:50]
    found = printed_weights(SCALED[order], y[order], 4).toarray()
    assert_allclose(found, naive_weights(SCALED[order], y[order], 4), atol=1e-12)


@pytest.mark.parametrize("count", [9, 60])
def test_the_projection_solves_equation_10(count):
    rows = SCALED[:: len(X) // count][:count] / 4
    W = printed_weights(rows, y[:: len(X) // count][:count], 3)
    U = projection(rows, W)
    dense = W.toarray()
    D = rows.T @ np.diag(dense.sum(axis=1)) @ rows
    L = rows.T @ (np.diag(dense.sum(axis=1)) - dense) @ rows
    assert U.shape == (13, np.linalg.matrix_rank(D))
    assert_allclose(U.T @ D @ U, np.eye(U.shape[1]), atol=1e-8)
    gammas = np.diag(U.T @ L @ U)
    assert_allclose(L @ U, D @ U * gammas, atol=1e-7 * np.abs(D @ U).max())
    assert np.all(np.diff(gammas) > -1e-9), "the least come first"


@pytest.mark.parametrize("count", [70, 6])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("lam", [0.0, 0.4])
def test_melm_solves_equation_22_with_definitions_1_and_2(lam, project, count):
    order = np.concatenate([np.flatnonzero(y == t)[: count // 3 + 1] for t in range(3)])[:count]
    order = order if count > 10 else np.array([0, 1, 60, 61, 140, 141])
    model = LiteralManifoldELM(C=0.5, lam=lam, project=project, random_state=0)
    model.fit(X[order], y[order])
    unit = normalize(X[order])
    W = naive_weights(unit, y[order], 5)
    rows = unit @ model.projection_ if project else unit
    S = rows.T @ (np.diag(W.sum(axis=1)) - W) @ rows
    for t in range(3):
        gap = rows[y[order] == t].mean(axis=0) - rows.mean(axis=0)
        S -= (1 - lam) * np.outer(gap, gap)
    assert model.units_.n_hidden == rows.shape[1], "as many units as inputs"
    F = oracles.sigmoid_layer(rows, model.units_.weights_.T, model.units_.biases_)
    A, R = F.T @ F + S / 0.5, F.T @ oracles.one_vs_rest(y[order], np.arange(3))
    assert_allclose(A @ model.beta_, R, atol=1e-6 * np.abs(R).max())
    assert model.n_negative_ == np.sum(np.linalg.eigvalsh(A) < -1e-9 * np.abs(A).max())


def test_us_elm_has_every_dimension_from_one_solve_and_takes_the_best_by_accuracy():
    rows, classes = load_iris(return_X_y=True)
    s = {"n_hidden": 50, "grid": [0.1, 10.0], "dimensions": [1, 2, 4], "n_neighbors": 5}
    found = list(clustering._elm_printed(rows, 3, s, 0))
    assert [E.shape[1] for E in found] == [1, 2, 4, 1, 2, 4]
    units = RandomFeatures(50, scaling=None, random_state=0)
    graph = KNNGraph(5, weights="binary", normalized=False)
    for E, lam in ((found[1], 0.1), (found[4], 10.0)):
        model = ELMEmbedding(2, features=units, graph=graph, lam=lam, row_normalize=False)
        assert_allclose(E, model.fit_transform(rows), atol=1e-8)
    H = units.fit(rows).transform(rows)
    L = oracles.laplacian(oracles.knn_affinity(rows, 5), normalized=False)
    # ‖Hv‖ = 1, so vᵀ(I + λHᵀLH)v is γ; the smooth part of it is λ eᵀLe.
    gammas = oracles.unsupervised(H, L, 10.0, 4)
    assert np.all(10.0 * np.diag(found[5].T @ L @ found[5]) <= gammas + 1e-8)
    perfect = np.eye(3)[classes]
    chosen = clustering.chosen_by_classes([found[0], perfect, found[1]], classes, "random", 0)
    assert chosen is perfect


def test_one_split_is_the_same_in_every_repetition(monkeypatch):
    seen = []
    rows = [(np.ones((2, 2)), np.array([0, 1])) * 2]
    monkeypatch.setattr("papers.randomized.split", lambda data, seed: seen.append(seed) or rows[0])
    monkeypatch.setattr("papers.randomized.evaluate", lambda *given: given[1])
    for one_split in (True, False):
        settings = {"one_split": one_split}
        case = Case("t", "papers.randomized", "r", "segment", "m", None, 4, 0, settings)
        assert randomized_run(case) == 4, "the sketch is drawn anew all the same"
    assert seen == [0, 4]
