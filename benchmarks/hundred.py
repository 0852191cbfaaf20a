"""A hundred labels, sixty thousand images: SS-ELM where rows outnumber the units.

MNIST's training images are the given rows, its test images the new ones; labels are drawn evenly
over the digits. Nothing is tuned: every model has its defaults but for what its name says.
``--parts auto_2000 noise`` runs these alone, beside others as they are kept.
"""

import time
import warnings

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, cpu_count, delayed

from benchmarks.measure import kept, race, table

CONTENDERS = [
    "auto_2000",
    "two_cores",
    "covtype",
    "auto_10000",
    "noise",
    "published_2000",
    "labelled_alone",
    "beta_targets",
]
_DRAWS = 10
_GIVEN = 60_000
# Of the default graphs.
_NEIGHBORS = (10, 20)


def prepare(folder):
    """The default graphs, once, for those that do not measure them."""
    from ulmus import KNNGraph

    X, _ = _mnist()
    for k in _NEIGHBORS:
        affinity = KNNGraph(k, width="local").affinity(X[:_GIVEN])
        sp.save_npz(folder / f"affinity_{k}.npz", sp.csr_matrix(affinity))


def _mnist():
    from papers.datasets import load

    data = load("mnist", download=False)
    return data.data.astype(np.float32), data.target.astype(int)


def _labels(y, each, seed):
    """Some labels of every class, −1 elsewhere."""
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(y == c), each, replace=False) for c in np.unique(y)]
    few = np.full(len(y), -1)
    few[np.concatenate(rows)] = y[np.concatenate(rows)]
    return few


def _rates(model, X, y, few):
    """The part that is right of the given rows without a label, and of the new ones."""
    right = model.transduction_ == y[:_GIVEN]
    return float(right[few < 0].mean()), float(model.score(X[_GIVEN:], y[_GIVEN:]))


def _affinity(folder, k=_NEIGHBORS[0]):
    return sp.csr_array(sp.load_npz(folder / f"affinity_{k}.npz"))


def _graph(folder, k=_NEIGHBORS[0]):
    from ulmus.graphs import laplacian

    return laplacian(_affinity(folder, k))


