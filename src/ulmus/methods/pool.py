"""Few labels: models of several kinds, averaged by their likelihood on labelled rows left out.

Each of the `candidates` gives outputs fₖ of labelled rows that are left out. A temperature makes
probabilities of them, and ℓₖ is the log-likelihood of the labels. Probabilities are averaged with
weights ∝ πₖ exp(ℓₖ/2), πₖ the kind's prior over the number of its candidates. Numbers have a
Gaussian likelihood with the variance of the left-out residuals, and their outputs are averaged.

β is then fitted to the classes, or values, that the average gives every row.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.gram import self_product
from ulmus.backends.linalg import Cholesky, add_to_diagonal, matmul
from ulmus.backends.namespace import doubles, from_numpy, namespace, to_numpy
from ulmus.backends.threads import one_thread
from ulmus.calibration import probabilities
from ulmus.exceptions import UnreachedRowsWarning
from ulmus.fitted import OnDevice
from ulmus.graphs import Laplacian
from ulmus.methods.candidates import Candidate, Setting
from ulmus.methods.manifold_basis import GraphSolution, ManifoldBasis
from ulmus.methods.prepared import Prepared
from ulmus.methods.propagation import (
    SpreadLabels,
    contradicted,
    label_columns,
    means,
    total_mass,
)
from ulmus.methods.pseudo_ridge import PseudoRidge
from ulmus.methods.weighing import (
    Weighed,
    error_of,
    heavy,
    in_words,
    mean_left_out,
    shares,
    spread_factor,
    table,
    trust_in_graph,
    trusted,
    weighed_candidates,
)
from ulmus.problem import Solution
from ulmus.sources.source import OnGraph
from ulmus.targets import ClassTargets, ValueTargets, coded
from ulmus.typing import Array

# The least total weight of labels at a row. It falls with every edge from a label, faster for small
# λ, until there are no right digits of it.
_REACH = 1e-12
# Rounding of a matrix that is factored, as a part of its trace.
_ROUNDING = 1e-15
# Clusters are compared with the graph only if they, given all its mass, weigh this much.
_MATTERS = 1e-3
# The weight of a candidate that is used only for rows that no path joins to a label.
_SPARE = 1e-9


@dataclass(frozen=True)
class Pooled:
    """Probabilities or values of all rows, and what other labels on the same rows start from."""

    outputs: np.ndarray
    bases: OnDevice[tuple[ManifoldBasis, ...]]
    spread: tuple[SpreadLabels | None, ...]
    ridge: PseudoRidge


@dataclass(frozen=True)
class Pool:
    """The kinds, C and λ to try (None: those that follow the rows), C of the last ridge.

    ``shares`` are those of the classes among all rows, where they are known. ``one_unit`` is
    whether columns share a unit, so that rows can be compared as they are.
    """

    kinds: tuple[str, ...]
    C: np.ndarray | None
    lam: np.ndarray | None
    last_C: float | np.ndarray
    shares: np.ndarray | None = None
    one_unit: bool = True

    def fit(
        self, sources: list[OnGraph], rows: Prepared, own: Any = None, before: Any = None
    ) -> GraphSolution:
        """The average of all candidates, and β for it.

        ``sources`` have the same labels with other class weights, on the same ``rows``; ``own`` are
        these rows in a layer of the labelled ones, ``before`` is what was found for other labels.
        """
        with one_thread(), ThreadPoolExecutor() as threads:
            earlier = () if before is None else before.spread
            setting = self._setting(sources, rows, own, earlier, threads)
            candidates = _with_trust(setting, weighed_candidates(setting))
        outputs = _average(setting, candidates)
        if self.shares is not None:
            outputs = _with_shares(outputs, self.shares)
        pseudo = _pseudo_targets(sources[0], outputs)
        if before is None:
            ridge, found = PseudoRidge.fit(rows.every, pseudo, self.last_C)
        else:
            ridge, found = before.ridge.refit(rows.every, pseudo, rows.root(before.ridge))
        return _solution(setting, candidates, outputs, ridge, found)

    def _setting(
        self,
        sources: list[OnGraph],
        rows: Prepared,
        own: Any,
        before: tuple[SpreadLabels | None, ...],
        threads: ThreadPoolExecutor,
    ) -> Setting:
        lam = None if self.lam is None else np.unique(self.lam)
        compared = next((each.compared for each in before if each is not None), None)
        setting = Setting(rows, sources, self.kinds, self.C, lam, [], compared, own, self.one_unit)
        if "free" not in self.kinds:
            return setting
        numbers, columns = setting.numbers, label_columns(setting.targets)
        compared = numbers[setting.compared]

        def spread(graph: int) -> SpreadLabels:
            return SpreadLabels.of(
                rows.operators[graph],
                setting.lams,
                compared,
                numbers,
                setting.strengths(graph)[:, None] * columns,
                before[graph] if before else None,
            )

        # Sparse products let other threads go on, such as the one that compares other candidates.
        setting.spreading.extend(threads.submit(spread, k) for k in range(len(rows.operators)))
        return setting


def _with_trust(setting: Setting, weighed: list[Weighed]) -> list[Weighed]:
    """The same, with weight of the spread labels moved to clusters that fit the graph as well.

    Both kinds give classes to all rows. If neighbours contradict those of clusters as seldom as
    those of spread labels, the graph is no reason to prefer the latter.
    """
    share = shares(weighed)
    if not {"free", "clusters"} <= share.keys():
        return weighed
    factor = spread_factor(setting)
    if factor <= 1.0 or min(share["free"], factor * share["clusters"]) < _MATTERS:
        return weighed
    spare = [(each, _SPARE) for each, _ in weighed if each.kind == "alone"][:1]
    parts = ([pair for pair in weighed if pair[0].kind == kind] for kind in ("free", "clusters"))
    found = (_pseudo_targets(setting.sources[0], _average(setting, part + spare)) for part in parts)
    spread, clusters = (contradicted(setting.rows.laplacians[-1], each) for each in found)
    return trusted(weighed, factor, trust_in_graph(spread, clusters))


def _average(setting: Setting, weighed: list[Weighed]) -> np.ndarray:
    """The mean of probabilities or values over the candidates, for every row.

    Labels that are spread with a small λ do not reach every row; there those with a larger one
    stand for them. Rows that no path joins to a label have the other kinds alone.
    """
    kept = heavy(weighed)
    spread = [pair for pair in kept if pair[0].kind == "free"]
    others = [pair for pair in weighed if pair[0].kind != "free"]
    inside = [pair for pair in kept if pair[0].kind != "free"]
    part, near = _spread_part(setting, spread)
    if not near.all() and setting.kinds == ("free",):
        _warn_of_unreached(near)
    if not near.all() and not inside:
        inside = [(others[0][0], _SPARE)]  # one that knows all rows
    total, share = _hidden_part(setting, inside), sum(weight for _, weight in inside)
    all_spread = near[:, None] * sum(weight for _, weight in spread)
    return np.asarray((total + all_spread * part) / (share + all_spread))


def _with_shares(P: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Probabilities whose means over all rows are near these shares: each class has one factor."""
    P = P * (shares / np.maximum(P.mean(axis=0), np.finfo(P.dtype).tiny)).astype(P.dtype)
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def _warn_of_unreached(near: np.ndarray) -> None:
    warnings.warn(
        f"{np.count_nonzero(~near)} of {len(near)} rows are joined to no labelled row by the "
        "graph; their classes come from the model of the labelled rows alone. Use more "
        "neighbours, or label one of these rows.",
        UnreachedRowsWarning,
        stacklevel=2,
    )


