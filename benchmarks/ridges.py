"""MELM's ridge: accuracy on new rows by its size, C chosen by the training rows each time.

Run by ``python -m benchmarks ridges``. The default is the least ridge whose mean accuracy over the
sets that scikit-learn brings is within half a point of the best: the larger the ridge, the less S
counts. The files from ULMUS_DATA, which had no part in that, show what it gives elsewhere. There
are fewer rows than units but where the units are stated.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.measure import score_rows, table
from ulmus import ManifoldELMClassifier

RIDGES = tuple(10.0 ** np.arange(-8, 2))
DRAWS = 5
# Rows to judge by, at most.
_JUDGES = 1000


def _bundled():
    """Rows and labels, number of training rows and of units."""
    wide = make_classification(600, 40, n_informative=10, n_classes=4, random_state=0)
    noisy = make_classification(600, 10, n_informative=5, flip_y=0.1, random_state=1)
    digits = load_digits(return_X_y=True)
    return {
        "iris": (*load_iris(return_X_y=True), 75, 1000),
        "wine": (*load_wine(return_X_y=True), 89, 1000),
        "breast cancer": (*load_breast_cancer(return_X_y=True), 284, 1000),
        "digits, 5 a class": (*digits, 50, 1000),
        "digits, 30 a class": (*digits, 300, 1000),
        "digits, 200 units": (*digits, 600, 200),
        "four classes of noise": (*wide, 300, 1000),
        "two classes, flipped": (*noisy, 200, 1000),
    }


_FILES = {
    "segment": (300, 1000),
    "libras": (180, 1000),
    "synthetic_control": (120, 1000),
    "umist": (100, 1000),
    "yale": (75, 1000),
    "orl": (200, 1000),
    "coil20": (200, 1000),
    "jaffe": (100, 1000),
    "waveform": (150, 1000),
    "svmguide1": (200, 1000),
    "tic_tac_toe": (300, 1000),
    "optdigits": (1000, 300),
}


def _files():
    found = {}
    for name, (rows, units) in _FILES.items():
        data = np.load(Path(os.environ["ULMUS_DATA"]) / f"{name}.npz")
        found[name] = data["X"], data["y"], rows, units
    return found


def by_ridge(X, y, rows, units, draws=DRAWS, **given):
    """Mean accuracy at every ridge."""
    judges = min(_JUDGES, len(y) - rows)
    halves = StratifiedShuffleSplit(draws, train_size=rows, test_size=judges, random_state=0)
    scores = [
        [
            ManifoldELMClassifier(n_hidden=units, ridge=ridge, random_state=seed, **given)
            .fit(X[train], y[train])
            .score(X[test], y[test])
            for ridge in RIDGES
        ]
        for seed, (train, test) in enumerate(halves.split(X, y))
    ]
    return {f"{ridge:.0e}": float(s) for ridge, s in zip(RIDGES, np.mean(scores, 0), strict=True)}


def measure():
    """Accuracy of every case by ridge, and the means."""
    sets = {"chosen by": _bundled()}
    if "ULMUS_DATA" in os.environ:
        sets["held against"] = _files()
    found = {}
    for part, cases in sets.items():
        found[part] = {name: by_ridge(*case) for name, case in cases.items()}
        found[part]["mean"] = {
            ridge: float(np.mean([found[part][name][ridge] for name in cases]))
            for ridge in next(iter(found[part].values()))
        }
    return found


def run(folder, rounds):
    """MELM by its ridge; minutes, so once."""
    found = measure()
    parts = {"chosen by": "by which it was chosen", "held against": "that had no part in that"}
    page = "\n\n".join(
        table(f"MELM's ridge on data {parts[part]}", ["data", *cases["mean"]], score_rows(cases))
        for part, cases in found.items()
    )
    return found, {}, page
