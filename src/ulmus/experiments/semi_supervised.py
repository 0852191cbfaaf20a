"""Table II of the SS-ELM paper: error with few labels, on twelve splits of five problems.

Each data set is cut into four folds, three times over; one fold is for testing, and of the
others a few rows are labelled, as many are for validation, and the rest have no label. The
hidden layer is the paper's: U(−1, 1) weights on inputs as they are, without bias, as in the
authors' published code. Graphs are those of the benchmarks the paper points to, but for COIL20's,
where heat weights and the plain Laplacian come closer to the table; ``docs/papers`` has both.
"""

from dataclasses import dataclass

import numpy as np

from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.experiments.files import benchmark_rows
from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph

__all__ = ["PROBLEMS", "Problem", "Split", "evaluate", "splits"]

GRID = [10.0**k for k in range(-6, 7)]


@dataclass(frozen=True)
class Problem:
    """A row of the table: the data, the graph, and the paper's figures.

    ``paper`` holds mean and standard deviation of the error (%) on the unlabelled and on the
    test rows.
    """

    file: str
    binary: bool
    labelled: int
    n_hidden: int
    graph: KNNGraph
    paper: dict[str, tuple[float, float]]


def _graph(k, power=1, weights="binary", normalized=True):
    return KNNGraph(k, weights=weights, normalized=normalized, power=power)


COIL_GRAPH = _graph(2, weights="heat", normalized=False)
PROBLEMS = {
    "G50C": Problem("g50c", True, 50, 1000, _graph(50, 5), {"U": (5.24, 1.17), "T": (4.96, 1.53)}),
    "COIL20(B)": Problem(
        "coil20", True, 40, 2000, COIL_GRAPH, {"U": (6.04, 1.26), "T": (7.33, 2.15)}
    ),
    "USPST(B)": Problem(
        "uspst_mr", True, 50, 2000, _graph(10, 2), {"U": (9.24, 2.79), "T": (10.98, 2.99)}
    ),
    "COIL20": Problem(
        "coil20", False, 40, 2000, COIL_GRAPH, {"U": (10.92, 2.05), "T": (11.16, 1.97)}
    ),
    "USPST": Problem(
        "uspst_mr", False, 50, 2000, _graph(10, 2), {"U": (13.51, 1.89), "T": (13.85, 2.41)}
    ),
}


@dataclass(frozen=True)
class Split:
    """Row numbers of one split."""

    labelled: np.ndarray
    unlabelled: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def splits(y, labelled, seed=0, folds=4, repeats=3):
    """Folds that keep the classes' shares, and in each at least one label (or two) of a class."""
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        fold = np.zeros(len(y), int)
        for label in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == label))
            fold[rows] = np.arange(len(rows)) % folds
        for k in range(folds):
            train = np.flatnonzero(fold != k)
            few = _draw(y, train, labelled, rng)
            rest = np.setdiff1d(train, few)
            validation = _draw(y, rest, labelled, rng)
            unlabelled = np.setdiff1d(rest, validation)
            yield Split(few, unlabelled, validation, np.flatnonzero(fold == k))


def _draw(y, pool, count, rng):
    """``count`` rows of the pool, with some of every class, and the others at random."""
    classes = np.unique(y)
    least = 1 if len(classes) == 2 else 2
    own = [rng.permutation(pool[y[pool] == label])[:least] for label in classes]
    chosen = np.concatenate(own)
    others = rng.permutation(np.setdiff1d(pool, chosen))
    return np.concatenate([chosen, others[: count - len(chosen)]])


def evaluate(problem, graph=None, features=None, seed=0):
    """Errors (%) on U and T of every split, with C and λ by validation and by leave-one-out.

    Parameters
    ----------
    problem : Problem
        One of `PROBLEMS`.
    graph : KNNGraph, default=None
        Another graph than the problem's.
    features : feature map, default=None
        Another hidden layer than the paper's.
    seed : int, default=0
        Seeds the splits and the hidden layers.

    Returns
    -------
    errors : dict of dicts of lists
        ``errors["validation"]["T"]`` has one number for each split.
    """
    X, fine = benchmark_rows(problem.file)
    y = (fine >= (fine.max() + 1) // 2).astype(int) if problem.binary else fine
    errors = {kind: {"U": [], "T": []} for kind in ("validation", "loo")}
    for number, split in enumerate(splits(fine, problem.labelled, seed)):
        train = np.concatenate([split.labelled, split.unlabelled])
        partial = np.concatenate([y[split.labelled], np.full(len(split.unlabelled), -1)])
        layer = features or RandomFeatures(problem.n_hidden, scaling=None, bias=False)
        model = SemiSupervisedELMClassifier(
            layer,
            graph=graph or problem.graph,
            C=GRID,
            lam=GRID,
            random_state=1000 * seed + number,
        )
        held_out = (X[split.validation], y[split.validation])
        by_validation = model.fit(X[train], partial, validation=held_out)
        for kind, fitted in (
            ("validation", by_validation),
            ("loo", by_validation.relabel(partial)),
        ):
            for name, rows in (("U", split.unlabelled), ("T", split.test)):
                errors[kind][name].append(100 * float(np.mean(fitted.predict(X[rows]) != y[rows])))
    return errors
