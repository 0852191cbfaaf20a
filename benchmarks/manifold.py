"""The graph's part: the grid of C and λ, eigenvectors, relabelling, memory.

Each function sets a contender up and returns the work that is measured.
"""

import numpy as np
import scipy.linalg

from benchmarks.measure import contenders_page, race

HIDDEN, ROWS, LABELS = 2000, 20_000, 100
GRID = np.logspace(-6, 6, 13)
CONTENDERS = [
    "grid_from_one_eigendecomposition",
    "grid_by_a_solve_per_point",
    "lanczos_10",
    "scipy_subset_10",
    "lanczos_40",
    "scipy_subset_40",
    "relabel_50000_rows",
    "relabel_and_predict_50000_rows",
    "fit_70000_rows",
]


def _world(n_rows, n_columns=8, dtype=np.float32):
    """Rows, classes and a neighbour graph; few columns, so that the exact search is quick."""
    from benchmarks.data import mixture
    from ulmus import KNNGraph

    X, y = mixture(n_rows, n_columns, per_class=2, spread=2.0)
    few = np.full(n_rows, -1)
    chosen = np.random.default_rng(1).choice(n_rows, LABELS, replace=False)
    few[chosen] = y[chosen]
    X = X.astype(dtype)
    return X, y, few, KNNGraph(10, method="exact").laplacian(X)


def prepare(folder):
    """Everything but the contenders' own work, once."""
    from ulmus import RandomFeatures
    from ulmus.hidden import Hidden
    from ulmus.methods.manifold_basis import manifold_gram

    X, _, few, laplacian = _world(ROWS, dtype=float)
    H = Hidden(RandomFeatures(HIDDEN, random_state=0).fit(X).layer(X), X)
    known = np.flatnonzero(few >= 0)
    whole = H.all()
    np.savez(
        folder / "grid.npz",
        M=manifold_gram(H, laplacian),
        B=whole.T @ whole,
        rows=whole[known],
        codes=np.unique(few[known], return_inverse=True)[1],
    )


def _grid(folder):
    with np.load(folder / "grid.npz") as data:
        return data["M"], data["rows"], data["codes"]


def grid_from_one_eigendecomposition(folder):
    from ulmus.backends.linalg import eigh
    from ulmus.methods.manifold_basis import Labelled, ManifoldBasis, surface
    from ulmus.targets import ClassTargets

    M, rows, codes = _grid(folder)

    def work():
        w, V = eigh(np.asfortranarray(M))
        basis = ManifoldBasis(V, np.maximum(w, 0.0))
        targets = ClassTargets(codes, int(codes.max()) + 1)
        labelled = Labelled(basis, rows @ V, targets, np.ones(len(codes)))
        surface(labelled, GRID, GRID)
        return lambda: {"largest relative difference of β": _farthest(labelled, M, rows, codes)}

    return work


def _farthest(labelled, M, rows, codes):
    """The largest relative difference between β and a solve of its own, over some points."""
    from ulmus.methods.manifold_basis import point

    far = 0.0
    for C, lam in [(1.0, 1.0), (100.0, 0.01), (0.01, 100.0), (1e4, 1e2)]:
        expected = _solve(M, rows, codes, C, lam)
        found = point(labelled, lam, C).coef
        far = max(far, float(np.linalg.norm(found - expected) / np.linalg.norm(expected)))
    return far


def _solve(M, rows, codes, C, lam):
    T = 2.0 * (codes[:, None] == np.arange(codes.max() + 1)) - 1
    A = np.eye(len(M)) + C * rows.T @ rows + lam * M
    return scipy.linalg.solve(A, C * rows.T @ T, assume_a="pos", check_finite=False)


