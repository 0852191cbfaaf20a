"""Each baseline on a case whose answer is known."""

import builtins

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles

from papers.baselines import (
    ConvolutionalNetwork,
    deep_belief_network,
    gaussian_kernel,
    kernel_kmeans,
    kernel_nmf_labels,
    nmf_labels,
    umap_embedding,
)
from ulmus.exceptions import MissingExtraError
from ulmus.metrics import clustering_accuracy


def bars(n, seed=0):
    """8 × 8 images of a horizontal (0) or a vertical (1) bar in some place."""
    rng = np.random.default_rng(seed)
    images, labels = 0.1 * rng.uniform(size=(n, 8, 8)), np.arange(n) % 2
    for image, label in zip(images, labels, strict=True):
        place = rng.integers(8)
        image[(slice(None), place) if label else (place, slice(None))] = 1.0
    return images.reshape(n, 64), labels


def test_kernel_k_means_with_a_linear_kernel_is_k_means():
    X, _ = make_blobs(90, 3, centers=4, cluster_std=2.0, random_state=0)
    plain = KMeans(4, n_init=20, random_state=0).fit(X)
    labels = kernel_kmeans(X @ X.T, 4, n_init=20)
    assert clustering_accuracy(plain.labels_, labels) == 1.0


def test_kernel_k_means_finds_a_ring():
    X, y = make_circles(200, factor=0.2, noise=0.02, random_state=0)
    assert clustering_accuracy(y, kernel_kmeans(gaussian_kernel(X, 0.35), 2)) == 1.0
    assert clustering_accuracy(y, KMeans(2, n_init=10, random_state=0).fit(X).labels_) < 0.8


def test_the_gaussian_kernel_is_its_formula():
    K = gaussian_kernel(np.array([[0.0], [1.0], [3.0]]), 2.0)
    np.testing.assert_allclose(K[0], np.exp([0.0, -1 / 8, -9 / 8]))


@pytest.mark.parametrize("kernel", [False, True])
def test_factorisations_find_blocks(kernel):
    # Rows of one block share columns with each other and with nobody else.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.uniform(0.5, 1.0, (90, 12)) * (y[:, None] == np.arange(12) % 3)
    labels = kernel_nmf_labels(X @ X.T, 3) if kernel else nmf_labels(X, 3)
    assert clustering_accuracy(y, labels) == 1.0


def halves(n, seed=0):
    """8 × 8 images whose left (1) or right (0) half is bright, with every pixel uncertain."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    bright = (np.arange(64) % 8 >= 4) != y[:, None]
    return (rng.uniform(size=(n, 64)) < np.where(bright, 0.8, 0.2)).astype(float), y


def test_a_deep_belief_network_tells_halves_apart():
    X, y = halves(200)
    model = deep_belief_network((20, 10), n_iter=30).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) > 0.95


@pytest.mark.torch
@pytest.mark.parametrize(
    ("images", "settings"),
    [
        (bars, {"epochs": 10}),
        (halves, {"epochs": 60, "learning_rate": 1.0, "classic": True}),
    ],
)
def test_a_convolutional_network_tells_images_apart(images, settings):
    X, y = images(200)
    names = np.array(["first", "second"])[y]
    model = ConvolutionalNetwork(**settings).fit(X[:150], names[:150])
    assert model.score(X[150:], names[150:]) == 1.0


@pytest.mark.parametrize(
    ("package", "use", "advice"),
    [
        ("torch", lambda X, y: ConvolutionalNetwork().fit(X, y), "ulmus\\[papers\\]"),
        ("umap", lambda X, y: umap_embedding(X), "pip install umap-learn"),
    ],
)
def test_without_a_package_the_message_says_how_to_get_it(package, use, advice, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=advice):
        use(*bars(4))