def _spread(affinity, X, few):
    """scikit-learn's label spreading on the same graph."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.semi_supervised import LabelSpreading

    # It wants a function that makes the matrix; the rows have been seen to already.
    model = LabelSpreading(lambda a, b=None: affinity, alpha=0.99, max_iter=300)
    with warnings.catch_warnings():
        # Its rule to stop asks for more digits than the classes need.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X[:, :1], few).transduction_


def auto_2000(folder):
    """The default fit, graphs included; then ten draws of ten labels and of one for each digit."""
    from ulmus import SemiSupervisedELMClassifier

    X, y = _mnist()
    few = _labels(y[:_GIVEN], 10, 0)

    def check():
        found = {"cores": cpu_count()}
        jobs = Parallel(n_jobs=max(1, cpu_count() // 2))
        for each in (10, 1):
            draws = jobs(delayed(_draw)(folder, each, seed) for seed in range(_DRAWS))
            names = ("given", "new", "spreading")
            found |= {
                f"{name}_{each}": list(rates)
                for name, rates in zip(names, zip(*draws, strict=True), strict=True)
            }
        return found

    def work():
        SemiSupervisedELMClassifier(random_state=0).fit(X[:_GIVEN], few)
        return check

    return work


def _draw(folder, each, seed):
    """One draw of labels: the default's rates on given and on new rows, and label spreading's."""
    from ulmus import SemiSupervisedELMClassifier

    X, y = _mnist()
    few = _labels(y[:_GIVEN], each, seed)
    graphs = [_graph(folder, k) for k in _NEIGHBORS]
    model = SemiSupervisedELMClassifier(graph=graphs, random_state=0).fit(X[:_GIVEN], few)
    right = _spread(_affinity(folder), X[:_GIVEN], few) == y[:_GIVEN]
    return *_rates(model, X, y, few), float(right[few < 0].mean())


def two_cores(folder):
    """The default fit on two cores, and what one and five more labels take."""
    from ulmus import SemiSupervisedELMClassifier

    X, y = _mnist()
    few = _labels(y[:_GIVEN], 10, 0)

    def work():
        model = SemiSupervisedELMClassifier(random_state=0).fit(X[:_GIVEN], few)
        return lambda: _relabelled(model, few, y)

    return work


def _relabelled(model, few, y):
    unknown, found = np.flatnonzero(few < 0), {}
    for what, count in (("first", 1), ("one", 1), ("five", 5)):
        few, rows, unknown = few.copy(), unknown[:count], unknown[count:]
        few[rows] = y[rows]
        start = time.perf_counter()
        model = model.relabel(few)
        found[f"relabel_{what}"] = time.perf_counter() - start
    return found


def _one(folder, **parameters):
    """One draw of ten labels a digit, on the graph that is there."""
    from ulmus import SemiSupervisedELMClassifier

    X, y = _mnist()
    few, graph = _labels(y[:_GIVEN], 10, 0), _graph(folder)
    model = SemiSupervisedELMClassifier(graph=graph, random_state=0, **parameters)

    def work():
        model.fit(X[:_GIVEN], few)
        given, new = _rates(model, X, y, few)
        return {"coupling": str(model.coupling_), "given": given, "new": new}

    return work


def auto_10000(folder):
    return _one(folder, n_hidden=10_000)


def published_2000(folder):
    return _one(folder, coupling="published")


def labelled_alone(folder):
    from ulmus import ELMClassifier, RandomFeatures

    X, y = _mnist()
    few = _labels(y[:_GIVEN], 10, 0)

    def work():
        model = ELMClassifier(RandomFeatures(2000), random_state=0).fit(
            X[:_GIVEN][few >= 0], few[few >= 0]
        )
        given = model.score(X[:_GIVEN][few < 0], y[:_GIVEN][few < 0])
        return {"given": given, "new": model.score(X[_GIVEN:], y[_GIVEN:])}

    return work


def beta_targets(folder):
    """What β is best fitted to: new rows' rates, two draws."""
    from ulmus import ELMClassifier, ELMRegressor, RandomFeatures
    from ulmus.methods.propagation import SpreadLabels, label_columns, means
    from ulmus.targets import ClassTargets

    X, y = _mnist()
    graph = _graph(folder)
    given, new = X[:_GIVEN], X[_GIVEN:]

    def soft(P):
        model = ELMRegressor(RandomFeatures(2000), random_state=0).fit(given, P)
        return float(np.mean(model.predict(new).argmax(axis=1) == y[_GIVEN:]))

    def hard(P, weight=None):
        model = ELMClassifier(RandomFeatures(2000), random_state=0)
        return float(model.fit(given, P.argmax(axis=1), weight).score(new, y[_GIVEN:]))

    def work():
        found = {}
        for seed in range(2):
            known = _labels(y[:_GIVEN], 10, seed) >= 0
            targets = ClassTargets(y[:_GIVEN][known], 10)
            rows = np.flatnonzero(known)
            found_at = SpreadLabels.of(
                graph, np.array([99.0]), rows[:0], rows, label_columns(targets)
            )
            P = (1.0 + means(found_at.mass[0], targets)) / 2.0
            mass = P / P.sum(axis=0)
            mass /= mass.sum(axis=1, keepdims=True)
            margin = np.sort(P, axis=1)
            for name, rate in {
                "hard classes": hard(P),
                "class mass normalised": hard(mass),
                "weighted by confidence": hard(P, margin[:, -1] - margin[:, -2]),
                "soft": soft(P),
            }.items():
                found.setdefault(name, []).append(rate)
        return {"new": found}

    return work


def noise(folder):
    """A graph between rows drawn at random: the choice must see that it says nothing."""
    from ulmus import ELMClassifier, RandomFeatures, SemiSupervisedELMClassifier

    X, y = _mnist()
    n = 20_000
    rng = np.random.default_rng(0)
    ends = rng.integers(n, size=(2, 5 * n))
    W = sp.coo_array((np.ones(5 * n), ends), shape=(n, n)).tocsr()
    few = _labels(y[:n], 10, 0)

    def work():
        model = SemiSupervisedELMClassifier(graph=W.maximum(W.T), random_state=0).fit(X[:n], few)
        alone = ELMClassifier(RandomFeatures(2000), random_state=0).fit(
            X[:n][few >= 0], few[few >= 0]
        )
        rates = {
            name: float(each.score(X[_GIVEN:], y[_GIVEN:]))
            for name, each in (("new", model), ("alone", alone))
        }
        return {"coupling": model.coupling_, **rates}

    return work


