"""The hinge loss on hidden rows, n = 6000, h = 1000, against LinearSVC without an intercept.

Both are given H ready-made and the same tolerance. The easy problem is all but separable; in the
hard one the classes overlap, a tenth of the labels are wrong and C is ten times as large.
LinearSVC stops after 3000 epochs. "excess" is how far the primal objective is above the best
dual one, relative to it: an upper bound on the distance to the optimum.

``accuracies`` is how the default C was chosen.
"""

import time
import warnings

import numpy as np

from benchmarks.measure import COSTS, contenders_page, race, table

ROWS, HIDDEN, TOL, EPOCHS = 6000, 1000, 1e-3, 3000
PROBLEMS = {"easy": 1.0, "hard": 10.0}
CONTENDERS = [
    f"{problem}_{solver}"
    for problem in PROBLEMS
    for solver in ("ulmus_float64", "ulmus_float32", "linear_svc")
]


def prepare(folder):
    """Write the hidden rows once for all contenders, and the optimum to compare with."""
    from benchmarks.data import mixture
    from ulmus import RandomFeatures
    from ulmus.methods.hinge import Hinge, hinge

    for problem, C in PROBLEMS.items():
        spread, per_class = (0.9, 4) if problem == "easy" else (0.35, 8)
        X, y = mixture(ROWS, 50, n_classes=2, per_class=per_class, spread=spread)
        t = np.where(y == 1, 1.0, -1.0)
        if problem == "hard":
            t[np.random.default_rng(1).random(ROWS) < 0.1] *= -1
        H = RandomFeatures(HIDDEN, random_state=0).fit(X).transform(X.astype(float))
        best = hinge(Hinge(t[:, None], np.full(ROWS, C)), H, tol=1e-6)
        dual = float(best.alpha.sum() - 0.5 * np.sum(best.coef**2))
        np.savez(folder / f"{problem}.npz", H=H, t=t, dual=dual)


def _load(folder, problem):
    with np.load(folder / f"{problem}.npz") as data:
        return data["H"], data["t"], float(data["dual"])


def _excess(H, t, w, problem, dual):
    loss = np.maximum(0.0, 1.0 - t * (H @ w)).sum()
    return {"excess": float((0.5 * w @ w + PROBLEMS[problem] * loss) / dual - 1.0)}


def _ulmus(folder, problem, dtype):
    from ulmus.methods.hinge import Hinge, hinge

    H, t, dual = _load(folder, problem)
    rows = np.ascontiguousarray(H.astype(dtype))
    target = Hinge(t[:, None], np.full(ROWS, PROBLEMS[problem]))
    # Compiled code is kept on disk; reading it back is not the work that is measured.
    hinge(Hinge(t[:50, None], np.ones(50)), rows[:50])

    def work():
        solution = hinge(target, rows, tol=TOL)
        return lambda: _excess(H, t, solution.coef[:, 0], problem, dual)

    return work


def _linear_svc(folder, problem):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    H, t, dual = _load(folder, problem)
    model = LinearSVC(
        loss="hinge",
        fit_intercept=False,
        C=PROBLEMS[problem],
        tol=TOL,
        max_iter=EPOCHS,
        random_state=0,
    )

    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(H, t)
        return lambda: _excess(H, t, model.coef_[0], problem, dual)

    return work


def __getattr__(name):
    """A contender by its name: the problem, and who solves it."""
    if name not in CONTENDERS:
        raise AttributeError(name)
    problem, _, who = name.partition("_")
    if who == "linear_svc":
        return lambda folder: _linear_svc(folder, problem)
    return lambda folder: _ulmus(folder, problem, np.dtype(who.removeprefix("ulmus_")))


def accuracies(splits=2):
    """Accuracy on the held-out half, mean over data sets and splits, and mean seconds of a fit."""
    from sklearn.metrics.pairwise import rbf_kernel

    from ulmus import ELMClassifier, RandomFeatures, SparseELMClassifier

    layers = {
        "1000 units": {},
        "100 units": {"n_hidden": 100},
        "RBF kernel": {"kernel": rbf_kernel},
    }
    sets = _sets()
    found = {}
    for layer, parameters in layers.items():
        for C in (0.1, 1.0, 10.0, 100.0, "validation"):
            model = SparseELMClassifier(C=C, random_state=0, **parameters)
            found[f"{layer}, C = {C}"] = _halves(model, sets.values(), splits)
    digits = [sets["digits"]]
    found["digits, squared loss"] = _halves(
        ELMClassifier(RandomFeatures(), random_state=0), digits, splits
    )
    for activation in ("sigmoid", "relu"):
        model = SparseELMClassifier(RandomFeatures(activation=activation), random_state=0)
        found[f"digits, hinge loss, {activation}"] = _halves(model, digits, splits)
    return found


def _sets():
    from sklearn import datasets
    from sklearn.preprocessing import scale

    load = {"return_X_y": True}
    sets = {
        "digits": datasets.load_digits(**load),
        "cancer": datasets.load_breast_cancer(**load),
        "wine": datasets.load_wine(**load),
        "iris": datasets.load_iris(**load),
        "moons": datasets.make_moons(600, noise=0.3, random_state=0),
        "three classes": datasets.make_classification(
            1500, 20, n_informative=8, n_classes=3, flip_y=0.1, random_state=0
        ),
        "two noisy classes": datasets.make_classification(
            1500, 30, n_informative=5, flip_y=0.2, class_sep=0.5, random_state=0
        ),
    }
    return {name: (scale(X), y) for name, (X, y) in sets.items()}


def _halves(model, sets, splits):
    from sklearn.model_selection import train_test_split

    scores, seconds = [], []
    for X, y in sets:
        for seed in range(splits):
            parts = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
            start = time.perf_counter()
            model.fit(parts[0], parts[2])
            seconds.append(time.perf_counter() - start)
            scores.append(model.score(parts[1], parts[3]))
    return {"accuracy": float(np.mean(scores)), "seconds": float(np.mean(seconds))}


def run(folder, rounds):
    """The hinge loss against LinearSVC, an easy and a hard problem."""
    prepare(folder)
    best = race("benchmarks.hinge", CONTENDERS, folder, rounds)
    ratios = {
        f"LinearSVC / {dtype}, {problem} (seconds)": best[f"{problem}_linear_svc"]["seconds"]
        / best[f"{problem}_ulmus_{dtype}"]["seconds"]
        for problem in PROBLEMS
        for dtype in ("float64", "float32")
    }
    columns = COSTS | {"objective above the optimum": ("excess", ".1e")}
    title = "Hinge loss without a bias, n = 6000, h = 1000; LinearSVC stops after 3000 epochs"
    page = contenders_page(title, best, columns)
    best["accuracies"] = accuracies()
    rows = [
        (case, f"{100 * cell['accuracy']:.1f}", f"{cell['seconds']:.2f}")
        for case, cell in best["accuracies"].items()
    ]
    title = "Choosing C for the hinge loss: seven data sets, the half that is held out"
    page += "\n\n" + table(title, ["model", "right (%)", "s"], rows)
    return best, ratios, page
