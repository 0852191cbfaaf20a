"""How the numbers of a table are best shaped for random features.

Run by ``python -m benchmarks tables``; the data files come from ULMUS_DATA. Accuracy, or R² on
California housing, on a third of the training rows that is left out, three times over.
"""

import os
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.measure import cases_page
from ulmus import ELMClassifier, ELMRegressor
from ulmus.tables import Table, TableEncoder, columns, encoder

# Columns that reach far are squashed, and up to so many columns are ranked.
SHAPES = {
    "scaled": (np.inf, 0),
    "bent": (columns._FAR, 0),
    "bent and ranked": (columns._FAR, np.inf),
}
NAMES = ("adult", "california_housing", "covtype", "segment", "shuttle", "letter", "usps", "g50c")


def columns_of(data):
    """A table of the raw columns: categories that are one-hot in the file become text again."""
    X = data["X"]
    names = [str(n) for n in data.get("feature_names", [f"x{j}" for j in range(X.shape[1])])]
    groups = {}
    for j, name in enumerate(names):
        groups.setdefault(name.partition("=")[0], []).append(j)
    columns = {}
    for name, places in groups.items():
        words = np.array([names[j].partition("=")[2] for j in places], dtype=object)
        text = len(places) > 1
        columns[name] = (
            words[X[:, places].argmax(axis=1)] if text else X[:, places[0]].astype(float)
        )
    return Table(tuple(columns), columns)


def score(train, y, test, z):
    """The score of 500 units on rows that were left out."""
    made = TableEncoder().fit(train)
    kind = ELMRegressor if y.dtype.kind == "f" else ELMClassifier
    model = kind(n_hidden=500, random_state=0).fit(made.transform(train), y)
    return model.score(made.transform(test), z)


def measure():
    """The mean score of every shape on every data set."""
    found = {}
    for name in NAMES:
        data = dict(np.load(Path(os.environ["ULMUS_DATA"]) / f"{name}.npz"))
        # The training rows where there are any; the rest, if they are many, are left alone.
        rows = np.arange(int(data.get("n_train", min(len(data["y"]), 15_120))))
        table, y = columns_of(data).rows(rows), data["y"][rows]
        fold = np.random.default_rng(0).integers(0, 3, len(rows))
        found[name] = {}
        for shaped, (far, ranked) in SHAPES.items():
            with (
                patch.object(columns, "_FAR", far),
                patch.object(encoder, "_MOST_RANKED", ranked),
            ):
                scores = [
                    score(table.rows(fold != k), y[fold != k], table.rows(fold == k), y[fold == k])
                    for k in range(3)
                ]
            found[name][shaped] = float(np.mean(scores))
    return found


def run(folder, rounds):
    """Shapes of a table's numbers."""
    return cases_page(measure(), "Shapes of numbers in tables")
