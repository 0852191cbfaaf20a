"""The models that few labels could have, and the outputs of labelled rows left out of each.

The kinds:

- "alone": ridge on the labelled rows,
- "tight": SS-ELM as published, Hβ with like outputs of neighbours (`manifold`),
- "free": labels spread over the graph (`propagation`),
- "clusters": ridge on all rows, those without a label having the class that it gives them itself
  (`own_classes`).
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ulmus.backends.linalg import Cholesky, matmul
from ulmus.backends.namespace import (
    doubles,
    from_numpy,
    is_away,
    is_cupy,
    is_torch,
    namespace,
    to_numpy,
)
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.methods.manifold_basis import ManifoldBasis, manifold_basis
from ulmus.methods.propagation import (
    SpreadLabels,
    label_columns,
    label_strengths,
    means,
)
from ulmus.methods.pseudo_ridge import PseudoRidge, SampledRows, own_classes
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import OnGraph, calibration_rows
from ulmus.targets import ClassTargets, coded
from ulmus.typing import Array

KINDS = ("alone", "tight", "free", "clusters")
# C and λ, in units of one over the mean square of hidden rows.
_ALONE = 600.0 * np.logspace(-3, 2, 11)
_TIGHT_C, _TIGHT_LAM = 600.0 * np.logspace(-1, 3, 5), 600.0 * np.logspace(-1, 2, 4)
# The likeliest first.
_CLUSTERS = 600.0 * np.array([0.1, 0.01])
FREE = np.array([1.0, 3.0, 9.0, 30.0, 100.0, 300.0])
# Candidates have this many units at most: more cost time and change no choice.
_UNITS = 1000
# Labelled rows by which candidates are compared, and the most entries of the graph's kernel, all
# rows times these.
_MOST_JUDGED, _LEAST_JUDGED, _ENTRIES = 500, 50, 6_000_000
# Entries of that kernel which other labels on the same rows may add at once, for a person waits for
# them, and the least number of rows that are compared all the same.
_FRESH_ENTRIES, _LEAST_KEPT = 240_000, 16


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
    # β, with the intercept as its last row, of a kind that has found it already.
    coef: Any = None


class Prepared:
    """What depends on the rows and their graphs alone, made when it is first asked for.

    ``every`` are the hidden rows, ``further`` the same rows in other layers; ``bases`` are those of
    the graphs where they are known.
    """

    def __init__(
        self,
        every: Hidden | HiddenBlocks,
        laplacians: Sequence[Laplacian],
        bases: tuple[ManifoldBasis, ...] = (),
        watch: Any = None,
        further: tuple[Hidden | HiddenBlocks, ...] = (),
    ) -> None:
        self.every, self._laplacians, self._bases, self._watch = every, laplacians, bases, watch
        self._further = further
        self._root: tuple[Cholesky | None] | None = None

    @cached_property
    def _made(self) -> list[Hidden | HiddenBlocks]:
        every = (self.every, *self._further)
        return [H if H.width <= _UNITS else H.units(slice(0, _UNITS)) for H in every]

    @cached_property
    def layers(self) -> list[Hidden | HiddenBlocks]:
        """The rows in few units of every layer."""
        return list(self._made)

    def root(self, ridge: PseudoRidge) -> Cholesky | None:
        """The factor of the last ridge, made once: rows and C stay the same for other labels."""
        if self._root is None and not isinstance(self.every, HiddenBlocks):
            self._root = (ridge.factor(self.every),)
        return self._root[0] if self._root else None

    def all_of(self, layer: int) -> Hidden | HiddenBlocks:
        """Those of one layer, kept where they fit: few layers are ever needed for all rows."""
        if self.layers[layer] is self._made[layer]:
            self.layers[layer] = self._made[layer].kept()
        return self.layers[layer]

    def forget_rows(self) -> None:
        """Let hidden rows go, which take the most memory."""
        self.layers = list(self._made)

    @cached_property
    def bases(self) -> tuple[ManifoldBasis, ...]:
        """The coordinates of every graph's penalty."""
        return self._bases or tuple(
            manifold_basis(self.all_of(0), each, self._watch) for each in self._laplacians
        )

    @cached_property
    def laplacians(self) -> list[Laplacian]:
        """The graphs in single precision."""
        return [replace(each, matrix=each.matrix.astype(np.float32)) for each in self._laplacians]

    @cached_property
    def operators(self) -> list[Laplacian]:
        """The same where the rows live, if that is a device whose library has sparse matrices."""
        X = self.every.X
        if not (is_away(X) and (is_torch(X) or is_cupy(X))):
            return self.laplacians
        return [each.placed(X, namespace(X).float32) for each in self._laplacians]

    @cached_property
    def components(self) -> list[np.ndarray]:
        """The number of every row's component, in every graph."""
        return [connected_components(each.matrix, False)[1] for each in self.laplacians]

    @cached_property
    def samples(self) -> list[SampledRows]:
        """Some of the rows in every layer."""
        return [SampledRows(each) for each in self.layers]

    @cached_property
    def calibration(self) -> tuple[np.ndarray, Array]:
        """The numbers of some rows, for a temperature, and these rows in all units."""
        rows = calibration_rows(len(self.every), 0)
        return rows, doubles(self.every.take(rows).all())

    @cached_property
    def _order(self) -> np.ndarray:
        return np.random.default_rng(0).permutation(len(self.every))

    def compared(self, rows: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
        """Places of the labelled rows that candidates are compared by, at most some hundred.

        Further labels leave those that are chosen where they are, or take the place of few. Where
        many labels came at once on many rows, most of those compared ``before`` stay.
        """
        order, n = np.argsort(self._order[rows]), len(self.every)
        most = int(np.clip(_ENTRIES // n, _LEAST_JUDGED, _MOST_JUDGED))
        if before is not None:
            known = np.isin(rows[order], before)
            allowed = max(_FRESH_ENTRIES // n, _LEAST_KEPT - int(known.sum()))
            if np.count_nonzero(~known[:most]) > allowed:
                order = order[known | (np.cumsum(~known) <= allowed)]
        return np.sort(order[:most])


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
    def layers(self) -> range:
        """The numbers of all layers."""
        return range(len(self.rows.layers) + (self.own is not None))

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
        rows = self.rows.layers[layer] if layer < len(self.rows.layers) else self.own
        return rows.take(self.numbers)

    def grid(self, values: np.ndarray, layer: int = 0) -> np.ndarray:
        """C of the candidates."""
        if self.C is not None:
            return self.C
        if layer < len(self.rows.layers):
            return values / self.rows.samples[layer].mean_square
        return values / (float(np.mean(np.sum(_host(self.some(layer)) ** 2, axis=1))) or 1.0)

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


def closed_candidates(setting: Setting) -> Iterator[Candidate]:
    """Those whose outputs of compared rows left out have a closed form."""
    weightings = [(k, setting.labels(k)) for k in range(len(setting.sources))]
    for start, K in _kernels(setting):
        Cs = setting.grid(_ALONE if start.kind == "alone" else _TIGHT_C, start.layer)
        for weighting, labels in weightings:
            for C, F in zip(Cs, ridge_left_out(K, labels, Cs), strict=True):
                yield replace(start, left_out=F, weighting=weighting, C=float(C))
    if "free" in setting.kinds:
        for weighting, labels in weightings:
            yield from _free(setting, weighting, labels)


def _kernels(setting: Setting) -> Iterator[tuple[Candidate, np.ndarray]]:
    """The kinds that are ridge between compared rows: kind, layer, graph and λ, and the kernel."""
    compared, none = setting.compared, np.empty((0, 0))
    # Rows that no label leads to need a kind that knows all rows.
    if {"alone", "free"} & set(setting.kinds):
        for layer in setting.layers:
            rows = _host(setting.some(layer).take(compared))
            yield Candidate("alone", none, layer=layer), rows @ rows.T
    rows = _host(setting.some().take(compared))
    lams = _TIGHT_LAM / setting.rows.samples[0].mean_square if setting.lam is None else setting.lam
    for graph, basis in enumerate(setting.rows.bases if "tight" in setting.kinds else ()):
        w, P = to_numpy(basis.values), to_numpy(matmul(from_numpy(rows, basis.basis), basis.basis))
        for lam in lams.tolist():
            yield Candidate("tight", none, graph=graph, lam=lam), (P / (1.0 + lam * w)) @ P.T


def _host(H: Hidden) -> np.ndarray:
    return to_numpy(doubles(H.all()))


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
    labels, numbers = setting.labels(len(setting.sources) - 1), setting.numbers[setting.compared]
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
