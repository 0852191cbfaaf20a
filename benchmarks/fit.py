"""Fit and predict at 50 000 × 100, 10 classes, 2000 hidden units, against floor and peers.

Each function sets a contender up and returns the work that is measured.
"""

import numpy as np

from benchmarks.measure import race, table

HIDDEN, TRAIN, TEST = 2000, 50_000, 10_000
CONTENDERS = [
    "floor_float32",
    "ulmus_float32",
    "ulmus_float32_loo",
    "floor_float64",
    "ulmus_float64",
    "naive_float32",
    "naive_float64",
    "hpelm",
    "scikit_elm",
    "rbf_sampler_ridge",
    "nystroem_ridge",
    "linear_ridge",
]


def prepare(folder):
    """Write the data once for all contenders."""
    from benchmarks.data import mixture

    X, y = mixture(TRAIN + TEST)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)


def _load(folder, dtype=np.float32):
    X, y = np.load(folder / "X.npy").astype(dtype, copy=False), np.load(folder / "y.npy")
    return X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:]


def _floor(folder, dtype):
    """The products and the factorisation no ridge on random features can do without.

    In one BLAS, in blocks, with nothing else between them: X A, HᵀH, HᵀT, one Cholesky, and
    X A and Hβ for the test rows.
    """
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    X, _, X_test, _ = _load(folder, dtype)
    rng = np.random.default_rng(0)
    A = rng.uniform(-0.1, 0.1, (100, HIDDEN)).astype(dtype)
    T = rng.standard_normal((TRAIN, 10)).astype(dtype)
    beta = rng.standard_normal((HIDDEN, 10)).astype(dtype)
    H = np.empty((4096, HIDDEN), dtype)
    gemm, syrk = get_blas_funcs(("gemm", "syrk"), (H,))

    def work():
        G = np.zeros((HIDDEN, HIDDEN), dtype, order="F")
        for start in range(0, TRAIN, len(H)):
            x, t = X[start : start + len(H)], T[start : start + len(H)]
            h = H[: len(x)]
            gemm(1.0, A.T, x.T, c=h.T, overwrite_c=1)
            syrk(1.0, h.T, beta=1.0, c=G, overwrite_c=1)
            gemm(1.0, h.T, t.T, trans_b=1)
        (potrf,) = get_lapack_funcs(("potrf",), (np.empty(0),))
        potrf(G.astype(float) + 1e6 * np.eye(HIDDEN))
        for start in range(0, TEST, len(H)):
            x = X_test[start : start + len(H)]
            h = H[: len(x)]
            gemm(1.0, A.T, x.T, c=h.T, overwrite_c=1)
            gemm(1.0, beta.T, h.T)

    return work


def floor_float32(folder):
    return _floor(folder, np.float32)


def floor_float64(folder):
    return _floor(folder, np.float64)


def _estimator(folder, estimator, dtype=np.float32):
    X, y, X_test, y_test = _load(folder, dtype)

    def work():
        estimator.fit(X, y)
        return {"accuracy": float(np.mean(estimator.predict(X_test) == y_test))}

    return work


def _ulmus(folder, C, dtype):
    from ulmus import ELMClassifier, RandomFeatures

    return _estimator(folder, ELMClassifier(RandomFeatures(HIDDEN), C=C, random_state=0), dtype)


def ulmus_float32(folder):
    return _ulmus(folder, 1.0, np.float32)


def ulmus_float64(folder):
    return _ulmus(folder, 1.0, np.float64)


def ulmus_float32_loo(folder):
    return _ulmus(folder, "loo", np.float32)


def _naive(folder, dtype):
    """The textbook in five lines, with the same weights and the same ridge."""
    X, y, X_test, y_test = _load(folder, dtype)

    def work():
        rng = np.random.default_rng(0)
        A = (rng.uniform(-1, 1, (X.shape[1], HIDDEN)) / np.sqrt(X.shape[1])).astype(dtype)
        b = rng.uniform(-1, 1, HIDDEN).astype(dtype)
        H = 1 / (1 + np.exp(-(X @ A + b)))
        T = (2 * (y[:, None] == np.arange(10)) - 1).astype(dtype)
        beta = np.linalg.solve(H.T @ H + np.eye(HIDDEN, dtype=dtype), H.T @ T)
        guess = (1 / (1 + np.exp(-(X_test @ A + b))) @ beta).argmax(axis=1)
        return {"accuracy": float(np.mean(guess == y_test))}

    return work


def naive_float32(folder):
    return _naive(folder, np.float32)


def naive_float64(folder):
    return _naive(folder, np.float64)


def hpelm(folder):
    from hpelm import ELM

    X, y, X_test, y_test = _load(folder)

    def work():
        model = ELM(X.shape[1], 10, classification="c", norm=1.0, precision="single")
        model.add_neurons(HIDDEN, "sigm")
        model.train(X, np.eye(10)[y], "c")
        return {"accuracy": float(np.mean(model.predict(X_test).argmax(axis=1) == y_test))}

    return work


def scikit_elm(folder):
    from skelm import ELMClassifier

    return _estimator(folder, ELMClassifier(n_neurons=HIDDEN, alpha=1.0, random_state=0))


def rbf_sampler_ridge(folder):
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    features = RBFSampler(gamma="scale", n_components=HIDDEN, random_state=0)
    return _estimator(folder, make_pipeline(features, RidgeClassifier()))


def nystroem_ridge(folder):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    features = Nystroem(n_components=HIDDEN, random_state=0)
    return _estimator(folder, make_pipeline(features, RidgeClassifier()))


def linear_ridge(folder):
    from sklearn.linear_model import RidgeClassifier

    return _estimator(folder, RidgeClassifier())


def run(folder, rounds):
    """Fit and predict against the floor, the textbook and the peers."""
    prepare(folder)
    best = race("benchmarks.fit", CONTENDERS, folder, rounds)
    cpu = {name: result["cpu_seconds"] for name, result in best.items()}
    ratios = {
        "float32 / its floor": cpu["ulmus_float32"] / cpu["floor_float32"],
        "float64 / its floor": cpu["ulmus_float64"] / cpu["floor_float64"],
        "float32 / naive float64": cpu["ulmus_float32"] / cpu["naive_float64"],
        "C='loo' / one C (seconds)": best["ulmus_float32_loo"]["seconds"]
        / best["ulmus_float32"]["seconds"],
    }
    rows = [
        (
            name,
            f"{result['cpu_seconds']:.2f}",
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds'] / cpu['naive_float64']:.2f}",
            f"{result['peak_mb']:.0f}",
            f"{result['accuracy']:.3f}" if "accuracy" in result else "",
        )
        for name, result in sorted(best.items(), key=lambda item: item[1]["cpu_seconds"])
    ]
    columns = ["contender", "CPU s", "s", "× naive float64", "peak MB", "accuracy"]
    title = "Fit and predict, 50 000 × 100, 10 classes, 2000 units, 10 000 test rows"
    return best, ratios, table(title, columns, rows)