def grid_by_a_solve_per_point(folder):
    M, rows, codes = _grid(folder)

    def work():
        G = rows.T @ rows
        T = 2.0 * (codes[:, None] == np.arange(codes.max() + 1)) - 1
        R = rows.T @ T
        for lam in GRID:
            for C in GRID:
                A = C * G + lam * M
                A.flat[:: len(A) + 1] += 1.0
                factor = scipy.linalg.cho_factor(A, overwrite_a=True, check_finite=False)
                scipy.linalg.cho_solve(factor, C * R, check_finite=False)

    return work


def _pencil(folder):
    with np.load(folder / "grid.npz") as data:
        return np.asfortranarray(np.eye(HIDDEN) + 10.0 * data["M"]), np.asfortranarray(data["B"])


def _lanczos(folder, k):
    from ulmus.methods.unsupervised import smoothest

    A, B = _pencil(folder)

    def work():
        gamma, V = smoothest(A.copy(order="F"), B, k + 1)
        return lambda: {"largest residual": _residual(A, B, gamma, V)}

    return work


def _residual(A, B, gamma, V):
    left, right = A @ V, gamma * (B @ V)
    return float(np.max(np.linalg.norm(left - right, axis=0) / np.linalg.norm(left, axis=0)))


def lanczos_10(folder):
    return _lanczos(folder, 10)


def lanczos_40(folder):
    return _lanczos(folder, 40)


def _subset(folder, k):
    A, B = _pencil(folder)

    def work():
        scipy.linalg.eigh(B, A, subset_by_index=(HIDDEN - k - 1, HIDDEN - 1), check_finite=False)

    return work


def scipy_subset_10(folder):
    return _subset(folder, 10)


def scipy_subset_40(folder):
    return _subset(folder, 40)


def _relabel(predict):
    from ulmus import SemiSupervisedELMClassifier

    X, y, few, laplacian = _world(50_000)
    model = SemiSupervisedELMClassifier(
        n_hidden=1000, graph=laplacian, coupling="published", random_state=0
    ).fit(X, few)
    other = np.full(len(y), -1)
    chosen = np.random.default_rng(2).choice(len(y), LABELS, replace=False)
    other[chosen] = y[chosen]

    def work():
        again = model.relabel(other)
        if predict:
            return {"accuracy": float(np.mean(again.predict(X) == y))}
        return None

    return work


def relabel_50000_rows(folder):
    return _relabel(predict=False)


def relabel_and_predict_50000_rows(folder):
    return _relabel(predict=True)


def fit_70000_rows(folder):
    from ulmus import SemiSupervisedELMClassifier

    X, y, few, laplacian = _world(70_000)
    model = SemiSupervisedELMClassifier(
        n_hidden=2000, graph=laplacian, coupling="published", random_state=0
    )

    def work():
        model.fit(X, few)
        return {"accuracy": float(np.mean(model.predict(X) == y))}

    return work


def run(folder, rounds):
    """The grid of C and λ, eigenvectors, relabelling and memory."""
    prepare(folder)
    best = race("benchmarks.manifold", CONTENDERS, folder, rounds)
    seconds = {name: result["seconds"] for name, result in best.items()}
    ratios = {
        "a solve per point / one eigendecomposition": seconds["grid_by_a_solve_per_point"]
        / seconds["grid_from_one_eigendecomposition"],
        "eigh(subset) / Lanczos, 10 vectors": seconds["scipy_subset_10"] / seconds["lanczos_10"],
        "eigh(subset) / Lanczos, 40 vectors": seconds["scipy_subset_40"] / seconds["lanczos_40"],
        "relabel, milliseconds": 1000 * seconds["relabel_50000_rows"],
        "relabel and predict all, milliseconds": 1000 * seconds["relabel_and_predict_50000_rows"],
        "peak MB of a fit on 70 000 rows, 2000 units": best["fit_70000_rows"]["peak_mb"],
    }
    columns = {"s": ("seconds", ".3f"), "peak MB": ("peak_mb", ".0f")}
    title = "The graph's part: n = 20 000, h = 2000, 100 labels, unless the row says otherwise"
    return best, ratios, contenders_page(title, best, columns, check=".2g")
