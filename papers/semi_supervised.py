"""Few labels: tables II and III and figures 1 and 2 of the SS-ELM paper.

Each data set is cut into four folds, three times over; one fold is for testing, and of the
others a few rows are labelled, as many are for validation, and the rest have no label. The
hidden layer is the paper's: U(−1, 1) weights on inputs as they are, without bias, as in the
authors' published code.
"""

import itertools
import time
from dataclasses import dataclass, replace

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from papers.datasets import benchmark_rows
from papers.kernel_machines import KernelMachine, kernel_features, signs
from papers.laplacian import lap_rls, lap_svm, solutions
from papers.printed_semi_supervised import PrintedSSELM
from papers.transductive import transductive
from ulmus.estimators.elm import ELMClassifier
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph
from ulmus.kernels import RBF, Pairwise


@dataclass(frozen=True)
class Split:
    """Row numbers of one split."""

    labelled: np.ndarray
    unlabelled: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    @property
    def train(self):
        """Rows to learn from, labelled ones first."""
        return np.concatenate([self.labelled, self.unlabelled])


@dataclass(frozen=True)
class Task:
    """Data, a split of them, and the seed of what is drawn besides."""

    X: np.ndarray
    y: np.ndarray
    split: Split
    seed: int

    @property
    def partial(self):
        """Labels of the rows to learn from, −1 where there is none."""
        return np.where(self.first, self.y[self.split.train], -1)

    @property
    def first(self):
        """Which of the rows to learn from have a label."""
        return np.arange(len(self.split.train)) < len(self.split.labelled)

    def error(self, model, rows):
        """Part of these rows that a model names wrong, in per cent."""
        # LabelSpreading divides by zero for rows that no label reaches; they get the first class.
        with np.errstate(invalid="ignore"):
            labels = model.predict(self.X[rows])
        return 100.0 * float(np.mean(labels != self.y[rows]))

    def best(self, models):
        """The first of the models that have the least error on the validation rows."""
        return min(models, key=lambda model: self.error(model, self.split.validation))


def splits(y, labelled, seed=0, folds=4):
    """Folds that keep the classes' shares, and in each at least one label (or two) of a class."""
    rng = np.random.default_rng(seed)
    while True:
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


def with_labels(split, y, count, rng):
    """A split with ``count`` labelled rows: some of its own, or all and some others (figure 1)."""
    own, more = rng.permutation(split.labelled), rng.permutation(split.unlabelled)
    # One of each class comes first, so that the fewest labels are of all classes.
    _, first = np.unique(y[own], return_index=True)
    order = np.concatenate([own[first], np.delete(own, first), more])
    return replace(split, labelled=order[:count], unlabelled=np.sort(order[count:]))


def with_unlabelled(split, percent, rng):
    """A split with a part of its unlabelled rows (figure 2)."""
    order = rng.permutation(split.unlabelled)
    return replace(split, unlabelled=np.sort(order[: round(len(order) * percent / 100)]))


def svm(task, settings, known=None):
    """SVM with C by validation, from the labelled rows or those that are ``known``."""
    known = task.split.labelled if known is None else known
    kernel = _kernel(settings)
    return task.best(
        SVC(C=C, kernel=kernel).fit(task.X[known], task.y[known]) for C in settings["C"]
    )


def svm_of_all(task, settings):
    """The same, told the labels of all training rows."""
    return svm(task, settings, task.split.train)


def elm(task, settings):
    """ELM from the labelled rows, C by validation."""
    few = task.split.labelled
    return task.best(
        ELMClassifier(_hidden_layer(settings), C=C, random_state=task.seed).fit(
            task.X[few], task.y[few]
        )
        for C in settings["C"]
    )


def ss_elm(task, settings, by_validation=True):
    """SS-ELM, C and λ by validation rows and left-out ones, or by left-out ones alone."""
    model = SemiSupervisedELMClassifier(
        _hidden_layer(settings),
        graph=KNNGraph(**settings["graph"]),
        C=settings["C"],
        lam=settings["lam"],
        random_state=task.seed,
    )
    rows = task.split.validation
    held_out = (task.X[rows], task.y[rows]) if by_validation else None
    return model.fit(task.X[task.split.train], task.partial, validation=held_out)


