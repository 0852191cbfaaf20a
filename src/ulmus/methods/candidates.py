"""The models that few labels could have, and the outputs of labelled rows left out of each.

The kinds:

- "alone": ridge on the labelled rows,
- "tight": SS-ELM as published, Hβ with like outputs of neighbours (`manifold`),
- "free": labels spread over the graph (`propagation`),
- "clusters": ridge on all rows, those without a label having the class that it gives them itself
  (`own_classes`).
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ulmus.backends.namespace import to_numpy
from ulmus.hidden import Hidden
from ulmus.methods.prepared import Prepared, host
from ulmus.methods.propagation import SpreadLabels, label_columns, label_strengths, means
from ulmus.methods.pseudo_ridge import own_classes
from ulmus.sources.source import OnGraph
from ulmus.targets import ClassTargets, coded

KINDS = ("alone", "tight", "free", "clusters")
# C and λ, in units of one over the mean square of hidden rows.
_ALONE = 600.0 * np.logspace(-3, 2, 11)
_TIGHT_C, _TIGHT_LAM = 600.0 * np.logspace(-1, 3, 5), 600.0 * np.logspace(-1, 2, 4)
# The likeliest first.
_CLUSTERS = 600.0 * np.array([0.1, 0.01])
FREE = np.array([1.0, 3.0, 9.0, 30.0, 100.0, 300.0])


@dataclass(frozen=True)
class Candidate:
    """A model, the outputs of labelled rows left out of it, and what follows from these.

    ``layer`` is the number of the hidden layer, ``weighting`` that of the class weights, ``graph``
    that of the graph (None: without one), ``error`` the error rate or mean squared error of
    left-out rows.
    """

    kind: str
    left_out: np.ndarray
    weighting: int = 0
    layer: int = 0
    graph: int | None = None
    lam: float = 0.0
    C: float = 0.0
    temperature: float = 1.0
    error: float | None = None
    log_likelihood: float = 0.0
    # Makes β, with the intercept as its last row, of a kind that has found what leads to it.
    coef: Callable[[], np.ndarray] | None = None


@dataclass(frozen=True)
class Setting:
    """What the candidates share: the rows, their labels in every weighting, C and λ if given.

    ``spreading`` has the labels on every graph; ``before`` are the rows by which candidates were
    compared with other labels, where there were some. ``own`` are the rows in a layer of the
    labelled ones' own, which other labels make another one: it comes after those of ``rows``.
    ``one_unit`` is whether the columns share a unit.
    """

    rows: Prepared
    sources: list[OnGraph]
    kinds: tuple[str, ...]
    C: np.ndarray | None
    lam: np.ndarray | None
    spreading: "list[Future[SpreadLabels]]"
    before: np.ndarray | None = None
    own: Any = None
    one_unit: bool = True

    @property
    def lams(self) -> np.ndarray:
        """λ of labels that are spread."""
        return FREE if self.lam is None else self.lam

    @property
    def layers(self) -> list[Any]:
        """The rows in few units of every layer."""
        return [*self.rows.layers, *([] if self.own is None else [self.own])]

    @cached_property
    def spread(self) -> list[SpreadLabels]:
        """The labels spread on every graph, once they are."""
        return [each.result() for each in self.spreading]

    @property
    def targets(self) -> Any:
        """Targets of the labelled rows."""
        return self.sources[0].targets

    @property
    def classes(self) -> bool:
        """Whether these are classes."""
        return isinstance(self.targets, ClassTargets)

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of the labelled rows."""
        return np.flatnonzero(self.sources[0].known)

    @cached_property
    def compared(self) -> np.ndarray:
        """Places of the labelled rows that candidates are compared by."""
        return self.rows.compared(self.numbers, self.before)

    def all_of(self, layer: int) -> Any:
        """All rows in few units."""
        return self.rows.all_of(layer) if layer < len(self.rows.layers) else self.own

    def some(self, layer: int = 0) -> Hidden:
        """The labelled rows in few units."""
        return self.layers[layer].take(self.numbers)

    @cached_property
    def _own_rows(self) -> np.ndarray:
        return host(self.own.take(self.numbers))

    def judged(self, layer: int) -> np.ndarray:
        """Hidden rows by which candidates are compared."""
        if layer < len(self.rows.layers):
            return self.rows.hidden(layer, self.numbers[self.compared])
        return self._own_rows[self.compared]

    def grid(self, values: np.ndarray, layer: int = 0) -> np.ndarray:
        """C of the candidates."""
        if self.C is not None:
            return self.C
        if layer < len(self.rows.layers):
            return values / self.rows.samples[layer].mean_square
        return values / (float(np.mean(np.sum(self._own_rows**2, axis=1))) or 1.0)

    def factors(self, weighting: int) -> np.ndarray | None:
        """What a label of each class weighs."""
        if not self.classes:
            return None
        found = np.zeros(self.targets.n_classes)
        found[self.targets.codes] = self.sources[weighting].weight
        return found

    def strengths(self, graph: int) -> np.ndarray:
        """What every label weighs on a graph, so that all count the same far away."""
        return label_strengths(self.rows.laplacians[graph], self.numbers)

    @cached_property
    def labels(self) -> "list[FewLabels]":
        """The labels by which candidates are compared, in every weighting."""
        return [self._labels(source) for source in self.sources]

    def _labels(self, source: OnGraph) -> "FewLabels":
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

    @cached_property
    def coded(self) -> np.ndarray:
        """T."""
        return np.asarray(coded(self.targets, slice(0, len(self.targets)), np.dtype(float)))

    @property
    def judged(self) -> np.ndarray:
        """The rows that can be left out: another has their class, or there is another."""
        if self.counts is None:
            return np.full(len(self.targets), len(self.targets) > 1)
        return np.asarray(self.counts[self.targets.codes] > 1)


