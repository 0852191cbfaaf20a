"""The other systems of the papers' tables, for comparison and not for use.

Kernel k-means, NMF clustering and kernel NMF stand beside ELM k-means and ELM NMF; a small
convolutional network and a deep belief network beside MELM.
"""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neural_network import BernoulliRBM
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from ulmus.exceptions import MissingExtraError

__all__ = [
    "convolutional_network",
    "deep_belief_network",
    "gaussian_kernel",
    "kernel_kmeans",
    "kernel_nmf_labels",
    "nmf_labels",
]


def gaussian_kernel(X, sigma):
    """exp(−‖x − x'‖² / 2σ²) between all rows."""
    return np.exp(-euclidean_distances(X, squared=True) / (2.0 * sigma**2))


def kernel_kmeans(K, n_clusters, n_init=10, max_iter=300, seed=0):
    """Labels by k-means in the space of a kernel, from the kernel matrix alone.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        The kernel between all rows.
    n_clusters : int
        Number of clusters.
    n_init : int, default=10
        Starts, each from rows drawn at random; the tightest clustering is kept.
    max_iter : int, default=300
        Most rounds of a start.
    seed : int, default=0
        Seeds the starts.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The clusters.
    """
    rng = np.random.default_rng(seed)
    best, least = None, np.inf
    for _ in range(n_init):
        seeds = rng.choice(len(K), n_clusters, replace=False)
        labels = np.argmin(np.diagonal(K)[seeds] - 2.0 * K[:, seeds], axis=1)
        for _ in range(max_iter):
            distances = _to_means(K, labels, n_clusters)
            nearest = distances.argmin(axis=1)
            if np.array_equal(nearest, labels):
                break
            labels = nearest
        # ‖φ(x)‖² does not move a row from one centre to another, and is left out throughout.
        inertia = distances[np.arange(len(K)), labels].sum()
        if inertia < least:
            best, least = labels, inertia
    return best


def _to_means(K, labels, n_clusters):
    """‖φ(x) − μ‖² − ‖φ(x)‖² to every cluster's mean; an empty cluster is far from all."""
    Y = np.eye(n_clusters)[labels]
    sizes = Y.sum(axis=0)
    KY = K @ Y / np.maximum(sizes, 1)
    norms = np.sum(Y * KY, axis=0) / np.maximum(sizes, 1)
    return np.where(sizes > 0, norms - 2.0 * KY, np.inf)


def nmf_labels(X, n_clusters, seed=0, max_iter=200):
    """Labels by k-means on the rows of B in X ≈ BW, with a component for each cluster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = NMF(n_clusters, init="random", max_iter=max_iter, random_state=seed)
        B = model.fit_transform(X)
    return KMeans(n_clusters, n_init=10, random_state=seed).fit(B).labels_


def kernel_nmf_labels(K, n_clusters, seed=0):
    """Labels by NMF in the space of a kernel.

    φ(X) ≈ BW gives K ≈ B(Wφ(X)ᵀ), a factorisation of the kernel matrix whose first factor is
    the wanted one. That is our reading of the approximation of Zhang and Liu (2009).
    """
    return nmf_labels(K, n_clusters, seed)


def deep_belief_network(hidden=(200, 100), n_iter=200, learning_rate=0.05, seed=0):
    """Restricted Boltzmann machines, each learned on the one before, and a logistic layer."""
    machines = [
        BernoulliRBM(width, n_iter=n_iter, learning_rate=learning_rate, random_state=seed)
        for width in hidden
    ]
    return make_pipeline(
        MinMaxScaler(clip=True), *machines, LogisticRegression(C=100.0, max_iter=1000)
    )


def convolutional_network(X, y, X_test, side, epochs=100, learning_rate=1e-3, seed=0):
    """Labels of test images by two convolutions and a linear layer, trained with Adam.

    Parameters
    ----------
    X, X_test : ndarray of shape (n_samples, side²)
        Images, row by row.
    y : ndarray of shape (n_samples,)
        Labels from 0 on.
    side : int
        Width and height of an image; a multiple of four.
    epochs : int, default=100
        Passes over the training images.
    learning_rate : float, default=1e-3
        Adam's step.
    seed : int, default=0
        Seeds the weights and the order of the images.

    Returns
    -------
    labels : ndarray of shape (n_test,)
        The predicted labels.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(
            "The convolutional network needs PyTorch; pip install 'ulmus[experiments]'."
        ) from error
    torch.manual_seed(seed)
    low, span = X.min(), np.ptp(X) or 1.0

    def images(rows):
        return torch.tensor((rows - low) / span, dtype=torch.float32).reshape(-1, 1, side, side)

    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 5, padding=2),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 5, padding=2),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * (side // 4) ** 2, int(y.max()) + 1),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    inputs, targets = images(X), torch.tensor(y, dtype=torch.long)
    for _ in range(epochs):
        for batch in torch.randperm(len(inputs)).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(inputs[batch]), targets[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        return network(images(X_test)).argmax(dim=1).numpy()
