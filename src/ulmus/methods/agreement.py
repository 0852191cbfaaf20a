"""The best of many clusterings of the same rows, chosen without labels.

Clusterings that are right agree with each other, and those that are wrong are wrong in ways of
their own. So the one is taken that agrees most with all others, by the adjusted Rand index

    (Σ C(nᵢⱼ, 2) − e) / ((a + b) / 2 − e),   e = a b / C(n, 2),

a and b being Σ C(nᵢ, 2) over the clusters of each, and nᵢⱼ what two clusters share. Kinds of
clusterings have the same mass together, so that a kind of many does not outvote another.

Clusterings of one kind may agree because they err alike. So among those that agree about as much
the one is taken whose clusters are most plainly those of the graph: the mutual information of the
clusters at both ends of an edge. It is large where neighbours share a cluster and clusters are
many and none takes all rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import rel_entr


def agreement(partitions: Sequence[np.ndarray], kinds: Sequence[str]) -> np.ndarray:
    """The mean adjusted Rand index of each partition with the others, kinds weighing the same."""
    table, names = adjusted_rand_table(partitions), np.asarray(kinds)
    np.fill_diagonal(table, 0.0)
    found = []
    for kind in np.unique(names):
        mine = names == kind
        # A partition's agreement with itself does not count.
        others = np.maximum(mine.sum() - mine, 1)
        found.append(table[:, mine].sum(axis=1) / others)
    # Equal scores may differ by rounding, which is not to decide.
    return np.mean(found, axis=0).round(9)


def edge_information(labels: np.ndarray, W: Any) -> float:
    """What one end of an edge tells of the other's cluster, in nats; no row of −1 has a part in it.

    W are the weights of the edges, which are chosen in proportion to them.
    """
    placed, total = np.flatnonzero(labels >= 0), float(W.sum())
    if total == 0.0 or len(placed) == 0:
        return 0.0
    shape = len(labels), int(labels.max()) + 1
    Z = sp.csr_array((np.ones(len(placed)), (placed, labels[placed])), shape)
    both = (Z.T @ (W @ Z)).toarray() / total
    one = both.sum(axis=1)
    # Equal partitions may differ by rounding, which is not to decide.
    return round(float(rel_entr(both, np.outer(one, one)).sum()), 9)


def adjusted_rand_table(
    partitions: Sequence[np.ndarray], others: Sequence[np.ndarray] | None = None
) -> np.ndarray:
    """The adjusted Rand index of every partition (rows) with every other (columns)."""
    others = partitions if others is None else others
    (Z, first, a), (Y, second, b) = _members(partitions), _members(others)
    n = len(partitions[0])
    shared = np.add.reduceat(np.add.reduceat(_pairs(Z.T @ Y), first, axis=0), second, axis=1)
    expected = a[:, None] * b / max(n * (n - 1) / 2.0, 1.0)
    room = (a[:, None] + b) / 2.0 - expected
    # All in one cluster, or each in its own, on both sides: they are the same.
    return np.divide(shared - expected, room, out=np.ones_like(room), where=room > 0)


def _members(partitions: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indicators of all clusters side by side, where each partition's begin, and its pairs."""
    codes = [np.unique(labels, return_inverse=True)[1] for labels in partitions]
    sizes = [int(each.max()) + 1 for each in codes]
    begins = np.append(0, np.cumsum(sizes[:-1])).astype(int)
    # Exact in float32: no cluster has 2²⁴ rows.
    Z = np.zeros((len(codes[0]), sum(sizes)), dtype=np.float32)
    rows = np.arange(len(Z))
    for begin, each in zip(begins, codes, strict=True):
        Z[rows, begin + each] = 1.0
    within = np.add.reduceat(_pairs(Z.sum(axis=0, dtype=float)), begins)
    return Z, begins, within


def _pairs(count: np.ndarray) -> np.ndarray:
    count = np.asarray(count, dtype=float)
    return count * (count - 1.0) / 2.0
