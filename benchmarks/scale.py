"""Time and memory against the number of rows and of units, and covtype beside its rivals.

The rows lie in a file that is mapped into memory. A contender's name says what it is and how
large: ``map_1000000`` fits a million rows of the file.
"""

import shutil
from functools import partial

import numpy as np

from benchmarks.measure import COSTS, contenders_page, race

COLUMNS, CLASSES, HIDDEN = 50, 10, 1000
ROWS = [10**4, 10**5, 10**6, 10**7]
# Where the sources are compared with each other.
MIDDLE = 10**6
SOURCES = ["memory", "batches", "parquet", "map_loo"]
UNITS = [500, 1000, 2000, 4000, 8000, 20_000]
UNIT_ROWS = 20_000
# More than this machine: the arithmetic alone.
LARGE = 10**7, 20_000
COVTYPE = ["covtype_elm", "covtype_sgd", "covtype_nystroem", "covtype_boosting"]
_STEP = 10**5


def prepare(folder, most=ROWS[-1]):
    """Write the rows, and a part of them as Parquet; give the numbers of rows there is room for."""
    room = shutil.disk_usage(folder).free
    rows = [n for n in ROWS if n <= most and 8 * n * COLUMNS < room]
    rng = np.random.default_rng(0)
    centers = 0.6 * rng.standard_normal((4 * CLASSES, COLUMNS)).astype(np.float32)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (rows[-1], COLUMNS))
    y = np.empty(rows[-1], np.int64)
    for start in range(0, rows[-1], _STEP):
        part = slice(start, min(start + _STEP, rows[-1]))
        cluster = rng.integers(0, len(centers), part.stop - start)
        X[part] = rng.standard_normal((len(cluster), COLUMNS), dtype=np.float32)
        X[part] += centers[cluster]
        y[part] = cluster % CLASSES
    np.save(folder / "y.npy", y)
    _write_parquet(folder, X[:MIDDLE], y[:MIDDLE])
    return rows


def _write_parquet(folder, X, y):
    try:
        from pyarrow import parquet, table
    except ModuleNotFoundError:
        return
    columns = {f"x{j}": X[:, j] for j in range(COLUMNS)} | {"label": y}
    parquet.write_table(table(columns), folder / "rows.parquet")


def __getattr__(name):
    kind, _, size = name.rpartition("_")
    if not size.isdigit():
        raise AttributeError(name)
    return partial({"units": _units}.get(kind, _rows), kind=kind, size=int(size))


def _rows(folder, kind, size):
    """A fit of so many rows from a map, from memory, or from batches."""
    from ulmus import ELMClassifier, RandomFeatures, batches

    C = "loo" if kind == "map_loo" else 1.0
    model = ELMClassifier(RandomFeatures(HIDDEN), C=C, random_state=0)
    y = np.load(folder / "y.npy", mmap_mode="r")[:size].copy()
    X = np.load(folder / "X.npy", mmap_mode="r")[:size]
    if kind == "memory":
        X = np.array(X)
    if kind == "batches":
        return lambda: _fitted(model, batches.from_arrays(X, y))
    if kind == "parquet":
        import pyarrow  # noqa: F401

        path = folder / "rows.parquet"
        return lambda: _fitted(model, batches.from_parquet(path, "label", dtype=np.float32))
    return lambda: _fitted(model, X, y)


def _units(folder, kind, size):
    """A fit with so many units."""
    from ulmus import ELMClassifier, RandomFeatures

    X = np.load(folder / "X.npy", mmap_mode="r")[:UNIT_ROWS]
    y = np.load(folder / "y.npy", mmap_mode="r")[:UNIT_ROWS]
    model = ELMClassifier(RandomFeatures(size), C=1.0, random_state=0)
    return lambda: _fitted(model, X, y)


def _fitted(model, *data):
    model.fit(*data)


def work(n, h):
    """Floating-point operations of the sums: one triangle of HᵀH, and X A."""
    return float(n) * h * (h + 2 * COLUMNS)


