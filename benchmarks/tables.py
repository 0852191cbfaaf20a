"""Table II of the first paper, beside what is measured here.

Run by ``python -m benchmarks tables``; the data files come from ULMUS_DATA.
"""

import numpy as np

from ulmus.experiments import semi_supervised


def few_labels(seeds=(0, 1)):
    """Error with few labels: twelve splits for each seed, C and λ by validation and by LOO."""
    found = {}
    for name, problem in semi_supervised.PROBLEMS.items():
        for seed in seeds:
            errors = semi_supervised.evaluate(problem, seed=seed)
            found.setdefault(name, {"paper": problem.paper})[f"seed {seed}"] = {
                kind: {part: _mean_and_deviation(values) for part, values in parts.items()}
                for kind, parts in errors.items()
            }
    return found


def _mean_and_deviation(values):
    return float(np.mean(values)), float(np.std(values, ddof=1))
