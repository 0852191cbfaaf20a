"""Fit and predict by the number of cores, beside the floor on as many.

``python -m benchmarks cores`` on a machine with many cores; it needs NumPy, SciPy and scikit-learn
alone. A contender has so many cores by its affinity, and so many threads of BLAS.
"""

import os

import numpy as np

from benchmarks import fit
from benchmarks.measure import race, table

DTYPES = ("float32", "float64")
CONTENDERS = [
    f"{kind}_{dtype}{more}"
    for dtype in DTYPES
    for kind, more in (("floor", ""), ("ulmus", ""), ("ulmus", "_loo"))
]


def _warm(name):
    """A contender whose work was done once before it is measured."""

    def prepared(folder):
        work = getattr(fit, name)(folder)
        work()
        return work

    return prepared


def __getattr__(name):
    if name in CONTENDERS:
        return _warm(name)
    raise AttributeError(name)


def outputs(folder):
    """Write decision values of test rows in both precisions."""
    from ulmus import ELMClassifier, RandomFeatures

    def work():
        for dtype in DTYPES:
            X, y, X_test, _ = fit._load(folder, np.dtype(dtype))
            model = ELMClassifier(RandomFeatures(fit.HIDDEN), C=1.0, random_state=0).fit(X, y)
            np.save(folder / f"{dtype}.npy", model.decision_function(X_test[:100]))

    return work


def run(folder, rounds):
    """The ratio to the floor for 1, 2, 4, 8 and 16 threads, as many as there are cores."""
    fit.prepare(folder)
    cores = len(os.sched_getaffinity(0))
    counts = [n for n in (1, 2, 4, 8, 16) if n <= cores]
    found, ratios, values = {}, {}, {}
    for n in reversed(counts):
        best = race("benchmarks.cores", CONTENDERS, folder, rounds, threads=n)
        race("benchmarks.cores", ["outputs"], folder, 1, threads=n)
        values[n] = {dtype: np.load(folder / f"{dtype}.npy") for dtype in DTYPES}
        found[n] = best
        # CPU seconds on one core, where others may work; on several the clock, for cores wait.
        key = "cpu_seconds" if n == 1 else "seconds"
        for dtype in DTYPES:
            one, loo, floor = (
                best[f"{name}"][key]
                for name in (f"ulmus_{dtype}", f"ulmus_{dtype}_loo", f"floor_{dtype}")
            )
            words = f"{n} thread" + "s" * (n > 1)
            ratios[f"{dtype} / its floor, {words}"] = one / floor
            ratios[f"{dtype}, C='loo' / one C, {words}"] = loo / one
    for dtype in DTYPES:
        apart = [np.abs(values[n][dtype] - values[1][dtype]).max() for n in counts]
        scale = np.abs(values[1][dtype]).max()
        ratios[f"largest difference by the number of threads, {dtype}"] = float(max(apart) / scale)
    return found, ratios, _page(found)


def _page(found):
    rows = [
        (n, name.replace("_", " "), f"{result['seconds']:.3f}", f"{result['cpu_seconds']:.3f}")
        for n, best in found.items()
        for name, result in best.items()
    ]
    title = "Fit and predict by cores: 50 000 × 100, 10 classes, 2000 units, 10 000 test rows"
    return table(title, ["threads", "contender", "s", "CPU s"], rows)
