"""Kernel ELM: low-rank factors against Algorithm 3 and Nystroem + Ridge, and the exact path.

Each function sets a contender up and returns the work that is measured.
"""

import numpy as np

from benchmarks.measure import COSTS, contenders_page, race

SMALL, LARGE, TEST, EXACT = 5000, 50_000, 10_000, 3000
RANKS = (100, 300, 1000)
GRID = np.logspace(-4, 8, 31)
CONTENDERS = [
    *(f"factor_rpcholesky_{rank}" for rank in RANKS),
    *(f"factor_algorithm_3_{rank}" for rank in RANKS),
    *(f"rpcholesky_{rank}" for rank in RANKS),
    *(f"algorithm_3_{rank}" for rank in RANKS),
    "ulmus_rank_1000",
    "ulmus_rank_1000_loo",
    "nystroem_ridge_1000",
    "ulmus_rank_2000",
    "ulmus_rank_2000_loo",
    "nystroem_ridge_2000",
    "exact_one_C",
    "exact_31_C",
]


def prepare(folder):
    """Write the data once for all contenders."""
    from benchmarks.data import mixture

    X, y = mixture(LARGE + TEST)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)


def _load(folder, n_rows):
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    return X[:n_rows], y[:n_rows], X[LARGE:], y[LARGE:]


def _small(folder):
    """5000 float64 rows, their ±1 targets, and the γ of their mean distance."""
    from ulmus.kernels.pairs import mean_distance

    X, y, X_test, y_test = _load(folder, SMALL)
    X, X_test = X.astype(float), X_test.astype(float)
    T = 2.0 * (y[:, None] == np.arange(10)) - 1.0
    return X, T, X_test, y_test, 0.5 / mean_distance(X[:2000]) ** 2


def _errors(T, F, y_test, F_test):
    """How far the fit is from the targets, and how many test rows it names right."""
    return {
        "fit_error": float(np.mean((T - F) ** 2)),
        "accuracy": float(np.mean(F_test.argmax(axis=1) == y_test)),
    }


def _sketched(X, gamma, rank):
    """Eigenvalues d and eigenvectors V of a sketch of K, and F = V √d."""
    from sklearn.metrics.pairwise import rbf_kernel

    K = rbf_kernel(X, gamma=gamma)
    Omega = np.random.default_rng(0).standard_normal((SMALL, rank + 10))
    Q, _ = np.linalg.qr(K @ Omega)
    d, U = np.linalg.eigh((Q.T @ K) @ Q)
    V = Q @ U
    return d, V, V * np.sqrt(np.maximum(d, 0))


def _algorithm_3(folder, rank):
    """The randomized ELM paper's algorithm as printed, K and all, in NumPy."""
    from scipy.linalg import cho_factor, cho_solve
    from sklearn.metrics.pairwise import rbf_kernel

    X, T, X_test, y_test, gamma = _small(folder)

    def work():
        d, V, G = _sketched(X, gamma, rank)
        beta = cho_solve(cho_factor(np.eye(rank + 10) / 10.0 + G.T @ G), G.T @ T)

        def check():
            W = V / np.sqrt(np.maximum(d, 1e-12))
            return _errors(T, G @ beta, y_test, rbf_kernel(X_test, X, gamma=gamma) @ (W @ beta))

        return check

    return work


def _rpcholesky(folder, rank):
    from ulmus import KernelELMClassifier

    X, T, X_test, y_test, gamma = _small(folder)
    y = T.argmax(axis=1)
    model = KernelELMClassifier("rbf", rank=rank, gamma=gamma, C=10.0, scaling=None, random_state=0)

    def work():
        model.fit(X, y)
        outputs = model.decision_function
        return lambda: (
            _errors(T, outputs(X), y_test, outputs(X_test))
            | {"trace_missing": model.approximation_error_}
        )

    return work


