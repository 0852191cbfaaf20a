"""Time and memory of a fit that chooses C by leave-one-out, against the number of classes."""

from functools import partial

import numpy as np

from benchmarks.measure import race, table

ROWS, COLUMNS, HIDDEN = 20_000, 30, 1000
CLASSES = [10, 400, 1000, 10_000]


def __getattr__(name):
    kind, _, size = name.partition("_")
    if kind != "classes" or not size.isdigit():
        raise AttributeError(name)
    return partial(_contender, classes=int(size))


def _contender(folder, classes):
    import numpy as np

    from ulmus import ELMClassifier, RandomFeatures

    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % classes
    X = 2.0 * rng.standard_normal((classes, COLUMNS))[y] + rng.standard_normal((ROWS, COLUMNS))
    model = ELMClassifier(RandomFeatures(HIDDEN), random_state=0)

    def work():
        model.fit(X, y)
        return {"accuracy": model.loo_score_}

    return work


def run(folder, rounds):
    """Leave-one-out with many classes."""
    names = {m: f"classes_{m}" for m in CLASSES}
    best = race("benchmarks.classes", names.values(), folder, 1)
    few, many = (best[names[m]]["cpu_seconds"] for m in CLASSES[1::2])
    growth = np.log(many / few) / np.log(CLASSES[3] / CLASSES[1])
    ratios = {f"CPU seconds grow with classes to the power, from {CLASSES[1]}": growth}
    rows = [
        (m, f"{r['seconds']:.1f}", f"{r['cpu_seconds']:.1f}", f"{r['peak_mb']:.0f}")
        for m, r in ((m, best[name]) for m, name in names.items())
    ]
    title = "C chosen by leave-one-out, 20 000 rows, 1000 units, working_memory 1024 MB"
    return best, ratios, table(title, ["classes", "s", "CPU s", "peak MB"], rows)
