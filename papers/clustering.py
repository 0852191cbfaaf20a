"""Clustering without labels in the first paper: k-means on the inputs and on embeddings of them.

Tables V and VI, figures 4 to 10 and 12; settings and the paper's figures are in ``protocols``.
"""

import warnings
from time import perf_counter

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from papers.autoencoder import autoencoder_codes
from papers.datasets import benchmark_rows
from papers.eigenmaps import laplacian_eigenmap, spectral_rows
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.exceptions import MissingExtraError
from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph
from ulmus.metrics import clustering_accuracy


def run(case):
    """Accuracy (%) of every start of k-means, and the seconds of the embedding and one start."""
    settings = _stated(case)
    X, y = benchmark_rows(case.data)
    X = _scaled(X, settings["scale"])
    # The repetition seeds the noise, the hidden layer and the autoencoder. The starts are the
    # same in every repetition.
    first = 1000 * case.seed
    seed = first + case.repetition
    X = _noisy(X, settings.get("noise", 0.0), settings.get("same_pixels", False), seed)
    clusters = len(np.unique(y))
    if case.method in LOADED_LATE:
        EMBEDDINGS[case.method](X[:32], clusters, settings | {"epochs": 1}, seed)
    start = perf_counter()
    E = EMBEDDINGS[case.method](X, clusters, settings, seed)
    if case.method == "US-ELM, printed":
        E = chosen_by_classes(E, y, settings["init"], first)
    taken = perf_counter() - start
    # Where k-means keeps the tightest of n_init, as many of its starts are one clustering.
    n_init = settings.get("n_init", 1)
    count = max(1, settings["starts"] // n_init)
    start = perf_counter()
    found = [
        _clustered(E, clusters, settings["init"], n_init, random_state)
        for random_state in range(first, first + count)
    ]
    taken += (perf_counter() - start) / count
    return {"ACC": [100 * clustering_accuracy(y, labels) for labels in found], "seconds": taken}


def _clustered(E, clusters, init, n_init, random_state):
    with warnings.catch_warnings():
        # An embedding of few dimensions may have fewer distinct rows than there are clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(clusters, init=init, n_init=n_init, random_state=random_state).fit(E).labels_


def _stated(case):
    """The settings, with the method's own dimension and the axis' value in their places."""
    settings = dict(case.settings)
    settings["dimension"] = settings.get("dimension", {}).get(case.method)
    if case.x is not None:
        settings[settings["vary"]] = case.x
    return settings


def _scaled(X, scale):
    if scale == "minmax":
        low, span = X.min(axis=0), np.ptp(X, axis=0)
        return (X - low) / np.where(span > 0, span, 1.0)
    if scale == "pixels":
        return X / 255.0
    return X / np.linalg.norm(X, axis=1, keepdims=True) if scale == "unit" else X


def _noisy(X, share, same, seed):
    """X with a share of its entries, or the same entries of every row, replaced by noise.

    Noise is uniform from −0.5 to 0.5. What is replaced at one share is replaced at every larger
    one, by the same value.
    """
    rng = np.random.default_rng(seed)
    chance = rng.random(X.shape[1] if same else X.shape)
    return np.where(chance < share, rng.uniform(-0.5, 0.5, X.shape), X)


def _inputs(X, clusters, settings, seed):
    return X


def _autoencoder(X, clusters, settings, seed):
    widths = (*settings["widths"], settings["dimension"])
    return autoencoder_codes(X, widths, epochs=settings["epochs"], seed=seed)[0]


def _spectral(X, clusters, settings, seed):
    return spectral_rows(_graph(settings).affinity(X), int(settings["dimension"]))


def _eigenmap(X, clusters, settings, seed):
    return laplacian_eigenmap(_graph(settings).affinity(X), int(settings["dimension"]))


def _graph(settings):
    return KNNGraph(settings["n_neighbors"], weights="binary", normalized=False)


def _elm(X, clusters, settings, seed):
    units = RandomFeatures(settings["n_hidden"], scaling=None, bias=False, random_state=seed)
    return ELMEmbedding(
        int(settings["dimension"]),
        features=units,
        graph=_graph(settings),
        lam=settings["lam"],
        row_normalize=settings["row_normalize"],
    ).fit_transform(X)


def _elm_printed(X, clusters, settings, seed):
    """Equation 20 for every λ of the grid and every dimension: rows and biases as they are."""
    units = RandomFeatures(settings["n_hidden"], scaling=None, random_state=seed)
    for lam in settings["grid"]:
        model = ELMEmbedding(
            max(settings["dimensions"]),
            features=units,
            graph=_graph(settings),
            lam=lam,
            row_normalize=False,
        )
        E = model.fit_transform(X)
        yield from (E[:, :dimension] for dimension in settings["dimensions"])


def chosen_by_classes(candidates, y, init, first, starts=10):
    """The embedding with the best mean accuracy of k-means, by which the paper chose."""

    def accuracy(E):
        found = [
            _clustered(E, len(np.unique(y)), init, 1, first + start) for start in range(starts)
        ]
        return np.mean([clustering_accuracy(y, labels) for labels in found])

    return max(candidates, key=accuracy)


def _elm_by_default(X, clusters, settings, seed):
    model = ELMSpectralClustering(clusters, n_init=1, random_state=seed).fit(X)
    return model.embedding_.transform(X)


def _umap(X, clusters, settings, seed):
    try:
        import umap
    except ImportError as error:
        raise MissingExtraError("UMAP is not installed; pip install umap-learn.") from error
    # With points drawn together as far as they go, which its authors advise before a clustering.
    return umap.UMAP(min_dist=0.0, random_state=seed, n_jobs=1).fit_transform(X)


EMBEDDINGS = {
    "k-means": _inputs,
    "DA": _autoencoder,
    "SC": _spectral,
    "LE": _eigenmap,
    "US-ELM": _elm,
    "US-ELM, printed": _elm_printed,
    "ELMSpectralClustering": _elm_by_default,
    "UMAP + k-means": _umap,
}
# The first call of these loads or compiles a library, which is no training: it gets few rows.
LOADED_LATE = ("DA", "UMAP + k-means")
