"""Maps to look at: what is kept of the neighbourhoods, on given and on new rows, and CPU seconds.

Run by ``python -m benchmarks maps``; the data files come from ULMUS_DATA. All ways see the same
rows: pixels as they are, other columns standardised. The settings of `ELMLayout` were chosen on
USPS, optdigits and COIL-20. Rivals have their defaults; what numba compiles for 5000 rows is
compiled before the clock starts. Those that are not installed are left out.
"""

from functools import partial
from importlib.util import find_spec
from time import process_time

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import table
from papers.datasets import load
from ulmus import ELMEmbedding, ELMLayout, KernelELMRegressor
from ulmus.estimators import layout as module

PIXELS = ("usps", "optdigits", "coil20", "mnist")
CHOSEN_ON = ("usps", "optdigits", "coil20")
OTHERS = ("mnist", "segment", "letter", "waveform")
GIVEN, NEW = 4800, 2400


def rows_of(name):
    """Given and new rows with their classes, two thirds given where there are few."""
    data = load(name, download=False)
    X, y = np.asarray(data.data, dtype=float), data.target
    order = np.random.default_rng(0).permutation(len(y))
    n = min(GIVEN, 2 * len(y) // 3)
    given, new = order[:n], order[n : n + NEW]
    if name not in PIXELS:
        X = StandardScaler().fit(X[given]).transform(X)
    return X[given], y[given], X[new], y[new]


# ------------------------------------------------------------------ ways
def ours(X):
    layout = ELMLayout(random_state=0).fit(X)
    return layout.embedding_, layout.transform


def us_elm(X):
    model = ELMEmbedding(2, random_state=0)
    return model.fit_transform(X), model.transform


def _pacmap(X):
    import pacmap

    return pacmap.PaCMAP(random_state=0).fit_transform(X), None


def _umap(X):
    import umap

    model = umap.UMAP(random_state=0, n_jobs=1)
    return model.fit_transform(X), model.transform


def _opentsne(X):
    import openTSNE

    layout = openTSNE.TSNE(random_state=0, n_jobs=1).fit(X)
    return np.asarray(layout), layout.transform


WAYS = {
    "ELMLayout": ours,
    "PaCMAP": _pacmap,
    "UMAP": _umap,
    "openTSNE": _opentsne,
    "ELMEmbedding(2)": us_elm,
}
PACKAGES = {"PaCMAP": "pacmap", "UMAP": "umap", "openTSNE": "openTSNE"}


# ------------------------------------------------------------------ libraries under ELMLayout
def laid_out_by_umap(E, near, seed):
    """UMAP of the same neighbours, from the same start."""
    import umap

    found = NearestNeighbors(n_neighbors=near.shape[1] + 1).fit(E).kneighbors(E)
    near = np.column_stack([np.arange(len(E)), near])
    knn = near.astype(np.int32), np.sort(found[0], axis=1).astype(np.float32)
    start = 10 * E[:, :2] / np.abs(E[:, :2]).max()
    model = umap.UMAP(
        n_neighbors=near.shape[1], precomputed_knn=knn, init=start, random_state=seed, n_jobs=1
    )
    return model.fit_transform(E).astype(float)


def laid_out_by_opentsne(E, near, seed):
    """openTSNE of the same columns, from the same start."""
    import openTSNE

    start = 1e-4 * E[:, :2] / E[:, 0].std()
    model = openTSNE.TSNE(initialization=start, random_state=seed, n_jobs=1)
    return np.asarray(model.fit(E), dtype=float)


LIBRARIES = {
    "PaCMAP": module.laid_out,
    "UMAP": laid_out_by_umap,
    "openTSNE": laid_out_by_opentsne,
}


def by_library(library, X):
    """ELMLayout with another library under it."""
    before = module.laid_out
    module.laid_out = LIBRARIES[library]
    try:
        return ours(X)
    finally:
        module.laid_out = before


# ------------------------------------------------------------------ what is measured
def ranks_of(X):
    """Which neighbour of each row each other row is, from 1 up."""
    D = pairwise_distances(X.astype(np.float32))
    np.fill_diagonal(D, -1.0)
    ranks = np.empty(D.shape, dtype=np.int32)
    np.put_along_axis(ranks, np.argsort(D, axis=1), np.arange(len(X), dtype=np.int32)[None], 1)
    return ranks


def trustworthiness(ranks, others):
    """One, less how far rows that are nearest on the map are from being so; sklearn's measure."""
    n, k = others.shape
    far = np.maximum(np.take_along_axis(ranks, others, axis=1) - k, 0).sum()
    return 1.0 - far * 2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0))


