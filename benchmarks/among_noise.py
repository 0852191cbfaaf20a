"""Clusters among noise: rows between the clusters, columns beside the real ones, noise of pixels.

Run by ``python -m benchmarks noise`` (``--quick``: three seeds). The data files come from
ULMUS_DATA; nothing is downloaded. The rules were set on moons, blobs, wine and segment, and the
digits of the first paper's figure 12; circles, iris and breast cancer had no part in them.

Background are 20 % more rows, uniform over the range of the others, which alone are scored. Columns
of noise are normal, ten for every real one, all columns being standardised. Of the pixels 40 % are
replaced in each image by values from −0.5 to 0.5.
"""

import os
import warnings
from multiprocessing import get_context

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.measure import table
from benchmarks.tabular import means
from benchmarks.unlabelled import clusterers, rows_of
from papers.clustering import _noisy
from papers.datasets import benchmark_rows
from ulmus.metrics import clustering_accuracy

ROWS, COLUMNS, PIXELS = ("moons", "blobs", "circles"), ("wine", "segment"), ("uspst_mr",)
COLUMNS += ("iris", "breast_cancer")
SHARE, TIMES, PART = 0.2, 10, 0.4
CLEAN, NOISY = "clean", "among noise"


def noisy_rows(name, seed, noise):
    """Rows, those of noise last, and the classes of the others."""
    rng = np.random.default_rng(seed)
    if name in PIXELS:
        X, y = benchmark_rows(name)
        return _noisy(X, PART if noise else 0.0, False, seed), y
    X, y = rows_of(name, seed)
    if noise and name in ROWS:
        X = np.vstack([X, rng.uniform(X.min(0), X.max(0), (int(SHARE * len(X)), X.shape[1]))])
    elif noise:
        X = np.hstack([X, rng.standard_normal((len(X), TIMES * X.shape[1]))])
    return X, y


def cell(job):
    """The score of one fit: the adjusted Rand index for rows, else the accuracy."""
    name, noise, clusterer, seed = job
    warnings.simplefilter("ignore")
    X, y = noisy_rows(name, seed, noise == NOISY)
    with threadpool_limits(1):
        labels = clusterers(len(np.unique(y)), seed)[clusterer].fit_predict(X)[: len(y)]
    score = adjusted_rand_score if name in ROWS else clustering_accuracy
    return job, float(score(y, labels))


def measure(seeds, jobs=None):
    """Scores by set, without noise and with it, and by clusterer."""
    work = [
        (name, noise, clusterer, seed)
        for name in (*PIXELS, *COLUMNS, *ROWS)
        for noise in (CLEAN, NOISY)
        for clusterer in clusterers(2, 0)
        for seed in range(seeds)
    ]
    found = {}
    with get_context("fork").Pool(jobs or os.cpu_count()) as pool:
        for (name, noise, clusterer, _), score in pool.imap(cell, work):
            case = found.setdefault(f"{name}, {noise}", {})
            case.setdefault(clusterer, []).append({"score": score})
    return found


def ratios(found):
    """What noise takes from Ulmus' default, and its worst draw."""
    taken = {}
    for name in (*PIXELS, *COLUMNS, *ROWS):
        clean, noisy = (
            [each["score"] for each in found[f"{name}, {noise}"]["ELMSpectralClustering"]]
            for noise in (CLEAN, NOISY)
        )
        taken[f"lost to noise, {name}"] = float(np.mean(clean) - np.mean(noisy))
        taken[f"worst draw among noise, {name}"] = float(np.min(noisy))
    return taken


def page(found):
    """One table: the adjusted Rand index for rows of noise, the accuracy for columns and pixels."""
    cells = means(found, "score")
    models = list(next(iter(cells.values())))
    rows = [
        (case, *(f"{each[model]:.3f}" for model in models)) for case, each in sorted(cells.items())
    ]
    title = (
        "Clusters among noise: adjusted Rand index with rows of noise (moons, blobs, circles), "
        "accuracy with columns and pixels of noise"
    )
    return table(title, ["set", *models], rows)


def run(folder, rounds):
    """Clusterers among noise: ten seeds, or three with ``--quick``."""
    found = measure(10 if rounds > 1 else 3)
    return found, ratios(found), page(found)
