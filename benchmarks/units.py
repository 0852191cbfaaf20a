"""Which hidden units suit a clustering: purity on data sets of many kinds.

Run by ``python -m benchmarks units``; the data files come from ULMUS_DATA. The defaults of the
clusterers were chosen by these figures, so these figures are no test of them.
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks.measure import table
from papers.baselines import nmf_labels
from papers.datasets import benchmark_rows
from papers.hidden_clusters import inputs
from ulmus import ELMNMF, ELMKMeans, RandomFeatures, RBFFeatures
from ulmus.metrics import purity

FILES = (
    "synthetic_control",
    "libras",
    "tdt2",
    "usps",
    "coil20",
    "iris",
    "wine",
    "segment",
    "optdigits",
)
_MOST = 1500


def _rows(file):
    if file == "tdt2":
        rows = inputs(file, 30)
        return rows.hidden, rows.y
    X, y = benchmark_rows(file)
    some = np.random.default_rng(0).permutation(len(X))[:_MOST]
    return X[some], y[some]


def _clusterings(X, k, seed):
    """Labels by plain methods and by ELM's with several units."""
    scaled = StandardScaler().fit_transform(X)
    yield "k-means", KMeans(k, n_init=10, random_state=seed).fit(X).labels_
    yield "k-means, standardised", KMeans(k, n_init=10, random_state=seed).fit(scaled).labels_
    yield "ELM k-means, default", ELMKMeans(k, random_state=seed).fit(X).labels_
    for name, features in {
        "ELM k-means, gain 1": RandomFeatures(),
        "ELM k-means, local": RBFFeatures(width="local"),
    }.items():
        yield name, ELMKMeans(k, features=features, random_state=seed).fit(X).labels_
    yield "NMF", nmf_labels(MinMaxScaler().fit_transform(X), k, seed)
    yield "ELM NMF, default", ELMNMF(k, random_state=seed).fit(X).labels_
    for name, features in {
        "ELM NMF, mean width": RBFFeatures(),
        "ELM NMF, sigmoid": RandomFeatures(gain=float(np.sqrt(X.shape[1]))),
    }.items():
        model = ELMNMF(k, features=features, init="random", random_state=seed)
        yield name, model.fit(X).labels_


def measure(runs=3):
    """Mean purity (%) of every clustering on every data set."""
    found = {}
    for file in FILES:
        X, y = _rows(file)
        scores = {}
        for seed in range(runs):
            for name, labels in _clusterings(X, len(np.unique(y)), seed):
                scores.setdefault(name, []).append(100 * purity(y, labels))
        found[file] = {name: float(np.mean(values)) for name, values in scores.items()}
        print(file, found[file], flush=True)
    return found


def run(folder, rounds):
    """Which hidden units suit a clustering."""
    found = measure()
    names = list(next(iter(found.values())))
    rows = [[name, *(f"{cells[name]:.1f}" for cells in found.values())] for name in names]
    return found, {}, table("Purity (%) by hidden units", ["clustering", *found], rows)
