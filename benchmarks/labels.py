"""Few labels on ten data sets: the default SS-ELM, its kinds alone, and its peers.

Run by ``python -m benchmarks labels``, and ``unseen`` for sets that took no part in the rules. Up
to 2000 rows of each set are given, and labels are drawn from a seed; up to 1000 others are new to
`predict`, where a file has more. For the peers columns are
scaled to unit variance, except pixels, which share a unit, and words, whose rows are scaled to
unit length. Nothing is tuned but what a model tunes itself.
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
# Sets that took no part in the rules: made ones, and three from files.
UNSEEN = {
    "informative columns": (
        "make_classification",
        {"n_informative": 10, "n_classes": 4, "class_sep": 1.5},
    ),
    "two clusters a class": (
        "make_classification",
        {"n_features": 30, "n_informative": 8, "n_classes": 3},
    ),
    "unequal classes": (
        "make_classification",
        {"n_features": 15, "n_informative": 6, "n_classes": 3, "weights": [0.7, 0.2, 0.1]},
    ),
    "two classes": ("make_classification", {"n_features": 40, "n_informative": 10}),
    "quantiles": ("make_gaussian_quantiles", {"n_features": 4}),
    "blobs": ("make_blobs", {"n_features": 10, "centers": 12, "cluster_std": 2.5}),
    "hastie": ("make_hastie_10_2", {}),
    "friedman": ("make_friedman1", {"noise": 1.0}),
    "swiss roll": ("make_swiss_roll", {"noise": 0.3}),
    "circles": ("make_circles", {"factor": 0.5, "noise": 0.05}),
}
UNSEEN_FILES = ("tic_tac_toe", "jaffe", "yale")
UNSEEN_ROWS, UNSEEN_DRAWS = 1000, 10
KINDS = ("alone", "tight", "free", "clusters")
_PIXELS = {"uspst_mr", "coil20", "optdigits", "usps", "mnist", "jaffe", "yale"}
_ROWS, _NEW_ROWS, _LEAST_NEW = 2000, 1000, 100
# The column of the default's errors on rows that were not given.
NEW = "Ulmus, new rows"


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
    if name in UNSEEN:
        return _made(name, seed, rng)
    found = load(name, download=False)
    rows = rng.permutation(len(found.target))[: _given(name)]
    return _plain(found.data[rows]), np.unique(found.target[rows], return_inverse=True)[1]


def new_data(name, seed):
    """Rows of a file that `data` leaves, of classes that it has, or None where they are few."""
    from papers.datasets import load

    if name in (*UNSEEN, "moons", "clouds"):
        return None
    found, n = load(name, download=False), _given(name)
    rows = np.random.default_rng(seed).permutation(len(found.target))[: n + _NEW_ROWS]
    classes = np.unique(found.target[rows[:n]])
    rest = rows[n:][np.isin(found.target[rows[n:]], classes)]
    if len(rest) < _LEAST_NEW:
        return None
    return _plain(found.data[rest]), np.searchsorted(classes, found.target[rest])


def _given(name):
    return UNSEEN_ROWS if name in UNSEEN_FILES else _ROWS


def _plain(X):
    return sp.csr_array(X, dtype=float) if sp.issparse(X) else np.asarray(X, dtype=float)


def _made(name, seed, rng):
    """A set of scikit-learn's; numbers become classes by their quantiles, circles have noise."""
    from sklearn import datasets

    maker, options = UNSEEN[name]
    X, y = getattr(datasets, maker)(n_samples=UNSEEN_ROWS, random_state=seed, **options)
    if name == "circles":
        X = np.column_stack([X, 0.3 * rng.standard_normal((UNSEEN_ROWS, 4))])
    if name in ("friedman", "swiss roll"):
        y = np.digitize(y, np.quantile(y, (0.25, 0.5, 0.75)))
    return X, np.unique(y, return_inverse=True)[1]


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


def _kinds(X, few, unknown, truth, new):
    """The errors of the pool, also on new rows, and of the same with its mass on one kind."""
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
    found["Ulmus"] = np.mean(model.transduction_[unknown] != truth)
    if new is not None:
        found[NEW] = np.mean(model.predict(new[0]) != new[1])
    return found


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
        found = _kinds(X, few, ~known, y[~known], new_data(name, seed))
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
    found = _errors([*cases, *((*case, False) for case in SPARSE)], DRAWS)
    return {case: (before or {}).get(case, {}) | errors for case, errors in found.items()}


def unseen():
    """The same for sets that took no part in the rules."""
    return _errors(
        [
            (name, count, True)
            for name in (*UNSEEN, *UNSEEN_FILES)
            for count in LABELS
            if name != "yale" or count != "10 a class"  # it has eleven rows a class
        ],
        UNSEEN_DRAWS,
    )


def _errors(cases, draws):
    """Errors by case and contender, a number for each draw."""
    jobs = Parallel(n_jobs=-1)(
        delayed(one)(name, count, seed, peers)
        for name, count, peers in cases
        for seed in range(draws)
    )
    found = {}
    for name, count, _, errors in jobs:
        for contender, error in errors.items():
            found.setdefault(f"{name}, {count}", {}).setdefault(contender, []).append(error)
    return found


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
    title = "Few labels: error (%) on rows without one, up to 2000 rows, means of ten draws"
    return found, *_page(found, title)


def run_unseen(folder, rounds):
    """The same on sets that took no part in the rules; one round."""
    found = unseen()
    title = "Sets that took no part in the rules: error (%) on rows without a label, ten draws"
    return found, *_page(found, title)


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


def _page(found, title):
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
    ratios = {f"mean rank of {name}": float(np.mean(each)) for name, each in ranks.items() if each}
    ratios |= {f"mean points behind a kind, {k}": float(np.mean(v)) for k, v in behind.items()}
    ratios |= {f"most points behind a kind, {count}": max(gaps) for count, gaps in behind.items()}
    columns = [names[0], NEW, *KINDS, *names[1:]]
    rows = [
        [case, *(f"{row[name]:.1f}" if name in row else "" for name in columns)]
        for case, row in means.items()
    ]
    return ratios, table(title, ["data, labels", *columns], rows)