def closed_candidates(setting: Setting) -> Iterator[Candidate]:
    """Those whose outputs of compared rows left out have a closed form."""
    for kind, K in _kernels(setting):
        Cs = setting.grid(_ALONE if kind["kind"] == "alone" else _TIGHT_C, kind["layer"])
        for weighting, labels in enumerate(setting.labels):
            for C, F in zip(Cs.tolist(), ridge_left_out(K, labels, Cs), strict=True):
                yield Candidate(left_out=F, weighting=weighting, C=C, **kind)
    if "free" in setting.kinds:
        for weighting, labels in enumerate(setting.labels):
            yield from _free(setting, weighting, labels)


def _kernels(setting: Setting) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """The kinds that are ridge between compared rows: kind, layer, graph and λ, and the kernel."""
    # Rows that no label leads to need a kind that knows all rows.
    if {"alone", "free"} & set(setting.kinds):
        for layer in range(len(setting.layers)):
            rows = setting.judged(layer)
            yield {"kind": "alone", "layer": layer}, rows @ rows.T
    numbers = setting.numbers[setting.compared]
    lams = _TIGHT_LAM / setting.rows.samples[0].mean_square if setting.lam is None else setting.lam
    for graph, basis in enumerate(setting.rows.bases if "tight" in setting.kinds else ()):
        P, w = setting.rows.projected(graph, numbers), to_numpy(basis.values)
        for lam in lams.tolist():
            # Of a matrix and its own transpose the product costs half.
            scaled = P / np.sqrt(1.0 + lam * w)
            yield {"kind": "tight", "layer": 0, "graph": graph, "lam": lam}, scaled @ scaled.T


def _free(setting: Setting, weighting: int, labels: FewLabels) -> Iterator[Candidate]:
    for graph, spread in enumerate(setting.spread):
        # Columns of K are those of labels, which have their strengths.
        K = spread.between * setting.strengths(graph)[setting.compared]
        for lam, F in zip(setting.lams, spread_left_out(K, labels), strict=True):
            yield Candidate("free", F, weighting, graph=graph, lam=float(lam))


def cluster_candidates(setting: Setting, layers: list[int]) -> Iterator[Candidate]:
    """Those that take longest, layer by layer: rows have the classes that they give themselves."""
    if not ("clusters" in setting.kinds and setting.classes):
        return
    labels, numbers = setting.labels[-1], setting.numbers[setting.compared]
    for layer in layers:
        some, Cs = setting.some(layer).take(setting.compared), setting.grid(_CLUSTERS, layer)
        runs = own_classes(setting.rows.samples[layer], some, numbers, labels, Cs)
        for C, found in zip(Cs, runs, strict=True):
            yield Candidate("clusters", found.left_out, layer=layer, C=float(C), coef=found.coef)


def ridge_left_out(K: np.ndarray, labels: Any, Cs: np.ndarray) -> np.ndarray:
    """Outputs of labelled rows, each left out of the ridge with kernel K between them, at every C.

    Where weights balance the classes, a row that leaves makes the others of its class weigh more.
    """
    T, root, l = labels.coded, np.sqrt(labels.weight), len(K)
    s, U = np.linalg.eigh(root[:, None] * K * root)
    # Of l − 1 rows balanced weights are smaller by this much.
    inverse = 1.0 / (Cs * (l - 1) / l if labels.balanced and l > 1 else Cs)[:, None, None]
    # B = U diag(w) Uᵀ; of it the diagonal is needed, and the blocks of balanced classes.
    w = 1.0 / (np.clip(s, 0.0, None) + inverse)
    A = U @ (np.swapaxes(w, 1, 2) * (U.T @ (root[:, None] * T)))
    diagonal = w[:, 0] @ (U**2).T
    for code in np.flatnonzero(labels.counts > 1) if labels.balanced else ():
        own = np.flatnonzero(labels.targets.codes == code)
        block = (U[own] * w) @ U[own].T
        more = np.eye(len(own)) - block * inverse / len(own)
        both = np.linalg.solve(more, np.concatenate([A[:, own], block], axis=2))
        A[:, own] = both[:, :, : A.shape[2]]
        diagonal[:, own] = np.diagonal(both[:, :, A.shape[2] :], axis1=1, axis2=2)
    return np.asarray(T - A / (root * diagonal)[:, :, None])


def spread_left_out(K: np.ndarray, labels: FewLabels) -> np.ndarray:
    """Means of the other rows' labels for every λ: its own column of K leaves with a row."""
    every = np.arange(K.shape[1])
    K = K.copy()
    K[:, every, every] = 0.0
    mass = K @ (labels.weight[:, None] * label_columns(labels.targets).astype(float))
    if labels.balanced and labels.counts is not None:
        codes = labels.targets.codes
        counts = np.maximum(labels.counts[codes], 2)
        mass[:, every, codes] *= counts / (counts - 1)
    return means(mass, labels.targets)
