"""A stream that comes row by row, 1000 units: what adding a row costs, with and without answers."""

import time

import numpy as np

from benchmarks.measure import table
from benchmarks.streams import made_table
from ulmus import ELMClassifier, RandomFeatures

# Rows of the stream when rows are measured: those that are all kept, and those that are not.
STARTS = {"while all rows are kept": 3000, "past the kept rows": 25_000}
ROWS = 100


def _added(model, X, y, first, asked=False):
    """CPU ms to add each of the rows, or to predict and add it."""
    took = []
    for i in range(first, first + ROWS):
        start = time.process_time()
        if asked:
            model.predict(X[i : i + 1])
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        took.append(1000 * (time.process_time() - start))
    return took


def _case(C, start, X, y):
    """What rows cost once there are ``start``; and how far outputs are from a solve of all sums."""
    model = ELMClassifier(RandomFeatures(), C=C, random_state=0)
    model.partial_fit(X[:start], y[:start])
    _added(model, X, y, start)  # what is made once
    model.predict(X[:1])
    found = {"add a row, ms": float(np.mean(_added(model, X, y, start + ROWS)))}
    before = time.process_time()
    model.predict(X[:1])
    found["what was put off, ms"] = 1000 * (time.process_time() - before)
    asked = _added(model, X, y, start + 2 * ROWS, asked=True)
    for what, number in _figures(asked).items():
        found[f"predict and add a row, {what}"] = number
    F = model.decision_function(X[:1000])
    assert model._kept.seen == start + 3 * ROWS  # which sums and solves
    whole = model.decision_function(X[:1000])
    apart = np.abs(F - whole).max() / np.abs(whole).max()
    return found | {"difference": float(apart)}


def _figures(took):
    """The mean, the median and the 95th percentile, in ms."""
    middle, slow = np.percentile(took, [50, 95])
    return {"ms": float(np.mean(took)), "median": float(middle), "95th percentile": float(slow)}


def measure():
    """All cases."""
    X, y = made_table(max(STARTS.values()) + 3 * ROWS)
    return {
        f"C={C!r}, {what}": _case(C, start, X, y)
        for what, start in STARTS.items()
        for C in (1.0, "loo")
    }


def run(folder, rounds):
    """The slowest of all cases; once, for a row is measured a hundred times."""
    return report(measure())


def report(found):
    """Figures, ratios and page; differences count at C = 1, for a large C has more rounding."""
    past = [cell for case, cell in found.items() if "past" in case]

    def most(cells, key):
        return max(cell[key] for cell in cells)

    ratios = {
        "CPU ms to add a row": most(found.values(), "add a row, ms"),
        "CPU ms to predict and add a row, past the kept rows": most(
            past, "predict and add a row, ms"
        ),
        "median CPU ms to predict and add a row": most(
            found.values(), "predict and add a row, median"
        ),
        "largest relative difference of outputs from a solve of all sums, C = 1": most(
            [cell for case, cell in found.items() if case.startswith("C=1.0")], "difference"
        ),
    }
    rows = [(case, *(f"{value:.2g}" for value in cell.values())) for case, cell in found.items()]
    columns = ["stream", *next(iter(found.values()))]
    return found, ratios, table("A stream row by row, 1000 units, CPU of one core", columns, rows)
