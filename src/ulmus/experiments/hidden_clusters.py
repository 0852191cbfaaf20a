"""The paper on clustering in ELM feature space: one clustering of one data set, scored.

Control charts have columns in [0, 1], hand movements are taken as they are, and news stories are
tf-idf, brought to 200 components for k-means and for every hidden layer. The first so many
classes of a data set are clustered into as many clusters.
"""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import MinMaxScaler

from ulmus.estimators.clustering import ELMKMeans
from ulmus.estimators.factorisation import ELMNMF
from ulmus.experiments.baselines import (
    gaussian_kernel,
    kernel_kmeans,
    kernel_nmf_labels,
    nmf_labels,
    umap_embedding,
)
from ulmus.experiments.files import benchmark_rows
from ulmus.features import RandomFeatures, RBFFeatures
from ulmus.metrics import purity

__all__ = ["Inputs", "inputs", "labels_of", "run"]


@dataclass(frozen=True)
class Inputs:
    """Rows as the plain methods take them, as NMF does, and as a hidden layer does."""

    plain: np.ndarray
    positive: object
    hidden: np.ndarray
    shared: bool
    y: np.ndarray


@lru_cache(maxsize=32)
def inputs(file, classes, seed=0):
    """The rows of the first so many classes; ``seed`` draws the stories."""
    if file == "tdt2":
        X, y = _stories(classes, seed)
        small = _components(X, 200)
        return Inputs(small, X, small, True, y)
    X, y = benchmark_rows(file)
    X, y = X[y < classes], y[y < classes]
    if file == "libras":
        # One unit for all columns, so one number scales them all.
        return Inputs(X, X, (X - X.mean(axis=0)) / X.std(axis=0).mean() / np.sqrt(90), True, y)
    unit = MinMaxScaler().fit_transform(X)
    return Inputs(unit, unit, X, False, y)


def _stories(classes, seed):
    """tf-idf of at most 100 stories of each category, rows of unit length."""
    counts, y = benchmark_rows("tdt2")
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(y == label))[:100] for label in range(classes)]
    rows = np.sort(np.concatenate(drawn))
    counts, y = counts[rows], y[rows]
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    counts = counts[:, frequency > 0]
    weight = np.log(len(y) / frequency[frequency > 0])
    counts.data = 1.0 + np.log(counts.data)
    X = counts @ sp.diags_array(weight)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return (sp.diags_array(1.0 / lengths) @ X).tocsr(), y


def _components(X, count):
    """US of the first singular values, X ≈ USVᵀ, from XXᵀ: rows are far fewer than terms."""
    K = (X @ X.T).toarray()
    values, U = eigh(K, subset_by_index=(len(K) - count, len(K) - 1))
    return U[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))


def _k_means(rows, s, seed):
    return _grouped(rows.plain, s, seed)


def _kernel_k_means(rows, s, seed):
    K = gaussian_kernel(rows.plain, s["sigma"])
    return kernel_kmeans(K, s["classes"], n_init=s["starts"], seed=seed)


def _elm_k_means(rows, s, seed):
    return _in_hidden_layer(ELMKMeans, rows, s, seed)


def _nmf(rows, s, seed):
    return nmf_labels(rows.positive, s["classes"], seed, n_init=s["starts"])


def _kernel_nmf(rows, s, seed):
    K = gaussian_kernel(rows.plain, s["sigma"]).astype(s["precision"])
    return kernel_nmf_labels(K, s["classes"], seed, n_init=s["starts"])


def _elm_nmf(rows, s, seed):
    return _in_hidden_layer(ELMNMF, rows, s, seed, init=s.get("init"), dtype=s["precision"])


def _pca_k_means(rows, s, seed):
    return _grouped(PCA(0.9, svd_solver="full").fit_transform(rows.plain), s, seed)


def _umap_k_means(rows, s, seed):
    return _grouped(umap_embedding(rows.plain, seed=seed), s, seed)


def _grouped(E, s, seed):
    return KMeans(s["classes"], n_init=s["starts"], random_state=seed).fit(E).labels_


def _in_hidden_layer(cls, rows, s, seed, **more):
    """ELM k-means or ELM NMF with the hidden layer that ``units`` names.

    "default" is the estimator's own. "local" has centres among the rows and one narrow width.
    "sigmoid" has units that bend, and columns that share a unit are left as they are. "printed" is
    the paper's recipe: columns in [−1, 1], centres U(−1, 1), rates U(0, 1).
    """
    nodes = int(s["nodes"])
    X, features = rows.hidden, None
    if s["units"] == "default":
        X = rows.plain
    elif s["units"] == "local":
        features = RBFFeatures(nodes, width="local")
    elif s["units"] == "printed":
        X = MinMaxScaler((-1, 1)).fit_transform(rows.plain)
        features = RBFFeatures(nodes, node="random_gaussian", centers="uniform", scaling=None)
    else:
        scaling = None if rows.shared else "auto"
        features = RandomFeatures(nodes, scaling=scaling, gain=float(np.sqrt(X.shape[1])))
    width = nodes if features is None else None
    model = cls(
        s["classes"],
        features=features,
        n_hidden=width,
        n_init=s["starts"],
        random_state=seed,
        **more,
    )
    return model.fit(X).labels_


CLUSTERERS = {
    "k-means": _k_means,
    "kernel k-means": _kernel_k_means,
    "ELM k-means": _elm_k_means,
    "NMF": _nmf,
    "kernel NMF": _kernel_nmf,
    "ELM NMF": _elm_nmf,
    "PCA k-means": _pca_k_means,
    "UMAP k-means": _umap_k_means,
}


def labels_of(rows, settings, seed):
    """The clusters that the clusterer in ``settings`` finds."""
    return CLUSTERERS[settings["clusterer"]](rows, settings, seed)


def run(case):
    """Purity (%), NMI, and the seconds of the clustering with its hidden layer or kernel."""
    s = case.settings
    if case.x is not None:
        s = s | {s["varied"]: case.x}
    rows = inputs(case.data, s["classes"], case.seed)
    start = time.perf_counter()
    labels = labels_of(rows, s, 1000 * case.seed + case.repetition)
    seconds = time.perf_counter() - start
    return {
        "purity": 100 * float(purity(rows.y, labels)),
        "nmi": float(normalized_mutual_info_score(rows.y, labels)),
        "seconds": seconds,
    }
