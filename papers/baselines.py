"""The other systems of the papers' tables, for comparison and not for use.

Kernel k-means, NMF clustering and kernel NMF stand beside ELM k-means and ELM NMF; a small
convolutional network and a deep belief network beside MELM.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neural_network import BernoulliRBM
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from ulmus.exceptions import MissingExtraError


def gaussian_kernel(X, sigma):
    """exp(−‖x − x'‖² / 2σ²) between all rows."""
    return np.exp(-euclidean_distances(X, squared=True) / (2.0 * sigma**2))


def kernel_kmeans(K, n_clusters, n_init=10, max_iter=300, seed=0):
    """Labels by k-means in the space of a kernel, from the kernel matrix of all rows alone.

    Each of ``n_init`` starts is from rows drawn at random; the tightest clustering is kept.
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


def nmf_labels(X, n_clusters, seed=0, max_iter=200, n_init=10):
    """Labels by k-means on the rows of B in X ≈ BW, with a component for each cluster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = NMF(n_clusters, init="random", max_iter=max_iter, random_state=seed)
        B = model.fit_transform(X)
    return KMeans(n_clusters, n_init=n_init, random_state=seed).fit(B).labels_


def kernel_nmf_labels(K, n_clusters, seed=0, n_init=10):
    """Labels by NMF in the space of a kernel.

    φ(X) ≈ BW gives K ≈ B(Wφ(X)ᵀ), a factorisation of the kernel matrix whose first factor is
    the wanted one. That is our reading of the approximation of Zhang and Liu (2009).
    """
    return nmf_labels(K, n_clusters, seed, n_init=n_init)


def umap_embedding(X, n_components=2, seed=0):
    """UMAP's coordinates of all rows."""
    try:
        from umap import UMAP
    except ImportError as error:
        raise MissingExtraError("This column needs UMAP; pip install umap-learn.") from error
    return UMAP(n_components=n_components, random_state=seed, n_jobs=1).fit_transform(X)


def deep_belief_network(hidden=(200, 100), n_iter=200, learning_rate=0.05, seed=0):
    """Restricted Boltzmann machines, each learned on the one before, and a logistic layer."""
    machines = [
        BernoulliRBM(width, n_iter=n_iter, learning_rate=learning_rate, random_state=seed)
        for width in hidden
    ]
    return make_pipeline(
        MinMaxScaler(clip=True), *machines, LogisticRegression(C=100.0, max_iter=1000)
    )


class ConvolutionalNetwork(ClassifierMixin, BaseEstimator):
    """Two convolutions and a linear layer on square images.

    Parameters
    ----------
    epochs : int, default=100
        Passes over the training images.
    learning_rate : float, default=1e-3
        The step.
    classic : bool, default=False
        Six and twelve maps of sigmoid units, means of four, squared error and plain gradient
        steps on fifty images; otherwise 16 and 32 maps of ReLU units, maxima of four, cross
        entropy and Adam on 32 images.
    random_state : int, default=0
        Seeds the weights and the order of the images.
    """

    def __init__(self, epochs=100, learning_rate=1e-3, classic=False, random_state=0):
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.classic = classic
        self.random_state = random_state

    def fit(self, X, y):
        """Train on images, row by row, whose side is a multiple of four."""
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError(
                "The convolutional network needs PyTorch; pip install 'ulmus[papers]'."
            ) from error
        torch.manual_seed(self.random_state)
        self.low_, self.span_ = X.min(), np.ptp(X) or 1.0
        self.classes_, codes = np.unique(y, return_inverse=True)
        images, targets = self._images(X), torch.tensor(codes)
        self.network_ = self._network(torch, images.shape[-1])
        step = torch.optim.SGD if self.classic else torch.optim.Adam
        optimizer = step(self.network_.parameters(), lr=self.learning_rate)
        for _ in range(self.epochs):
            for batch in torch.randperm(len(images)).split(50 if self.classic else 32):
                optimizer.zero_grad()
                self._loss(torch, self.network_(images[batch]), targets[batch]).backward()
                optimizer.step()
        return self

    def predict(self, X):
        """The label of each image."""
        parts = self._images(X).split(1000)
        codes = [self.network_(part).detach().numpy().argmax(axis=1) for part in parts]
        return self.classes_[np.concatenate(codes)]

    def _images(self, X):
        import torch

        side = int(np.sqrt(X.shape[1]))
        scaled = (X - self.low_) / self.span_
        return torch.tensor(scaled, dtype=torch.float32).reshape(-1, 1, side, side)

    def _network(self, torch, side):
        nn = torch.nn
        first, second = (6, 12) if self.classic else (16, 32)
        unit, pool = (nn.Sigmoid, nn.AvgPool2d) if self.classic else (nn.ReLU, nn.MaxPool2d)
        layers = [nn.Conv2d(1, first, 5, padding=2), unit(), pool(2)]
        layers += [nn.Conv2d(first, second, 5, padding=2), unit(), pool(2), nn.Flatten()]
        layers += [nn.Linear(second * (side // 4) ** 2, len(self.classes_))]
        if self.classic:
            for layer in (layers[0], layers[3], layers[7]):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)
            layers.append(unit())
        return nn.Sequential(*layers)

    def _loss(self, torch, outputs, targets):
        if not self.classic:
            return torch.nn.functional.cross_entropy(outputs, targets)
        wanted = torch.nn.functional.one_hot(targets, outputs.shape[1])
        return 0.5 * ((outputs - wanted) ** 2).sum() / len(targets)
