"""How a form of US-ELM is chosen without a label: rules beside each other, and λ.

Run by ``python -m benchmarks forms``; the data files come from ULMUS_DATA. Every form clusters at
most 1500 rows of each set once, and each rule takes one of them; its accuracy there is what is
scored. By how much forms may agree less than the best was fixed on the sets of FIXED alone; those
of OTHERS had no part in that. The rule in use takes separate clusters first, whatever their sizes:
how separate they must be was fixed on FIXED and on made clusters of unequal size, with all sets in
view. The graphs were picked with all sets in view.

"@" and a share: so many of the pixels of each image are replaced by values from −0.5 to 0.5.
"""

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import table
from benchmarks.unlabelled import SETS, rows_of
from papers.clustering import _noisy
from papers.datasets import benchmark_rows
from ulmus import ELMSpectralClustering
from ulmus.estimators import cluster_forms
from ulmus.estimators.cluster_defaults import SAMPLE, DefaultUnits, some_rows
from ulmus.methods.partitions import (
    agreement,
    clustered,
    edges_between,
    embeddings,
    information,
    judged,
    mean_affinity,
)
from ulmus.metrics import clustering_accuracy

FIXED = ("uspst_mr", "uspst_mr@0.2", "uspst_mr@0.4", "synthetic_control", "iris", "wine", "digits")
FIXED += ("segment", "circles", "moons", "aniso", "blobs", "umist", "libras")
OTHERS = ("optdigits", "usps", "coil20", "breast_cancer", "tdt2", "varied", "letter", "dna", "g50c")
OTHERS += ("orl", "yale", "jaffe", "svmguide1", "waveform", "shuttle", "covtype")
OTHERS += ("optdigits@0.4", "usps@0.4", "coil20@0.4", "mnist@0.4")
LAMS, LAM, MOST = (0.1, 1.0, 10.0, 100.0), 10.0, 3000
# By how much a form may agree less than the best, to be told apart by the graph.
ABOUT = {"agreement": 0.0, "both, .02": 0.02, "both, .05": 0.05, "both, .1": 0.1}
ABOUT |= {"information": 2.0}


def rows(case):
    """Rows and classes of a set, with noise where it is asked for."""
    name, _, share = case.partition("@")
    if name in SETS and not share:
        return rows_of(name, 0)
    X, y = benchmark_rows(name)
    some = np.sort(np.random.RandomState(0).permutation(len(X))[:MOST])
    X, y = np.asarray(X[some], dtype=float), y[some]
    if not share:
        return X, y
    if name != "uspst_mr":  # which the first paper leaves in its own unit
        X = (X - X.min()) / np.ptp(X) - 0.5
    return _noisy(X, float(share), False, 0), y


def pool(X, k):
    """All forms with their clusters of some rows, the numbers of these rows, the graphs."""
    model, units = ELMSpectralClustering(k), DefaultUnits.of(X)
    some, graphs = some_rows(len(X), SAMPLE), cluster_forms._open_graphs(None, units.n_columns)
    couplings = cluster_forms._open_couplings(model, X)
    columns = cluster_forms._open_columns(model, len(X), k)
    _, H, laplacians = cluster_forms._seen(model, X[some], units, graphs, couplings)
    found = []
    for lam in LAMS:
        wanted = laplacians if lam == LAM else {"tight": laplacians.get("tight", {})}
        found += clustered(embeddings(H, wanted, lam, max(columns)), columns, (False, True), k)
    return found, some, laplacians["free"]


def chosen(found, told, about):
    """The number of the form that a rule takes."""
    scores = agreement([form.labels for form in found], [form.kind for form in found])
    return int(np.argmax(np.where(scores >= scores.max() - about, told, -1.0)))


def accuracies(case):
    """What every rule has on a set, and the best and the middle form."""
    X, y = rows(case)
    k = len(np.unique(y))
    found, some, graphs = pool(X, k)
    W = mean_affinity(graphs.values())
    told = np.array([information(edges_between(form.labels, W)) for form in found])
    right = np.array([100 * clustering_accuracy(y[some], form.labels) for form in found])

    def taken(lams, about):
        own = [i for i, form in enumerate(found) if form.lam in (*lams, 0.0)]
        best = chosen([found[i] for i in own], told[own], about)
        return float(right[own[best]])

    plain = [i for i, form in enumerate(found) if form.lam in (LAM, 0.0)]
    few = cluster_forms.telling(graphs, cluster_forms.CANDIDATES, len(some) // k)
    best = judged([found[i] for i in plain], few)[0]
    results = {"in use": 100 * clustering_accuracy(y[some], best.labels)}
    results |= {name: taken((LAM,), about) for name, about in ABOUT.items()}
    results |= {f"both, .05, λ {lam:g}": taken((lam,), 0.05) for lam in LAMS if lam != LAM}
    results["both, .05, all λ"] = taken(LAMS, 0.05)
    return results | {
        "best form": float(right[plain].max()),
        "middle form": float(np.median(right[plain])),
    }


def measure():
    """Accuracy (%) by set and rule."""
    found = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for case in (*FIXED, *OTHERS):
            found[case] = accuracies(case)
            print(case, found[case], flush=True)
    return found


def ratios(found):
    """Means over both groups of sets."""
    return {
        f"mean accuracy (%), {words}, {rule}": float(np.mean([found[case][rule] for case in cases]))
        for words, cases in (("sets it was fixed on", FIXED), ("other sets", OTHERS))
        for rule in found[cases[0]]
    }


def page(found):
    """A row for each set, and the means."""
    rules = list(found[FIXED[0]])
    lines = []
    for words, cases in (("mean, fixed on these", FIXED), ("mean, others", OTHERS)):
        figures = {case: [found[case][rule] for rule in rules] for case in cases}
        figures[words] = np.mean(list(figures.values()), axis=0)
        lines += [(case, *(f"{v:.1f}" for v in each)) for case, each in figures.items()]
    title = "Accuracy (%) of the form of US-ELM that each rule takes, on at most 1500 rows"
    return table(title, ["set", *rules], lines)


def run(folder, rounds):
    """How a form of US-ELM is chosen without a label."""
    found = measure()
    return found, ratios(found), page(found)
