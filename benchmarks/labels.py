"""Few labels on ten data sets: the default SS-ELM, its kinds alone, and its peers.

Run by ``python -m benchmarks labels``. Up to 2000 rows of each set are given, and labels are drawn
from a seed. For the peers columns are scaled to unit variance, except pixels, which share a unit,
and words, whose rows are scaled to unit length. Nothing is tuned but what a model tunes itself.
"""

import warnings
from functools import partialmethod

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from benchmarks.measure import kept, mean_rows, table

SETS = (
    "uspst_mr", "coil20", "g50c", "optdigits", "usps", "letter", "clouds", "moons", "tdt2", "mnist",
)  # fmt: skip
LABELS = ("2 a class", "10 a class", "100")
# Further cases, without the peers that need dense rows.
SPARSE = (("tdt2", "50"),)
DRAWS = 10
# Tables, and how many draws of their labels: on adult one differs from another by two points.
BLANKS = {"adult": 40, "letter": 5, "segment": 5, "wine": 5, "covtype": 5, "shuttle": 5}
KINDS = ("alone", "tight", "free", "clusters")
_PIXELS = {"uspst_mr", "coil20", "optdigits", "usps", "mnist"}
_ROWS = 2000


def data(name, seed):
    """At most 2000 rows and their classes."""
    from papers.datasets import load

    rng = np.random.default_rng(seed)
    if name == "moons":
        from sklearn.datasets import make_moons

        return make_moons(_ROWS, noise=0.1, random_state=seed)
    if name == "clouds":
        y = rng.integers(4, size=_ROWS)
        centers = rng.standard_normal((4, 200))
        centers *= 3.5 / np.linalg.norm(centers, axis=1)[:, None]
        return rng.standard_normal((_ROWS, 200)) + centers[y], y
    found = load(name, download=False)
    rows = rng.permutation(len(found.target))[:_ROWS]
    X = found.data[rows]
    X = sp.csr_array(X, dtype=float) if sp.issparse(X) else np.asarray(X, dtype=float)
    return X, np.unique(found.target[rows], return_inverse=True)[1]


