"""What the defaults cost on small data: iris (150 × 4) and digits (1797 × 64).

Run by ``python -m benchmarks small``; nothing is downloaded. CPU time of a fit in one thread, the
least of a few rounds, and accuracy on three splits of two thirds and a third.
"""

import time

import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from threadpoolctl import threadpool_limits

from benchmarks.measure import table
from ulmus import ELMClassifier, KernelELMClassifier, RandomFeatures

SETS = {"iris": (load_iris, 20), "digits": (load_digits, 1)}
MODELS = {
    "ELM": lambda: ELMClassifier(random_state=0),
    "ELM, random units": lambda: ELMClassifier(RandomFeatures(), random_state=0),
    "kernel ELM": lambda: KernelELMClassifier(random_state=0),
}


def measure(rounds):
    """Milliseconds of CPU time of a fit, and accuracy, by set and model."""
    found = {}
    splits = StratifiedShuffleSplit(3, test_size=1 / 3, random_state=0)
    with threadpool_limits(1):
        for name, (load, times) in SETS.items():
            X, y = load(return_X_y=True)
            for model, made in MODELS.items():
                took = min(_milliseconds(made(), X, y) for _ in range(rounds * times))
                score = cross_val_score(made(), X, y, cv=splits)
                cell = {"cpu_ms": took, "accuracy": float(np.mean(score))}
                found.setdefault(name, {})[model] = cell
    return found


def _milliseconds(model, X, y):
    start = time.process_time()
    model.fit(X, y)
    return 1e3 * (time.process_time() - start)


def page(found):
    """Milliseconds and accuracy."""
    rows = [
        (name, model, f"{cell['cpu_ms']:.0f}", f"{cell['accuracy']:.3f}")
        for name, models in found.items()
        for model, cell in models.items()
    ]
    title = "A fit of small data, CPU time of one thread"
    return table(title, ["data", "model", "CPU ms", "accuracy"], rows)


def run(folder, rounds):
    """What the defaults cost on small data."""
    found = measure(rounds)
    return found, {}, page(found)
