"""The paper on clustering in ELM feature space: one clustering of one data set, scored.

Control charts have columns in [0, 1], or [−1, 1] for a hidden layer; hand movements are taken as
they are, and news stories are tf-idf, brought to 200 principal components but for plain NMF. The
first so many classes of a data set are clustered into as many clusters.
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

from papers.baselines import (
    gaussian_kernel,
    kernel_kmeans,
    kernel_nmf_labels,
    nmf_labels,
    umap_embedding,
)
from papers.datasets import benchmark_rows
from papers.printed_clusters import equation_6, kernel_nmf, printed_k_means, printed_nmf
from ulmus.estimators.kmeans import ELMNMF, ELMKMeans
from ulmus.features import RandomFeatures
from ulmus.metrics import purity


@dataclass(frozen=True)
class Inputs:
    """Rows as the plain methods take them, as NMF does, and as the paper's hidden layer does."""

    plain: np.ndarray
    positive: object
    hidden: np.ndarray
    y: np.ndarray


class CitedUnits(RandomFeatures):
    """Gaussian units as the program that the paper cites draws them.

    That program, ELM's first in Matlab, has exp(−(aᵀx + b)²) for a Gaussian unit, a from U(−1, 1)
    and b from U(0, 1), where the paper's equation 6 prints exp(−b‖x − a‖²).
    """

    def __init__(self, n_hidden=1000, random_state=None):
        super().__init__(n_hidden, activation="gaussian", scaling=None, random_state=random_state)

    def _draw(self, X, rng, weight):
        super()._draw(X, rng, weight)
        self.biases_ = np.abs(self.biases_)


@lru_cache(maxsize=32)
def inputs(file, classes, seed=0):
    """The rows of the first so many classes; ``seed`` draws the stories, and nothing else."""
    if file == "tdt2":
        X, y = _stories(classes, seed)
        small = _components(X, 200)
        return Inputs(small, X, small, y)
    X, y = benchmark_rows(file)
    X, y = X[y < classes], y[y < classes]
    if file == "libras":
        return Inputs(X, X, X, y)
    unit = MinMaxScaler().fit_transform(X)
    return Inputs(unit, unit, 2.0 * unit - 1.0, y)


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
    """Principal components, from the products of the rows, which are far fewer than terms."""
    K = (X @ X.T).toarray()
    K -= K.mean(axis=0)
    K -= K.mean(axis=1, keepdims=True)
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


def _printed_elm_k_means(rows, s, seed):
    return printed_k_means(equation_6(rows.hidden, s["nodes"], seed), s["classes"], seed)


def _printed_elm_nmf(rows, s, seed):
    return printed_nmf(equation_6(rows.hidden, s["nodes"], seed), s["classes"], seed)


def _printed_kernel_nmf(rows, s, seed):
    return kernel_nmf(gaussian_kernel(rows.plain, s["sigma"]), s["classes"], seed)


def _elm_nmf(rows, s, seed):
    how = {name: s[name] for name in ("solver", "init") if name in s}
    if s["units"] != "default":
        how |= {"n_components": s["classes"], "compare": "B"}
    return _in_hidden_layer(ELMNMF, rows, s, seed, dtype=s["precision"], **how)


def _pca_k_means(rows, s, seed):
    return _grouped(PCA(0.9, svd_solver="full").fit_transform(rows.plain), s, seed)


def _umap_k_means(rows, s, seed):
    return _grouped(umap_embedding(rows.plain, seed=seed), s, seed)


def _grouped(E, s, seed):
    return KMeans(s["classes"], n_init=s["starts"], random_state=seed).fit(E).labels_


def _in_hidden_layer(cls, rows, s, seed, **more):
    """ELM k-means or ELM NMF with the hidden layer that ``units`` names.

    "cited" is `CitedUnits`, "default" the estimator's own.
    """
    nodes = int(s["nodes"])
    X, features = rows.hidden, CitedUnits(nodes)
    if s["units"] == "default":
        X, features = rows.plain, None
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
    "ELM k-means, to the letter": _printed_elm_k_means,
    "ELM NMF, to the letter": _printed_elm_nmf,
    "kernel NMF, Zhang and Liu": _printed_kernel_nmf,
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
    seed = 1000 * case.seed + case.repetition
    # The paper draws its stories too, and which is not known; other data are always the same.
    rows = inputs(case.data, s["classes"], seed if case.data == "tdt2" else 0)
    start = time.perf_counter()
    labels = labels_of(rows, s, seed)
    seconds = time.perf_counter() - start
    return {
        "purity": 100 * float(purity(rows.y, labels)),
        "nmi": float(normalized_mutual_info_score(rows.y, labels)),
        "seconds": seconds,
    }
