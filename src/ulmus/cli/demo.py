"""``ulmus demo``: digits with all labels, few and none; three tables and one picture, offline."""

import time
import tracemalloc
import warnings
from argparse import Namespace
from collections.abc import Callable
from typing import Any

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

from ulmus.cli.picture import draw_digits
from ulmus.cli.places import check_free
from ulmus.cli.printing import note, print_json, say, table, wrapped
from ulmus.estimators.classifier import ELMClassifier
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.features import RBFFeatures
from ulmus.metrics import clustering_accuracy

__all__ = ["demo"]

# A model's name, its accuracy, and the seconds and megabytes to fit and predict.
Row = tuple[str, float, float, float]
_NAMES = ("model", "accuracy", "seconds", "megabytes")


def demo(options: Namespace) -> int:
    """Compare models on the bundled digits with all labels, few and none, and draw the map."""
    check_free(options.picture, options.force)
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=0
    )
    X, y = np.vstack([train, test]), np.concatenate([y_train, y_test])
    few = _with_few_labels(y)
    elm, few_elm = ELMClassifier(random_state=0), SemiSupervisedELMClassifier(random_state=0)
    tables = {
        "All labels: 1347 digits to learn from, 450 to be judged by": _all_labels(
            elm, train, test, y_train, y_test
        )
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own, about graphs and defaults
        title = "Five labels a class: 1797 digits, judged by the 1747 without one"
        tables[title] = _few_labels(few_elm, X, few, y)
        tables["No labels: 1797 digits in ten clusters, named as fits best"] = _no_labels(X, y)
    plane = ELMEmbedding(n_components=2, graph=few_elm.graph, random_state=0).fit_transform(X)
    draw_digits(elm, test, y_test, few_elm, plane, few, y, options.picture)
    _tell(tables, elm, options)
    return 0


def _with_few_labels(y: np.ndarray) -> np.ndarray:
    """y with five labels of every class left, and −1 elsewhere."""
    rng = np.random.default_rng(0)
    few = np.full(len(y), -1)
    for label in np.unique(y):
        few[rng.choice(np.flatnonzero(y == label), 5, replace=False)] = label
    return few


def _all_labels(
    elm: Any, X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray
) -> list[Row]:
    nystroem = Nystroem(gamma=1 / 64, n_components=1000, random_state=0)
    ridge = RidgeClassifierCV(np.logspace(-4, 4, 25))
    models = {
        "ELM": elm,
        "ELM, RBF units": ELMClassifier(RBFFeatures(), random_state=0),
        "Ridge on Nystroem": make_pipeline(StandardScaler(), nystroem, ridge),
        "SVC": make_pipeline(StandardScaler(), SVC()),
    }
    return _compared(models, X, y, lambda model: np.mean(model.predict(X_test) == y_test))


def _few_labels(elm: Any, X: np.ndarray, few: np.ndarray, y: np.ndarray) -> list[Row]:
    """Judged by the rows without a label, which only some of the models learn from."""
    known = few >= 0
    logistic = SelfTrainingClassifier(LogisticRegression())
    models = {
        "SS-ELM": elm,
        "LabelSpreading": LabelSpreading(kernel="knn", n_neighbors=7),
        "SelfTraining": make_pipeline(StandardScaler(), logistic),
    }
    supervised = {
        "ELM": ELMClassifier(random_state=0),
        "SVC": make_pipeline(StandardScaler(), SVC()),
    }

    def judge(model: Any) -> float:
        return float(np.mean(model.predict(X[~known]) == y[~known]))

    return [
        *_compared(models, X, few, judge),
        *_compared(supervised, X[known], few[known], judge),
    ]


def _no_labels(X: np.ndarray, y: np.ndarray) -> list[Row]:
    models = {
        "US-ELM": ELMSpectralClustering(10, random_state=0),
        "SpectralClustering": SpectralClustering(10, affinity="nearest_neighbors", random_state=0),
        "k-means": KMeans(10, n_init=10, random_state=0),
    }
    return _compared(models, X, None, lambda model: clustering_accuracy(y, model.labels_))


def _compared(
    models: dict[str, Any], X: np.ndarray, y: np.ndarray | None, judge: Callable[[Any], Any]
) -> list[Row]:
    """One row a model, which is left fitted."""
    return [(name, *_measured(model, X, y, judge)) for name, model in models.items()]


def _measured(
    model: Any, X: np.ndarray, y: np.ndarray | None, judge: Callable[[Any], Any]
) -> tuple[float, float, float]:
    start = time.perf_counter()
    accuracy = float(judge(model.fit(X, y)))
    seconds = time.perf_counter() - start
    # Another fit for the memory: watching allocations slows the first.
    return accuracy, seconds, _megabytes(lambda: judge(clone(model).fit(X, y)))


def _megabytes(work: Callable[[], object]) -> float:
    """The most memory that is held at once."""
    tracemalloc.start()
    work()
    megabytes = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return megabytes


def _tell(tables: dict[str, list[Row]], elm: Any, options: Namespace) -> None:
    if options.json:
        named = {
            title: [dict(zip(_NAMES, row, strict=True)) for row in rows]
            for title, rows in tables.items()
        }
        chosen = {"C": elm.C_, "leave_one_out": elm.loo_score_}
        print_json({"tables": named, "elm": chosen, "picture": options.picture})
        return
    for title, rows in tables.items():
        cells = [(name, f"{a:.3f}", f"{s:.2f}", f"{m:.0f}") for name, a, s, m in rows]
        say(*wrapped(title), "", *table(("model", "accuracy", "seconds", "MB"), cells), "")
    text = (
        f"The ELM chose C = {elm.C_:.3g} by leaving out each of its rows once: "
        f"{elm.loo_score_:.1%} of them right."
    )
    say(*wrapped(text))
    note(f"Picture: {options.picture}", options.quiet)