def known_rows(y, count, seed):
    """Rows whose labels are given; every class has two of them, or one where 50 are too few."""
    rng = np.random.default_rng(1000 + seed)
    each = int(count.split()[0])
    if count.isdigit():
        each = min(2, each // len(np.unique(y)))
    rows = [rng.permutation(np.flatnonzero(y == c))[:each] for c in np.unique(y)]
    known = np.zeros(len(y), dtype=bool)
    known[np.concatenate(rows)] = True
    if count.isdigit():
        rest = rng.permutation(np.flatnonzero(~known))
        known[rest[: max(0, int(count) - known.sum())]] = True
    return known


def _kinds(X, few, unknown, truth):
    """The errors of the pool, and of the same with all its mass on one kind."""
    from ulmus import SemiSupervisedELMClassifier
    from ulmus.methods import pool

    with_trust, found = pool._with_trust, {}

    def each_kind(setting, weighed):
        weighed = with_trust(setting, weighed)
        for kind in KINDS:
            # One candidate of another kind stands by for rows that no label leads to.
            spare = [(c, 1e-12) for c, _ in weighed if c.kind == "alone"][:1]
            part = [(c, w) for c, w in weighed if c.kind == kind]
            classes = pool._average(setting, part + (spare if kind == "free" else []))
            found[kind] = np.mean(classes.argmax(axis=1)[unknown] != truth)
        return weighed

    pool._with_trust = each_kind
    try:
        model = SemiSupervisedELMClassifier(random_state=0).fit(X, few)
    finally:
        pool._with_trust = with_trust
    return {"Ulmus": np.mean(model.transduction_[unknown] != truth)} | found


def peers():
    """The peers by name, made anew."""
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
    from sklearn.svm import SVC

    from ulmus import ELMClassifier, KernelELMClassifier, RandomFeatures

    return {
        "LabelSpreading, knn": LabelSpreading("knn", max_iter=300),
        "LabelSpreading, rbf": LabelSpreading("rbf", max_iter=300),
        "SelfTraining, SVC": SelfTrainingClassifier(SVC(probability=True, random_state=0)),
        "SVC": SVC(),
        "ELM": ELMClassifier(RandomFeatures(), random_state=0),
        "kernel ELM": KernelELMClassifier("rbf"),
    }


def _scaled(name, X):
    from sklearn.preprocessing import normalize, scale

    if sp.issparse(X):
        return normalize(X).toarray()
    return X / X.max() if name in _PIXELS else scale(X)


def nearest(X, y, known):
    """The error of the nearest labelled row's class, rows compared by their angles."""
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(1, metric="cosine").fit(X[known], y[known])
    return 1.0 - model.score(X[~known], y[~known])


def one(name, count, seed, fit_peers=True):
    """The error (%) on rows without a label, of every contender."""
    X, y = data(name, seed)
    known = known_rows(y, count, seed)
    few = np.where(known, y, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _kinds(X, few, ~known, y[~known])
        if sp.issparse(X):
            found["1-NN"] = nearest(X, y, known)
        Z = _scaled(name, X) if fit_peers else X
        for peer, model in peers().items() if fit_peers else ():
            semi = peer.startswith(("Label", "Self"))
            rows = slice(None) if semi else known
            try:
                classes = model.fit(Z[rows], few[rows]).predict(Z[~known])
            except ValueError:  # calibration by folds needs more labels than there are
                continue
            found[peer] = np.mean(classes != y[~known])
    return name, count, seed, {each: 100.0 * float(error) for each, error in found.items()}


def measure(before=None):
    """Errors by set, labels and contender, a number for each draw.

    Where ``before`` has such numbers, the peers' are taken from there: they do not change.
    """
    cases = [(name, count, not before) for name in SETS for count in LABELS]
    cases += [(*case, False) for case in SPARSE]
    jobs = Parallel(n_jobs=-1)(
        delayed(one)(name, count, seed, peers)
        for name, count, peers in cases
        for seed in range(DRAWS)
    )
    found = {}
    for name, count, _, errors in jobs:
        for contender, error in errors.items():
            found.setdefault(f"{name}, {count}", {}).setdefault(contender, []).append(error)
    return {case: (before or {}).get(case, {}) | errors for case, errors in found.items()}


def blanks():
    """The part that is right of tables' rows without a label, by data set and model."""
    found = {}
    jobs = Parallel(n_jobs=-1)(
        delayed(blank)(name, seed) for name, draws in BLANKS.items() for seed in range(draws)
    )
    for name, rates in jobs:
        for model, rate in rates.items():
            found.setdefault(name, {}).setdefault(model, []).append(rate)
    return found


def _without_the_layer(pool, fit, sources, rows, own, before):
    return fit(pool, sources, rows, None, before)


def blank(name, seed):
    """One draw: SS-ELM, the same without the layer of the labelled rows, and supervised ELMs."""
    from unittest.mock import patch

    from papers.datasets import load
    from ulmus import ELMClassifier, RandomFeatures, SemiSupervisedELMClassifier
    from ulmus.methods.pool import Pool

    if name == "adult":
        found, rng = load(name, download=False), np.random.default_rng(seed)
        some = rng.permutation(len(found.target))[:8000]
        X, y = np.asarray(found.data[some], dtype=float), found.target[some]
        y, known = np.unique(y, return_inverse=True)[1], rng.random(len(some)) < 0.01
    else:
        X, y = data(name, seed)
        known = known_rows(y, "100", seed)
    few = np.where(known, y, -1)
    model = SemiSupervisedELMClassifier(random_state=0).fit(X, few)
    with patch.object(Pool, "fit", partialmethod(_without_the_layer, Pool.fit)):
        before = model.relabel(few)
    classes = {"SS-ELM": model.transduction_, "without the layer": before.transduction_}
    for who, features in (("ELM", None), ("ELM of random units", RandomFeatures())):
        alone = ELMClassifier(features, random_state=0).fit(X[known], y[known])
        classes[who] = alone.predict(X)
    return name, {who: float(np.mean((y == c)[~known])) for who, c in classes.items()}


def run(folder, rounds):
    """Few labels on ten data sets, beside the kinds alone and the peers.

    A single round takes the peers' errors from the results that are kept.
    """
    found = measure(kept("labels") if rounds == 1 else None)
    return found, *_page(found)


def run_blanks(folder, rounds):
    """Tables with few labels: SS-ELM beside the supervised ELM on the labelled rows."""
    found = blanks()
    ratios = {
        f"points of SS-ELM above {who}, {name}": 100.0
        * float(np.mean(np.subtract(rates["SS-ELM"], rates[who])))
        for name, rates in found.items()
        for who in ("ELM", "without the layer")
    }
    title = "Tables with few labels (adult: 1 %, others: 100): rows without one that are right"
    return found, ratios, table(title, *mean_rows(found, 4))


def _page(found):
    """Ratios and the table of errors."""
    names = ["Ulmus", *peers(), "1-NN"]
    means = {
        case: {name: float(np.mean(errors)) for name, errors in row.items()}
        for case, row in found.items()
    }
    ranks = {name: [] for name in names}
    behind = {}
    for case, row in means.items():
        order = sorted((name for name in names if name in row), key=row.get)
        for place, name in enumerate(order, 1):
            ranks[name].append(place)
        gap = row["Ulmus"] - min(row[kind] for kind in KINDS)
        behind.setdefault(case.split(", ")[1], []).append(gap)
    ratios = {f"mean rank of {name}": float(np.mean(places)) for name, places in ranks.items()}
    ratios |= {f"most points behind a kind, {count}": max(gaps) for count, gaps in behind.items()}
    columns = [*names[:1], *KINDS, *names[1:]]
    rows = [
        [case, *(f"{row[name]:.1f}" if name in row else "" for name in columns)]
        for case, row in means.items()
    ]
    title = "Few labels: error (%) on rows without one, up to 2000 rows, means of ten draws"
    return ratios, table(title, ["data, labels", *columns], rows)
