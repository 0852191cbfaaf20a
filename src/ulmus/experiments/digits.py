"""Digits, offline: what a model gets right, how long it takes, how much memory it needs."""

import time
import tracemalloc

import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ulmus.estimators.classifier import ELMClassifier
from ulmus.features import RBFFeatures

__all__ = ["compare", "contenders", "split"]


def split(seed=0):
    """The bundled digits, a stratified quarter of them for testing."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def contenders(seed=0):
    """Name → unfitted model; all as they come, but for the seeds."""
    return {
        "ELM": ELMClassifier(random_state=seed),
        "ELM, RBF units": ELMClassifier(RBFFeatures(), random_state=seed),
        "Ridge on Nystroem": make_pipeline(
            StandardScaler(),
            Nystroem(gamma=1 / 64, n_components=1000, random_state=seed),
            RidgeClassifierCV(np.logspace(-4, 4, 25)),
        ),
        "SVC": make_pipeline(StandardScaler(), SVC()),
    }


def compare(models, X, X_test, y, y_test):
    """One row a model: name, accuracy, seconds and MB to fit and predict."""
    rows = []
    for name, model in models.items():
        start = time.perf_counter()
        accuracy = np.mean(model.fit(X, y).predict(X_test) == y_test)
        seconds = time.perf_counter() - start
        # A second fit for the memory: watching allocations slows the first.
        tracemalloc.start()
        model.fit(X, y).predict(X_test)
        megabytes = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        rows.append((name, accuracy, seconds, megabytes))
    return rows
