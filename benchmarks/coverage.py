"""How many new rows lie in the intervals, or have their class in the sets, of 90 % coverage.

Run by ``python -m benchmarks coverage`` (``--quick``: one split) over the sets and splits of
`benchmarks.tabular`; nothing is downloaded. A model's defaults are fitted to the training rows, and
coverage is counted over the test rows.
"""

import os
from itertools import product
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.tabular import CLASSES, VALUES, load, model_of, split

MODELS = ("ELM", "kernel ELM")
COVERAGE = 0.9
# Sets of fewer rows have so many times as many splits.
SMALL, FEW = 1000, 5


def cell(job):
    """Coverage of one fit, and how wide its intervals are (in deviations) or how large its sets."""
    name, number, model_name = job
    X, y, X_test, y_test = split(name, number)
    classes = name in CLASSES
    with threadpool_limits(1):
        model = model_of(model_name, classes).fit(X, y)
        if classes:
            sets = model.predict_set(X_test, COVERAGE)
            own = y_test[:, None] == model.classes_
            return job, {
                "coverage": float((sets & own).sum() / len(own)),
                "size": sets.mean() * own.shape[1],
            }
        low, high = model.predict_interval(X_test, COVERAGE).T
    inside = float(np.mean((low <= y_test) & (y_test <= high)))
    return job, {"coverage": inside, "size": float(np.mean(high - low) / np.std(y_test))}


def measure(splits):
    """The means over splits, of which small sets have more, by set and model."""
    found, jobs = {}, []
    for name in CLASSES + VALUES:
        more = FEW if len(load(name)[0]) < SMALL else 1
        jobs += product([name], range(more * splits), MODELS)
    with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for (name, _, model), result in pool.imap_unordered(cell, jobs):
            found.setdefault(name, {}).setdefault(model, []).append(result)
            print(name, model, result, flush=True)
    return {
        name: {
            model: {key: float(np.mean([cell[key] for cell in cells])) for key in cells[0]}
            for model, cells in found[name].items()
        }
        for name in CLASSES + VALUES
    }


def farthest(found):
    """Of each model: the mean coverage, and that of the set farthest from what was asked."""
    figures = {}
    for model in MODELS:
        covered = {name: cells[model]["coverage"] for name, cells in found.items()}
        worst = max(covered, key=lambda name: abs(covered[name] - COVERAGE))
        figures[f"mean coverage, {model}"] = float(np.mean([*covered.values()]))
        figures[f"farthest from {COVERAGE}, {model} ({worst})"] = covered[worst]
    return figures


def page(found, table):
    """Coverage and size as two Markdown tables."""
    parts = []
    for title, names, size in (
        ("Classes in sets of 90 % coverage", CLASSES, "classes in a set"),
        ("Values in intervals of 90 % coverage", VALUES, "width / deviation of y"),
    ):
        rows = [
            (name, *(f"{found[name][m][key]:.3f}" for m in MODELS for key in ("coverage", "size")))
            for name in names
        ]
        columns = [f"{what}, {model}" for model in MODELS for what in ("coverage", size)]
        parts.append(table(title, ["set", *columns], rows))
    return "\n\n".join(parts)
