"""Spectral embeddings beside dense eigenproblems and scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.manifold import spectral_embedding

from papers.eigenmaps import laplacian_eigenmap, spectral_rows
from ulmus import KNNGraph


@pytest.fixture
def W():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    return KNNGraph(6, weights="heat").affinity(rows)


def test_eigenmaps_are_the_generalised_eigenvectors_of_the_laplacian(W):
    D = np.diag(W.sum(axis=1))
    _, V = eigh(D - W.toarray(), D)
    F = laplacian_eigenmap(W, 4)
    assert_allclose(F.T @ D @ F, np.eye(4), atol=1e-10)
    assert_allclose(np.abs(F.T @ D @ V[:, 1:5]), np.eye(4), atol=1e-8)


def test_spectral_rows_are_the_first_eigenvectors_with_rows_of_length_one(W):
    root = np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=1)))
    _, V = eigh(W.toarray() / root)
    V = V[:, ::-1][:, :3]
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    F = spectral_rows(W, 3)
    assert_allclose(F @ F.T, V @ V.T, atol=1e-8)


def test_spectral_rows_are_scikit_learns_with_rows_of_length_one(W):
    theirs = spectral_embedding(W.toarray(), n_components=3, drop_first=False, random_state=0)
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    F = spectral_rows(W, 3)
    assert_allclose(F @ F.T, theirs @ theirs.T, atol=1e-6)


def test_every_piece_of_a_graph_has_a_direction_of_its_own():
    # Thirty triangles: rows of one are the same point, those of two at right angles.
    triangle = np.ones((3, 3)) - np.eye(3)
    F = spectral_rows(sp.csr_array(sp.block_diag([triangle] * 30)), 30)
    assert_allclose(F @ F.T, np.kron(np.eye(30), np.ones((3, 3))), atol=1e-10)
