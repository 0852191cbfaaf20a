"""Few labels: choices of the pool, each beside what it replaced, and numbers in place of classes.

Run by ``python -m benchmarks priors``, where rows are fitted once for each draw and relabelled for
each choice, and by ``graphs``, ``sources`` and ``values``.
"""

import warnings
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed

from benchmarks.labels import data
from benchmarks.measure import gathered, mean_over, mean_rows, table

SETS = ("optdigits", "usps", "mnist", "coil20", "letter", "g50c", "clouds")
LABELS = (1, 2, 10)
VALUES = ("california housing", "diabetes", "friedman", "swiss roll", "s curve")
KNOWN = (20, 100)
DRAWS = 5
# Sets that would settle which graphs are tried, and as many that would confirm it.
GRAPH_SETS = ("optdigits", "coil20", "letter", "segment", "usps", "mnist", "g50c", "moons")
GRAPH_ROWS, GRAPH_DRAWS = 1000, 3
SOURCE_SETS = ("usps", "optdigits", "coil20", "mnist")


def _equal_strengths(laplacian, rows):
    return np.ones(len(rows))


def choices():
    """What is changed about the default, by name."""
    from ulmus.methods import candidates, pool, weighing

    return {
        "default": nullcontext(),
        "labels of equal strength": patch.object(candidates, "label_strengths", _equal_strengths),
        "kinds of equal prior": patch.multiple(weighing, _FEW=0.0, _MANY=np.inf),
        "graph not asked": patch.object(pool, "_with_trust", lambda setting, weighed: weighed),
        "tight as likely": patch.multiple(weighing, _TIGHT=1.0),
        "small λ as likely": patch.multiple(weighing, _NEAR=1.0),
        "whole log-likelihood": patch.multiple(weighing, _POWER=1.0),
    }


def few_labels(y, each, seed):
    """So many labels of every class; the others are −1."""
    rng, few = np.random.default_rng(2000 + seed), np.full(len(y), -1)
    for code in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == code))[:each]
        few[rows] = code
    return few


def one(name, seed):
    """Errors (%) on rows without a label, by the number of labels and the choice."""
    from ulmus import SemiSupervisedELMClassifier

    (X, y), found = data(name, seed), {}

    def error(model, few):
        return 100.0 * float(np.mean((model.transduction_ != y)[few < 0]))

    first = few_labels(y, 2, seed)
    model = SemiSupervisedELMClassifier(random_state=0).fit(X, first)
    known = SemiSupervisedELMClassifier(random_state=0).fit(
        X, first, class_prior=np.bincount(y) / len(y)
    )
    for each in LABELS:
        few = few_labels(y, each, seed)
        for choice, changed in choices().items():
            with changed:
                found[each, choice] = error(model.relabel(few), few)
        found[each, "class_prior as it is"] = error(known.relabel(few), few)
    return name, found


def measure():
    """Errors by set, number of labels and choice, one for each draw."""
    found = {}
    jobs = Parallel(n_jobs=-1)(delayed(one)(name, seed) for name in SETS for seed in range(DRAWS))
    for name, errors in jobs:
        for (each, choice), error in errors.items():
            case = found.setdefault(f"{name}, {each} a class", {})
            case.setdefault(choice, []).append(error)
    return found


def one_of_graphs(name, each, seed):
    """Errors (%) with the default graphs, and with five neighbours of equal weight besides."""
    from ulmus import KNNGraph, SemiSupervisedELMClassifier

    X, y = data(name, seed)
    X, y = X[:GRAPH_ROWS], y[:GRAPH_ROWS]
    few, default = few_labels(y, each, seed), [KNNGraph(k, width="local") for k in (10, 20)]
    found = {}
    for what, graphs in (
        ("10, 20", default),
        ("5, 10, 20", [KNNGraph(5, weights="binary"), *default]),
    ):
        model = SemiSupervisedELMClassifier(graph=graphs, random_state=0).fit(X, few)
        found[what] = 100.0 * float(np.mean((model.transduction_ != y)[few < 0]))
    return f"{name}, {each} a class", found


def measure_graphs():
    """Errors by set, number of labels and graphs, one for each draw."""
    cases = [(name, each, k) for name in GRAPH_SETS for each in (2, 10) for k in range(GRAPH_DRAWS)]
    return gathered(Parallel(n_jobs=-1)(delayed(one_of_graphs)(*case) for case in cases))


