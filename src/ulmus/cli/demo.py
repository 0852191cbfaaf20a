"""``ulmus demo``: few labels, a table and a stream, each beside rivals; one picture, offline."""

import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.manifold import TSNE
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from ulmus.cli.printing import check_free, drawing, note, table, tell, watching, wrapped
from ulmus.estimators.elm import ELMClassifier, ELMRegressor
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.plotting.canvas import COLOURS, MUTED

_DRAWS, _SPLITS, _BATCHES = 4, 5, 25
# Iterations of t-SNE, half of its default: the map hardly changes after them.
_STEPS = 500
_INK = "#1b2a1f"

# A model's name, CPU seconds, and what was measured: a number, or a mean and half its interval.
Row = tuple[str, float, list[Any]]
# A title, the headings of what was measured, and a row for each model.
Section = tuple[str, tuple[str, ...], list[Row]]


def demo(options: Namespace) -> int:
    """Compare models on few labels, on a table and on a stream, and draw the digits' classes."""
    check_free(options.picture, options.force)
    # One thread, so that CPU seconds can be compared.
    with (
        threadpool_limits(1),
        warnings.catch_warnings(),
        watching("Demo", options.quiet, 4) as step,
    ):
        warnings.simplefilter("ignore")  # scikit-learn's own, about graphs and defaults
        step("50 labels on 1797 digits")
        few, drawn = _few_labels()
        step("a table with intervals")
        intervals = _intervals()
        step("a stream that changes")
        stream = _stream()
        step("the picture")
        _draw(options.picture, *drawn)
    return _told({"few_labels": few, "table": intervals, "stream": stream}, options)


def _few_labels() -> tuple[Section, tuple[np.ndarray, ...]]:
    """Accuracies without a label; and of the first draw X, y, the labels and what was predicted."""
    X, y = load_digits(return_X_y=True)
    self_training = SelfTrainingClassifier(LogisticRegression())
    models = {
        "SemiSupervisedELMClassifier": SemiSupervisedELMClassifier(random_state=0),
        "LabelSpreading": LabelSpreading(kernel="knn", n_neighbors=7),
        "SelfTraining, logistic": make_pipeline(StandardScaler(), self_training),
        "SVC, labelled digits alone": make_pipeline(StandardScaler(), SVC()),
    }
    draws = [_with_few_labels(y, seed) for seed in range(_DRAWS)]
    shown: list[np.ndarray] = []

    def judged(name: str, model: Any, few: np.ndarray) -> list[float]:
        used = few >= 0 if "alone" in name else np.full(len(y), True)
        shown.append(clone(model).fit(X[used], few[used]).predict(X))
        return [100 * np.mean((shown[-1] == y)[few < 0])]

    rows = _compared(models, draws, judged)
    title = "1. Fifty labels, five a class: accuracy in % on the 1747 digits without a label. "
    title += f"Mean and 95 % interval of {_DRAWS} draws of the labels."
    return (title, ("accuracy",), rows), (X, y, draws[0], shown[0])


def _with_few_labels(y: np.ndarray, seed: int) -> np.ndarray:
    """y with five labels of every class left, and −1 elsewhere."""
    rng = np.random.default_rng(seed)
    few = np.full(len(y), -1)
    for label in np.unique(y):
        few[rng.choice(np.flatnonzero(y == label), 5, replace=False)] = label
    return few


def _intervals() -> Section:
    X, y = load_diabetes(return_X_y=True)
    splits = [train_test_split(X, y, test_size=0.5, random_state=s) for s in range(_SPLITS)]
    models = {
        "ELMRegressor": _elm_interval,
        "BayesianRidge": _ridge_interval,
        "HistGradientBoosting, quantiles": _boosted_interval,
    }

    def judged(name: str, model: Any, split: list[np.ndarray]) -> list[float]:
        train, test, y_train, y_test = split
        mean, low, high = model(train, y_train, test)
        held = np.mean((low <= y_test) & (y_test <= high))
        return [100 * r2_score(y_test, mean), 100 * held, np.mean(high - low)]

    title = "2. A table (diabetes, 221 rows to fit): R² in % on 221 new rows, how many of them lie "
    title += f"in their 90 % interval, and its width. Mean and 95 % interval of {_SPLITS} splits."
    return title, ("R²", "in interval", "width"), _compared(models, splits, judged)


