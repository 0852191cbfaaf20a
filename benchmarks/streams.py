"""Streams beside a fit on the same rows, and rows that are predicted before they are learned.

Run by ``python -m benchmarks streams``; two of the data files come from ULMUS_DATA. All models have
their default parameters.
"""

import os
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.linear_model import SGDClassifier

from benchmarks.measure import score_rows, table
from ulmus import ELMClassifier, ELMRegressor, RandomFeatures

FIRST = (1, 10, 50, 500)
# Rows in a later batch, and in one of the large table, every batch of which is a fit of a second.
LATER, MANY = 50, 200
DRAWS = 3
# Rows of a stream that come one by one: below 1000 units each of them is a fit on all so far.
ROWS = 1500
_TABLES = {
    "breast cancer": load_breast_cancer,
    "iris": load_iris,
    "wine": load_wine,
    "digits": load_digits,
    "diabetes": load_diabetes,
}
VALUES = ("diabetes", "california")


def _file(name):
    data = np.load(Path(os.environ["ULMUS_DATA"]) / f"{name}.npz")
    return data["X"], data["y"]


def _halves(X, y, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    half = len(y) // 2
    return X[order[:half]], y[order[:half]], X[order[half:]], y[order[half:]]


def _streamed(model, X, y, first, later):
    for start, stop in _cuts(len(y), first, later):
        model.partial_fit(X[start:stop], y[start:stop])
    return model


def _cuts(n, first, later):
    starts = [0, *range(min(first, n), n, later)]
    return zip(starts, [*starts[1:], n], strict=True)


def _tables():
    """X and y by name; those of one file only where the file is."""
    tables = {name: load(return_X_y=True) for name, load in _TABLES.items()}
    if "ULMUS_DATA" in os.environ:
        tables["california"] = _file("california_housing")
    return tables


def _model(name, seed):
    return (ELMRegressor if name in VALUES else ELMClassifier)(random_state=seed)


def against_fit(draws=DRAWS):
    """Accuracy or R² on the other half: of `fit`, and of streams by their first batch."""
    found = {}
    for name, (X, y) in _tables().items():
        scores, large = [], len(y) > 10_000
        for seed in range(1 if large else draws):
            A, a, B, b = _halves(X, y, seed)
            models = [
                _streamed(_model(name, seed), A, a, n, MANY if large else LATER) for n in FIRST
            ]
            whole = _model(name, seed).fit(A, a)
            scores.append([model.score(B, b) for model in (whole, *models)])
        fit, *streams = np.mean(scores, axis=0)
        apart = np.abs(np.array(scores)[:, 1:] - np.array(scores)[:, :1]).max()
        found[name] = {"rows": len(a), "fit": float(fit)}
        found[name] |= {f"first batch {n}": float(s) for n, s in zip(FIRST, streams, strict=True)}
        found[name]["farthest from fit"] = float(apart)
    return found


def row_by_row(most=ROWS):
    """The same of streams whose batches are one row each, up to so many rows, for one draw."""
    found = {}
    for name, (X, y) in _tables().items():
        A, a, B, b = _halves(X, y, 0)
        A, a = A[:most], a[:most]
        fit = _model(name, 0).fit(A, a).score(B, b)
        stream = _streamed(_model(name, 0), A, a, 1, 1).score(B, b)
        apart = abs(stream - fit)
        found[name] = {"rows": len(a), "fit": fit, "row by row": stream, "farthest from fit": apart}
    return found


def made_table(n=1250, seed=0):
    """Nine columns of −1, 0 and 1 and a label that a few of them decide, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, 9)).astype(float)
    z = 1.5 * X[:, 0] + X[:, 1] - X[:, 2] + 0.8 * X[:, 3] * X[:, 4] + 0.5 * X[:, 5]
    return X, (z + rng.logistic(size=n) / 2 > 0).astype(int)


def _predicted_first(model, X, y):
    """The part of the rows that was predicted right before it was learned, from the second on."""
    right, start = 0, time.perf_counter()
    for i in range(len(y)):
        if i:
            right += model.predict(X[i : i + 1])[0] == y[i]
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
    seconds = time.perf_counter() - start
    return {"accuracy": right / (len(y) - 1), "ms a row": 1000 * seconds / len(y)}


def before_learning():
    """Rows one by one, of tables whose columns have three values."""
    tables = {"made": made_table()}
    if "ULMUS_DATA" in os.environ:
        X, y = _file("tic_tac_toe")
        order = np.random.default_rng(0).permutation(len(y))
        tables["tic-tac-toe"] = X[order].astype(float), y[order]
    models = {
        "ELMClassifier": ELMClassifier(RandomFeatures(), random_state=0),
        "SGDClassifier, log loss": SGDClassifier(loss="log_loss", random_state=0),
    }
    return {
        table: {name: _predicted_first(clone(model), X, y) for name, model in models.items()}
        for table, (X, y) in tables.items()
    }


def updates(rows=(100, 300, 500, 1000), repeat=5):
    """Milliseconds of an update by one row, after so many rows, and of one eigendecomposition.

    It is what choosing C from sums of 1000 units costs, every time.
    """
    X, y = made_table(1100)
    model, found, known = ELMClassifier(RandomFeatures(), random_state=0), {}, 0
    for n in (*rows, 1050):
        model.partial_fit(X[known:n], y[known:n])
        known = n + repeat
        start = time.perf_counter()
        for i in range(n, known):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
        found[f"after {n} rows"] = 1000 * (time.perf_counter() - start) / repeat
    A = np.random.default_rng(0).standard_normal((1000, 1000))
    start = time.perf_counter()
    np.linalg.eigh(A @ A.T)
    found["eigh, 1000 × 1000"] = 1000 * (time.perf_counter() - start)
    return found


def measure():
    """All of it."""
    return {
        "against fit": against_fit(),
        "row by row": row_by_row(),
        "before learning": before_learning(),
        "updates": updates(),
    }


def run(folder, rounds):
    """Streams beside a fit on the same rows; minutes, so once."""
    found = measure()
    page = "\n\n".join(
        table(title, ["data", *next(iter(found[part].values()))], score_rows(found[part]))
        for part, title in (
            (
                "against fit",
                "Streams by their first batch, and in fifties after it (California: 200)",
            ),
            ("row by row", "Streams row by row"),
        )
    )
    rows = [
        (data, model, f"{result['accuracy']:.3f}", f"{result['ms a row']:.1f}")
        for data, results in found["before learning"].items()
        for model, result in results.items()
    ]
    title = "Rows that are predicted before they are learned, one by one"
    page += "\n\n" + table(title, ["data", "model", "accuracy", "ms a row"], rows)
    rows = [(when, f"{milliseconds:.0f}") for when, milliseconds in found["updates"].items()]
    page += "\n\n" + table("An update by one row", ["when", "ms"], rows)
    apart = {
        f"farthest from `fit`, {part}": max(r["farthest from fit"] for r in found[part].values())
        for part in ("against fit", "row by row")
    }
    return found, apart, page
