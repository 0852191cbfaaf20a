"""Nearest neighbours where the rows live are those that the host finds."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from ulmus import KNNGraph
from ulmus.backends import neighbors
from ulmus.backends.neighbors import (
    exact_neighbors,
    joined_copies,
    mean_of_copies,
    nearest_points,
    searched_neighbors,
)

rng = np.random.default_rng(0)
ROWS = {
    "scattered": rng.standard_normal((150, 6)),
    "far from the origin": 1e5 + rng.standard_normal((150, 3)),
    "copies": np.repeat(rng.standard_normal((30, 4)), 5, axis=0),
    "on a grid": np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2),
    "all the same": np.ones((60, 3)),
    "few": rng.standard_normal((4, 2)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", ROWS)
def test_neighbours_are_those_of_the_host(library, monkeypatch, rows, dtype):
    # Blocks of a few rows, of which the last is a short one.
    monkeypatch.setattr(neighbors, "_DEVICE_ENTRIES", 40 * len(ROWS[rows]))
    X = ROWS[rows].astype(dtype)
    k = min(7, len(X) - 1)
    found, expected = exact_neighbors(library(X), k), exact_neighbors(X, k)
    assert found.dtype == expected.dtype
    assert_array_equal(found.indptr, expected.indptr)
    assert_allclose(found.data, expected.data, rtol=1e-6, atol=1e-12)
    if rows in ("scattered", "few"):
        assert_array_equal(found.indices, expected.indices)


@pytest.mark.parametrize("rows", ["on a grid", "copies"])
def test_of_equal_distances_the_first_rows_are_taken(library, rows):
    X = ROWS[rows]
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    nearest = np.argsort(D, axis=1, kind="stable")[:, :5]
    for found in (exact_neighbors(library(X), 5), exact_neighbors(X, 5)):
        assert_array_equal(found.indices.reshape(-1, 5), nearest)


@pytest.mark.parametrize(
    "graph",
    [
        KNNGraph(5),
        KNNGraph(5, width="local"),
        KNNGraph(3, metric="cosine"),
        KNNGraph(5, n_components=3),
        KNNGraph(200),
    ],
    ids=str,
)
def test_a_graph_of_rows_on_a_device_is_that_of_the_host(library, graph):
    X = ROWS["scattered"]
    assert_allclose(
        graph.affinity(library(X)).toarray(), graph.affinity(X).toarray(), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nearest_points_on_a_device_are_those_of_the_host(library, monkeypatch, dtype):
    monkeypatch.setattr(neighbors, "_DEVICE_ENTRIES", 40 * 120)
    rng = np.random.default_rng(0)
    X = (100.0 + rng.standard_normal((150, 6))).astype(dtype)
    (distances, numbers), expected = (
        nearest_points(rows, rows[:120, ...], 2) for rows in (library(X), X)
    )
    assert_allclose(distances, expected[0], rtol=1e-4, atol=1e-6)
    assert_array_equal(numbers, expected[1])


def test_whole_numbers_on_a_device_have_a_graph(library):
    X = np.arange(40).reshape(20, 2) ** 2
    assert_allclose(KNNGraph(3).affinity(library(X)).toarray(), KNNGraph(3).affinity(X).toarray())


def test_distances_that_are_not_finite_are_refused_on_a_device(library):
    with pytest.raises(ValueError, match="squared distances are not finite"):
        KNNGraph(3).affinity(library(np.full((5, 2), 1e30, dtype=np.float32)))


def test_copies_share_the_mean_of_their_outputs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(30, 3)).astype(float)
    F = rng.standard_normal((30, 2))
    expected = [F[(row == X).all(axis=1)].mean(axis=0) for row in X]
    assert_allclose(mean_of_copies(F, X), expected)
    assert_allclose(mean_of_copies(F, sp.csr_array(X)), expected)
    assert mean_of_copies(F, np.arange(30.0)[:, None]) is F


def test_copies_of_many_columns_are_equal_in_all_of_them(library):
    rng = np.random.default_rng(0)
    X = np.where(np.arange(90) < 60, rng.integers(0, 2, size=(40, 90)), 0.0)
    X[10:20] = X[:10]
    # Equal in the columns that vary most, and not in the last.
    X[20:30, :80], X[20:30, 85] = X[:10, :80], 0.5
    X[15, 70] = -0.0
    X[31] = X[30]
    F = rng.standard_normal((40, 2))
    expected = [F[(row == X).all(axis=1)].mean(axis=0) for row in X]
    for rows in (X, library(X)):
        assert_allclose(mean_of_copies(F, rows), expected)


def test_rows_with_more_copies_than_neighbours_are_joined_to_the_first_of_them():
    X = np.array([[5.0], [1.0], [2.0], [1.0], [2.0], [1.0], [2.0], [7.0]])
    found = searched_neighbors(X, 1, "euclidean")
    before, after = (
        set(zip(D.row.tolist(), D.col.tolist(), strict=True))
        for D in (found.tocoo(), joined_copies(found, X).tocoo())
    )
    assert after == before | {(3, 1), (5, 1), (4, 2), (6, 2)}