def ss_elm_printed(task, settings):
    """SS-ELM to the letter: C₀ and λ by the validation rows alone."""
    rows, few = task.split.validation, task.split.labelled
    model = PrintedSSELM(
        settings["n_hidden"], settings["graph"], settings["C"], settings["lam"], task.seed
    )
    return model.fit(task.X[task.split.train], task.y[few], (task.X[rows], task.y[rows]))


def ss_elm_loo(task, settings):
    """SS-ELM without a validation set."""
    return ss_elm(task, settings, by_validation=False)


def laplacian(task, settings):
    """LapRLS or LapSVM, γ_A and γ_I by validation."""
    X, kernel = task.X[task.split.train], _kernel(settings)
    few = np.flatnonzero(task.first)
    alphas = solutions(
        kernel(X, X),
        KNNGraph(**settings["graph"]).laplacian(X),
        few,
        signs(task.y[task.split.labelled], task.y.max() + 1),
        {"square": lap_rls, "squared hinge": lap_svm}[settings["loss"]],
        settings["gamma_A"],
        settings["gamma_I"],
    )
    return task.best(KernelMachine(kernel, X, alpha) for alpha in alphas)


def tsvm(task, settings):
    """TSVM, one class against the others, γ by validation."""
    X, kernel = task.X[task.split.train], _kernel(settings)
    few = np.flatnonzero(task.first)
    T = signs(task.y[task.split.labelled], task.y.max() + 1)
    Z, W = kernel_features(kernel(X, X), settings["missing"])

    def fitted(gamma):
        weights = [transductive(Z, few, t, gamma)[0] for t in T.T]
        return KernelMachine(kernel, X, W @ np.column_stack(weights))

    return task.best(fitted(gamma) for gamma in settings["gamma"])


def label_spreading(task, settings):
    """LabelSpreading on neighbours, their number and α by validation."""
    X = task.X[task.split.train]
    return task.best(
        LabelSpreading("knn", n_neighbors=k, alpha=alpha, max_iter=10_000).fit(X, task.partial)
        for k, alpha in itertools.product(settings["n_neighbors"], settings["alpha"])
    )


METHODS = {
    function.__name__: function
    for function in (
        svm,
        svm_of_all,
        elm,
        ss_elm,
        ss_elm_printed,
        ss_elm_loo,
        laplacian,
        tsvm,
        label_spreading,
    )
}


def _hidden_layer(settings):
    return RandomFeatures(settings["n_hidden"], scaling=None, bias=False)


def _kernel(settings):
    """The Gaussian kernel, of rows as they are or divided by their length."""
    kernel = RBF(0.5 / settings["sigma"] ** 2)
    if settings["unit_length"]:
        return Pairwise(lambda X, Z: kernel(normalize(X), normalize(Z)))
    return kernel


def measures(X, fine, case):
    """Errors (%) on the unlabelled, validation and test rows of a case's split, and seconds."""
    settings = case.settings
    y = (fine >= (fine.max() + 1) // 2).astype(int) if settings["binary"] else fine
    drawn = splits(fine, settings["labelled"], case.seed)
    split = next(itertools.islice(drawn, case.repetition, None))
    rng = np.random.default_rng([case.seed, case.repetition])
    if settings.get("varied") == "labelled":
        split = with_labels(split, y, int(case.x), rng)
    elif settings.get("varied") == "unlabelled":
        split = with_unlabelled(split, case.x, rng)
    task = Task(X, y, split, 1000 * case.seed + case.repetition)
    start = time.process_time()
    model = METHODS[settings["fit"]](task, settings)
    found = {"seconds": time.process_time() - start}
    parts = {"U": split.unlabelled, "V": split.validation, "T": split.test}
    if settings["fit"] == "svm_of_all":
        del parts["U"]  # it was told their labels
    return found | {name: task.error(model, rows) for name, rows in parts.items() if len(rows)}


def run(case):
    """Errors (%) "U", "V" and "T", and the seconds that training took."""
    return measures(*benchmark_rows(case.data), case)
