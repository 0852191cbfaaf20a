"""Time and memory of a fit that chooses C by leave-one-out, against the number of classes."""

from functools import partial

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
