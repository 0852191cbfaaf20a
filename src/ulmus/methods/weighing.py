"""How candidates are weighed: by the likelihood of labels left out, and a prior of their kind."""

from dataclasses import replace
from itertools import groupby

import numpy as np
from scipy.special import gammaln

from ulmus.calibration import likelihoods, probabilities, temperatures
from ulmus.hidden import row_blocks, rows_at_once
from ulmus.methods.candidates import (
    Candidate,
    FewLabels,
    Setting,
    closed_candidates,
    cluster_candidates,
)
from ulmus.targets import chosen

# A candidate and its weight.
Weighed = tuple[Candidate, float]

# All kinds have the same prior mass, except three. The published form has _TIGHT of it, and
# self-given classes _PAIR/k of it with k labels a class: more labels need them less. Spread labels
# of classes have more: with n rows and l labels it is (1 + _FEW/k)(1 + n/(_MANY l)) times as much,
# for the graph knows more than others can learn from few labels. But where columns have units of
# their own, as in most tables, how far apart rows are depends on how columns are scaled, and spread
# labels have _OWN_UNITS of it. docs/guide/hundred_labels has the sets that settled and confirmed
# this; _MANY is from MNIST with one label a class, 6000 rows for each.
_TIGHT, _PAIR, _OWN_UNITS = 0.2, 2.0, 0.5
_FEW, _MANY = 16.0, 200.0
# What spread labels have besides goes to clusters where neighbours contradict these as seldom: half
# of it at _ALIKE times as often, and less by this power. _CHANCE is added to the rate of clusters,
# so that a few rows do not decide.
_ALIKE, _STEEP, _CHANCE = 1.2, 16.0, 0.01
# λ of spread labels below _FAR/k has _NEAR times the usual prior: their mass stays close to where
# they were given, and few labels have to go far.
_FAR, _NEAR = 200.0, 0.01
# Factor of the log-likelihood. Left-out rows share all other labels, so that it is less certain
# than that of as many new rows; 0.5 did better than 1 and 2 with 30 and with 100 labels.
_POWER = 0.5
# Share of the uniform distribution in every probability: one label that a candidate thinks
# impossible would else rule it out.
_UNIFORM = 0.02
# The temperature where no row can be left out.
_PLAIN = 4.0
# Candidates whose weight is a smaller part of the largest are left out of the average.
_LEAST = 1e-3
# A kind with no more weight stands by for rows that no label leads to.
_STANDS_BY = 1e-6
# Candidates that take long are no longer tried after one that is this much behind the best, in
# units of log weight.
_HOPELESS = -8.0


def weighed_candidates(setting: Setting) -> list[Weighed]:
    """All candidates with their weights, the heaviest first; of clusters far behind, one."""
    labels, judged = setting.labels[0], list[Candidate]()
    size = rows_at_once(len(labels.targets) * labels.targets.width)
    for _, group in groupby(closed_candidates(setting), lambda each: each.kind):
        some = list(group)
        for part in row_blocks(len(some), size):
            judged += _judged(labels, some[part])
    best = max((each.log_likelihood for each in judged), default=-np.inf)
    layers = [each for each in _likeliest_first(judged) if each < len(setting.rows.layers)]
    for candidate in cluster_candidates(setting, layers):
        judged += _judged(labels, [candidate])
        if _POWER * (judged[-1].log_likelihood - best) < _HOPELESS:
            break
    return _weighed(judged, _priors(setting, judged))


def _likeliest_first(judged: list[Candidate]) -> list[int]:
    """The layers, that first in which the labels alone say most of those left out."""
    best: dict[int, float] = {}
    for each in judged:
        if each.kind == "alone":
            best[each.layer] = max(best.get(each.layer, -np.inf), each.log_likelihood)
    return sorted(best, key=best.__getitem__, reverse=True)


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
        P = (1.0 - _UNIFORM) * likelihoods(F, codes, heat) + _UNIFORM / labels.targets.n_classes
        likelihood = np.log(P).sum(axis=1)
        errors = (chosen(F) != codes).mean(axis=1)
    return [
        replace(each, temperature=float(a), error=float(error), log_likelihood=float(l))
        for each, a, error, l in zip(candidates, heat, errors, likelihood, strict=True)
    ]


def _priors(setting: Setting, candidates: list[Candidate]) -> np.ndarray:
    """The prior mass of every candidate, that of a kind shared by its candidates.

    Few labels have many rows each to name and must go far: small λ are unlikely there. So are
    balanced weights where the labels say that classes are not equally large.
    """
    each = len(setting.numbers) / (setting.targets.n_classes if setting.classes else 1)
    parts = {"tight": _TIGHT, "clusters": min(1.0, _PAIR / each)}
    parts |= {"free": spread_factor(setting)} if setting.classes else {}
    shares = np.array(
        [_NEAR if one.kind == "free" and one.lam < _FAR / each else 1.0 for one in candidates]
    )
    if len(setting.sources) > 1:
        equal = _odds_of_equal_sizes(np.bincount(setting.targets.codes))
        shares *= [equal if one.weighting else 1.0 for one in candidates]
    kinds = np.array([one.kind for one in candidates])
    for kind in set(kinds.tolist()):
        # A kind that was not asked for only stands by for rows that no label leads to.
        part = parts.get(kind, 1.0) if kind in setting.kinds else 0.0
        shares[kinds == kind] *= part / shares[kinds == kind].sum()
    return shares


