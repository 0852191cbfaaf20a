"""Digits, offline: what a model gets right, how long it takes, how much memory it needs."""

import time
import tracemalloc

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from ulmus.estimators.classifier import ELMClassifier
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.estimators.spectral import ELMSpectralClustering
from ulmus.features import RBFFeatures
from ulmus.metrics import clustering_accuracy

__all__ = [
    "all_labels",
    "compare_all",
    "compare_few",
    "compare_none",
    "few_labels",
    "no_labels",
    "split",
    "with_few_labels",
]


def split(seed=0):
    """The bundled digits, a stratified quarter of them for testing."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def all_labels(seed=0):
    """Models for rows that all have a label, as they come but for the seeds."""
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


def few_labels(seed=0):
    """Models for rows of which a few have a label; True where the others are of use to them."""
    return {
        "SS-ELM": (SemiSupervisedELMClassifier(random_state=seed), True),
        "LabelSpreading": (LabelSpreading(kernel="knn", n_neighbors=7), True),
        "SelfTraining": (
            make_pipeline(StandardScaler(), SelfTrainingClassifier(LogisticRegression())),
            True,
        ),
        "ELM": (ELMClassifier(random_state=seed), False),
        "SVC": (make_pipeline(StandardScaler(), SVC()), False),
    }


def no_labels(seed=0):
    """Clusterings of rows that have no label."""
    return {
        "US-ELM": ELMSpectralClustering(10, random_state=seed),
        "SpectralClustering": SpectralClustering(
            10, affinity="nearest_neighbors", random_state=seed
        ),
        "k-means": KMeans(10, n_init=10, random_state=seed),
    }


def with_few_labels(y, per_class=5, seed=0):
    """y with only some labels of every class left, and −1 elsewhere."""
    rng = np.random.default_rng(seed)
    few = np.full(len(y), -1)
    for label in np.unique(y):
        few[rng.choice(np.flatnonzero(y == label), per_class, replace=False)] = label
    return few


def compare_all(models, X, X_test, y, y_test):
    """One row a model: name, accuracy, seconds and MB to fit and predict."""
    return [
        (name, *_measured(model, X, y, lambda model: np.mean(model.predict(X_test) == y_test)))
        for name, model in models.items()
    ]


def compare_few(models, X, few, y):
    """The same for few labels, judged by the rows that have none."""
    rows, hidden = [], few < 0
    for name, (model, uses_all) in models.items():
        kept = np.ones(len(y), bool) if uses_all else ~hidden
        figures = _measured(
            model,
            X[kept],
            few[kept],
            lambda model: np.mean(model.predict(X[hidden]) == y[hidden]),
        )
        rows.append((name, *figures))
    return rows


def compare_none(models, X, y):
    """The same without labels, judged by the best naming of clusters."""
    return [
        (name, *_measured(model, X, None, lambda model: clustering_accuracy(y, model.labels_)))
        for name, model in models.items()
    ]


def _measured(model, X, y, judge):
    """Accuracy, seconds and megabytes; the model is left fitted."""
    start = time.perf_counter()
    accuracy = judge(model.fit(X, y))
    seconds = time.perf_counter() - start
    # Another fit for the memory: watching allocations slows the first.
    return accuracy, seconds, _megabytes(lambda: judge(clone(model).fit(X, y)))


def _megabytes(work):
    """The most memory that is held at once."""
    tracemalloc.start()
    work()
    megabytes = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return megabytes