def scores(way, ranks, X, y, new, y_new):
    """Trustworthiness, 10-NN accuracy of given and of new rows, and CPU seconds for both."""
    start = process_time()
    places, transform = way(X)
    found = {"seconds": process_time() - start}
    neighbours = KNeighborsClassifier(10).fit(places, y)
    others = neighbours.kneighbors(return_distance=False)
    found["trustworthiness"] = float(trustworthiness(ranks, others))
    votes = np.array([np.bincount(y[row]).argmax() for row in others])
    found["given"] = float(np.mean(votes == y))
    if transform is not None:
        start = process_time()
        there = np.asarray(transform(new))
        found["seconds_new"] = process_time() - start
        found["new"] = float(neighbours.score(there, y_new))
    return found


def placements(X, y, new, y_new):
    """10-NN accuracy of new rows by how they are placed on the same layout."""
    layout = ELMLayout(random_state=0).fit(X)
    rows = layout.pca_.transform(layout._scaled(new))
    F = layout.elm_.transform(rows) * layout.spread_
    kernel = KernelELMRegressor("rbf", column_weights=None, scaling=None, random_state=0)
    kernel.fit(layout.landmarks_, layout.places_)
    neighbours = KNeighborsClassifier(10).fit(layout.places_, y)
    places = {
        "five nearest in the ELM embedding": layout.transform(new),
        "kernel ELM on the ELM embedding": kernel.predict(F),
    }
    return {name: float(neighbours.score(P, y_new)) for name, P in places.items()}


def measure(sets=(*OTHERS, *CHOSEN_ON), slow="segment"):
    """Scores by data set and way; openTSNE, which takes minutes, on one alone."""
    warm = np.random.default_rng(0).normal(size=(5000, 20))
    here = {name: way for name, way in WAYS.items() if find_spec(PACKAGES.get(name, "ulmus"))}
    for name, way in here.items():
        if name != "openTSNE":
            _, transform = way(warm)
            if transform is not None:
                transform(warm[:50])
    found = {"ways": {}, "libraries": {}}
    for name in sets:
        rows = rows_of(name)
        ranks = ranks_of(rows[0])
        for kind, way in here.items():
            if kind == "openTSNE" and name != slow:
                continue
            found["ways"].setdefault(name, {})[kind] = scores(way, ranks, *rows)
            print(name, kind, found["ways"][name][kind], flush=True)
    rows = rows_of(slow)
    ranks = ranks_of(rows[0])
    for library in (each for each in LIBRARIES if each in here):
        found["libraries"][library] = scores(partial(by_library, library), ranks, *rows)
        print("under ELMLayout", library, found["libraries"][library], flush=True)
    found["placing"] = placements(*rows_of("mnist"))
    found["many"] = many()
    print(found["many"], flush=True)
    return found


def many():
    """CPU seconds to place all of MNIST's training images, 5000 of them laid out."""
    X = np.asarray(load("mnist", download=False).data[:60_000], dtype=np.float32)
    layout = ELMLayout(max_rows=None, random_state=0)
    start = process_time()
    layout.fit(X[:5000])
    laid = process_time()
    layout.transform(X[5000:])
    return {"laid out": laid - start, "placed": process_time() - laid}


# ------------------------------------------------------------------ tables
def ratios(found):
    """CPU seconds beside PaCMAP's own, set by set."""
    return {
        f"ELMLayout / PaCMAP, {name} (CPU seconds)": ways["ELMLayout"]["seconds"]
        / ways["PaCMAP"]["seconds"]
        for name, ways in found["ways"].items()
        if "PaCMAP" in ways
    }


def tables(found):
    """Title, headings and rows of each table."""
    columns = ["trustworthiness", "10-NN, given", "10-NN, new", "CPU s", "CPU s, new"]
    yield (
        f"Maps: up to {GIVEN} rows given, {NEW} new",
        ["data", "way", *columns],
        [
            (name, way, *_cells(result))
            for name, ways in found["ways"].items()
            for way, result in ways.items()
        ],
    )
    yield (
        "The library under ELMLayout, segment",
        ["library", *columns],
        [(name, *_cells(result)) for name, result in found["libraries"].items()],
    )
    yield (
        "New rows of MNIST by how they are placed",
        ["placed by", "10-NN, new"],
        [(name, f"{score:.3f}") for name, score in found["placing"].items()],
    )
    yield (
        "60 000 images of MNIST",
        ["what", "CPU s"],
        [(name, f"{seconds:.1f}") for name, seconds in found["many"].items()],
    )


def _cells(result):
    shown = [
        f"{result[key]:.3f}" if key in result else "" for key in ("trustworthiness", "given", "new")
    ]
    return *shown, *(
        f"{result[key]:.1f}" if key in result else "" for key in ("seconds", "seconds_new")
    )


def run(folder, rounds):
    """Maps to look at, ours and those of three libraries."""
    found = measure()
    return found, ratios(found), "\n\n".join(table(*part) for part in tables(found))