def _hidden_part(setting: Setting, weighed: list[Weighed]) -> np.ndarray:
    """The weighted sum over candidates that have a β."""
    total = np.zeros((len(setting.rows.every), setting.targets.width), dtype=np.float32)
    for layer in sorted({each.layer for each, _ in weighed}):
        H, mine = setting.all_of(layer), [pair for pair in weighed if pair[0].layer == layer]
        stacked = _coefs(setting, [each for each, _ in mine])
        level = stacked[-1] + H.offset * stacked[:-1].sum(axis=0)
        heat = [each.temperature if setting.classes else None for each, _ in mine]
        part = H.mapped(_averaged, stacked[:-1], level, [weight for _, weight in mine], heat)
        total = total + part
    return total


def _averaged(
    block: Array, coefs: np.ndarray, level: np.ndarray, weights: list[float], heat: list[Any]
) -> np.ndarray:
    """The sum for a block of hidden rows; a temperature is None where outputs are values."""
    F = matmul(block, from_numpy(coefs, block, block.dtype)) + from_numpy(level, block, block.dtype)
    m = len(level) // len(weights)
    parts = (F[:, k * m : (k + 1) * m] for k in range(len(weights)))
    likely = (f if a is None else probabilities(f, a) for f, a in zip(parts, heat, strict=True))
    return to_numpy(sum(w * P for w, P in zip(weights, likely, strict=True)))


def _coefs(setting: Setting, candidates: list[Candidate]) -> np.ndarray:
    """β of all labelled rows for every candidate of a layer, side by side, intercepts below."""
    found: list[Any] = [None if each.coef is None else each.coef() for each in candidates]
    rows = doubles(setting.some(candidates[0].layer).all())
    for graph in {each.graph for each in candidates if each.coef is None}:
        mine = [k for k, each in enumerate(candidates) if each.graph == graph and found[k] is None]
        basis = None if graph is None else setting.rows.bases[graph]
        P = rows if basis is None else matmul(rows, basis.basis)
        stacked = namespace(P).concat(
            [_ridge(setting, P, basis, candidates[k]) for k in mine], axis=1
        )
        stacked = to_numpy(stacked if basis is None else matmul(basis.basis, stacked))
        for k, coef in zip(mine, np.split(stacked, len(mine), axis=1), strict=True):
            found[k] = np.vstack([coef, np.zeros((1, coef.shape[1]))])
    return np.column_stack(found)


