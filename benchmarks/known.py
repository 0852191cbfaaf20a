"""Figures that are known beforehand, found again on the benchmark files.

Run by ``python -m benchmarks known``; the files come from ULMUS_DATA. A line for each: what was
found, what is known, and whether they agree.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import table
from benchmarks.tables import columns_of
from papers import datasets, hidden_clusters
from papers.protocol import cases, load
from ulmus import ELMNMF, ELMClassifier, ELMRegressor, ManifoldELMClassifier, RandomFeatures
from ulmus.metrics import clustering_accuracy, purity
from ulmus.tables import TableEncoder

FILES = [name for name, facts in datasets.DATASETS.items() if facts.sha256]
REDRAWN = {
    "g50c": datasets.make_g50c,
    "waveform": datasets.make_waveform,
    "synthetic_control": datasets.make_synthetic_control,
}


def measure():
    """Every check: its name, and the figure found, the figure known and how far apart they may be.

    A check of a whole file has the number of its complaints for a figure.
    """
    found = {f"{name}: what the file holds": (complaints(name), 0, 0) for name in FILES}
    found |= {f"{name}: a new draw has its means": (strangeness(name), 0, 5) for name in REDRAWN}
    for number, row, method, measured, known, apart in CELLS:
        case = cell(number, row, method)
        found[f"table {number}, {row}, {method}, {measured}"] = (case.run()[measured], known, apart)
    faces = cell("0-table-5", "YALEB", "US-ELM", starts=100).run()["ACC"]
    found["table 0-table-5, YALEB, US-ELM, mean"] = (np.mean(faces), 47.06, 0.5)
    found["table 0-table-5, YALEB, US-ELM, best"] = (max(faces), 54.55, 0.5)
    return found | {name: (figure(), known, apart) for name, figure, known, apart in FIGURES}


# What the papers print or a run has given: to the last digit where nothing is drawn.
CELLS = [
    ("2-table-4", "optdigits", "sketch", "rate", 91.82, 0.005),
    ("2-table-4", "svmguide1", "sketch", "rate", 76.90, 0.005),
    ("2-table-3", "optdigits", "KELM", "rate", 98.33, 0.005),
    ("2-table-3", "svmguide1", "KELM", "rate", 96.88, 0.005),
    ("0-table-2", "G50C", "SS-ELM", "U", 8.33, 0.005),
    ("0-table-2", "G50C", "SS-ELM", "T", 6.52, 0.005),
]
for row in ("dna", "svmguide1"):
    printed = next(r for r in load("2-table-3").rows if r.name == row).paper["sketch, 0.05 n"][
        "gap"
    ]
    CELLS.append(("2-table-3", row, "sketch, 0.05 n", "gap", printed, 0.02 * printed))


def cell(table, row, method, **settings):
    """The first run of a cell."""
    case = next(c for c in cases(load(table)) if (c.row, c.method) == (row, method))
    return replace(case, settings=case.settings | settings)


def complaints(name):
    """In how many ways a file differs from what is stated of it."""
    facts, data = datasets.DATASETS[name], datasets.load(name)
    wrong = [data.data.dtype != facts.dtype, sp.issparse(data.data) != bool(facts.stored)]
    wrong.append(("train" in data) != bool(facts.n_train))
    if facts.classes:
        counts = np.bincount(data.target)
        wrong.append(len(counts) != facts.classes)
        wrong.append(bool(facts.counts) and tuple(counts) != facts.counts)
    if facts.span:
        ends = data.data.min(), data.data.max()
        wrong.append(not np.allclose(ends, facts.span, rtol=1e-6))
    if "labelled" in data:
        both = np.concatenate([data.labelled, data.unlabelled], axis=1)
        wrong.append(not (np.sort(both) == np.arange(facts.shape[0])).all())
    return int(sum(wrong))


def strangeness(name):
    """How many deviations the farthest column mean of a new draw is from the published one's."""
    theirs, (X, y) = _rows(name), REDRAWN[name]()
    farthest = 0.0
    for label in np.unique(theirs["y"]):
        A, B = X[y == label], theirs["X"][theirs["y"] == label]
        noise = np.sqrt(A.var(axis=0) / len(A) + B.var(axis=0) / len(B))
        farthest = max(farthest, np.max(np.abs(A.mean(axis=0) - B.mean(axis=0)) / noise))
    return float(farthest)


def adult():
    """Accuracy on the official test rows, from raw columns."""
    data = dict(_rows("adult"))
    table, y, n = columns_of(data), data["y"], int(data["n_train"])
    train, test = table.rows(slice(0, n)), table.rows(slice(n, None))
    made = TableEncoder().fit(train)
    model = ELMClassifier(RandomFeatures(500), random_state=0).fit(made.transform(train), y[:n])
    return model.score(made.transform(test), y[n:])


def california():
    """R² of every second row from the others, by default."""
    data = _rows("california_housing")
    X, y = data["X"], data["y"]
    return (
        ELMRegressor(RandomFeatures(), random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    )


def orl():
    """Accuracy of MELM by default, from five images of each person."""
    data, rng = _rows("orl"), np.random.default_rng(0)
    X, y = data["X"], data["y"]
    train = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:5] for k in range(40)])
    test = np.setdiff1d(np.arange(len(y)), train)
    return ManifoldELMClassifier(random_state=0).fit(X[train], y[train]).score(X[test], y[test])


def charts():
    """How many control charts lie in the cluster of their kind, by default."""
    data = _rows("synthetic_control")
    return clustering_accuracy(data["y"], ELMNMF(6, random_state=0).fit(data["X"]).labels_)


def cited_units():
    """Purity of control charts in the hidden layer of the program that paper 4 cites."""
    rows = hidden_clusters.inputs("synthetic_control", 5)
    s = {"classes": 5, "nodes": 1000, "starts": 10, "clusterer": "ELM k-means", "units": "cited"}
    return purity(rows.y, hidden_clusters.labels_of(rows, s, seed=0))


FIGURES = [
    ("adult: accuracy from raw columns", adult, 0.858, 0.005),
    ("california_housing: R²", california, 0.73, 0.01),
    ("orl: accuracy of MELM", orl, 0.965, 0.02),
    ("synthetic_control: accuracy of ELMNMF", charts, 0.857, 0.05),
    ("synthetic_control: purity with the cited units", cited_units, 0.933, 0.025),
]


def _rows(name):
    return np.load(Path(os.environ["ULMUS_DATA"]) / f"{name}.npz")


def run(folder, rounds):
    """Figures that are known, on the benchmark files; what is apart ends the run."""
    found = measure()
    apart = [
        name for name, (figure, expected, most) in found.items() if abs(figure - expected) > most
    ]
    rows = [(name, *(f"{value:.4g}" for value in values)) for name, values in found.items()]
    page = table("Known figures", ["what", "found", "known", "may be apart"], rows)
    if apart:
        raise SystemExit(f"{page}\n\nApart: {', '.join(apart)}")
    return found, {}, page
