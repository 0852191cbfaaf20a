"""How far the leave-one-out score of what was chosen is too good, on targets that are pure noise.

Run by ``python -m benchmarks folds``. A fair coin is right in half of the rows, and nothing
explains a random number: R² is 0 at best. Five folds choose again in each fold, and take about as
long as four fits.
"""

import time

import numpy as np

from benchmarks.measure import table
from ulmus.tables import Table, fit_table
from ulmus.tables.assessing import Plan, assess

# Rows, tables of each, and whether folds are measured too.
SIZES = ((60, 6, True), (120, 6, True), (400, 4, True), (1000, 2, True), (2000, 2, False))
COLUMNS = 6


def _noise(rows, seed, classes):
    rng = np.random.default_rng(seed)
    columns = {f"x{j}": x for j, x in enumerate(rng.normal(size=(COLUMNS, rows)))}
    coin = rng.choice(np.array(["heads", "tails"], object), rows)
    target = coin if classes else rng.normal(size=rows)
    return Table((*columns, "y"), {**columns, "y": target})


def measure():
    """Scores and CPU seconds of each table, by task and rows."""
    found = {}
    for task, classes in (("accuracy", True), ("R²", False)):
        for rows, tables, folds in SIZES:
            each = [_one(_noise(rows, seed, classes), folds) for seed in range(tables)]
            found[f"{task}, {rows} rows"] = each
    return found


def _one(table, folds):
    start = time.process_time()
    model = fit_table(table, "y")
    found = {"leave-one-out": model.summary["loo_score"], "fit": time.process_time() - start}
    if folds:
        start = time.process_time()
        scores = assess(model, table, Plan(folds=5)).scores
        found["five folds"] = scores["r2" if model.classes is None else "accuracy"]
        found["folds"] = time.process_time() - start
    return found


def page(found):
    """Means over the tables."""
    rows = []
    for case, each in found.items():
        means = {name: np.mean([one[name] for one in each]) for name in each[0]}
        digits = {"leave-one-out": 3, "five folds": 3, "fit": 1, "folds": 1}
        rows.append(
            [
                case,
                len(each),
                *(f"{means[k]:.{d}f}" if k in means else "" for k, d in digits.items()),
            ]
        )
    headings = ["pure noise", "tables", "leave-one-out", "five folds", "CPU s of a fit", "of folds"]
    return table("Scores that `ulmus fit` could state", headings, rows)


def run(folder, rounds):
    """Leave-one-out and five folds where there is nothing to learn."""
    found = measure()
    return found, {}, page(found)
