"""The models that few labels could have, and the outputs of labelled rows left out of each.

The kinds:

- "alone": ridge on the labelled rows,
- "tight": SS-ELM as published, Hβ with like outputs of neighbours (`manifold`),
- "free": labels spread over the graph (`propagation`),
- "clusters": ridge on all rows, those without a label having the class that it gives them itself
  (`own_classes`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, from_numpy, to_numpy
from ulmus.graphs import KNNGraph, Laplacian, affinity_of, laplacian
from ulmus.hidden import Hidden, sample_rows
from ulmus.methods.manifold_basis import ManifoldBasis, manifold_basis
from ulmus.methods.own_classes import own_classes
from ulmus.methods.propagation import kernel_blocks
from ulmus.methods.spreading import label_mass, means
from ulmus.sources.source import OnGraph
from ulmus.targets import ClassTargets, coded
from ulmus.typing import Rows
from ulmus.validation import plain_rows

__all__ = [
    "NEIGHBORS",
    "Candidate",
    "FewLabels",
    "Setting",
    "all_candidates",
    "laplacians_of",
    "nested_laplacians",
    "ridge_left_out",
]

# Neighbours of the graphs that are tried; their edges have a width for each row.
NEIGHBORS = (10, 20)
# C and λ, in units of one over the mean square of hidden rows.
_ALONE = 600.0 * np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0])
_TIGHT_C, _TIGHT_LAM = 600.0 * np.logspace(0, 3, 4), 600.0 * np.logspace(-1, 2, 4)
_CLUSTERS = 600.0 * np.logspace(-1, 1, 3)
_FREE = np.array([1.0, 3.0, 9.0, 30.0, 100.0])
# Candidates have this many units at most: more cost time and change no choice.
_UNITS = 1000
# Labelled rows by which candidates are compared, and the most entries of the graph's kernel, all
# rows times these.
_MOST_JUDGED, _LEAST_JUDGED, _ENTRIES = 500, 50, 6_000_000


@dataclass(frozen=True)
class Candidate:
    """A model, the outputs of labelled rows left out of it, and what follows from these.

    ``weighting`` is the number of the class weights, ``graph`` that of the graph (None: without
    one), ``error`` the error rate or mean squared error of left-out rows.
    """

    kind: str
    left_out: np.ndarray
    weighting: int = 0
    graph: int | None = None
    lam: float = 0.0
    C: float = 0.0
    temperature: float = 1.0
    error: float | None = None
    log_likelihood: float = 0.0
    # β, with the intercept as its last row, of a kind that has found it already.
    coef: Any = None


@dataclass(frozen=True)
class Setting:
    """What the candidates share: rows in few units, the rows they are compared by, the graphs."""

    sources: list[OnGraph]
    laplacians: list[Laplacian]
    bases: tuple[ManifoldBasis, ...]
    C: np.ndarray | None
    every: Hidden
    some: Hidden
    compared: np.ndarray
    unit: float

    @classmethod
    def of(
        cls,
        sources: list[OnGraph],
        laplacians: Sequence[Laplacian],
        bases: tuple[ManifoldBasis, ...],
        C: np.ndarray | None,
    ) -> "Setting":
        """``bases`` are those of the graphs, if they are known."""
        source = sources[0]
        every, some = _narrow(source.rows()), _narrow(source.some)
        n, l = len(every), len(some)
        most = int(np.clip(_ENTRIES // n, _LEAST_JUDGED, _MOST_JUDGED))
        compared = np.arange(l) if l <= most else np.sort(sample_rows(0, most, l))
        if not bases:
            bases = tuple(manifold_basis(every, each, source.watch) for each in laplacians)
        square = float(np.mean(np.sum(_host(some) ** 2, axis=1)))
        narrow = [Laplacian(each.matrix.astype(np.float32), each.power) for each in laplacians]
        return cls(sources, narrow, bases, C, every, some, compared, square or 1.0)

    @property
    def targets(self) -> Any:
        """Targets of the labelled rows."""
        return self.sources[0].targets

    @property
    def classes(self) -> bool:
        """Whether these are classes."""
        return isinstance(self.targets, ClassTargets)

    def grid(self, values: np.ndarray) -> np.ndarray:
        """C of the candidates."""
        return values / self.unit if self.C is None else self.C

    def labels(self, weighting: int) -> "FewLabels":
        """The labels by which candidates are compared."""
        source = self.sources[weighting]
        targets: Any = source.targets
        part = targets.take(self.compared)
        weight, counts = source.weight[self.compared], None
        if self.classes:
            counts = np.bincount(part.codes, minlength=part.n_classes)
            if targets.totals is not None:
                weight = len(part) / (np.count_nonzero(counts) * counts[part.codes])
        return FewLabels(part, weight, counts, self.classes and targets.totals is not None)


@dataclass(frozen=True)
class FewLabels:
    """Labels, what each weighs, and how many each class has where these are classes."""

    targets: Any
    weight: np.ndarray
    counts: np.ndarray | None
    balanced: bool

    @property
    def coded(self) -> np.ndarray:
        """T."""
        return np.asarray(coded(self.targets, slice(0, len(self.targets)), np.dtype(float)))

    @property
    def judged(self) -> np.ndarray:
        """The rows that can be left out: another has their class, or there is another."""
        if self.counts is None:
            return np.full(len(self.targets), len(self.targets) > 1)
        return np.asarray(self.counts[self.targets.codes] > 1)


def nested_laplacians(X: Rows, sizes: tuple[int, ...] = NEIGHBORS) -> list[Laplacian]:
    """A Laplacian for each number of neighbours, with local widths, from one search."""
    X = plain_rows(X)
    if X.shape[0] < 2:
        return [laplacian(sp.csr_array((X.shape[0], X.shape[0])))]
    return laplacians_of(KNNGraph(max(sizes))._distances(X), sizes)


def laplacians_of(distances: Any, sizes: tuple[int, ...] = NEIGHBORS) -> list[Laplacian]:
    """The same from the distances to as many neighbours as the largest number.

    Numbers of at least as many neighbours as there are rows are one.
    """
    D = sp.csr_array(distances)
    row = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    order = np.lexsort((D.data, row))
    nearer = np.empty_like(order)
    nearer[order] = np.arange(len(order)) - D.indptr[row]
    found = []
    for k in sorted({min(k, D.shape[0] - 1) for k in sizes}):
        near = nearer < k
        part = sp.coo_array((D.data[near], (row[near], D.indices[near])), shape=D.shape)
        found.append(laplacian(affinity_of(part, width="local")))
    return found


def _narrow(H: Hidden) -> Hidden:
    return H if H.width <= _UNITS else Hidden(H.layer.units(slice(0, _UNITS)), H.X)


def _host(H: Hidden) -> np.ndarray:
    return to_numpy(doubles(H.all()))


def all_candidates(setting: Setting) -> Iterator[Candidate]:
    """Every candidate, with the outputs of compared rows left out."""
    rows = _host(setting.some)[setting.compared]
    spread = [_spread_between(setting, each) for each in setting.laplacians]
    places = [
        to_numpy(matmul(from_numpy(rows, basis.basis), basis.basis)) for basis in setting.bases
    ]
    for weighting in range(len(setting.sources)):
        labels = setting.labels(weighting)
        Cs = setting.grid(_ALONE)
        for C, F in zip(Cs, ridge_left_out(rows @ rows.T, labels, Cs), strict=True):
            yield Candidate("alone", F, weighting, C=float(C))
        for graph, (P, basis) in enumerate(zip(places, setting.bases, strict=True)):
            Cs, w = setting.grid(_TIGHT_C), to_numpy(basis.values)
            for lam in (_TIGHT_LAM / setting.unit).tolist():
                found = ridge_left_out((P / (1.0 + lam * w)) @ P.T, labels, Cs)
                for C, F in zip(Cs, found, strict=True):
                    yield Candidate("tight", F, weighting, graph, lam, float(C))
        for graph, K in enumerate(spread):
            for lam, F in zip(_FREE, _spread_left_out(K, labels), strict=True):
                yield Candidate("free", F, weighting, graph, float(lam))
    if setting.classes:
        yield from _own_classes(setting)


def ridge_left_out(K: np.ndarray, labels: Any, Cs: np.ndarray) -> Iterator[np.ndarray]:
    """Outputs of labelled rows, each left out of the ridge with kernel K between them, at every C.

    Where weights balance the classes, a row that leaves makes the others of its class weigh more.
    """
    T, root, l = labels.coded, np.sqrt(labels.weight), len(K)
    s, U = np.linalg.eigh(root[:, None] * K * root)
    s = np.clip(s, 0.0, None)
    for C in Cs.tolist():
        # Of l − 1 rows balanced weights are smaller by this much.
        C = C * (l - 1) / l if labels.balanced and l > 1 else C
        B = (U / (s + 1.0 / C)) @ U.T
        A = B @ (root[:, None] * T)
        diagonal = np.diagonal(B).copy()
        if labels.balanced:
            for code in np.flatnonzero(labels.counts > 1):
                own = np.flatnonzero(labels.targets.codes == code)
                more = np.eye(len(own)) - B[np.ix_(own, own)] / (C * len(own))
                both = np.linalg.solve(more, np.column_stack([A[own], B[np.ix_(own, own)]]))
                A[own] = both[:, : A.shape[1]]
                diagonal[own] = np.diagonal(both[:, A.shape[1] :])
        yield T - A / (root * diagonal)[:, None]


def _spread_between(setting: Setting, laplacian: Laplacian) -> np.ndarray:
    """(I + λΛ)⁻¹ between the compared rows, for every λ."""
    rows = np.flatnonzero(setting.sources[0].known)[setting.compared]
    return kernel_blocks(laplacian, rows, rows, _FREE)


def _spread_left_out(K: np.ndarray, labels: FewLabels) -> np.ndarray:
    """Means of the other rows' labels for every λ: its own column of K leaves with a row."""
    every = np.arange(K.shape[1])
    K = K.copy()
    K[:, every, every] = 0.0
    mass = K @ label_mass(labels.targets, labels.weight).astype(float)
    if labels.balanced and labels.counts is not None:
        codes = labels.targets.codes
        counts = np.maximum(labels.counts[codes], 2)
        more = mass[:, every, codes] / (counts - 1)
        mass[:, every, codes] += more
        mass[:, every, -1] += more
    return means(mass, labels.targets)


def _own_classes(setting: Setting) -> Iterator[Candidate]:
    labels = setting.labels(len(setting.sources) - 1)
    numbers = np.flatnonzero(setting.sources[0].known)[setting.compared]
    Cs = setting.grid(_CLUSTERS)
    for C, found in zip(Cs, own_classes(setting.every, numbers, labels, Cs), strict=True):
        yield Candidate("clusters", found.left_out, C=float(C), coef=found.coef)
