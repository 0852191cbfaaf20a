"""The best of the clusterings that several forms of US-ELM give some rows, without labels.

A form is what the embedding follows, the hidden layer (tight) or the graph alone (free), one of
several graphs, λ, how many columns, and whether rows have unit length. Every embedding is computed
once, with as many columns as any form has, and cut.

Clusterings that are right agree with each other, and those that are wrong are wrong in ways of
their own. So the one is taken that agrees most with all others, by the adjusted Rand index

    (Σ C(nᵢⱼ, 2) − e) / ((a + b) / 2 − e),   e = a b / C(n, 2),

a and b being Σ C(nᵢ, 2) over the clusters of each, and nᵢⱼ what two clusters share. Kinds of
clusterings have the same mass together, so that a kind of many does not outvote another.

Clusterings of one kind may agree because they err alike. So among those that agree about as much
the one is taken whose clusters are most plainly those of the graph: the mutual information of the
clusters at both ends of an edge. It is large where neighbours share a cluster and clusters are
many and none takes all rows. It prefers clusters of like size, and where clusters are separate
their sizes are not to count: clusterings that cut hardly any edge of any cluster come first.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import rel_entr
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import OneHotEncoder

from ulmus.backends.linalg import matmul
from ulmus.exceptions import GraphError, InvalidInputError
from ulmus.graphs import Laplacian
from ulmus.methods.laplacian_eigenmaps import graph_spectrum
from ulmus.methods.unsupervised import Tight, of_unit_length

# Starts of k-means for each form: those that agree with others do so whatever the start.
_STARTS = 3
# Forms whose agreement is below the best by no more are told apart by their graph: of .02 to .2
# the best on fifteen sets (`python -m benchmarks forms`).
_ABOUT = 0.05
# Clusters are separate if each has this part of the weight of its edges to itself, and such a form
# may agree less than the best by no more than the second number.
SEPARATE, _LESS = 0.997, 0.1
# The Laplacians of each coupling, by the names of their graphs.
Graphs = Mapping[str, Mapping[str, Laplacian]]


@dataclass(frozen=True, eq=False)
class Form:
    """How rows are clustered, by what that was judged, and the clusters, −1 for none.

    ``kind`` is the coupling, and λ is zero where that is free.
    """

    kind: str
    graph: str
    lam: float
    n_components: int
    row_normalize: bool
    agreement: float
    information: float
    separation: float
    labels: np.ndarray


# An embedding with as many columns as any form has: its kind, graph and λ, and the places of rows.
Whole = tuple[str, str, float, np.ndarray]


def judged(forms: Sequence[Form], graphs: Iterable[Laplacian]) -> list[Form]:
    """The forms, judged by each other and by the mean of the graphs, the best first."""
    if not forms:
        return []
    scores = agreement([form.labels for form in forms], [form.kind for form in forms])
    W = mean_affinity(graphs)
    edges = [edges_between(form.labels, W) for form in forms]
    told, kept = np.array([(information(each), separation(each)) for each in edges]).T
    # Fewer clusters than others have are separate sooner, and are not what is asked for.
    kept[np.array([len(each) for each in edges]) < max(map(len, edges))] = 0.0
    less = scores.max() - scores
    group = np.select([(kept >= SEPARATE) & (less <= _LESS), less <= _ABOUT], [0, 1], 2)
    best_first = np.lexsort((-told, -scores, -np.where(group == 1, told, scores), group))
    return [
        replace(
            forms[i],
            agreement=float(scores[i]),
            information=float(told[i]),
            separation=float(kept[i]),
        )
        for i in best_first
    ]


def table_of(forms: Sequence[Form]) -> dict[str, np.ndarray]:
    """A row for each form."""
    names = [each.name for each in fields(Form) if each.name != "labels"]
    return {name: np.array([getattr(form, name) for form in forms]) for name in names}


def clustered(
    wholes: Iterable[Whole], columns: Iterable[int], unit_rows: Iterable[bool], n_clusters: int
) -> list[Form]:
    """The forms that embeddings are cut to, with their clusters, not judged yet."""
    found, cuts = [], list(product(columns, unit_rows))
    for kind, graph, lam, E in wholes:
        for k, unit in cuts:
            if k <= E.shape[1]:
                part = np.ascontiguousarray(E[:, :k])
                labels = clusters(of_unit_length(part) if unit else part, n_clusters)
                found.append(Form(kind, graph, lam, k, unit, 0.0, 0.0, 0.0, labels))
    return found


def clusters(E: np.ndarray, n_clusters: int) -> np.ndarray:
    """k-means on these rows, always with the same starts; a row of NaN has no cluster, −1."""
    placed = np.isfinite(E[:, 0])
    labels = np.full(len(E), -1)
    means = KMeans(min(n_clusters, int(placed.sum())), n_init=_STARTS, random_state=0)
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels[placed] = means.fit(E[placed]).labels_
    return labels


def embeddings(H: np.ndarray, graphs: Graphs, lam: float, most: int) -> Iterator[Whole]:
    """The embedding of hidden rows H by each coupling and graph, of at most so many columns.

    Those that the rows are too few or too much alike for are left out.
    """
    gram = matmul(H.T, H)
    for kind, laplacians in graphs.items():
        for name, laplacian in laplacians.items():
            try:
                if kind == "free":
                    found = graph_spectrum(laplacian, most)
                    # No edge leads to the others.
                    E = np.where(found.reached[:, None], found.coordinates, np.nan)
                else:
                    method = Tight(lam, min(most, H.shape[1] - 1), fewer=True)
                    E = matmul(H, method.of(matmul(H.T, laplacian @ H), gram).coef)
            except (GraphError, InvalidInputError):
                continue
            yield kind, name, 0.0 if kind == "free" else lam, E


def mean_affinity(laplacians: Iterable[Laplacian]) -> Any:
    """The mean of several graphs, whose rows have the same weight in each where Λ is normalised."""
    found = [sp.csr_array(sp.diags_array(L.matrix.diagonal()) - L.matrix) for L in laplacians]
    return sp.coo_array(sum(found[1:], found[0]) / len(found))


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


def adjusted_rand_table(partitions: Sequence[np.ndarray]) -> np.ndarray:
    """The adjusted Rand index of every partition with every other."""
    # Exact in float32: no cluster has 2²⁴ rows.
    encoder = OneHotEncoder(sparse_output=False, dtype=np.float32).set_output(transform="default")
    with config_context(array_api_dispatch=False):
        Z = encoder.fit_transform(np.column_stack(partitions))
    begins = np.cumsum([0, *map(len, encoder.categories_)])[:-1]
    both = (Z.T @ Z).astype(float)
    pairs = both * (both - 1.0) / 2.0
    shared = np.add.reduceat(np.add.reduceat(pairs, begins, axis=0), begins, axis=1)
    own, n = shared.diagonal(), len(Z)
    expected = np.outer(own, own) / max(n * (n - 1) / 2.0, 1.0)
    room = np.add.outer(own, own) / 2.0 - expected
    # All in one cluster, or each in its own, on both sides: they are the same.
    return np.divide(shared - expected, room, out=np.ones_like(room), where=room > 0)


def edges_between(labels: np.ndarray, W: Any) -> np.ndarray:
    """The part of the weight of all edges W between each two clusters (k × k).

    Edges to rows of −1 have a part in the total alone.
    """
    total, k = float(W.sum()), int(labels.max()) + 2
    pairs = (labels[W.row] + 1) * k + labels[W.col] + 1
    weight = np.bincount(pairs, W.data, minlength=k * k).reshape(k, k)
    return weight[1:, 1:] / (total or 1.0)


def information(edges: np.ndarray) -> float:
    """What one end of an edge tells of the other's cluster, in nats."""
    one = edges.sum(axis=1)
    # Equal partitions may differ by rounding, which is not to decide.
    return round(float(rel_entr(edges, np.outer(one, one)).sum()), 9)


def separation(edges: np.ndarray) -> float:
    """The least part of the weight of its edges that a cluster has to itself."""
    own = edges.sum(axis=1)
    parts = np.divide(edges.diagonal(), own, out=np.zeros_like(own), where=own > 0)
    return round(float(parts.min(initial=1.0)), 9)
