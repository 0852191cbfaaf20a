"""The tables of the paper on clustering in ELM feature space, cell by cell.

Control charts with columns in [0, 1], hand movements as they are, and news stories as tf-idf,
brought to 200 components for k-means and for every hidden layer. The first so many classes of a
data set are clustered into as many clusters, twenty times over.

The hidden layer of the paper, Gaussian nodes with centres in U(−1, 1) and rates in U(0, 1) on
columns in [−1, 1], is the method "printed". The others are the estimators' defaults where the
columns have units of their own, and the same units without scaling of columns where they share one.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import MinMaxScaler

from ulmus.estimators.clustering import ELMKMeans
from ulmus.estimators.factorisation import ELMNMF
from ulmus.experiments.baselines import (
    gaussian_kernel,
    kernel_kmeans,
    kernel_nmf_labels,
    nmf_labels,
)
from ulmus.experiments.files import benchmark_rows
from ulmus.features import RandomFeatures, RBFFeatures
from ulmus.metrics import purity

__all__ = ["KMEANS", "NMF", "PROBLEMS", "Problem", "evaluate", "inputs"]


@dataclass(frozen=True)
class Problem:
    """A data set with the paper's settings and tables.

    A row of ``kmeans`` or ``nmf`` is, for a number of clusters, the purity (%) of the plain, the
    kernel and the ELM method and then the NMI of each.
    """

    file: str
    nodes: int
    sigmas: tuple[float, float]
    kmeans: dict[int, tuple[float, ...]]
    nmf: dict[int, tuple[float, ...]]


PROBLEMS = {
    "Synthetic Control": Problem(
        "synthetic_control",
        1000,
        (0.5, 1.0),
        {
            2: (91.5, 68.5, 100.0, 0.776, 0.276, 1.000),
            3: (96.6, 79.4, 100.0, 0.942, 0.729, 1.000),
            4: (93.6, 67.8, 100.0, 0.907, 0.756, 1.000),
            5: (71.0, 64.7, 93.3, 0.834, 0.755, 0.886),
            6: (64.3, 65.4, 88.4, 0.769, 0.738, 0.833),
        },
        {
            2: (73.6, 88.9, 100.0, 0.326, 0.618, 1.000),
            3: (72.2, 66.1, 100.0, 0.780, 0.708, 1.000),
            4: (66.2, 77.1, 100.0, 0.799, 0.782, 1.000),
            5: (68.8, 69.3, 90.5, 0.799, 0.753, 0.886),
            6: (55.3, 63.8, 83.5, 0.702, 0.691, 0.835),
        },
    ),
    "Libras": Problem(
        "libras",
        1000,
        (8.0, 0.25),
        {
            3: (64.5, 52.7, 65.3, 0.481, 0.254, 0.500),
            5: (65.6, 57.8, 69.8, 0.583, 0.497, 0.626),
            7: (52.9, 50.8, 55.0, 0.496, 0.490, 0.535),
            9: (52.9, 49.1, 54.1, 0.523, 0.510, 0.558),
            11: (49.1, 45.0, 50.7, 0.575, 0.542, 0.599),
            13: (45.1, 44.4, 47.2, 0.589, 0.565, 0.614),
            15: (44.5, 43.6, 45.6, 0.595, 0.573, 0.605),
        },
        {
            3: (56.7, 57.3, 64.4, 0.255, 0.368, 0.440),
            5: (63.6, 67.4, 64.6, 0.598, 0.589, 0.579),
            7: (61.4, 60.1, 59.9, 0.607, 0.588, 0.596),
            9: (56.9, 60.2, 58.4, 0.576, 0.597, 0.610),
            11: (51.8, 52.5, 52.6, 0.598, 0.618, 0.625),
            13: (48.9, 48.3, 49.1, 0.596, 0.612, 0.624),
            15: (47.4, 46.1, 48.7, 0.596, 0.608, 0.628),
        },
    ),
    "TDT2": Problem(
        "tdt2",
        2000,
        (4.0, 1.0),
        {
            10: (89.0, 70.4, 93.3, 0.916, 0.838, 0.935),
            15: (85.8, 70.6, 87.7, 0.920, 0.857, 0.923),
            20: (85.0, 72.1, 85.1, 0.922, 0.877, 0.923),
            22: (81.8, 69.0, 83.1, 0.910, 0.863, 0.916),
            24: (83.8, 69.9, 83.2, 0.915, 0.868, 0.914),
            26: (82.4, 69.1, 82.9, 0.915, 0.870, 0.916),
            28: (82.7, 68.8, 83.0, 0.913, 0.861, 0.914),
            30: (82.2, 73.6, 82.4, 0.907, 0.877, 0.911),
        },
        {
            10: (89.3, 87.7, 94.5, 0.906, 0.918, 0.905),
            15: (85.3, 83.3, 91.0, 0.896, 0.907, 0.908),
            20: (84.2, 82.5, 88.9, 0.903, 0.911, 0.918),
            22: (83.0, 83.2, 86.9, 0.898, 0.909, 0.911),
            24: (81.0, 81.0, 87.3, 0.893, 0.903, 0.904),
            26: (77.9, 80.2, 84.0, 0.879, 0.898, 0.899),
            28: (78.3, 80.7, 84.1, 0.878, 0.900, 0.892),
            30: (78.0, 80.5, 83.0, 0.877, 0.896, 0.885),
        },
    ),
}


@dataclass(frozen=True)
class Inputs:
    """Rows as the plain methods take them, as NMF does, and as a hidden layer does."""

    plain: np.ndarray
    positive: object
    hidden: np.ndarray
    shared: bool
    y: np.ndarray


@lru_cache(maxsize=2)
def inputs(file, classes):
    """The rows of the first so many classes."""
    if file == "tdt2":
        X, y = _stories(classes)
        small = TruncatedSVD(200, random_state=0).fit_transform(X)
        return Inputs(small, X, small, True, y)
    X, y = benchmark_rows(file)
    X, y = X[y < classes], y[y < classes]
    if file == "libras":
        # One unit for all columns, so one number scales them all.
        return Inputs(X, X, (X - X.mean(axis=0)) / X.std(axis=0).mean() / np.sqrt(90), True, y)
    unit = MinMaxScaler().fit_transform(X)
    return Inputs(unit, unit, X, False, y)


def _stories(classes, seed=0):
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


def _bent(rows, nodes):
    """Sigmoid units that bend, for columns that share a unit."""
    gain = float(np.sqrt(rows.hidden.shape[1]))
    return RandomFeatures(nodes, scaling=None, gain=gain) if rows.shared else None


def _printed(nodes):
    return RBFFeatures(nodes, node="random_gaussian", centers="uniform", scaling=None)


def _framed(rows):
    """Columns in [−1, 1]."""
    return MinMaxScaler((-1, 1)).fit_transform(rows.plain)


def _elm(cls, k, features, nodes, rows, seed, **settings):
    width = None if features is not None else nodes
    model = cls(k, features=features, n_hidden=width, random_state=seed, **settings)
    return model.fit(rows).labels_


KMEANS = {
    "k-means": lambda p, r, k, s, n: KMeans(k, n_init=10, random_state=s).fit(r.plain).labels_,
    "kernel k-means": lambda p, r, k, s, n: kernel_kmeans(
        gaussian_kernel(r.plain, p.sigmas[0]), k, seed=s
    ),
    "ELM k-means": lambda p, r, k, s, n: _elm(ELMKMeans, k, _bent(r, n), n, r.hidden, s),
    "ELM k-means, local": lambda p, r, k, s, n: _elm(
        ELMKMeans, k, RBFFeatures(n, width="local"), n, r.hidden, s
    ),
    "ELM k-means, printed": lambda p, r, k, s, n: _elm(ELMKMeans, k, _printed(n), n, _framed(r), s),
}

NMF = {
    "NMF": lambda p, r, k, s, n: nmf_labels(r.positive, k, s),
    "kernel NMF": lambda p, r, k, s, n: kernel_nmf_labels(
        gaussian_kernel(r.plain, p.sigmas[1]), k, s
    ),
    "ELM NMF": lambda p, r, k, s, n: (
        _elm(ELMNMF, k, _bent(r, n), n, r.hidden, s, init="random")
        if p.file == "tdt2"
        else _elm(ELMNMF, k, None, n, r.hidden, s)
    ),
    "ELM NMF, printed": lambda p, r, k, s, n: _elm(ELMNMF, k, _printed(n), n, _framed(r), s),
}


def evaluate(problem, classes, methods, runs=20, nodes=None):
    """Purity (%) and NMI of every run.

    Parameters
    ----------
    problem : Problem
        One of `PROBLEMS`.
    classes : int
        How many classes, and clusters.
    methods : dict
        `KMEANS`, `NMF`, or some of either.
    runs : int, default=20
        How often; each run has its own seed.
    nodes : int, default=None
        Hidden units (None: the paper's number).

    Returns
    -------
    scores : dict of ndarrays of shape (runs, 2)
        Purity and NMI.
    """
    rows = inputs(problem.file, classes)
    nodes = nodes or problem.nodes
    found = {}
    for name, method in methods.items():
        labels = [method(problem, rows, classes, seed, nodes) for seed in range(runs)]
        found[name] = np.array(
            [
                (100 * purity(rows.y, each), normalized_mutual_info_score(rows.y, each))
                for each in labels
            ]
        )
    return found
