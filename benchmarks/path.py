"""The whole curve over 25 values of C with exact leave-one-out, n = 20 000, h = 800.

RidgeCV is given H ready-made; Ulmus makes it, twice.
"""

import numpy as np

from benchmarks.measure import race, table

ROWS, HIDDEN = 20_000, 800
GRID = np.logspace(-4, 4, 25)
CONTENDERS = ["ulmus_float32", "ulmus_float64", "ridge_cv_float64", "ridge_cv_float32"]


def prepare(folder):
    """Write the data once for all contenders."""
    from benchmarks.data import mixture

    X, y = mixture(ROWS)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", np.sin(X[:, 0] + X[:, 1]) + 0.1 * y)


def _load(folder, dtype):
    return np.load(folder / "X.npy").astype(dtype), np.load(folder / "y.npy")


def _ulmus(folder, dtype):
    from ulmus import ELMRegressor, RandomFeatures

    X, y = _load(folder, dtype)
    model = ELMRegressor(RandomFeatures(HIDDEN), C=GRID, random_state=0)

    def work():
        model.fit(X, y)
        return {"loo": model.loo_path_["squared_error"].tolist()}

    return work


def ulmus_float32(folder):
    return _ulmus(folder, np.float32)


def ulmus_float64(folder):
    return _ulmus(folder, np.float64)


def _ridge_cv(folder, dtype):
    from sklearn.linear_model import RidgeCV

    from ulmus import RandomFeatures

    X, y = _load(folder, float)
    H = RandomFeatures(HIDDEN, random_state=0).fit_transform(X).astype(dtype)
    model = RidgeCV(1 / GRID, store_cv_results=True)

    def work():
        model.fit(H, y.astype(dtype))
        return {"loo": model.cv_results_.mean(axis=0).astype(float).tolist()}

    return work


def ridge_cv_float64(folder):
    return _ridge_cv(folder, np.float64)


def ridge_cv_float32(folder):
    return _ridge_cv(folder, np.float32)


def run(folder, rounds):
    """The curve over C against RidgeCV."""
    prepare(folder)
    best = race("benchmarks.path", CONTENDERS, folder, rounds)
    errors = {name: np.array(result.pop("loo")) for name, result in best.items()}
    seconds = {name: result["seconds"] for name, result in best.items()}
    peer = errors["ridge_cv_float64"]
    ratios = {
        "RidgeCV float64 / float64 (seconds)": seconds["ridge_cv_float64"]
        / seconds["ulmus_float64"],
        "RidgeCV float32 / float32 (seconds)": seconds["ridge_cv_float32"]
        / seconds["ulmus_float32"],
        "RidgeCV float64 / float32 (seconds)": seconds["ridge_cv_float64"]
        / seconds["ulmus_float32"],
        "largest relative difference of the errors, float64": float(
            np.max(np.abs(errors["ulmus_float64"] / peer - 1))
        ),
    }
    rows = [
        (
            name,
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds']:.2f}",
            f"{result['peak_mb']:.0f}",
            f"{np.max(np.abs(errors[name] / peer - 1)):.1e}",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "s", "CPU s", "peak MB", "largest relative difference"]
    title = "25 values of C with exact leave-one-out, n = 20 000, h = 800"
    return best, ratios, table(title, columns, rows)
