"""The clusterings of some rows that several forms of US-ELM give.

A form is what the embedding follows, the hidden layer (tight) or the graph alone (free), one of
several graphs, λ, how many columns, and whether rows have unit length. Every embedding is computed
once, with as many columns as any form has, and cut.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ulmus.backends.linalg import matmul
from ulmus.exceptions import GraphError, InvalidInputError
from ulmus.graphs import Laplacian
from ulmus.methods.agreement import agreement, edge_information
from ulmus.methods.laplacian_eigenmaps import graph_spectrum
from ulmus.methods.unsupervised import Tight, of_unit_length

# Starts of k-means for each form: those that agree with others do so whatever the start.
_STARTS = 3
# Forms whose agreement is below the best by no more are told apart by their graph: of .02 to .2
# the best on fifteen sets (`python -m benchmarks forms`).
_ABOUT = 0.05


@dataclass(frozen=True)
class Form:
    """How rows are clustered; ``graph`` is its number. λ is zero where the coupling is free."""

    coupling: str
    graph: int
    lam: float
    n_components: int
    row_normalize: bool


@dataclass(frozen=True)
class Forms:
    """All forms of these couplings, λ, numbers of columns, and with unit rows or not."""

    couplings: tuple[str, ...]
    lams: tuple[float, ...]
    columns: tuple[int, ...]
    unit_rows: tuple[bool, ...]


# An embedding with as many columns as any form has, and the form with all of them.
Whole = tuple[Form, np.ndarray]


@dataclass(frozen=True)
class Judged:
    """Forms, the best first, the clusters that each gives, and by what they were judged."""

    forms: list[Form]
    labels: list[np.ndarray]
    agreement: np.ndarray
    information: np.ndarray

    def table(self, graphs: Sequence[str]) -> dict[str, np.ndarray]:
        """A row for each form, with the name of its graph."""
        found = {
            "kind": np.array([form.coupling for form in self.forms]),
            "graph": np.array([graphs[form.graph] for form in self.forms]),
        }
        for name in ("lam", "n_components", "row_normalize"):
            found[name] = np.array([getattr(form, name) for form in self.forms])
        return found | {"agreement": self.agreement, "information": self.information}


def judged(
    forms: Forms,
    H: np.ndarray,
    laplacians: Mapping[str, Sequence[Laplacian]],
    n_clusters: int,
) -> Judged:
    """The clusters that each form gives, judged by the other forms and by the mean of the graphs.

    H are the hidden rows, and ``laplacians`` the graphs of each coupling. Forms that the rows are
    too few or too much alike for are left out.
    """
    found, labels = partitions(forms, embeddings(forms, H, laplacians), n_clusters)
    if not found:
        return Judged([], [], np.empty(0), np.empty(0))
    scores = agreement(labels, [form.coupling for form in found])
    W = mean_affinity(laplacians[forms.couplings[-1]])
    told = np.array([edge_information(each, W) for each in labels])
    # The others come after those that agree about as much as the best.
    rank = np.where(scores >= scores.max() - _ABOUT, 1.0 + told, scores)
    order = np.lexsort((-scores, -rank))
    best = [found[i] for i in order], [labels[i] for i in order]
    return Judged(*best, scores[order], told[order])


def mean_affinity(laplacians: Sequence[Laplacian]) -> Any:
    """The mean of several graphs, whose rows have the same weight in each where Λ is normalised."""
    found = [sp.csr_array(sp.diags_array(L.matrix.diagonal()) - L.matrix) for L in laplacians]
    return sum(found[1:], found[0]) / len(found)


def mean_agreement(forms: Forms, wholes: Sequence[Whole], n_clusters: int) -> float:
    """How far all forms agree on so many clusters."""
    found, labels = partitions(forms, wholes, n_clusters)
    return float(agreement(labels, [form.coupling for form in found]).mean())


def partitions(
    forms: Forms, wholes: Iterable[Whole], n_clusters: int
) -> tuple[list[Form], list[np.ndarray]]:
    """The forms that embeddings are cut to, and the clusters of each."""
    found, labels = [], []
    for whole, E in wholes:
        for columns, unit in product(forms.columns, forms.unit_rows):
            if columns <= E.shape[1]:
                part = np.ascontiguousarray(E[:, :columns])
                found.append(replace(whole, n_components=columns, row_normalize=unit))
                labels.append(clusters(of_unit_length(part) if unit else part, n_clusters))
    return found, labels


def clusters(E: np.ndarray, n_clusters: int) -> np.ndarray:
    """k-means on these rows, always with the same starts; a row of NaN has no cluster, −1."""
    placed = np.isfinite(E[:, 0])
    labels = np.full(len(E), -1)
    means = KMeans(min(n_clusters, int(placed.sum())), n_init=_STARTS, random_state=0)
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels[placed] = means.fit(E[placed]).labels_
    return labels


def embeddings(
    forms: Forms, H: np.ndarray, laplacians: Mapping[str, Sequence[Laplacian]]
) -> Iterator[Whole]:
    """The embedding of each coupling, graph and λ; without those that the rows do not allow."""
    most = max(forms.columns)
    for coupling in forms.couplings:
        lams = forms.lams if coupling == "tight" else (0.0,)
        gram = matmul(H.T, H) if coupling == "tight" else None
        for graph, laplacian in enumerate(laplacians[coupling]):
            smooth = matmul(H.T, laplacian @ H) if gram is not None else None
            for lam in lams:
                try:
                    if gram is None:
                        found = graph_spectrum(laplacian, most)
                        # No edge leads to the others.
                        E = np.where(found.reached[:, None], found.coordinates, np.nan)
                    else:
                        columns = min(most, H.shape[1] - 1)
                        coef = Tight(lam, columns, fewer=True).of(smooth, gram).coef
                        E = matmul(H, coef)
                except (GraphError, InvalidInputError):
                    continue
                yield Form(coupling, graph, lam, E.shape[1], row_normalize=False), E