def _elm_interval(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Any:
    model = ELMRegressor(random_state=0).fit(X, y)
    return model.predict(new), *model.predict_interval(new, coverage=0.9).T


def _ridge_interval(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Any:
    mean, deviation = BayesianRidge().fit(X, y).predict(new, return_std=True)
    return mean, mean - 1.645 * deviation, mean + 1.645 * deviation


def _boosted_interval(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Any:
    tails = [{"loss": "quantile", "quantile": tail} for tail in (0.05, 0.95)]
    return [HistGradientBoostingRegressor(**how).fit(X, y).predict(new) for how in ({}, *tails)]


def _stream() -> Section:
    network = MLPClassifier(learning_rate_init=0.02, random_state=0)
    models: dict[str, tuple[Any, dict[str, Any]]] = {
        "ELMClassifier, decay=0.7": (ELMClassifier(n_hidden=100, random_state=0), {"decay": 0.7}),
        "ELMClassifier, all rows alike": (ELMClassifier(n_hidden=100, random_state=0), {}),
        "MLPClassifier, gradient steps": (network, {"classes": [False, True]}),
    }
    rows = []
    for name, (model, arguments) in models.items():
        scores, start = [], time.process_time()
        for X, y in _batches():
            if hasattr(model, "classes_"):
                scores.append(100 * np.mean(model.predict(X) == y))
            model.partial_fit(X, y, **arguments)
        quarters = [float(np.mean(part)) for part in np.array_split(scores, 4)]
        rows.append((name, time.process_time() - start, quarters))
    title = f"3. A stream of {_BATCHES} batches, class boundary rotating: accuracy in % on each "
    title += "batch before it is learned, by quarters of the stream."
    return title, ("first", "second", "third", "last"), rows


def _batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Batches of 200 rows; the two lines between the classes turn by 90 degrees in all."""
    rng = np.random.default_rng(0)
    for angle in np.linspace(0, np.pi / 2, _BATCHES):
        X = rng.standard_normal((200, 2))
        c, s = np.cos(angle), np.sin(angle)
        yield X, (X @ [c, s] > 0) ^ (X @ [-s, c] > 0)


def _compared(
    models: dict[str, Any], cases: list[Any], judged: Callable[[str, Any, Any], list[float]]
) -> list[Row]:
    """Each model's means over all cases with half of their 95 % intervals, by Student's t."""
    rows = []
    for name, model in models.items():
        start = time.process_time()
        measured = np.array([judged(name, model, case) for case in cases])
        seconds = (time.process_time() - start) / len(cases)
        half = student.ppf(0.975, len(cases) - 1) * np.std(measured, axis=0, ddof=1)
        pairs = np.column_stack([measured.mean(axis=0), half / np.sqrt(len(cases))])
        rows.append((name, seconds, pairs.tolist()))
    return rows


def _told(sections: dict[str, Section], options: Namespace) -> int:
    lines, found = [], {}
    for key, (title, headings, rows) in sections.items():
        names = ("model", *headings, "CPU s")
        found[key] = [dict(zip(names, (row[0], *row[2], row[1]), strict=True)) for row in rows]
        cells = [(name, *map(_shown, values), f"{seconds:.2f}") for name, seconds, values in rows]
        lines += [*wrapped(title), "", *table(names, cells), ""]
    end = (
        "Where rivals do better: most of them take less time, and a linear model is as good on the "
        "diabetes table. Boosting's intervals are narrower but hold too few rows."
    )
    if not options.json:
        note(f"Picture: {options.picture}", options.quiet)
    return tell(options, {**found, "picture": options.picture}, *lines, *wrapped(end))


def _shown(value: Any) -> str:
    return f"{value[0]:.1f} ± {value[1]:.1f}" if isinstance(value, list) else f"{value:.1f}"


def _draw(path: str, X: np.ndarray, y: np.ndarray, few: np.ndarray, found: np.ndarray) -> None:
    """The digits on a map of their pixels, in the colours of given and of found classes."""
    plane = TSNE(max_iter=_STEPS, random_state=0).fit_transform(X)
    known = few >= 0
    wrong = (found != y) & ~known
    share = 1 - wrong.sum() / np.sum(~known)
    given = f"Given: a label for {known.sum()} digits (ringed)"
    rest = f"Found: a class for the other {np.sum(~known)}; {wrong.sum()} are wrong (ringed)"
    colours = np.array([*COLOURS, "#a6a6a6"])  # the last is that of −1, no label
    with drawing(path, (13, 7.4), dpi=140) as figure:
        title = f"{known.sum()} labels sort {len(y)} digits: {share:.1%} of the others are right"
        figure.suptitle(title, fontsize=19, color=_INK, weight="bold")
        pairs = ((few, known, given), (found, wrong, rest))
        for axes, (labels, ringed, words) in zip(figure.subplots(1, 2), pairs, strict=True):
            for digit in np.unique(y):
                own, look = y == digit, {"marker": f"${digit}$", "s": 25, "linewidths": 0}
                axes.scatter(*plane[own].T, c=colours[labels[own]], **look)
            fill = [f"{COLOURS[label]}50" for label in labels[ringed]]
            axes.scatter(*plane[ringed].T, s=60, facecolors=fill, edgecolors=_INK, linewidths=0.7)
            axes.set(xticks=[], yticks=[])
            axes.set_xlabel(words, fontsize=13, color=_INK)
            axes.spines[:].set_visible(False)
        end = "SemiSupervisedELMClassifier().fit(X, y), −1 for no label. Map: t-SNE of the pixels."
        figure.supxlabel(end, fontsize=10, color=MUTED)
