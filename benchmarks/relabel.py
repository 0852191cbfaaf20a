"""Other labels on the same rows: `relabel` beside the fit.

Run by ``python -m benchmarks relabel``. A hundred labels are given, then one or five more at a
time, and in the end a hundred on other rows. The fit of 2000 rows is timed beside that of the
published form, the better of two each.
"""

import time

import numpy as np

from benchmarks.measure import race, table

CONTENDERS = ("usps_2000_rows", "mnist_60000_rows")
# What is measured, how many labels come with a call, and how often.
CALLS = {"first call": (1, 1), "one label": (1, 3), "five labels": (5, 3)}


def usps_2000_rows(folder):
    """2000 images of 256 pixels."""
    return _measure("usps", 2000)


def mnist_60000_rows(folder):
    """60 000 images of 784 pixels."""
    return _measure("mnist", 60_000)


def _measure(name, rows):
    from papers.datasets import load
    from ulmus import SemiSupervisedELMClassifier

    found, spent = load(name, download=False), {}
    X = np.asarray(found.data[:rows], dtype=np.float32)
    y = np.unique(found.target[:rows], return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(rows)

    def labels(some):
        few = np.full(rows, -1)
        few[some] = y[some]
        return few

    def work():
        count = 100
        few, small = labels(order[:count]), rows <= 2000
        for _ in range(1 + small):
            model = SemiSupervisedELMClassifier(random_state=0)
            model = _timed(spent, "fit", model.fit, X, few)
            if small:
                other = SemiSupervisedELMClassifier(coupling="published", random_state=0)
                _timed(spent, "fit, published form", other.fit, X, few)
        for what, (more, times) in CALLS.items():
            for _ in range(times):
                count += more
                model = _timed(spent, what, model.relabel, labels(order[:count]))
        _timed(spent, "a hundred others", model.relabel, labels(order[-100:]))
        return {"calls": spent}

    return work


def _timed(spent, what, call, *arguments):
    """What the call gives; the least seconds and CPU seconds are kept."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = call(*arguments)
    times = time.perf_counter() - wall, time.process_time() - cpu
    spent[what] = [min(pair) for pair in zip(times, spent.get(what, times), strict=True)]
    return found


def run(folder, rounds):
    """Other labels on the same rows, beside the fit; one round, for a fit takes a minute."""
    best = race("benchmarks.relabel", CONTENDERS, folder, 1)
    rows, ratios = [], {}
    for name, result in best.items():
        fit_cpu, name = result["calls"]["fit"][1], name.replace("_", " ")
        for what, (wall, cpu) in result["calls"].items():
            rows.append((name, what, f"{wall:.2f}", f"{cpu:.2f}", f"{cpu / fit_cpu:.3f}"))
        ratios[f"one label / fit (CPU), {name}"] = result["calls"]["one label"][1] / fit_cpu
        if "fit, published form" in result["calls"]:
            published = result["calls"]["fit, published form"][1]
            ratios[f"fit / published form (CPU), {name}"] = fit_cpu / published
    columns = ["rows", "call", "s", "CPU s", "CPU / that of the fit"]
    return best, ratios, table("Other labels on the same rows, a hundred given", columns, rows)
