"""Truths about the smoothest functions on a graph."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_moons

from ulmus.exceptions import GraphError
from ulmus.graphs import KNNGraph, Laplacian, laplacian
from ulmus.methods import laplacian_eigenmaps as module
from ulmus.methods.laplacian_eigenmaps import graph_spectrum, smallest_eigenpairs


def swiss(n):
    """Rows along a bent sheet, whose eigenvalues crowd near zero."""
    rng = np.random.default_rng(0)
    t, height = rng.uniform(4.0, 12.0, n), rng.uniform(0.0, 6.0, n)
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)])


GRAPHS = {
    "crowded": KNNGraph(8, width="local").laplacian(swiss(900)),
    "plain": KNNGraph(8, normalized=False).laplacian(swiss(900)),
    # Neighbours without rhyme or reason: no eigenvalue but the first is near zero.
    "random": KNNGraph(10, weights="binary").laplacian(
        np.random.default_rng(0).standard_normal((800, 60))
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_eigenvectors_are_those_of_the_whole_matrix(name):
    L, k = GRAPHS[name], 7
    values, V = smallest_eigenpairs(L.matrix, k)
    every, W = np.linalg.eigh(L.matrix.toarray())
    assert_allclose(values, every[:k], atol=1e-8 * every[-1])
    assert np.linalg.norm(L @ V - V * values, axis=0).max() < 1e-6 * every[-1]
    assert_allclose(V.T @ V, np.eye(k), atol=1e-10)
    # The two span the same space: each is all there in the other.
    assert_allclose(np.linalg.svd(W[:, :k].T @ V, compute_uv=False), 1.0, atol=1e-6)


@pytest.mark.parametrize("name", GRAPHS)
def test_coordinates_are_functions_of_the_random_walk(name):
    L = GRAPHS[name]
    found = graph_spectrum(L, 4)
    _, W = np.linalg.eigh(L.matrix.toarray())
    u = np.abs(W[:, 0])
    V = found.coordinates * u[:, None]
    scale = np.abs(V).max()
    assert_allclose(L @ V, V * found.values, atol=1e-5 * scale)
    shares = len(u) * u**2
    assert_allclose(
        found.coordinates.T @ (shares[:, None] * found.coordinates), np.eye(4), atol=1e-6
    )
    assert found.parts == 1
    assert found.reached.all()
    peak = np.abs(found.coordinates).argmax(axis=0)
    assert (found.coordinates[peak, range(4)] > 0).all()


def test_a_power_has_the_same_functions():
    L = GRAPHS["crowded"]
    once, cubed = graph_spectrum(L, 3), graph_spectrum(Laplacian(L.matrix, 3), 3)
    assert_array_equal(once.coordinates, cubed.coordinates)
    assert_allclose(cubed.values, once.values**3)


def test_large_parts_come_first_and_each_is_one_place():
    X, truth = make_blobs([300, 200, 100], centers=[[0, 0], [99, 0], [0, 99]], random_state=0)
    found = graph_spectrum(KNNGraph(5).laplacian(X), 5)
    assert found.parts == 3
    assert_allclose(found.values[:2], 0.0)
    assert (found.values[2:] > 1e-4).all()
    places = np.stack([found.coordinates[truth == c, :2].mean(axis=0) for c in range(3)])
    assert_allclose(found.coordinates[:, :2], places[truth], atol=1e-12)
    assert len(np.unique(places.round(6), axis=0)) == 3
    E = found.coordinates[:, :2]
    assert_allclose(E.T @ E, np.eye(2), atol=1e-12)
    assert_allclose(E.sum(axis=0), 0.0, atol=1e-12)
    for column in found.coordinates[:, 2:].T:  # inside one part
        assert sum(np.abs(column[truth == c]).max() > 1e-9 for c in range(3)) == 1


@pytest.mark.parametrize("sizes", [(300, 290), (230, 220)])
def test_an_edge_too_faint_to_count_still_leaves_sound_functions(sizes):
    X, truth = make_blobs(sizes, centers=[[0, 0], [99, 0]], random_state=0)
    W = KNNGraph(5).affinity(X).tolil()
    a, b = np.flatnonzero(truth == 0)[0], np.flatnonzero(truth == 1)[0]
    W[a, b] = W[b, a] = 1e-18
    found = graph_spectrum(laplacian(W.tocsr()), 2)
    assert np.abs(found.coordinates).max() < 2.0
    first = found.coordinates[:, 0]
    assert np.ptp(first[truth == 0]) < 1e-3 > np.ptp(first[truth == 1])
    assert abs(first[truth == 0].mean() - first[truth == 1].mean()) > 1e-2


def test_small_parts_and_lonely_rows_are_left_out():
    X, _ = make_moons(600, noise=0.05, random_state=0)
    X = np.vstack([X, [[50.0, 50.0], [50.1, 50.0]], [[-40.0, 0.0]]])
    W = KNNGraph(6).affinity(X).tolil()
    W[600:, :600] = 0.0
    W[:600, 600:] = 0.0
    W[602, :] = 0.0
    W[:, 602] = 0.0
    found = graph_spectrum(laplacian(W.tocsr()), 2)
    assert_array_equal(np.flatnonzero(~found.reached), [600, 601, 602])
    assert_array_equal(found.coordinates[600:], 0.0)


@pytest.mark.parametrize(("cut", "top"), [(0.05, 2.0), (0.3, 1.5)])
def test_the_filter_is_one_at_zero_and_small_beyond_the_cut(cut, top):
    x = np.linspace(0.0, top, 200)
    found = module._chebyshev(sp.diags_array(x), cut, top, None) @ np.ones(200)
    degree = round(2.0 / np.sqrt(cut / top))
    T = np.polynomial.Chebyshev.basis(degree, domain=[cut, top])
    assert_allclose(found, T(x) / T(0.0), atol=1e-12)
    assert found[0] == pytest.approx(1.0)
    assert np.abs(found[x >= cut]).max() <= 1.0001 / abs(T(0.0)) < 0.2


def test_functions_that_are_not_found_are_an_error(monkeypatch):
    monkeypatch.setattr(module, "_RESTARTS", 1)
    with pytest.raises(GraphError, match="not found in 1 restarts"):
        smallest_eigenpairs(GRAPHS["plain"].matrix, 40)


def test_a_graph_that_tells_nothing():
    with pytest.raises(GraphError, match="falls into 150 parts"):
        graph_spectrum(laplacian(sp.csr_array((150, 150))), 2)
    pair = laplacian(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    with pytest.raises(GraphError, match="n_components=3 is too many: the graph gives at most 1"):
        graph_spectrum(pair, 3)