def spread_factor(setting: Setting) -> float:
    """How many times another kind's prior mass spread labels have, where there are classes."""
    if not setting.one_unit:
        return _OWN_UNITS
    l, n = len(setting.numbers), len(setting.rows.every)
    return (1.0 + _FEW * setting.targets.n_classes / l) * (1.0 + n / (_MANY * l))


def trust_in_graph(spread: float, clusters: float) -> float:
    """The part of the mass of `spread_factor` that spread labels keep; clusters get the rest.

    Both are the part of the rows whose neighbours contradict the class that they are given.
    """
    return float(1.0 / (1.0 + (_ALIKE * spread / (clusters + _CHANCE)) ** _STEEP))


def trusted(weighed: list[Weighed], factor: float, trust: float) -> list[Weighed]:
    """Weights where spread labels keep the part ``trust`` of their factor, clusters the rest."""
    times = {
        "free": (1.0 + (factor - 1.0) * trust) / factor,
        "clusters": 1.0 + (factor - 1.0) * (1.0 - trust),
    }
    weights = np.array([weight * times.get(each.kind, 1.0) for each, weight in weighed])
    order = np.argsort(-weights, kind="stable")
    return [(weighed[k][0], float(weights[k] / weights.sum())) for k in order]


def _odds_of_equal_sizes(counts: np.ndarray) -> float:
    """How likely the counts are for classes of equal size, over that for any sizes; 1 at most."""
    m, l = len(counts), counts.sum()
    of_any = gammaln(m) + gammaln(counts + 1).sum() - gammaln(l + m)
    return float(np.exp(min(-l * np.log(m) - of_any, 0.0)))


def _weighed(candidates: list[Candidate], prior: np.ndarray) -> list[Weighed]:
    """The candidates and their weights, which sum to one; the heaviest first."""
    logs = _POWER * np.array([each.log_likelihood for each in candidates])
    weights = prior * np.exp(np.minimum(logs - logs[prior > 0].max(), 0.0))
    weights /= weights.sum()
    order = np.lexsort((-logs, -weights))
    return [(candidates[k], float(weights[k])) for k in order]


def shares(weighed: list[Weighed]) -> dict[str, float]:
    """The weight of every kind."""
    found: dict[str, float] = {}
    for each, weight in weighed:
        found[each.kind] = found.get(each.kind, 0.0) + weight
    return found


def mean_left_out(setting: Setting, weighed: list[Weighed]) -> dict[str, np.ndarray] | None:
    """What the average gives labelled rows that are left out, and their numbers."""
    judged = setting.labels[0].judged
    if not judged.any():
        return None
    kept, total = heavy(weighed), np.zeros((np.count_nonzero(judged), setting.targets.width))
    for each, weight in kept:
        F = each.left_out[judged]
        total += weight * (probabilities(F, each.temperature) if setting.classes else F)
    total /= sum(weight for _, weight in kept)
    return {"rows": setting.numbers[setting.compared[judged]], "outputs": total}


def error_of(setting: Setting, outputs: np.ndarray) -> float:
    """The error rate, or mean squared error, of what the average gives left-out rows."""
    labels = setting.labels[0]
    if not setting.classes:
        return float(np.mean(np.sum((labels.coded[labels.judged] - outputs) ** 2, axis=1)))
    return float(np.mean(outputs.argmax(axis=1) != labels.targets.codes[labels.judged]))


def heavy(weighed: list[Weighed]) -> list[Weighed]:
    """Those of the average; the others weigh too little beside the heaviest."""
    return [pair for pair in weighed if pair[1] > _LEAST * weighed[0][1]]


def in_words(weighed: list[Weighed]) -> str:
    """The two heaviest kinds, each with its heaviest candidate."""
    share = shares(weighed)
    kinds = sorted(share, key=share.__getitem__, reverse=True)[:2]
    kinds = [kind for kind in kinds if share[kind] > _STANDS_BY]
    heaviest = {kind: next(each for each, _ in weighed if each.kind == kind) for kind in kinds}
    return ", ".join(f"{share[kind]:.0%} {kind} ({_words(heaviest[kind])})" for kind in kinds)


def _words(candidate: Candidate) -> str:
    words = [f"layer {candidate.layer}"] if candidate.layer else []
    words += [] if candidate.graph is None else [f"graph {candidate.graph}"]
    words += [
        f"{name}={getattr(candidate, name):.3g}"
        for name in ("lam", "C")
        if getattr(candidate, name)
    ]
    return ", ".join(words)


def table(weighed: list[Weighed]) -> dict[str, np.ndarray]:
    """A row for each candidate, the heaviest first."""
    candidates = [each for each, _ in weighed]
    names = ["kind", "lam", "C"]
    if candidates[0].error is not None:
        names += ["temperature", "error", "log_likelihood"]
    columns = {name: np.array([getattr(each, name) for each in candidates]) for name in names}
    columns["graph"] = np.array([-1 if each.graph is None else each.graph for each in candidates])
    for name in ("layer", "weighting"):
        columns[name] = np.array([getattr(each, name) for each in candidates])
    return columns | {"weight": np.array([weight for _, weight in weighed])}
