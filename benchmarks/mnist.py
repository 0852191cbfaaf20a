"""MNIST with ten thousand units and C by leave-one-out: `benchmarks.gpu` on this machine."""

import numpy as np

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
