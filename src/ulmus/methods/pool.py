"""Few labels: models of several kinds, averaged by what they say of labelled rows left out.

Each of the `candidates` gives outputs fₖ of labelled rows that are left out. A temperature makes
probabilities of them, and ℓₖ is the log-likelihood of the labels. Probabilities are averaged with
weights ∝ πₖ exp(ℓₖ/2), πₖ the kind's prior over the number of its candidates. Numbers have a
Gaussian likelihood with the variance of the left-out residuals, and their outputs are averaged.

β is then fitted to the classes, or values, that the average gives every row.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, from_numpy, to_numpy
from ulmus.exceptions import UnreachedRowsWarning
from ulmus.fitted import OnDevice
from ulmus.graphs import Laplacian
from ulmus.methods.candidates import (
    FREE,
    Candidate,
    FewLabels,
    Prepared,
    Setting,
    all_candidates,
)
from ulmus.methods.iterative import ConjugateGradients
from ulmus.methods.manifold import GraphSolution
from ulmus.methods.manifold_basis import Labelled, ManifoldBasis, point
from ulmus.methods.propagation import (
    SpreadLabels,
    label_columns,
    means,
    reached_rows,
    total_mass,
)
from ulmus.methods.pseudo_ridge import PseudoRidge
from ulmus.methods.ridge import solve
from ulmus.problem import Solution
from ulmus.sources.source import OnGraph, calibration_rows
from ulmus.targets import ClassTargets, ValueTargets, chosen, probabilities, temperatures
from ulmus.typing import Array

__all__ = ["Pool", "Pooled"]

# A candidate and its weight.
Weighed = tuple[Candidate, float]

# Prior mass of the kinds of classifiers: it decides where labels are too few to. Eleven data sets
# settled it, twelve others confirmed it (docs/guide/hundred_labels). For numbers it is equal.
_PRIOR = {"alone": 1.0, "tight": 2.0, "free": 8.0, "clusters": 2.0}
# With k labels a class, λ of spread labels below _FAR/k has _NEAR times the usual prior: their mass
# stays close to where they were given. On twelve sets 300 is best for k = 1, and 100 for k = 10.
_FAR, _NEAR = 200.0, 0.01
# Rows for each label at which the prior of spread labels is doubled. With one label a class there
# are 30 to 750 on sets of 1500 rows, and 6000 on MNIST, where a fixed prior cost three points.
_MANY = 200.0
# Factor of the log-likelihood. Left-out rows share all other labels, so that it is less certain
# than that of as many new rows; 0.5 did better than 1 and 2 with 30 and with 100 labels.
_POWER = 0.5
# Share of the uniform distribution in every probability: one label that a candidate thinks
# impossible would else rule it out.
_UNIFORM = 0.02
# Candidates whose weight is a smaller part of the largest are left out of the average.
_LEAST = 1e-3
# The temperature where no row can be left out.
_PLAIN = 4.0
# The least total weight of labels at a row. It falls with every edge from a label, faster for small
# λ, until float32 has no digits for it.
_REACH = 1e-30
# A kind whose first candidate is this much behind the best, in units of log weight, is left at it.
_HOPELESS = -8.0
# The weight of a candidate that stands by for rows that no label leads to.
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
    """The kinds, C and λ to try (None: those that follow the rows), C of the last ridge."""

    kinds: tuple[str, ...]
    C: np.ndarray | None
    lam: np.ndarray | None
    last_C: float | np.ndarray
    stop: ConjugateGradients

    def fit(
        self, sources: list[OnGraph], rows: Prepared, before: Pooled | None = None
    ) -> GraphSolution:
        """The average of all candidates, and β for it.

        ``sources`` have the same labels with other class weights, on the same ``rows``; ``before``
        is what was found for other labels.
        """
        setting = self._setting(sources, rows, () if before is None else before.spread)
        candidates = self._candidates(setting)
        outputs = _average(setting, candidates)
        pseudo = _pseudo_targets(sources[0], outputs)
        if before is None:
            ridge, found = PseudoRidge.fit(rows.every, pseudo, self.last_C)
        else:
            ridge, found = before.ridge.refit(rows.every, pseudo, rows.factor)
        return _solution(setting, candidates, outputs, ridge, found)

    def _setting(
        self, sources: list[OnGraph], rows: Prepared, before: tuple[SpreadLabels | None, ...]
    ) -> Setting:
        lams = FREE if self.lam is None else self.lam
        setting = Setting(rows, sources, self.kinds, self.C, lams, [])
        if "free" not in self.kinds:
            return setting
        numbers, columns = setting.numbers, label_columns(setting.targets)
        compared = numbers[setting.compared]

        def spread(graph: int) -> SpreadLabels:
            return SpreadLabels.of(
                rows.operators[graph],
                lams,
                compared,
                numbers,
                setting.strengths(graph)[:, None] * columns,
                before[graph] if before else None,
                self.stop,
            )

        # Sparse products let other threads go on.
        with ThreadPoolExecutor() as threads:
            return replace(setting, spread=list(threads.map(spread, range(len(rows.laplacians)))))

    def _candidates(self, setting: Setting) -> list[Weighed]:
        """All candidates with their weights; of a kind far behind, one is enough."""
        labels, judged = setting.labels(0), []
        for kind, some in groupby(all_candidates(setting), lambda each: each.kind):
            if kind != "clusters":
                judged += _judged(labels, list(some))
                continue
            best = max((each.log_likelihood for each in judged), default=-np.inf)
            for each in some:
                judged += _judged(labels, [each])
                if _POWER * (judged[-1].log_likelihood - best) < _HOPELESS:
                    break
        return _weighed(judged, _priors(setting, judged))


def _judged(labels: FewLabels, candidates: list[Candidate]) -> list[Candidate]:
    """The same with their temperatures and the log-likelihoods of left-out labels."""
    judged = labels.judged
    if not judged.any():
        return [replace(each, temperature=_PLAIN) for each in candidates]
    F = np.stack([each.left_out[judged] for each in candidates])
    if labels.counts is None:
        squares = (labels.coded[judged] - F) ** 2
        floor = np.finfo(float).tiny
        likelihood = -0.5 * F.shape[1] * np.log(squares.mean(axis=1) + floor).sum(axis=1)
        heat, errors = np.ones(len(F)), squares.sum(axis=2).mean(axis=1)
    else:
        codes = labels.targets.codes[judged]
        heat = temperatures(F, codes)
        P = np.stack([probabilities(f, a) for f, a in zip(F, heat, strict=True)])
        P = (1.0 - _UNIFORM) * P + _UNIFORM / P.shape[2]
        likelihood = np.log(P[:, np.arange(len(codes)), codes]).sum(axis=1)
        errors = np.array([np.mean(chosen(f) != codes) for f in F])
    return [
        replace(each, temperature=float(a), error=float(error), log_likelihood=float(l))
        for each, a, error, l in zip(candidates, heat, errors, likelihood, strict=True)
    ]


def _priors(setting: Setting, candidates: list[Candidate]) -> np.ndarray:
    """The prior mass of every candidate, that of a kind shared by its candidates.

    Labels that have many rows each to name must go far: small λ are unlikely there, and a graph of
    many rows knows more than other kinds can learn from few labels.
    """
    rows = len(setting.rows.every) / len(setting.numbers)
    far = _FAR * (setting.targets.n_classes if setting.classes else 1.0) / len(setting.numbers)
    shares = np.array(
        [_NEAR if each.kind == "free" and each.lam < far else 1.0 for each in candidates]
    )
    kinds = np.array([each.kind for each in candidates])
    for kind in set(kinds.tolist()):
        mass = _PRIOR[kind] if setting.classes else 1.0
        if kind not in setting.kinds:
            mass = 0.0  # it only stands by for rows that no label leads to
        if kind == "free" and setting.classes:
            mass *= 1.0 + rows / _MANY
        shares[kinds == kind] *= mass / shares[kinds == kind].sum()
    return shares


def _weighed(candidates: list[Candidate], prior: np.ndarray) -> list[Weighed]:
    """The candidates and their weights, which sum to one; the heaviest first."""
    logs = _POWER * np.array([each.log_likelihood for each in candidates])
    weights = prior * np.exp(logs - logs[prior > 0].max())
    weights /= weights.sum()
    order = np.lexsort((-logs, -weights))
    return [(candidates[k], float(weights[k])) for k in order]


def _average(setting: Setting, weighed: list[Weighed]) -> np.ndarray:
    """The mean of probabilities or values over the candidates, for every row.

    Labels that are spread with a small λ do not reach every row; there those with a larger one
    stand for them. Rows that no path joins to a label have the other kinds alone.
    """
    kept = [pair for pair in weighed if pair[1] > _LEAST * weighed[0][1]]
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


def _warn_of_unreached(near: np.ndarray) -> None:
    warnings.warn(
        f"{np.count_nonzero(~near)} of {len(near)} rows are joined to no labelled row by the "
        "graph; the labelled rows alone name them. More neighbours, or a label among them, would "
        "help.",
        UnreachedRowsWarning,
        stacklevel=2,
    )


def _hidden_part(setting: Setting, weighed: list[Weighed]) -> np.ndarray:
    """The weighted sum over candidates that have a β."""
    H = setting.rows.narrow
    if not weighed:
        return np.zeros((len(H), setting.targets.width), dtype=np.float32)
    stacked = np.column_stack([_coef(setting, each) for each, _ in weighed])
    level = stacked[-1] + H.offset * stacked[:-1].sum(axis=0)
    heat = [each.temperature if setting.classes else None for each, _ in weighed]
    return H.mapped(_averaged, stacked[:-1], level, [weight for _, weight in weighed], heat)


def _averaged(
    block: Array, coefs: np.ndarray, level: np.ndarray, weights: list[float], heat: list[Any]
) -> np.ndarray:
    """The sum for a block of hidden rows; a temperature is None where outputs are values."""
    F = matmul(block, from_numpy(coefs, block, block.dtype)) + from_numpy(level, block, block.dtype)
    m = len(level) // len(weights)
    parts = (F[:, k * m : (k + 1) * m] for k in range(len(weights)))
    likely = (f if a is None else probabilities(f, a) for f, a in zip(parts, heat, strict=True))
    return to_numpy(sum(w * P for w, P in zip(weights, likely, strict=True)))


def _likely(setting: Setting, candidate: Candidate, F: Array) -> Array:
    return probabilities(F, candidate.temperature) if setting.classes else F


def _coef(setting: Setting, candidate: Candidate) -> np.ndarray:
    """β of all labelled rows, with the intercept as its last row."""
    if candidate.coef is not None:
        return np.asarray(candidate.coef)
    problem = replace(setting.sources[candidate.weighting].labelled(), H=setting.some)
    if candidate.graph is None:
        coef = solve(problem, candidate.C).coef
    else:
        basis = setting.rows.bases[candidate.graph]
        rows = matmul(doubles(setting.some.all()), basis.basis)
        labelled = Labelled(basis, rows, problem.targets, problem.weight)
        coef = point(labelled, candidate.lam, candidate.C).coef
    coef = to_numpy(coef)
    return np.vstack([coef, np.zeros((1, coef.shape[1]))])


def _spread_part(setting: Setting, weighed: list[Weighed]) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean over labels that are spread, and which rows it is known of."""
    targets = setting.targets
    total = np.zeros((len(setting.rows.every), targets.width), dtype=np.float32)
    reach = np.zeros(len(total), dtype=np.float32)
    for graph in sorted({each.graph or 0 for each, _ in weighed}):
        # Rounding must not lead where no edge does.
        reached = reached_rows(setting.rows.laplacians[graph], setting.numbers)
        for candidate, weight in weighed:
            if candidate.graph != graph:
                continue
            mass = setting.spread[graph].mass[list(setting.lams).index(candidate.lam)]
            mass = from_numpy(mass, setting.rows.operators[graph].matrix.data)
            near = reached & to_numpy(total_mass(mass, targets) > _REACH)[:, 0]
            F = means(mass, targets, setting.factors(candidate.weighting))
            total[near] += weight * to_numpy(_likely(setting, candidate, F))[near]
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
    best, H = weighed[0][0], setting.rows.every
    rows = calibration_rows(len(H), 0)
    fitted = matmul(doubles(H.take(rows).all()), found.coef)
    spread = tuple(each.kept() for each in setting.spread)
    bases = setting.rows.bases if "tight" in setting.kinds else ()
    return GraphSolution.of(
        replace(found, lam=best.lam, method="pool", loo_rows=rows, loo=fitted, path=None),
        "β is fitted to what the candidates give every row together",
        selection="prior" if best.error is None else "loo",
        error=None if best.error is None else sum(w * (each.error or 0.0) for each, w in weighed),
        candidates=_table(weighed),
        reused=Pooled(outputs, bases, spread, ridge),
        coupling=setting.kinds[0] if len(setting.kinds) == 1 else "pool",
        why=_shares(weighed),
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


def _shares(weighed: list[Weighed]) -> str:
    """The two heaviest kinds, each with its heaviest candidate."""
    shares: dict[str, float] = {}
    for each, weight in weighed:
        shares[each.kind] = shares.get(each.kind, 0.0) + weight
    kinds = sorted(shares, key=shares.__getitem__, reverse=True)[:2]
    heaviest = {kind: next(each for each, _ in weighed if each.kind == kind) for kind in kinds}
    return ", ".join(f"{shares[kind]:.0%} {kind} ({_words(heaviest[kind])})" for kind in kinds)


def _words(candidate: Candidate) -> str:
    words = [] if candidate.graph is None else [f"graph {candidate.graph}"]
    words += [
        f"{name}={getattr(candidate, name):.3g}"
        for name in ("lam", "C")
        if getattr(candidate, name)
    ]
    return ", ".join(words)


def _table(weighed: list[Weighed]) -> dict[str, np.ndarray]:
    """A row for each candidate, the heaviest first."""
    candidates = [each for each, _ in weighed]
    names = ["kind", "lam", "C"]
    if candidates[0].error is not None:
        names += ["temperature", "error", "log_likelihood"]
    table = {name: np.array([getattr(each, name) for each in candidates]) for name in names}
    table["graph"] = np.array([-1 if each.graph is None else each.graph for each in candidates])
    table["weighting"] = np.array([each.weighting for each in candidates])
    return table | {"weight": np.array([weight for _, weight in weighed])}
