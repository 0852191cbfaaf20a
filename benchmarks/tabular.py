"""Untuned models on visible tables: what Ulmus' defaults reach beside boosting.

Run by ``python -m benchmarks tabular`` (``--quick``: one split; ``--models``: these alone, beside
what was kept of the others); nothing is downloaded. Models whose library is not installed are left
out: LightGBM, XGBoost, CatBoost, RealMLP and xRFM (both in pytabkit). The data files come
from ULMUS_DATA, the other sets from scikit-learn. A cell is a fit and a prediction in a
process of its own, with one thread.

The rules by which a kernel ELM chooses its kernel were fixed on the sets of half A and confirmed on
those of half B: the names in alphabetical order, A and B by turns.
"""

import os
import time
import warnings
from importlib import import_module
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.measure import kept, table
from ulmus.machine import peak_megabytes

CLASSES = (
    "adult",
    "breast_cancer",
    "covtype",
    "dna",
    "g50c",
    "iris",
    "letter",
    "libras",
    "madelon",
    "optdigits",
    "segment",
    "shuttle",
    "svmguide1",
    "synthetic_control",
    "tic_tac_toe",
    "usps",
    "waveform",
    "wine",
)
VALUES = (
    "adult age",
    "california",
    "covtype elevation",
    "diabetes",
    "friedman1",
    "friedman2",
    "friedman3",
    "segment hue",
)
HALF = {name: "AB"[i % 2] for names in (CLASSES, VALUES) for i, name in enumerate(names)}
MADE = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman1": lambda: make_friedman1(4000, noise=1.0, random_state=0),
    "friedman2": lambda: make_friedman2(4000, noise=125.0, random_state=0),
    "friedman3": lambda: make_friedman3(4000, noise=0.1, random_state=0),
}
# Of these a column is the target.
COLUMN = {"adult age": ("adult", 0), "covtype elevation": ("covtype", 0)}
COLUMN["segment hue"] = ("segment", -1)
MOST, TRAIN, TEST = 20_000, 3000, 3000
# Module, classifier, regressor, parameters, and whether columns and numbers to predict are
# standardised for it.
MODELS = {
    "kernel ELM": ("ulmus", "KernelELMClassifier", "KernelELMRegressor", {}, False),
    "ELM": ("ulmus", "ELMClassifier", "ELMRegressor", {}, False),
    "HistGradientBoosting": (
        "sklearn.ensemble",
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRegressor",
        {},
        False,
    ),
    "LightGBM": ("lightgbm", "LGBMClassifier", "LGBMRegressor", {"verbose": -1}, False),
    "XGBoost": ("xgboost", "XGBClassifier", "XGBRegressor", {}, False),
    "CatBoost": ("catboost", "CatBoostClassifier", "CatBoostRegressor", {"verbose": 0}, False),
    "RealMLP": ("pytabkit", "RealMLP_TD_Classifier", "RealMLP_TD_Regressor", {}, False),
    "xRFM": ("pytabkit", "XRFM_D_Classifier", "XRFM_D_Regressor", {}, False),
    "random forest": (
        "sklearn.ensemble",
        "RandomForestClassifier",
        "RandomForestRegressor",
        {},
        False,
    ),
    "SVM": ("sklearn.svm", "SVC", "SVR", {}, True),
    "MLP": ("sklearn.neural_network", "MLPClassifier", "MLPRegressor", {}, True),
    "linear": ("sklearn.linear_model", "LogisticRegression", "Ridge", {}, True),
}


def _file(name):
    """The arrays of a set's file, and which column is the target, if one is."""
    file, column = COLUMN.get(name, ({"california": "california_housing"}.get(name, name), None))
    return np.load(Path(os.environ["ULMUS_DATA"]) / f"{file}.npz"), column


def feature_names(name):
    """What the file calls the columns, or None."""
    data, column = ({}, None) if name in MADE else _file(name)
    if "feature_names" not in data:
        return None
    names = [str(each) for each in data["feature_names"]]
    return names if column is None else [*np.delete(names, column)]


def load(name):
    """Rows and targets, at most 20 000."""
    if name in MADE:
        return MADE[name]()
    data, column = _file(name)
    X, y = data["X"], data["y"]
    rows = np.random.RandomState(0).permutation(len(X))[:MOST] if len(X) > MOST else slice(None)
    X, y = X[rows].astype(float), y[rows]
    return (X, y) if column is None else (np.delete(X, column, axis=1), X[:, column])


def split(name, number):
    """Training rows and targets, test rows and targets."""
    X, y = load(name)
    rows = np.random.RandomState(100 + number).permutation(len(X))
    n = min(TRAIN, int(0.7 * len(X)))
    train, test = rows[:n], rows[n : n + TEST]
    return X[train], y[train], X[test], y[test]


def installed():
    """The models whose libraries are here."""
    found = []
    for name, (module, classifier, *_) in MODELS.items():
        try:
            library = import_module(module)
        except ModuleNotFoundError:
            continue
        if hasattr(library, classifier):  # earlier releases may lack a model
            found.append(name)
    return found


def model_of(name, classes):
    """An untuned model; its seed is fixed, and it has one thread."""
    module, classifier, regressor, parameters, standardised = MODELS[name]
    model = getattr(import_module(module), classifier if classes else regressor)(**parameters)
    known = model.get_params()
    fixed = {"random_state": 0, "n_jobs": 1, "thread_count": 1, "random_seed": 0}
    if name == "CatBoost":
        model = type(model)(**parameters, thread_count=1, random_seed=0)
    else:
        model.set_params(**{key: value for key, value in fixed.items() if key in known})
    if standardised and not classes:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    return make_pipeline(StandardScaler(), model) if standardised else model


