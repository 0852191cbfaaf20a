"""Which hidden layer to cluster, without labels: one that agrees with others and is stable.

Each layer clusters some rows, and each half of them. Its agreement is the mean adjusted Rand index
of its clusters with those of the other layers, its stability that of the clusters that the two
halves give all rows. The layer with the largest product of agreement and squared stability is
taken: layers that are alike may agree on clusters that other rows would not give, and a layer may
be stable but differ from all others.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from ulmus.methods.agreement import adjusted_rand_table, agreement
from ulmus.methods.clusters import Means

# Starts of k-means for each layer, and how often rows are halved.
_STARTS, _HALVINGS = 3, 3
# Power of the stability: of ½, 1 and 2 the best over nine sets (`python -m benchmarks units`).
_POWER = 2


def layer_scores(layers: Sequence[np.ndarray], methods: Sequence[Means]) -> dict[str, np.ndarray]:
    """Agreement, stability and score of the hidden rows of each layer, clustered by its method."""
    methods = [replace(each, n_init=min(_STARTS, each.n_init)) for each in methods]
    pairs = list(zip(layers, methods, strict=True))
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        # Of halves with few different rows, and of factorisations that are cut short.
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = [method.started(h, 0).kmeans.labels_ for h, method in pairs]
        steady = np.array([_stability(h, method) for h, method in pairs])
    agreed = agreement(whole, ["layers"] * len(whole))
    score = np.maximum(agreed, 0.0) * np.maximum(steady, 0.0) ** _POWER
    return {"agreement": agreed, "stability": steady, "score": score}


def _stability(h: np.ndarray, method: Means) -> float:
    """The adjusted Rand index of the clusters by two halves of the rows, over several halvings."""
    found = []
    for seed in range(_HALVINGS):
        order = np.random.RandomState(seed).permutation(len(h))
        a, b = (method.started(h[half], seed).nearest(h) for half in (order[::2], order[1::2]))
        found.append(adjusted_rand_table([a], [b])[0, 0])
    return float(np.mean(found))
