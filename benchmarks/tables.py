"""Table V of the first paper, beside what is measured here.

Run by ``python -m benchmarks tables``; the data files come from ULMUS_DATA.
"""

import numpy as np

from ulmus.experiments import clustering


def no_labels(seeds=(0, 1)):
    """Clustering accuracy: 100 runs of k-means for each seed of the hidden layer."""
    found = {}
    for name, problem in clustering.PROBLEMS.items():
        for seed in seeds:
            runs = clustering.evaluate(problem, seed=seed)
            mean, deviation = _mean_and_deviation(runs)
            found.setdefault(name, {"paper": problem.paper})[f"seed {seed}"] = {
                "mean": mean,
                "deviation": deviation,
                "best": max(runs),
            }
    return found


def _mean_and_deviation(values):
    return float(np.mean(values)), float(np.std(values, ddof=1))
