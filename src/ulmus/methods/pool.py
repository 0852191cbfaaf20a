"""Few labels: models of several kinds, averaged by what they say of labelled rows left out.

Each of the `candidates` gives outputs fₖ of labelled rows that are left out. A temperature makes
probabilities of them, and ℓₖ is the log-likelihood of the labels. Probabilities are averaged with
weights ∝ πₖ exp(ℓₖ/2), πₖ the kind's prior over the number of its candidates. Numbers have a
Gaussian likelihood with the variance of the left-out residuals, and their outputs are averaged.

β is then fitted to the classes, or values, that the average gives every row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, from_numpy, to_numpy
from ulmus.fitted import OnDevice
from ulmus.graphs import Laplacian
from ulmus.methods.candidates import Candidate, FewLabels, Setting, all_candidates
from ulmus.methods.iterative import ConjugateGradients
from ulmus.methods.manifold import GraphSolution
from ulmus.methods.manifold_basis import ManifoldBasis
from ulmus.methods.manifold_path import Labelled, point
from ulmus.methods.propagation import spread_by_all
from ulmus.methods.ridge import solve
from ulmus.methods.spreading import label_mass, means, reached_rows
from ulmus.problem import Problem
from ulmus.sources.source import OnGraph, calibration_rows
from ulmus.targets import ClassTargets, ValueTargets, chosen, probabilities, temperature

__all__ = ["Pool", "Pooled"]

# A candidate and its weight.
Weighed = tuple[Candidate, float]

# Prior mass of the kinds of classifiers: it decides where labels are too few to. Eleven data sets
# settled it, twelve others confirmed it (docs/guide/hundred_labels). For numbers it is equal.
_PRIOR = {"alone": 1.0, "tight": 2.0, "free": 8.0, "clusters": 2.0}
# With r rows for each label, λ of spread labels below _FAR·√r has _NEAR times the usual prior: such
# labels stay close to where they were given.
_FAR, _NEAR = 0.5, 0.01
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
# Relative residual of the spread labels, and the least total weight of labels at a row. The weight
# falls with every edge from a label, faster for small λ, until float32 has no digits for it.
_TOL, _REACH = 1e-5, 1e-30
# Steps of conjugate gradients that spread labels.
_STEPS = 1000


@dataclass(frozen=True)
class Pooled:
    """Probabilities or values of all rows, and what other labels on the same rows start from."""

    outputs: np.ndarray
    bases: OnDevice[tuple[ManifoldBasis, ...]]
    C: float


@dataclass(frozen=True)
class Pool:
    """C (None: a grid that follows the hidden rows' size), C of the last ridge, when to stop."""

    C: np.ndarray | None
    last_C: float | np.ndarray
    stop: ConjugateGradients

    def fit(
        self,
        sources: list[OnGraph],
        laplacians: Sequence[Laplacian],
        bases: tuple[ManifoldBasis, ...] = (),
    ) -> GraphSolution:
        """The average of all candidates, and β for it.

        ``sources`` are the same rows with other class weights; ``bases`` are those of the graphs,
        where other labels on the same rows were fitted before.
        """
        # They are read again and again.
        every = sources[0].rows().kept()
        some = every.take(np.flatnonzero(sources[0].known))
        sources = [replace(each, every=every, some=some) for each in sources]
        setting = Setting.of(sources, laplacians, bases, self.C)
        labels = setting.labels(0)
        judged = [_judged(labels, each) for each in all_candidates(setting)]
        candidates = _weighed(judged, _priors(setting, judged))
        outputs = _average(setting, candidates, self.stop)
        return _solution(setting, candidates, outputs, self.last_C)


def _judged(labels: FewLabels, candidate: Candidate) -> Candidate:
    """The same with its temperature and the log-likelihood of left-out labels."""
    judged, F = labels.judged, candidate.left_out
    if not judged.any():
        return replace(candidate, temperature=_PLAIN)
    if labels.counts is None:
        squares = (labels.coded - F)[judged] ** 2
        floor = np.finfo(float).tiny
        likelihood = -0.5 * len(squares) * float(np.log(squares.mean(axis=0) + floor).sum())
        error = float(squares.sum(axis=1).mean())
        return replace(candidate, error=error, log_likelihood=likelihood)
    codes = labels.targets.codes[judged]
    a = temperature(F[judged], codes)
    P = probabilities(F[judged], a)
    P = (1.0 - _UNIFORM) * P + _UNIFORM / P.shape[1]
    likelihood = float(np.log(P[np.arange(len(codes)), codes]).sum())
    error = float(np.mean(chosen(F[judged]) != codes))
    return replace(candidate, temperature=a, error=error, log_likelihood=likelihood)


def _priors(setting: Setting, candidates: list[Candidate]) -> np.ndarray:
    """The prior mass of every candidate, that of a kind shared by its candidates.

    Labels that have many rows each to name must go far: small λ are unlikely there, and a graph of
    many rows knows more than other kinds can learn from few labels.
    """
    rows = len(setting.every) / len(setting.some)
    far = _FAR * np.sqrt(rows)
    shares = np.array(
        [_NEAR if each.kind == "free" and each.lam < far else 1.0 for each in candidates]
    )
    kinds = np.array([each.kind for each in candidates])
    for kind in set(kinds.tolist()):
        mass = _PRIOR[kind] if setting.classes else 1.0
        if kind == "free" and setting.classes:
            mass *= 1.0 + rows / _MANY
        shares[kinds == kind] *= mass / shares[kinds == kind].sum()
    return shares


def _weighed(candidates: list[Candidate], prior: np.ndarray) -> list[Weighed]:
    """The candidates and their weights, which sum to one; the heaviest first."""
    logs = _POWER * np.array([each.log_likelihood for each in candidates]) + np.log(prior)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    order = np.argsort(-weights, kind="stable")
    return [(candidates[k], float(weights[k])) for k in order]


def _average(setting: Setting, weighed: list[Weighed], stop: ConjugateGradients) -> np.ndarray:
    """The mean of probabilities or values over the candidates, for every row.

    Labels that are spread with a small λ do not reach every row; there those with a larger one
    stand for them. Rows that no path joins to a label have the other kinds alone.
    """
    kept = [pair for pair in weighed if pair[1] > _LEAST * weighed[0][1]]
    spread = [pair for pair in kept if pair[0].kind == "free"]
    others = [pair for pair in weighed if pair[0].kind != "free"]
    # One that knows all rows is always among them.
    inside = [pair for pair in kept if pair[0].kind != "free"] or others[:1]
    total, share = _hidden_part(setting, inside), sum(weight for _, weight in inside)
    if not spread:
        return np.asarray(total / share)
    part, near = _spread_part(setting, spread, stop)
    all_spread = near[:, None] * sum(weight for _, weight in spread)
    return np.asarray((total + all_spread * part) / (share + all_spread))


def _hidden_part(setting: Setting, weighed: list[Weighed]) -> np.ndarray:
    """The weighted sum over candidates that have a β."""
    coefs = [_coef(setting, each) for each, _ in weighed]
    total, m = np.zeros((len(setting.every), setting.targets.width)), coefs[0].shape[1]
    stacked = np.column_stack(coefs)
    level = stacked[-1] + setting.every.offset * stacked[:-1].sum(axis=0)
    for rows, block in setting.every.blocks():
        F = to_numpy(matmul(doubles(block), from_numpy(stacked[:-1], block))) + level
        for k, (candidate, weight) in enumerate(weighed):
            total[rows] += weight * _likely(setting, candidate, F[:, k * m : (k + 1) * m])
    return total


def _likely(setting: Setting, candidate: Candidate, F: np.ndarray) -> np.ndarray:
    if not setting.classes:
        return F
    return np.asarray(probabilities(F, candidate.temperature))


def _coef(setting: Setting, candidate: Candidate) -> np.ndarray:
    """β of all labelled rows, with the intercept as its last row."""
    if candidate.coef is not None:
        return np.asarray(candidate.coef)
    problem = replace(setting.sources[candidate.weighting].labelled(), H=setting.some)
    if candidate.graph is None:
        coef = solve(problem, candidate.C).coef
    else:
        basis = setting.bases[candidate.graph]
        rows = matmul(doubles(setting.some.all()), basis.basis)
        labelled = Labelled(basis, rows, problem.targets, problem.weight)
        coef = point(labelled, candidate.lam, candidate.C).coef
    coef = to_numpy(coef)
    return np.vstack([coef, np.zeros((1, coef.shape[1]))])


def _spread_part(
    setting: Setting, weighed: list[Weighed], stop: ConjugateGradients
) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean over labels that are spread, and which rows it is known of."""
    known = np.flatnonzero(setting.sources[0].known)
    total = np.zeros((len(setting.every), setting.targets.width))
    reach = np.zeros(len(total))
    settings = sorted({(each.graph or 0, each.weighting) for each, _ in weighed})
    for graph, weighting in settings:
        some = [
            (each, weight)
            for each, weight in weighed
            if (each.graph, each.weighting) == (graph, weighting)
        ]
        source, laplacian = setting.sources[weighting], setting.laplacians[graph]
        Y = np.zeros((len(total), source.targets.width + 1), dtype=np.float32)
        Y[known] = label_mass(source.targets, source.weight)
        lams = np.array([each.lam for each, _ in some])
        steps = max(stop.max_iter, _STEPS)
        masses = spread_by_all(laplacian, Y, lams, tol=min(stop.tol, _TOL), max_iter=steps)
        # Rounding must not lead where no edge does.
        reached = reached_rows(laplacian, known)
        for (candidate, weight), mass in zip(some, masses, strict=True):
            near = reached & (mass[:, -1] > _REACH)
            F = means(mass[near], source.targets)
            total[near] += weight * _likely(setting, candidate, F)
            reach[near] += weight
    near = reach > 0
    total[near] /= reach[near, None]
    return _carried_on(total, near, setting.laplacians[-1])


def _carried_on(
    F: np.ndarray, near: np.ndarray, laplacian: Laplacian
) -> tuple[np.ndarray, np.ndarray]:
    """F of rows that are known, and means of these neighbours for those beyond, edge by edge."""
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
    setting: Setting, weighed: list[Weighed], outputs: np.ndarray, C: float | np.ndarray
) -> GraphSolution:
    """β for the classes or values that the average gives every row."""
    source, best = setting.sources[0], weighed[0][0]
    H = source.rows()
    pseudo = _pseudo_targets(source, outputs)
    found = solve(Problem(H, pseudo.placed(H.X)), C)
    rows = calibration_rows(len(H), 0)
    fitted = matmul(doubles(H.take(rows).all()), found.coef)
    return GraphSolution.of(
        replace(found, lam=best.lam, method="pool", loo_rows=rows, loo=fitted, path=None),
        "β is fitted to what the candidates give every row together",
        selection="prior" if best.error is None else "loo",
        error=None if best.error is None else sum(w * (each.error or 0.0) for each, w in weighed),
        candidates=_table(weighed),
        reused=Pooled(outputs.astype(np.float32), setting.bases, found.C),
        coupling="pool",
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