def cell(job):
    """Score, log loss of classes, CPU seconds and peak memory of one fit."""
    name, number, model_name = job
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = split(name, number)
    classes = name in CLASSES
    if classes:
        known, y = np.unique(y, return_inverse=True)
        X_test, y_test = X_test[np.isin(y_test, known)], y_test[np.isin(y_test, known)]
        y_test = np.searchsorted(known, y_test)
    model, start = model_of(model_name, classes), time.process_time()
    with threadpool_limits(1):
        predicted = np.ravel(model.fit(X, y).predict(X_test))
    found = {"cpu_seconds": time.process_time() - start, "peak_mb": peak_megabytes()}
    if not classes:
        error = np.mean((y_test - predicted) ** 2)
        return job, found | {"score": float(1.0 - error / np.var(y_test))}
    found["score"] = float(np.mean(predicted == y_test))
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(X_test)
        found["log_loss"] = float(log_loss(y_test, P, labels=np.arange(len(known))))
    return job, found


def measure(splits, jobs=None, names=CLASSES + VALUES, models=None):
    """All cells, by set, model and split."""
    work = [*product(names, range(splits), models or installed())]
    found = {}
    # A process for each cell, so that its peak memory is its own.
    with get_context("fork").Pool(jobs or os.cpu_count(), maxtasksperchild=1) as pool:
        for (name, _, model), result in pool.imap_unordered(cell, work):
            found.setdefault(name, {}).setdefault(model, []).append(result)
            print(name, model, result, flush=True)
    return found


def joined(kept, found):
    """Figures that were kept, with those of some models measured again."""
    return {name: {**cells, **found.get(name, {})} for name, cells in kept.items()}


def means(found, figure):
    """The mean of a figure by set and model; NaN where there is none."""
    return {
        name: {
            model: float(np.mean([each.get(figure, np.nan) for each in results]))
            for model, results in models.items()
        }
        for name, models in found.items()
    }


def ranks(table):
    """The mean rank of each model, best first; a set where one has no figure is left out."""
    models = list(next(iter(table.values())))
    rows = np.array([[cells[model] for model in models] for cells in table.values()])
    # Means of equal figures may differ by rounding, and are equal all the same.
    rows = rows[np.isfinite(rows).all(axis=1)].round(9)
    mean = rankdata(-rows, axis=1).mean(axis=0) if len(rows) else np.full(len(models), np.nan)
    return dict(sorted(zip(models, mean.tolist(), strict=True), key=lambda pair: pair[1]))


def ratios(found):
    """What is to be reached: ranks beside boosting, and the farthest behind it on any set."""
    scores = means(found, "score")
    behind = {
        name: cells["HistGradientBoosting"] - cells["kernel ELM"] for name, cells in scores.items()
    }
    worst = max(behind, key=behind.get)
    return {
        **{f"mean rank, {model}": rank for model, rank in ranks(scores).items()},
        f"kernel ELM farthest below HistGradientBoosting ({worst})": behind[worst],
        "sets where it is more than .01 below": sum(gap > 0.01 for gap in behind.values()),
        "mean of kernel ELM less that of HistGradientBoosting": -float(np.mean([*behind.values()])),
    }


def page(found):
    """Scores, log losses and costs as Markdown tables."""
    models = list(next(iter(found.values())))
    parts = []
    for title, names, figure in (
        ("Accuracy on test rows", CLASSES, "score"),
        ("R² on test rows", VALUES, "score"),
        ("Log loss on test rows", CLASSES, "log_loss"),
    ):
        cells = {name: each for name, each in means(found, figure).items() if name in names}
        if not cells:
            continue
        rows = [
            (f"{name} ({HALF[name]})", *(_figure(each[model]) for model in models))
            for name, each in cells.items()
        ]
        sign = -1.0 if figure == "log_loss" else 1.0
        rated = [m for m in models if all(np.isfinite(each[m]) for each in cells.values())]
        signed = {name: {m: sign * each[m] for m in rated} for name, each in cells.items()}
        rank, mean = ranks(signed), {m: np.mean([c[m] for c in cells.values()]) for m in models}
        rows.append(("mean", *(_figure(mean[model]) for model in models)))
        rows.append(("mean rank", *(f"{rank[m]:.2f}" if m in rank else "" for m in models)))
        parts.append(table(title, ["set (half)", *models], rows))
    costs = []
    for model in models:
        cells = [cell for each in found.values() for cell in each[model]]
        seconds, peak = ([cell[key] for cell in cells] for key in ("cpu_seconds", "peak_mb"))
        costs.append(
            (model, f"{np.median(seconds):.1f}", f"{np.max(seconds):.1f}", f"{np.max(peak):.0f}")
        )
    columns = ["model", "median CPU s", "most CPU s", "most MB"]
    parts.append(table("What a fit and a prediction cost", columns, costs))
    return "\n\n".join(parts)


def picture(found, path):
    """The mean ranks over all sets as a critical-difference plot."""
    from benchmarks import rank_plot  # the only part that needs matplotlib

    rank_plot.draw(ranks(means(found, "score")), len(found), path)


def _figure(value):
    return f"{value:.3f}" if np.isfinite(value) else ""


def run(folder, rounds, models=None):
    """Untuned models on tables: five splits, or one with ``--quick``."""
    found = measure(5 if rounds > 1 else 1, models=models)
    found = joined(kept("tabular"), found) if models else found
    return found, ratios(found), page(found)