def _factor_algorithm_3(folder, rank):
    """Steps 1 to 9 alone: K, its sketch, and F."""
    X, _, _, _, gamma = _small(folder)

    def work():
        _, _, G = _sketched(X, gamma, rank)
        return lambda: {"trace_missing": float(1 - np.sum(G**2) / SMALL)}

    return work


def _factor_rpcholesky(folder, rank):
    from ulmus.kernels import RBF
    from ulmus.kernels.kernel_matrix import KernelMatrix
    from ulmus.kernels.lowrank import low_rank

    X, _, _, _, gamma = _small(folder)

    def work():
        K = KernelMatrix(RBF(gamma), X)
        found = low_rank(K, "rpcholesky", rank, 0.0, np.random.RandomState(0))
        return lambda: {"trace_missing": found.error}

    return work


def _estimator(folder, estimator):
    X, y, X_test, y_test = _load(folder, LARGE)

    def work():
        estimator.fit(X, y)
        return {"accuracy": float(np.mean(estimator.predict(X_test) == y_test))}

    return work


def _ulmus(folder, rank, C):
    from ulmus import KernelELMClassifier

    return _estimator(folder, KernelELMClassifier("rbf", rank=rank, C=C, random_state=0))


def _nystroem(folder, rank):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    features = Nystroem(n_components=rank, random_state=0)
    return _estimator(folder, make_pipeline(features, RidgeClassifier()))


def _exact(folder, C):
    from ulmus import KernelELMClassifier

    X, y, _, _ = _load(folder, EXACT)
    model = KernelELMClassifier("rbf", method="exact", C=C)

    def work():
        model.fit(X.astype(float), y)

    return work


def __getattr__(name):
    """The contenders, by name."""
    kind, _, rank = name.rpartition("_")
    makers = {
        "rpcholesky": _rpcholesky,
        "algorithm_3": _algorithm_3,
        "factor_rpcholesky": _factor_rpcholesky,
        "factor_algorithm_3": _factor_algorithm_3,
        "nystroem_ridge": _nystroem,
    }
    if kind in makers:
        return lambda folder: makers[kind](folder, int(rank))
    if name.startswith("ulmus_rank_"):
        parts = name.split("_")
        return lambda folder: _ulmus(folder, int(parts[2]), "loo" if parts[3:] else 10.0)
    if name in ("exact_one_C", "exact_31_C"):
        return lambda folder: _exact(folder, GRID if name == "exact_31_C" else 10.0)
    raise AttributeError(name)


def run(folder, rounds):
    """Low-rank kernels against Algorithm 3 and Nystroem + Ridge; the exact path."""
    prepare(folder)
    best = race("benchmarks.kernel", CONTENDERS, folder, rounds)
    seconds = {name: result["seconds"] for name, result in best.items()}
    cpu = {name: result["cpu_seconds"] for name, result in best.items()}
    ratios = {
        f"Algorithm 3 / rpcholesky, {what}, rank {rank} (seconds)": seconds[
            f"{part}algorithm_3_{rank}"
        ]
        / seconds[f"{part}rpcholesky_{rank}"]
        for what, part in (("factor", "factor_"), ("fit", ""))
        for rank in RANKS
    }
    for rank in (1000, 2000):
        for ours in (f"ulmus_rank_{rank}", f"ulmus_rank_{rank}_loo"):
            what = "one C" if ours.endswith("0") else "C='loo'"
            ratios[f"rank {rank}, {what} / Nystroem + Ridge (CPU seconds)"] = (
                cpu[ours] / cpu[f"nystroem_ridge_{rank}"]
            )
    ratios["exact, 31 C with leave-one-out / one C (seconds)"] = (
        seconds["exact_31_C"] / seconds["exact_one_C"]
    )
    ratios["peak MB, rank 1000"] = best["ulmus_rank_1000_loo"]["peak_mb"]
    title = (
        "Kernels: n = 5000 for rpcholesky and Algorithm 3, 50 000 × 100 for Nystroem + Ridge, "
        "n = 3000 for the exact path"
    )
    return best, ratios, contenders_page(title, best, COSTS, check=".4g")
