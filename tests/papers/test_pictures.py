"""Figures 3 and 11 of the SS-ELM paper: what is drawn."""

from itertools import pairwise

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris

import oracles
from papers.pictures import SHARES, embeddings, noisy_digits
from ulmus import KNNGraph


def test_us_elm_and_eigenmaps_have_the_same_graph():
    X, y = load_iris(return_X_y=True)
    found = embeddings(X, n_hidden=80)
    assert [E.shape for E in found.values()] == [(150, 2)] * 3
    assert_allclose(found["rows"], X[:, :2])
    # Rows of IRIS are equally far from each other, so which neighbours are taken is the graph's.
    W = KNNGraph(5, weights="binary").affinity(X).toarray()
    L, D = oracles.laplacian(W, normalized=False), np.diag(W.sum(axis=1))
    # Eigenmaps solve Le = γDe.
    E = found["LE"]
    gammas = np.diag(E.T @ L @ E) / np.diag(E.T @ D @ E)
    assert_allclose(L @ E, D @ E * gammas, atol=1e-6 * np.abs(D @ E).max())
    # The first class of IRIS stands apart in US-ELM's embedding.
    own = found["US-ELM"]
    gap = np.linalg.norm(own[y == 0].mean(axis=0) - own[y > 0].mean(axis=0))
    assert gap > 3 * own[y == 0].std(axis=0).max()


def test_digits_lose_as_many_pixels_as_stated_and_the_same_ones_again():
    X, y = load_digits(return_X_y=True)
    images = noisy_digits(X, y)
    assert images.shape == (6, 10, 64)
    assert np.array_equal(images[0], X[[np.flatnonzero(y == k)[0] for k in range(10)]] / 16)
    changed = [image != images[0] for image in images]
    for share, now in zip(SHARES, changed, strict=True):
        assert abs(now.mean() - share) < 0.06
    assert all(np.all(later | ~now) for now, later in pairwise(changed))
    assert images[-1].min() >= -0.5
