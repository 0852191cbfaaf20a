"""MNIST with ten thousand units and C by leave-one-out: `benchmarks.gpu` on this machine."""

import numpy as np

from benchmarks.measure import contenders_page, race

CONTENDERS = ["units_2000", "units_10000"]


def _mnist(n_hidden):
    from papers.datasets import load
    from ulmus import ELMClassifier, RandomFeatures

    data = load("mnist", download=False)
    X, y = data.data.astype(np.float32) / np.float32(255.0), data.target
    model = ELMClassifier(RandomFeatures(n_hidden), random_state=0)

    def work():
        model.fit(X[:60_000], y[:60_000])
        return {"C": model.C_, "accuracy": model.score(X[60_000:], y[60_000:])}

    return work


def units_2000(folder):
    return _mnist(2000)


def units_10000(folder):
    return _mnist(10_000)


def run(folder, rounds):
    """MNIST on this machine; minutes each, so once."""
    best = race("benchmarks.mnist", CONTENDERS, folder, 1)
    columns = {
        "s": ("seconds", ".0f"),
        "CPU s": ("cpu_seconds", ".0f"),
        "peak MB": ("peak_mb", ".0f"),
        "C": ("C", ".3g"),
        "accuracy": ("accuracy", ".4f"),
    }
    return best, {}, contenders_page("MNIST, C by leave-one-out, float32", best, columns)
