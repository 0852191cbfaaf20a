"""Which hidden layer suits a clustering, and how near the default comes to the best of them.

Run by ``python -m benchmarks units``; the data files come from ULMUS_DATA. Clustering accuracies,
means of three seeds, or of ten where there are few rows, at most 1500 rows of each set. "k-means"
is the better of k-means on the columns as they are and standardised. The default takes one of its
layers without a label; all of them are measured beside it. Which layers, how they are compared and
how many components a factorisation has was fixed on the sets of FIXED; those of OTHERS were looked
at after.
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from benchmarks.measure import table
from papers.datasets import benchmark_rows
from papers.hidden_clusters import inputs
from ulmus import ELMNMF, ELMKMeans
from ulmus.estimators import cluster_layers
from ulmus.metrics import clustering_accuracy

FIXED = ("synthetic_control", "libras", "tdt2", "usps", "coil20", "iris", "wine", "segment")
FIXED += ("optdigits",)
OTHERS = ("digits", "breast_cancer", "uspst_mr", "mnist", "umist", "jaffe", "yale", "g50c")
OTHERS += ("waveform", "dna", "svmguide1", "shuttle", "letter")
_MOST, _FEW, _WIDTH = 1500, 600, 1000
MODELS = {"ELMKMeans": ELMKMeans, "ELMNMF": ELMNMF}
LAYERS = ("sigmoid units", "local units", "plain rows", "unit rows")


def _rows(file):
    """Rows and classes, of news stories the 200 components of thirty categories."""
    if file == "tdt2":
        rows = inputs(file, 30)
        X, y = rows.hidden, rows.y
    else:
        X, y = benchmark_rows(file)
    some = np.random.default_rng(0).permutation(len(X))[:_MOST]
    return np.asarray(X[some], dtype=float), y[some]


def _clusterings(X, k, seed):
    """Labels by plain k-means, by the defaults, and in each of their layers."""
    for name, rows in {"k-means": X, "k-means, standardised": scale(X)}.items():
        yield name, KMeans(k, n_init=10, random_state=seed).fit(rows).labels_
    for name, cls in MODELS.items():
        model = cls(k, random_state=seed)
        yield f"{name}, default", model.fit(X).labels_
        for layer, made in cluster_layers._open_layers(model, X, model._positive).items():
            features = made(_WIDTH, random_state=seed)
            yield f"{name}, {layer}", cls(k, features=features, random_state=seed).fit(X).labels_


def measure(files):
    """Mean accuracy (%) of every clustering on every set."""
    found = {}
    for file in files:
        X, y = _rows(file)
        scores = {}
        with threadpool_limits(1):
            for seed in range(10 if len(X) <= _FEW else 3):
                for name, labels in _clusterings(X, len(np.unique(y)), seed):
                    scores.setdefault(name, []).append(100 * clustering_accuracy(y, labels))
        found[file] = {name: float(np.mean(values)) for name, values in scores.items()}
        print(file, {name: round(value, 1) for name, value in found[file].items()}, flush=True)
    return found


def below_best(cells, model):
    """How far the default is below the better of k-means and its own best layer; 0 if above."""
    others = [value for name, value in cells.items() if name.startswith(("k-means", f"{model}, "))]
    return max(others) - cells[f"{model}, default"]


def ratios(found):
    """The most that defaults are below, and on how many sets by more than two points."""
    taken = {}
    for model in MODELS:
        for which, files in {"fixed": FIXED, "others": OTHERS}.items():
            below = [below_best(found[file], model) for file in files if file in found] or [0.0]
            taken[f"most below best, {model}, {which}"] = float(np.max(below))
            taken[f"sets 2 points below or more, {model}, {which}"] = int(
                np.sum(np.array(below) > 2)
            )
    return taken


def page(found):
    """A table for each clusterer."""
    parts = []
    for model in MODELS:
        columns = [f"{model}, {each}" for each in ("default", *LAYERS)]
        rows = []
        for file, cells in found.items():
            plain = max(cells["k-means"], cells["k-means, standardised"])
            own = [f"{cells[name]:.1f}" for name in columns]
            rows.append(
                (file, f"{plain:.1f}", *own, f"{round(-below_best(cells, model), 1) + 0.0:.1f}")
            )
        head = ["set", "k-means", "default", *LAYERS, "default less best"]
        parts.append(table(f"Clustering accuracy (%) by hidden layer: {model}", head, rows))
    return "\n\n".join(parts)


def run(folder, rounds):
    """Which hidden layer suits a clustering: 22 sets, or nine with ``--quick``."""
    found = measure((*FIXED, *OTHERS) if rounds > 1 else FIXED)
    return found, ratios(found), page(found)
