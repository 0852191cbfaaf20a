"""`fit_table` on messy tables, beside boosting as scikit-learn has it.

Run by ``python -m benchmarks messy`` (``--quick``: one split); nothing is downloaded. Tables are
those of ``benchmarks tabular`` with columns that a matrix has lost: one-hot columns are words again
and a twentieth of all cells is blank. Boosting gets the words as categories and the blanks as they
are, both of which it treats by itself. "units" are `TableEncoder` and an ELM, as `fit_table` would
be if it tried no kernel. A cell is a fit and a prediction in a process of its own, with one
thread; a small table was fitted before the clock starts, so that modules are imported.
"""

import os
import time
import warnings
from itertools import product
from multiprocessing import get_context

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

from benchmarks import tabular
from benchmarks.measure import table
from benchmarks.tables import columns_of
from ulmus import ELMClassifier, ELMRegressor
from ulmus.tables import Table, TableEncoder, fit_table

NAMES = (
    "adult",
    "adult age",
    "breast_cancer",
    "california",
    "covtype",
    "covtype elevation",
    "diabetes",
    "friedman1",
    "letter",
    "segment",
    "segment hue",
    "shuttle",
    "svmguide1",
    "tic_tac_toe",
    "waveform",
    "wine",
)
MODELS = ("fit_table", "HistGradientBoosting", "units")
TRAIN, TEST = 10_000, 5000
BLANK = 0.05
# The columns of these that are one-hot, by their first place: the files have no names for them.
ONE_HOT = {"covtype": {10: 4, 14: 40}, "covtype elevation": {9: 4, 13: 40}}


def split(name, number):
    """A table with its target in "target", and the rows to train and to test with."""
    X, y = tabular.load(name)
    names = tabular.feature_names(name) or [f"x{j}" for j in range(X.shape[1])]
    for first, many in ONE_HOT.get(name, {}).items():
        names[first : first + many] = [f"group{first}={k}" for k in range(many)]
    table = columns_of({"X": X, "feature_names": names})
    rng = np.random.RandomState(200 + number)
    order = rng.permutation(len(X))
    n = min(TRAIN, int(0.7 * len(X)))
    columns = {each: _with_blanks(table[each], rng) for each in table.names}
    target = np.array([f"c{label}" for label in y], object) if name in tabular.CLASSES else y
    whole = Table((*columns, "target"), {**columns, "target": target})
    return whole, order[:n], order[n : n + TEST]


def _with_blanks(column, rng):
    """The column with a twentieth of its cells blank."""
    words, blank = column.dtype == object, rng.random_sample(len(column)) < BLANK
    column = column.copy() if words else column.astype(float)
    column[blank] = None if words else np.nan
    return column


def boosting(table, classes):
    """HistGradientBoosting on the table's columns, words as its own categories."""
    words = [j for j, each in enumerate(table.names) if table[each].dtype == object]
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    coded = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    encoder = make_column_transformer((coded, words), remainder="passthrough")
    # Words come first in what the transformer gives; boosting has at most 255 categories.
    return make_pipeline(encoder, kind(categorical_features=[*range(len(words))], random_state=0))


def frame(table):
    """The table's columns, the target's aside, as a matrix of objects; blanks are NaN."""
    columns = [np.asarray(table[each], object) for each in table.names if each != "target"]
    X = np.column_stack(columns)
    X[np.equal(X, None)] = np.nan
    return X


def fitted(model_name, train, test, classes):
    """A model of the training rows, its classes, and the test rows as it takes them."""
    if model_name == "fit_table":
        model = fit_table(train, "target", task="classification" if classes else "regression")
        return model, model.classes, test.without("target")
    target = train["target"] if not classes else train["target"].astype(str)
    rows, new = train.without("target"), test.without("target")
    if model_name == "units":
        kind = ELMClassifier if classes else ELMRegressor
        model = make_pipeline(TableEncoder(), kind(random_state=0))
    else:
        model, rows, new = boosting(rows, classes), frame(train), frame(test)
    return model, getattr(model.fit(rows, target), "classes_", None), new


def cell(job):
    """Score, log loss of classes and CPU seconds of one fit."""
    name, number, model_name = job
    warnings.simplefilter("ignore")
    table, train, test = split(name, number)
    classes, y = name in tabular.CLASSES, table["target"][test]
    train, test = table.rows(train), table.rows(test)
    with threadpool_limits(1):
        _warm(model_name, classes)
        start = time.process_time()
        model, known, new = fitted(model_name, train, test, classes)
        predicted = model.predict(new)
    found = {"cpu_seconds": time.process_time() - start}
    if not classes:
        return job, found | {"score": float(1.0 - np.mean((y - predicted) ** 2) / np.var(y))}
    found["score"] = float(np.mean(predicted == y))
    found["log_loss"] = float(log_loss(y.astype(str), model.predict_proba(new), labels=known))
    return job, found


def _warm(model_name, classes):
    """Fit a table of few rows, so that what is imported late has been."""
    t = np.cos(np.arange(60.0))
    target = np.where(t > 0, "up", "down").astype(object) if classes else t**2
    small = Table(("t", "target"), {"t": t, "target": target})
    model, _, new = fitted(model_name, small, small, classes)
    model.predict(new)


def measure(splits, jobs=None, names=NAMES, models=MODELS):
    """All cells, by set, model and split."""
    found = {}
    with get_context("fork").Pool(jobs or os.cpu_count(), maxtasksperchild=1) as pool:
        for (name, _, model), result in pool.imap_unordered(
            cell, [*product(names, range(splits), models)]
        ):
            found.setdefault(name, {}).setdefault(model, []).append(result)
            print(name, model, result, flush=True)
    return found


def ratios(found):
    """The mean score beside boosting's, and the CPU seconds as a multiple of its."""
    scores, seconds = (tabular.means(found, figure) for figure in ("score", "cpu_seconds"))
    taken, theirs = {}, "HistGradientBoosting"
    for ours in ("fit_table", "units"):
        behind = {name: each[theirs] - each[ours] for name, each in scores.items()}
        times = {name: each[ours] / each[theirs] for name, each in seconds.items()}
        worst, slowest = (max(each, key=each.get) for each in (behind, times))
        whole = [sum(each[model] for each in seconds.values()) for model in (ours, theirs)]
        taken |= {
            f"mean score of {ours} less that of boosting": -float(np.mean([*behind.values()])),
            f"{ours}, farthest below boosting ({worst})": behind[worst],
            f"CPU seconds, {ours} / boosting, median": float(np.median([*times.values()])),
            f"CPU seconds, {ours} / boosting, most ({slowest})": times[slowest],
            f"CPU seconds, {ours} / boosting, all tables": whole[0] / whole[1],
        }
    return taken


def page(found):
    """Scores, log losses and CPU seconds by set."""
    columns = ["table"]
    figures = {"score": ".3f", "log_loss": ".3f", "cpu_seconds": ".1f"}
    columns += [f"{model}, {figure.replace('_', ' ')}" for figure in figures for model in MODELS]
    means = {figure: tabular.means(found, figure) for figure in figures}
    rows = []
    for name in found:
        cells = [(means[f][name][model], form) for f, form in figures.items() for model in MODELS]
        rows.append((name, *(f"{v:{form}}" if np.isfinite(v) else "" for v, form in cells)))
    return table("`fit_table` on messy tables (accuracy or R²)", columns, rows)


def run(folder, rounds):
    """`fit_table` beside boosting: three splits, or one with ``--quick``."""
    found = measure(3 if rounds > 1 else 1)
    return found, ratios(found), page(found)