def growth(sizes, figures):
    """The exponent p of figure ≈ size^p, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(figures), 1)[0])


# ---------------------------------------------------------------- covtype
def covtype_is_here():
    """Whether the data are at hand, for nothing is fetched while something is measured."""
    from papers.datasets import load
    from papers.errors import MissingDatasetError

    try:
        load("covtype", download=False)
    except MissingDatasetError:
        return False
    return True


def _covtype(model):
    """Load, split, fit and predict, all of which is measured."""
    from papers.datasets import load

    def work():
        data = load("covtype", download=False)
        X, y = data.data, data.target
        del data
        test = np.random.default_rng(0).permutation(len(y)) % 5 == 0
        X_test, y_test = X[test], y[test]
        X, y = X[~test], y[~test]
        model.fit(X, y)
        return {"accuracy": float(np.mean(model.predict(X_test) == y_test))}

    return work


def covtype_elm(folder):
    from ulmus import ELMClassifier, RandomFeatures

    return _covtype(ELMClassifier(RandomFeatures(2000), dtype="float32", random_state=0))


def covtype_sgd(folder):
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return _covtype(make_pipeline(StandardScaler(), SGDClassifier(random_state=0)))


def covtype_nystroem(folder):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    # In float64 its 465 000 × 1000 features would be 3.7 GB, and their copies as much again.
    narrow = FunctionTransformer(np.float32)
    features = Nystroem(n_components=1000, random_state=0)
    return _covtype(make_pipeline(narrow, StandardScaler(), features, RidgeClassifier()))


def covtype_boosting(folder):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _covtype(HistGradientBoostingClassifier(random_state=0))


def run(folder, rounds):
    """Against the number of rows and of units; covtype beside its rivals."""
    rows = prepare(folder)
    by_rows = {n: f"map_{n}" for n in rows}
    middle = min(MIDDLE, rows[-1])
    sources = [f"{kind}_{middle}" for kind in SOURCES]
    by_units = {h: f"units_{h}" for h in UNITS}
    covtype = COVTYPE if covtype_is_here() else []
    best = race("benchmarks.scale", [by_rows[n] for n in rows[:-1]] + sources, folder, rounds)
    # Minutes each, and long enough to say something at once.
    once = [by_rows[rows[-1]], *by_units.values(), *covtype]
    best |= race("benchmarks.scale", once, folder, 1)
    return best, _scale_ratios(best, by_rows, by_units, middle), _scale_page(best)


def _scale_page(best):
    title = (
        f"Larger than memory: rows × {COLUMNS} float32, {HIDDEN} units; "
        f"{UNIT_ROWS} rows for units; covtype, a fifth held out, loaded, fitted and predicted"
    )
    return contenders_page(title, best, COSTS, check=".3f")


def _scale_ratios(best, by_rows, by_units, middle):
    """How figures grow, and how a map compares with memory."""
    ratios, base = {}, best[min(by_rows.values(), key=lambda name: best[name]["peak_mb"])]
    for what in ("seconds", "cpu_seconds"):
        figures = {n: best[name][what] for n, name in by_rows.items() if n >= 10**5}
        words = what.replace("cpu_s", "CPU s")
        ratios[f"{words} grow with rows to the power"] = growth(
            list(figures), list(figures.values())
        )
        for kind in ("map", *SOURCES):
            if kind != "memory" and f"{kind}_{middle}" in best:
                ratios[f"{kind} / memory, {middle} rows ({words})"] = (
                    best[f"{kind}_{middle}"][what] / best[f"memory_{middle}"][what]
                )
        figures = {h: best[name][what] for h, name in by_units.items() if h >= 2000}
        ratios[f"{words} grow with units to the power"] = growth(
            list(figures), list(figures.values())
        )
    ratios["peak MB of the largest map"] = best[list(by_rows.values())[-1]]["peak_mb"]
    h, name = list(by_units.items())[-1]
    above = best[name]["peak_mb"] - base["peak_mb"]
    ratios[f"memory above the smallest fit in h × h float64 matrices, h = {h}"] = (
        above * 2**20 / (8 * h**2)
    )
    (n, name), (rows, units) = list(by_rows.items())[-1], LARGE
    seconds = best[name]["cpu_seconds"] * work(rows, units) / work(n, HIDDEN)
    case = f"{rows} rows and {units} units, by arithmetic"
    ratios[f"CPU hours of {case}"] = seconds / 3600
    ratios[f"GB of three h × h matrices, {case}"] = 3 * 8 * units**2 / 1e9
    return ratios