def _ridge(setting: Setting, P: Array, basis: ManifoldBasis | None, candidate: Candidate) -> Array:
    """β of one in the coordinates where its penalty is diagonal, from the smaller matrix."""
    source = setting.sources[candidate.weighting]
    root = from_numpy(np.sqrt(candidate.C * source.weight)[:, None], P)
    T = from_numpy(coded(source.targets, slice(None), np.dtype(float)), P)
    scales: Any = 1.0 if basis is None else basis.scales(candidate.lam)
    R = root * P * scales
    few = R.shape[0] < R.shape[1]
    A = add_to_diagonal(
        self_product(R if few else R.T), 1.0 + _ROUNDING * float(namespace(R).sum(R**2))
    )
    solved = Cholesky(A, overwrite=True).solve
    coef = matmul(R.T, solved(root * T)) if few else solved(matmul(R.T, root * T))
    return coef if basis is None else scales[:, None] * coef


def _spread_part(setting: Setting, weighed: list[Weighed]) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean over labels that are spread, and which rows it is known of."""
    targets = setting.targets
    total = np.zeros((len(setting.rows.every), targets.width), dtype=np.float32)
    reach = np.zeros(len(total), dtype=np.float32)
    for graph in sorted({each.graph or 0 for each, _ in weighed}):
        reached = np.full(len(total), True)
        if setting.before is not None:
            # What rounding leaves of other labels must not lead where no edge does.
            components = setting.rows.components[graph]
            reached = np.isin(components, components[setting.numbers])
        for candidate, weight in weighed:
            if candidate.graph != graph:
                continue
            mass = setting.spread[graph].mass[list(setting.lams).index(candidate.lam)]
            mass = from_numpy(mass, setting.rows.operators[graph].matrix.data)
            near = reached & to_numpy(total_mass(mass, targets) > _REACH)[:, 0]
            F = means(mass, targets, setting.factors(candidate.weighting))
            F = probabilities(F, candidate.temperature) if setting.classes else F
            total[near] += weight * to_numpy(F)[near]
            reach[near] += weight
    near = reach > 0
    total[near] /= reach[near, None]
    if not near.any():
        return total, near
    return _carried_on(total, near, setting.rows.laplacians[-1])


def _carried_on(
    F: np.ndarray, near: np.ndarray, laplacian: Laplacian
) -> tuple[np.ndarray, np.ndarray]:
    """F of rows that are known, and means of these neighbours for those beyond, edge by edge."""
    if near.all():
        return F, near
    W = abs(laplacian.matrix).astype(float)
    W.setdiag(0.0)
    while not near.all():
        weight = W @ near.astype(float)
        next_ones = ~near & (weight > 0)
        if not next_ones.any():
            break
        F[next_ones] = (W @ F)[next_ones] / weight[next_ones, None]
        near = near | next_ones
    return F, near


def _solution(
    setting: Setting,
    weighed: list[Weighed],
    outputs: np.ndarray,
    ridge: PseudoRidge,
    found: Solution,
) -> GraphSolution:
    """β, and how it was found."""
    best, (rows, hidden) = weighed[0][0], setting.rows.calibration
    left_out = mean_left_out(setting, weighed)
    fitted = matmul(hidden, found.coef)
    spread = tuple(each.kept() for each in setting.spread)
    bases = setting.rows.bases if "tight" in setting.kinds else ()
    return GraphSolution.of(
        replace(found, lam=best.lam, method="pool", loo_rows=rows, loo=fitted, path=None),
        "β is fitted to what the candidates give every row together",
        selection="prior" if best.error is None else "loo",
        error=None if left_out is None else error_of(setting, left_out["outputs"]),
        candidates=table(weighed),
        left_out=left_out,
        reused=Pooled(outputs, bases, spread, ridge),
        coupling=setting.kinds[0] if len(setting.kinds) == 1 else "pool",
        why=in_words(weighed),
    )


def _pseudo_targets(source: OnGraph, outputs: np.ndarray) -> ClassTargets | ValueTargets:
    """The likeliest class or the mean value of every row, and the given one where it is known."""
    targets: Any = source.targets
    if isinstance(targets, ClassTargets):
        codes = outputs.argmax(axis=1)
        codes[source.known] = targets.codes
        return ClassTargets(codes, targets.n_classes)
    values = outputs.copy()
    values[source.known] = targets.values
    return ValueTargets(values)