def _centred(mass, targets, factors=None):
    """In place of `means`: mass that is centred, as Poisson learning does, and of equal size."""
    from ulmus.methods.propagation import total_mass

    F = mass - total_mass(mass, targets) / targets.n_classes
    return F / (F.std() or 1.0)


def one_of_sources(name, seed):
    """Errors (%) of spread labels with one label a class."""
    from ulmus import SemiSupervisedELMClassifier
    from ulmus.methods import candidates, pool

    X, y = data(name, seed)
    few, found = few_labels(y, 1, seed), {}
    model = SemiSupervisedELMClassifier(coupling="free", random_state=0).fit(X, few)
    for what, changed in (
        ("strengths", nullcontext()),
        ("strengths, centred", patch.object(pool, "means", _centred)),
        ("equal strengths", patch.object(candidates, "label_strengths", _equal_strengths)),
    ):
        with changed:
            again = model.relabel(few)
        found[what] = 100.0 * float(np.mean((again.transduction_ != y)[few < 0]))
    return f"{name}, 1 a class", found


def values(name, seed):
    """At most 2000 rows, and the numbers to be learnt."""
    from sklearn import datasets

    made = {
        "friedman": (datasets.make_friedman1, {"noise": 1.0}),
        "swiss roll": (datasets.make_swiss_roll, {"noise": 0.2}),
        "s curve": (datasets.make_s_curve, {"noise": 0.05}),
    }
    if name in made:
        make, how = made[name]
        return make(2000, random_state=seed, **how)
    if name == "diabetes":
        return datasets.load_diabetes(return_X_y=True)
    from papers.datasets import load

    found = load("california_housing", download=False)
    rows = np.random.default_rng(seed).permutation(len(found.target))[:2000]
    return np.asarray(found.data[rows], dtype=float), np.asarray(found.target[rows], dtype=float)


def one_of_values(name, count, seed):
    """R² on rows without a value: SS-ELM and the supervised ELM."""
    from ulmus import ELMRegressor, SemiSupervisedELMRegressor

    X, y = values(name, seed)
    known = np.random.default_rng(3000 + seed).permutation(len(y))[:count]
    few, rest = np.full(len(y), np.nan), np.delete(np.arange(len(y)), known)
    few[known] = y[known]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SemiSupervisedELMRegressor(random_state=0).fit(X, few)
        alone = ELMRegressor(random_state=0).fit(X[known], y[known])
    spread = np.mean((y[rest] - y[rest].mean()) ** 2)
    guessed = {"SS-ELM": model.transduction_[rest], "ELM": alone.predict(X[rest])}
    scores = {who: 1 - float(np.mean((y[rest] - F) ** 2) / spread) for who, F in guessed.items()}
    return f"{name}, {count} values", scores


def measure_values():
    """R² by set, number of values and model, one for each draw."""
    cases = [(name, count, k) for name in VALUES for count in KNOWN for k in range(DRAWS)]
    return gathered(Parallel(n_jobs=-1)(delayed(one_of_values)(*case) for case in cases))


def run(folder, rounds):
    """Choices of the pool for few labels, each beside what it replaced."""
    found = measure()
    title = f"Few labels: error (%), 2000 rows, means of {DRAWS} draws"
    return found, mean_over(found), table(title, *mean_rows(found, 1))


def run_graphs(folder, rounds):
    """Few labels with a third graph."""
    found = measure_graphs()
    title = f"Numbers of neighbours: error (%), {GRAPH_ROWS} rows, {GRAPH_DRAWS} draws"
    half = len(found) // 2
    parts = {"the first four sets": list(found)[:half], "the others": list(found)[half:]}
    ratios = {
        f"{what}, {name}": ratio
        for name, cases in parts.items()
        for what, ratio in mean_over({case: found[case] for case in cases}).items()
    }
    return found, ratios, table(title, *mean_rows(found, 1))


def run_sources(folder, rounds):
    """One label a class: strengths, and label mass that is centred as in Poisson learning."""
    cases = [(name, seed) for name in SOURCE_SETS for seed in range(DRAWS)]
    found = gathered(Parallel(n_jobs=-1)(delayed(one_of_sources)(*case) for case in cases))
    title = f"Sources of spread labels: error (%), 2000 rows, means of {DRAWS} draws"
    return found, mean_over(found), table(title, *mean_rows(found, 1))


def run_values(folder, rounds):
    """SS-ELM for numbers beside the supervised ELM."""
    found = measure_values()
    title = f"Few values: R² on rows without one, means of {DRAWS} draws"
    return found, mean_over(found), table(title, *mean_rows(found, 3))
