"""What graphs promise."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer

import oracles
from conditioning import EPS, STEPS, assert_within
from ulmus import KNNGraph, graphs
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.graphs import Laplacian, affinity_of, as_laplacian, laplacian


@settings(max_examples=40, deadline=None)
@given(
    seed=integers(0, 10**6),
    n=integers(4, 30),
    k=integers(1, 5),
    heat=booleans(),
    normalized=booleans(),
    power=integers(1, 3),
)
def test_affinity_and_laplacian_are_their_formulas(seed, n, k, heat, normalized, power):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    k = min(k, n - 1)
    graph = KNNGraph(k, weights="heat" if heat else "binary", normalized=normalized, power=power)
    W = oracles.knn_affinity(X, k, heat)
    # A weight is off by what its exponent is, which is a part of the square of the longest edge.
    longest = oracles.squared_distances(X, X)[W > 0].max() / oracles.knn_width(X, k) ** 2
    apart = STEPS * EPS * (1 + longest if heat else 1.0)
    assert_within(graph.affinity(X).toarray(), W, apart)
    L = oracles.laplacian(W, normalized, power)
    apart *= power * max(1.0, np.linalg.norm(oracles.laplacian(W, normalized), 2)) ** power
    assert_within(graph.laplacian(X) @ np.eye(n), L, apart)


def test_isolated_rows_and_separate_parts():
    W = sp.csr_array(np.array([[0, 2.0, 0, 0], [2.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    for normalized in (True, False):
        L = laplacian(W, normalized) @ np.eye(4)
        assert np.isfinite(L).all()
        assert not L[2:].any()
        assert not L[:, 2:].any()


def test_duplicate_rows():
    X = np.repeat(np.random.default_rng(0).standard_normal((5, 2)), 4, axis=0)
    W = KNNGraph(3).affinity(X)
    assert np.isfinite(W.data).all()
    assert W.data.max() <= 1.0
    same = KNNGraph(3).affinity(np.ones((6, 2)))  # every distance is zero
    assert set(same.data) == {1.0}
    assert not same.diagonal().any()


def test_more_neighbours_than_rows():
    X = np.random.default_rng(0).standard_normal((4, 2))
    W = KNNGraph(50, weights="binary").affinity(X).toarray()
    assert_allclose(W, 1 - np.eye(4))


def test_one_row_and_two():
    assert KNNGraph(3).affinity(np.ones((1, 2))).shape == (1, 1)
    two = KNNGraph(3).affinity(np.array([[0.0], [2.0]])).toarray()
    assert_allclose(two, np.exp(-0.5) * (1 - np.eye(2)))  # the mean distance is the only one


def test_a_local_width_is_the_geometric_mean_of_both_ends():
    X = np.array([[0.0], [1.0], [4.0]])
    W = KNNGraph(1, width="local").affinity(X).toarray()
    near, far = 0.25 * 1.0, 0.25 * 3.0  # a quarter of the distance to each row's neighbour
    expected = np.exp(-0.5 * np.array([1.0 / (near * near), 9.0 / (near * far)]))
    assert_allclose([W[0, 1], W[1, 2]], expected)
    assert W[0, 2] == 0
    copies = KNNGraph(1, width="local").affinity(np.array([[0.0], [0.0], [1.0]])).toarray()
    assert np.isfinite(copies).all()
    assert copies[0, 1] == 1.0


@pytest.mark.parametrize(
    ("X", "by_products"),
    [
        (np.zeros((20_001, 1)), True),
        (np.zeros((20_001, 1), np.float32), True),
        (np.zeros((20_000, 1)), False),
        (np.zeros((20_001, 1), int), False),
        (sp.csr_array((20_001, 1)), False),
    ],
    ids=["float64", "float32", "fewer", "whole", "sparse"],
)
def test_many_dense_rows_are_searched_by_products(X, by_products):
    assert KNNGraph()._by_products(X) is by_products
    assert not KNNGraph(metric="cosine")._by_products(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_are_compared_by_angles_as_few_are(dtype, monkeypatch):
    X = np.random.default_rng(0).standard_normal((90, 4)).astype(dtype)
    graph = KNNGraph(4, metric="cosine")
    expected = graph._distances(X).toarray()
    monkeypatch.setattr(graphs, "_EXACT_ROWS", 50)
    assert graph._by_products(X)
    close = 1e-3 if dtype == np.float32 else 1e-9
    assert_allclose(graph._distances(X).toarray(), expected, rtol=close)
    X[7] = 0.0  # is at the same distance from all others
    assert not graph._by_products(X)


def test_no_edges_have_no_width():
    alone = np.array([0, 1, 2])
    assert KNNGraph(1).affinity(np.arange(3.0)[:, None], alone).nnz == 0


@pytest.mark.parametrize("rows", [500, 501])
def test_groups_of_every_size_have_their_own_graph(rows):
    X = np.random.default_rng(0).standard_normal((rows + 20, 2))
    groups = np.r_[np.zeros(rows, int), np.ones(20, int)]
    found = KNNGraph(2, weights="binary").affinity(X, groups).toarray()
    assert_array_equal(found[:rows, :rows], oracles.knn_affinity(X[:rows], 2, heat=False))
    assert_array_equal(found[rows:, rows:], oracles.knn_affinity(X[rows:], 2, heat=False))
    assert not found[:rows, rows:].any()


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_other_metrics(metric):
    X = np.random.default_rng(0).standard_normal((30, 4))
    W = KNNGraph(4, metric=metric).affinity(X)
    assert (abs(W - W.T)).max() == 0
    assert (W.toarray() > 0).sum(axis=1).min() >= 4


def test_sparse_rows():
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[X < 0] = 0
    dense, sparse = KNNGraph(4).affinity(X), KNNGraph(4).affinity(sp.csr_array(X))
    assert_allclose(sparse.toarray(), dense.toarray(), atol=1e-7)


def test_graphs_of_every_kind_say_the_same():
    X, _ = make_blobs(40, random_state=0)
    expected = KNNGraph(5).laplacian(X) @ np.eye(40)
    transformer = KNeighborsTransformer(n_neighbors=5, mode="distance")
    for graph in (
        KNNGraph(5),
        KNNGraph(5).laplacian(X),
        KNNGraph(5).affinity(X),
        transformer,
        transformer.fit_transform(X),
        sp.coo_array(KNNGraph(5).affinity(X)),
    ):
        assert_allclose(as_laplacian(graph, X) @ np.eye(40), expected, atol=1e-12)
    assert len(as_laplacian(RadiusNeighborsTransformer(radius=1.0), X)) == 40


def test_a_transformer_of_connections_gives_binary_weights():
    X, _ = make_blobs(40, random_state=0)
    graph = KNeighborsTransformer(n_neighbors=5, mode="connectivity")  # a row is its own first
    expected = KNNGraph(4, weights="binary").laplacian(X) @ np.eye(40)
    assert_allclose(as_laplacian(graph, X) @ np.eye(40), expected, atol=1e-12)


def test_the_search_is_chosen_and_seen(caplog):
    assert KNNGraph().search(np.empty((100_000, 1))) == "exact"
    with caplog.at_level("INFO", logger="ulmus"):
        chosen = KNNGraph().search(np.empty((100_001, 1)))
    assert chosen in ("exact", "pynndescent")
    assert "100001 rows" in caplog.text


@pytest.mark.first
@pytest.mark.slow  # its package compiles itself on first use
def test_an_approximate_search_finds_most_neighbours():
    pytest.importorskip("pynndescent", reason="the extra 'neighbors' is not installed")
    X, _ = make_blobs(2000, 8, centers=20, random_state=0)
    exact = KNNGraph(10, weights="binary", method="exact").affinity(X)
    near = KNNGraph(10, weights="binary", method="pynndescent").affinity(X)
    assert exact.multiply(near).sum() / exact.sum() > 0.95
    again = KNNGraph(10, weights="binary", method="pynndescent").affinity(X)
    assert abs(near - again).nnz == 0


def test_heat_needs_no_width():
    distances = sp.csr_array(np.array([[0, 3.0], [3.0, 0]]))
    assert_allclose(affinity_of(distances).toarray()[0, 1], np.exp(-0.5))
    assert_allclose(affinity_of(distances, width=1.5).toarray()[0, 1], np.exp(-2.0))


def test_weights_may_differ_by_rounding_either_way():
    W = np.array([[0, 1.0, 2.0], [1.0, 0, 0], [2.0 + 1e-12, 0, 0]])
    assert_allclose(laplacian(W, normalized=False) @ np.ones(3), 0.0, atol=1e-11)
    W[2, 0] += 1e-6
    with pytest.raises(InvalidInputError, match="not symmetric"):
        laplacian(W)


@pytest.mark.parametrize(
    ("W", "words"),
    [
        (np.ones((3, 2)), "must be square"),
        (np.array([[0, 1.0], [0.5, 0]]), "not symmetric"),
        (np.array([[0, -1.0], [-1.0, 0]]), "negative weights"),
        (np.array([[0, np.nan], [np.nan, 0]]), "not finite"),
    ],
)
def test_graphs_that_cannot_be_used(W, words):
    with pytest.raises(InvalidInputError, match=words):
        laplacian(sp.csr_array(W))


def test_a_graph_of_other_rows():
    with pytest.raises(InvalidInputError, match="The graph has 3 rows, and X has 2"):
        as_laplacian(Laplacian(sp.eye_array(3).tocsr()), np.ones((2, 1)))
    with pytest.raises(InvalidParameterError, match="is not a graph"):
        as_laplacian("knn", np.ones((2, 1)))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"power": 0}, "power=0"),
        ({"power": 101}, "power=101"),
        ({"width": "broad"}, "width='broad'"),
        ({"width": 0.0}, "width=0.0"),
        ({"weights": "cosine"}, "'heat', 'binary'"),
        ({"method": "magic"}, "'auto', 'exact', 'pynndescent'"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, words):
    with pytest.raises(InvalidParameterError, match=words):
        KNNGraph(**parameters).affinity(np.ones((5, 1)))
