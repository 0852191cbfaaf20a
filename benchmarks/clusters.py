"""Clusters of MNIST's 60 000 images without a label, and of 10 000 new ones.

Run by ``python -m benchmarks clusters``; the data file comes from ULMUS_DATA. One graph of ten
neighbours serves both couplings.
"""

from time import perf_counter

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.measure import table
from papers.datasets import load
from ulmus import ELMSpectralClustering, KNNGraph
from ulmus.metrics import clustering_accuracy


def _scores(y, labels):
    return 100 * clustering_accuracy(y, labels), 100 * normalized_mutual_info_score(y, labels)


def measure():
    """Accuracy and mutual information (%) on given and on new rows, and seconds, of each way."""
    data = load("mnist", download=False)
    X, y = data.data.astype(np.float32) / np.float32(255.0), data.target
    given, new = X[:60_000], X[60_000:]
    start = perf_counter()
    graph = KNNGraph(10, width="local").laplacian(given)
    print("graph", perf_counter() - start, flush=True)
    found = {}
    for name, model in {
        "US-ELM, free": ELMSpectralClustering(10, coupling="free", graph=graph, random_state=0),
        "US-ELM, tight": ELMSpectralClustering(10, coupling="tight", graph=graph, random_state=0),
        "k-means on the pixels": KMeans(10, n_init=3, random_state=0),
    }.items():
        start = perf_counter()
        model.fit(given)
        seconds = perf_counter() - start
        found[name] = (
            *_scores(y[:60_000], model.labels_),
            *_scores(y[60_000:], model.predict(new)),
            seconds,
        )
        print(name, found[name], flush=True)
    return found


def run(folder, rounds):
    """Clusters of many rows, free of the hidden layer and tied to it."""
    found = measure()
    rows = [[name, *(f"{cell:.1f}" for cell in cells)] for name, cells in found.items()]
    columns = ["clustering", "accuracy, given", "NMI, given", "accuracy, new", "NMI, new", "s"]
    title = (
        "Clusters (%) of MNIST without a label, 60 000 images given, 10 000 new, the graph at hand"
    )
    return found, {}, table(title, columns, rows)
