"""What the hinge loss costs or gains on tables, by the layer or kernel that it is given.

Run by ``python -m benchmarks sparse`` over the classes of `benchmarks.tabular`, 800 training rows
of each split; nothing is downloaded. Models have their defaults but for what their name says.
"part" is how many of the training rows are support rows. Half A of the sets decides what the guide
advises, and half B confirms it.
"""

import time
import warnings
from functools import partial
from itertools import product

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.measure import table
from benchmarks.tabular import CLASSES, HALF, split
from ulmus import ELMClassifier, KernelELMClassifier, RowFeatures
from ulmus import SparseELMClassifier as Sparse

ROWS = 800
MODELS = {
    "default": partial(Sparse, random_state=0),
    "RowFeatures": lambda: Sparse(RowFeatures(), random_state=0),
    "rbf": partial(Sparse, kernel="rbf", random_state=0),
    "laplacian": partial(Sparse, kernel="laplacian", random_state=0),
    "SVC": lambda: make_pipeline(StandardScaler(), SVC()),
    "ELM": partial(ELMClassifier, random_state=0),
    "kernel ELM": partial(KernelELMClassifier, random_state=0),
}
FIGURES = {"accuracy": ".3f", "part": ".2f", "seconds": ".2f"}


def cell(name, number, model_name):
    """Accuracy, the part of support rows, and CPU seconds of a fit and its predictions."""
    X, y, X_test, y_test = split(name, number)
    model, X, y = MODELS[model_name](), X[:ROWS], y[:ROWS]
    start = time.process_time()
    right = np.mean(model.fit(X, y).predict(X_test) == y_test)
    found = {"accuracy": float(right), "seconds": time.process_time() - start}
    support = getattr(model[-1] if model_name == "SVC" else model, "support_", None)
    return found if support is None else found | {"part": len(support) / len(y)}


def measure(splits):
    """The means over splits, by set and model."""
    found = {}
    for name in CLASSES:
        for model in MODELS:
            cells = [cell(name, number, model) for number in range(splits)]
            means = {key: float(np.mean([each[key] for each in cells])) for key in cells[0]}
            found.setdefault(name, {})[model] = means
            print(name, model, means, flush=True)
    return found


def mean_of(found, model, key, half):
    """The mean over the sets of a half, as text; empty where the model has no such figure."""
    values = [found[name][model].get(key) for name in CLASSES if HALF[name] == half]
    return "" if None in values else f"{np.mean(values):{FIGURES[key]}}"


def page(found):
    """Accuracies by set, and the means of each half."""
    rows = [
        (f"{name} ({HALF[name]})", *(f"{found[name][model]['accuracy']:.3f}" for model in MODELS))
        for name in CLASSES
    ]
    by_set = table("Accuracy of the hinge loss from 800 rows", ["set (half)", *MODELS], rows)
    columns = list(product(FIGURES, "AB"))
    rows = [(model, *(mean_of(found, model, *column) for column in columns)) for model in MODELS]
    names = ["model", *(f"{key}, half {half}" for key, half in columns)]
    title = "The same over the sets of each half, with the part of support rows and CPU seconds"
    return by_set + "\n\n" + table(title, names, rows)


def run(folder, rounds):
    """Layers and kernels for the hinge loss: two splits, or one with ``--quick``."""
    warnings.simplefilter("ignore")
    found = measure(2 if rounds > 1 else 1)
    return found, {}, page(found)
