"""What twice as many hidden units bring, and cost, with few rows and with many.

Run by ``python -m benchmarks widths``; the sets are those of ``benchmarks tabular``, one split.
"""

import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import tabular
from benchmarks.measure import table

NAMES = ("california", "letter", "covtype", "adult", "usps")
ROWS, WIDTHS, TEST = (3000, 12_000), (1000, 2000), 3000


def measure():
    """Score on test rows and CPU seconds of a fit, by set, rows and width."""
    return {name: _of_set(name) for name in NAMES}


def _of_set(name):
    import ulmus

    kind = ulmus.ELMClassifier if name in tabular.CLASSES else ulmus.ELMRegressor
    X, y = tabular.load(name)
    order = np.random.RandomState(100).permutation(len(X))
    test, found = order[-TEST:], {}
    for n in ROWS:
        for width in WIDTHS if n + TEST <= len(X) else ():
            model, start = kind(n_hidden=width, random_state=0), time.process_time()
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X[order[:n]], y[order[:n]])
            seconds = time.process_time() - start
            score = round(model.score(X[test], y[test]), 4)
            found[f"{n} rows, {width} units"] = {"score": score, "CPU s": round(seconds, 1)}
    return found


def gains(found):
    """The mean gain in score and cost of twice as many units, by rows."""
    ratios = {}
    for n in ROWS:
        pairs = [
            [cells[f"{n} rows, {width} units"] for width in WIDTHS]
            for cells in found.values()
            if f"{n} rows, {WIDTHS[0]} units" in cells
        ]
        gain = np.mean([wide["score"] - narrow["score"] for narrow, wide in pairs])
        cost = np.median([wide["CPU s"] / narrow["CPU s"] for narrow, wide in pairs])
        ratios[f"mean gain of twice as many units, {n} rows"] = float(gain)
        ratios[f"their CPU seconds, {n} rows"] = float(cost)
    return ratios


def page(found):
    """A row for each set and number of rows."""
    rows = []
    for name, cells in found.items():
        for n in ROWS:
            pair = [cells.get(f"{n} rows, {width} units") for width in WIDTHS]
            if all(pair):
                scores = [f"{each['score']:.3f}" for each in pair]
                rows.append((name, n, *scores, *(f"{each['CPU s']:.1f}" for each in pair)))
    columns = [
        "set",
        "rows",
        *(f"{w} units" for w in WIDTHS),
        *(f"{w} units, CPU s" for w in WIDTHS),
    ]
    return table("Twice as many units: accuracy or R² of the default layer", columns, rows)


def run(folder, rounds):
    """What twice as many units bring."""
    found = measure()
    return found, gains(found), page(found)
