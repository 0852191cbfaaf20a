"""Table V of the US-ELM paper: clustering accuracy on seven data sets, 100 runs of k-means.

The paper chooses λ and the number of dimensions by the clustering itself, and says nothing of how
columns are scaled or rows normalised. The settings below are a reading under which its figures
come out; ``docs/papers`` says what else was tried.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from ulmus.estimators.embedding import ELMEmbedding
from ulmus.experiments.files import benchmark_rows
from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph
from ulmus.metrics import clustering_accuracy

__all__ = ["PROBLEMS", "Problem", "evaluate"]


@dataclass(frozen=True)
class Problem:
    """A row of the table; ``paper`` is mean, standard deviation and best (%)."""

    file: str
    scale: str
    n_hidden: int
    n_components: int
    lam: float
    paper: tuple[float, float, float]
    row_normalize: bool = True
    init: str = "k-means++"
    n_neighbors: int = 5


PROBLEMS = {
    "IRIS": Problem(
        "iris", "raw", 1000, 3, 0.1, (86.06, 15.92, 97.33), row_normalize=False, init="random"
    ),
    "WINE": Problem("wine", "minmax", 1000, 2, 1.0, (96.63, 0.0, 96.63), row_normalize=False),
    "SEGMENT": Problem("segment", "minmax", 2000, 10, 0.001, (64.22, 5.64, 74.50)),
    "COIL20": Problem("coil20", "raw", 2000, 20, 1.0, (87.58, 3.47, 90.35), n_neighbors=2),
    "USPST": Problem("uspst_mr", "raw", 2000, 5, 1.0, (75.78, 5.90, 87.39)),
    "YALE": Problem("yale", "pixels", 2000, 15, 0.001, (44.08, 3.24, 50.91)),
    "ORL": Problem("orl", "unit", 2000, 20, 0.1, (59.26, 3.54, 67.50)),
}


def _scaled(X, scale):
    if scale == "minmax":
        low, span = X.min(axis=0), np.ptp(X, axis=0)
        return (X - low) / np.where(span > 0, span, 1.0)
    if scale == "pixels":
        return X / 255.0
    return X / np.linalg.norm(X, axis=1, keepdims=True) if scale == "unit" else X


def evaluate(problem, runs=100, seed=0):
    """Clustering accuracy (%) of every run.

    Parameters
    ----------
    problem : Problem
        One of `PROBLEMS`.
    runs : int, default=100
        How often k-means starts.
    seed : int, default=0
        Seeds the hidden layer; the runs have seeds of their own.

    Returns
    -------
    accuracies : list of float
        One number for each run.
    """
    X, y = benchmark_rows(problem.file)
    X = _scaled(X, problem.scale)
    E = ELMEmbedding(
        RandomFeatures(problem.n_hidden, scaling=None, bias=False, random_state=seed),
        n_components=problem.n_components,
        graph=KNNGraph(problem.n_neighbors, weights="binary", normalized=False),
        lam=problem.lam,
        row_normalize=problem.row_normalize,
    ).fit_transform(X)
    clusters = len(np.unique(y))
    found = [
        KMeans(clusters, init=problem.init, n_init=1, random_state=run).fit(E).labels_
        for run in range(runs)
    ]
    return [100 * clustering_accuracy(y, labels) for labels in found]