def covtype(folder):
    """581 012 rows, one label in a hundred."""
    from papers.datasets import load
    from ulmus import ELMClassifier, RandomFeatures, SemiSupervisedELMClassifier

    data = load("covtype", download=False)
    X, y = data.data.astype(np.float32), data.target
    known = np.random.default_rng(0).random(len(y)) < 0.01
    few = np.where(known, y, -1)

    def check(model):
        alone = ELMClassifier(RandomFeatures(2000), random_state=0).fit(X[known], y[known])
        return {
            "coupling": model.coupling_,
            "reason": model.coupling_reason_,
            "given": float(np.mean(model.transduction_[~known] == y[~known])),
            "alone": float(alone.score(X[~known], y[~known])),
        }

    def work():
        model = SemiSupervisedELMClassifier(random_state=0).fit(X, few)
        return lambda: check(model)

    return work


def run(folder, rounds, parts=None):
    """A hundred labels among sixty thousand images; minutes each, so once."""
    prepare(folder)
    best = kept("hundred") if parts else {}
    for name in parts or CONTENDERS:
        threads = 2 if name == "two_cores" else None
        best |= race("benchmarks.hundred", [name], folder, 1, threads)
    first = best["auto_2000"]
    page = table("A hundred labels: the part that is right", ["what", "given", "new"], _right(best))
    costs = [
        (name.replace("_", " "), f"{best[name]['seconds']:.0f}", f"{best[name]['peak_mb']:.0f}")
        for name in ("auto_2000", "two_cores", "auto_10000", "published_2000", "covtype")
    ]
    costs += [
        (f"two cores, other labels: {what}", f"{best['two_cores'][f'relabel_{what}']:.2f}", "")
        for what in ("first", "one", "five")
    ]
    page += "\n\n" + table("What it costs", ["what", "s", "peak MB"], costs)
    ratios = {
        f"SS-ELM / LabelSpreading, {labels}, given rows": np.mean(first[f"given_{each}"])
        / np.mean(first[f"spreading_{each}"])
        for each, labels in ((10, "10 labels"), (1, "1 label"))
    }
    return best, ratios, page


def _right(best):
    """Rows of the page: the part of given and of new rows that is right."""

    def mean(rates):
        return f"{np.mean(rates):.4f}"

    first, rows = best["auto_2000"], []
    for each, labels in ((10, "10 labels a digit"), (1, "1 label a digit")):
        rates = mean(first[f"given_{each}"]), mean(first[f"new_{each}"])
        spread = mean(first[f"spreading_{each}"])
        rows.append((f"SS-ELM, 2000 units, {labels}, ten draws", *rates))
        rows.append((f"LabelSpreading on its graph, {labels}, ten draws", spread, ""))
    names = {
        "auto_10000": "SS-ELM, 10 000 units, one draw",
        "published_2000": "SS-ELM as published, one draw",
        "labelled_alone": "ELM on the labelled rows, one draw",
    }
    rows += [
        (text, f"{best[name]['given']:.4f}", f"{best[name]['new']:.4f}")
        for name, text in names.items()
    ]
    rows += [
        (f"β fitted to: {name}, two draws", "", mean(rates))
        for name, rates in best["beta_targets"]["new"].items()
    ]
    noise, covtype = best["noise"], best["covtype"]
    return [
        *rows,
        (f"graph of noise, coupling {noise['coupling']}", "", f"{noise['new']:.4f}"),
        ("the same, ELM on the labelled rows", "", f"{noise['alone']:.4f}"),
        (f"covtype, 1 % labelled, coupling {covtype['coupling']}", f"{covtype['given']:.4f}", ""),
        ("the same, ELM on the labelled rows", f"{covtype['alone']:.4f}", ""),
    ]
