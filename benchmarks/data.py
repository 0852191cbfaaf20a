"""The data the benchmarks share, made from a seed."""

import numpy as np


def mixture(n_rows, n_columns=100, n_classes=10, per_class=4, spread=0.48, seed=0):
    """Gaussian clusters, four to a class, that overlap: a linear model reaches about a half."""
    rng = np.random.default_rng(seed)
    centers = spread * rng.standard_normal((per_class * n_classes, n_columns))
    cluster = rng.integers(0, len(centers), n_rows)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    X += centers.astype(np.float32)[cluster]
    return X, cluster % n_classes
