"""How many new rows lie in intervals or sets of 90 % coverage, and what probabilities lose.

Run by ``python -m benchmarks coverage`` (``--quick``: one split) over the sets and splits of
`benchmarks.tabular`; nothing is downloaded. A model's defaults are fitted to the training rows, and
coverage is counted over the test rows. Log losses are by the probabilities of the model, and by
those of its temperature alone. How strongly scales and biases of classes are drawn to one and zero
was set on half A of the sets.
"""

import os
from itertools import product
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import table
from benchmarks.tabular import CLASSES, HALF, VALUES, load, model_of, split
from ulmus.calibration import probabilities

MODELS = ("ELM", "kernel ELM")
COVERAGE = 0.9
LOSSES = ("log loss", "log loss, temperature alone")
# Sets of fewer rows have so many times as many splits.
SMALL, FEW = 1000, 5


def cell(job):
    """Coverage of one fit, and how wide its intervals are (in deviations) or how large its sets.

    Of classes the log loss too, and what it is by the temperature alone.
    """
    name, number, model_name = job
    X, y, X_test, y_test = split(name, number)
    classes = name in CLASSES
    with threadpool_limits(1):
        model = model_of(model_name, classes).fit(X, y)
        if classes:
            known = np.isin(y_test, model.classes_)
            return job, of_classes(model, X_test[known], y_test[known])
        low, high = model.predict_interval(X_test, COVERAGE).T
    inside = float(np.mean((low <= y_test) & (y_test <= high)))
    return job, {"coverage": inside, "size": float(np.mean(high - low) / np.std(y_test))}


def of_classes(model, X, y):
    """Coverage, size and log losses of a classifier."""
    sets, own = model.predict_set(X, COVERAGE), y[:, None] == model.classes_
    F = model.decision_function(X)
    alone = probabilities(F.reshape(len(F), -1), model.temperature_)
    return {
        "coverage": float((sets & own).sum() / len(own)),
        "size": float(sets.sum() / len(own)),
        "log loss": float(-np.log(model.predict_proba(X)[own]).mean()),
        "log loss, temperature alone": float(-np.log(alone[own]).mean()),
    }


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
        for half, key in product("AB", LOSSES):
            losses = [found[name][model][key] for name in CLASSES if HALF[name] == half]
            figures[f"mean {key}, {model}, half {half}"] = float(np.mean(losses))
    return figures


def page(found):
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
    rows = [
        (
            f"{name} ({HALF[name]})",
            *(f"{found[name][m][key]:.4f}" for m in MODELS for key in LOSSES),
        )
        for name in CLASSES
    ]
    columns = [f"{key}, {model}" for model in MODELS for key in LOSSES]
    parts.append(
        table("Scales and biases of classes beside the temperature", ["set (half)", *columns], rows)
    )
    return "\n\n".join(parts)


def run(folder, rounds):
    """Coverage of intervals and sets: six splits, or one with ``--quick``."""
    found = measure(6 if rounds > 1 else 1)
    return found, farthest(found), page(found)
