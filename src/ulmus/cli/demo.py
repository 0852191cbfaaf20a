"""``ulmus demo``: digits with all labels, few and none; three tables and one picture, offline."""

import time
import tracemalloc
import warnings
from argparse import Namespace
from collections.abc import Callable
from functools import partial
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

from ulmus.cli.printing import check_free, drawing, note, table, tell, wrapped
from ulmus.estimators.elm import ELMClassifier
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.features import RBFFeatures
from ulmus.metrics import clustering_accuracy
from ulmus.plotting import EmbeddingDisplay, LOOPathDisplay

# A model's name, its accuracy, and the seconds and megabytes to fit and predict.
Row = tuple[str, float, float, float]
_NAMES = ("model", "accuracy", "seconds", "megabytes")
_INK, _RIGHT, _WRONG = "#1b2a1f", "#2f7d4f", "#b3402a"


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own, about graphs and defaults
        tables = {
            "All labels: 1347 digits to learn from, 450 to be judged by": _all_labels(
                elm, train, test, y_train, y_test
            ),
            "Five labels a class: 1797 digits, judged by the 1747 without one": _few_labels(
                few_elm, X, few, y
            ),
            "No labels: 1797 digits in ten clusters, named as fits best": _no_labels(X, y),
        }
    plane = ELMEmbedding(n_components=2, graph=few_elm.graph, random_state=0).fit_transform(X)
    with drawing(options.picture, (13, 9.6), dpi=140) as figure:
        top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.1))
        left, right = top.subfigures(1, 2, width_ratios=(1.25, 1))
        _draw_doubtful(left, elm, test, y_test)
        axes = LOOPathDisplay.from_estimator(elm, ax=right.subplots(), color=_RIGHT).ax_
        axes.set_title("Every C tried, each row left out once, one solve", fontsize=11, color=_INK)
        _draw_map(bottom.subplots(), few_elm, plane, few >= 0, y)
    return _told(tables, elm, options)


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
    """Judged by the rows without a label, which only the first three models learn from."""
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

    found = _compared(models, X, few, judge)
    return found + _compared(supervised, X[known], few[known], judge)


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

    def judged(model: Any) -> float:
        return float(judge(model.fit(X, y)))

    rows = []
    for name, model in models.items():
        start = time.perf_counter()
        accuracy, seconds = judged(model), time.perf_counter() - start
        # Another fit for the memory: watching allocations slows the first.
        rows.append((name, accuracy, seconds, _megabytes(partial(judged, clone(model)))))
    return rows


def _megabytes(work: Callable[[], object]) -> float:
    """The most memory that is held at once."""
    tracemalloc.start()
    work()
    megabytes = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return megabytes


def _told(tables: dict[str, list[Row]], elm: Any, options: Namespace) -> int:
    named, lines = {}, []
    for title, rows in tables.items():
        named[title] = [dict(zip(_NAMES, row, strict=True)) for row in rows]
        cells = [(name, f"{a:.3f}", f"{s:.2f}", f"{m:.0f}") for name, a, s, m in rows]
        lines += [*wrapped(title), "", *table((*_NAMES[:3], "MB"), cells), ""]
    score = f"{elm.loo_score_:.1%} of them right"
    text = f"The ELM chose C = {elm.C_:.3g} by leaving out each of its rows once: {score}."
    chosen = {"C": elm.C_, "leave_one_out": elm.loo_score_}
    if not options.json:
        note(f"Picture: {options.picture}", options.quiet)
    found = {"tables": named, "elm": chosen, "picture": options.picture}
    return tell(options, found, *lines, *wrapped(text))


def _draw_doubtful(figure: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """The fifteen digits with the least probability, each with its two likeliest classes."""
    P, right = model.predict_proba(X), np.mean(model.predict(X) == y)
    order = np.argsort(P.max(axis=1))[:15]
    title = f"The {len(order)} digits the ELM is least sure of ({right:.1%} of all are right)"
    figure.suptitle(title, fontsize=11, color=_INK)
    for axes, row in zip(figure.subplots(3, 5).flat, order, strict=True):
        axes.imshow(X[row].reshape(8, 8), cmap="Greys", interpolation="nearest")
        best = np.argsort(P[row])[::-1][:2]
        colour = _RIGHT if model.classes_[best[0]] == y[row] else _WRONG
        title = " · ".join(f"{model.classes_[k]} {P[row, k]:.0%}" for k in best)
        axes.set_title(title, fontsize=9, color=colour)
        axes.set(xticks=[], yticks=[])


def _draw_map(axes: Any, model: Any, plane: np.ndarray, known: np.ndarray, y: np.ndarray) -> None:
    """Every row where the embedding puts it, in the colour of the label that it was given."""
    labels, wrong = model.transduction_, model.transduction_ != y
    EmbeddingDisplay.from_predictions(plane, labels, proba=model.label_distributions_, ax=axes)
    axes.scatter(*plane[wrong].T, s=22, marker="x", color=_INK, linewidths=0.9)
    title = (
        f"All {len(y)} digits, mapped without labels; colours from {known.sum()} labels "
        f"({np.mean(~wrong[~known]):.1%} of the others are right, a cross marks the wrong ones)"
    )
    axes.set_title(title, fontsize=11, color=_INK)
