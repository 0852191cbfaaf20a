"""Clusters without a label: Ulmus' defaults beside other clusterers that are told k.

Run by ``python -m benchmarks unlabelled`` (``--quick``: two seeds), or in parts by
``python -m benchmarks.unlabelled --sets iris wine --seeds 3 --jobs 4 --cells FILE``, which adds
what FILE has not got yet. Where the variable UNLABELLED_CELLS names such a file, the first command
takes what it has from there.
The data files come from ULMUS_DATA, the other sets from scikit-learn and from the seed; nothing is
downloaded. A cell is a fit, with one thread, and its seconds are of the CPU.
``python -m benchmarks counts`` has the numbers of clusters that ``n_clusters="auto"`` finds.

Every clusterer gets the same rows: pixels in their own unit, other columns standardised, and news
stories as 200 components of tf-idf. HDBSCAN finds its own number of clusters, and rows that it
calls noise are one more.
"""

import argparse
import json
import os
import warnings
from functools import lru_cache
from importlib.util import find_spec
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from benchmarks.measure import table
from benchmarks.tabular import means, ranks
from papers.datasets import benchmark_rows
from papers.hidden_clusters import inputs
from ulmus import ELMNMF, ELMKMeans, ELMSpectralClustering
from ulmus.metrics import clustering_accuracy

TOY_ROWS, BLOB_ROWS, MOST = 500, 400, 10_000
TOYS = ("circles", "moons", "blobs", "aniso", "varied")
BLOBS = tuple(f"blobs {k}" for k in range(2, 9))
TABLES = ("iris", "wine", "breast_cancer", "segment", "synthetic_control")
PIXELS = ("digits", "optdigits", "usps", "coil20", "mnist")
SETS = (*TOYS, *BLOBS, *TABLES, *PIXELS, "tdt2")
# A Gaussian mixture takes minutes there.
SEEDS_OF = {"mnist": 3}
# These give the same for every seed, and those with a place for new rows.
SETTLED = ("HDBSCAN", "Agglomerative")
# These can find the number of clusters.
COUNTERS = {"ELMSpectralClustering": ELMSpectralClustering, "ELMKMeans": ELMKMeans}
FOR_NEW_ROWS = ("ELMSpectralClustering", "ELMKMeans", "ELMNMF", "KMeans", "GaussianMixture")
FIGURES = {"ARI": 3, "NMI": 3, "accuracy": 3, "seconds": 2}


def _toy(name, seed):
    """scikit-learn's comparison of clusterings, drawn anew for each seed."""
    if name == "circles":
        return make_circles(TOY_ROWS, factor=0.5, noise=0.05, random_state=seed)
    if name == "moons":
        return make_moons(TOY_ROWS, noise=0.05, random_state=seed)
    spread = [1.0, 2.5, 0.5] if name == "varied" else 1.0
    # The centres are those of the comparison; the rows follow the seed.
    centers = make_blobs(3, random_state=170, return_centers=True)[2]
    X, y = make_blobs(TOY_ROWS, centers=centers, cluster_std=spread, random_state=seed)
    return (X @ [[0.6, -0.6], [-0.4, 0.8]] if name == "aniso" else X), y


@lru_cache(maxsize=2)
def rows_of(name, seed):
    """Rows and classes; ``seed`` draws those that are not in a file."""
    if name in TOYS:
        X, y = _toy(name, seed)
    elif name in BLOBS:
        k = int(name.split()[1])
        X, y = make_blobs(BLOB_ROWS, n_features=10, centers=k, cluster_std=2.0, random_state=seed)
    elif name == "tdt2":
        stories = inputs("tdt2", 10, seed)
        return stories.plain, stories.y
    else:
        X, y = benchmark_rows(name)
        some = np.sort(np.random.RandomState(0).permutation(len(X))[:MOST])
        X, y = np.asarray(X[some], dtype=float), y[some]
    return (X if name in PIXELS else scale(X)), y


def clusterers(k, seed):
    """What is compared, told k clusters."""
    models = {
        "ELMSpectralClustering": ELMSpectralClustering(k, random_state=seed),
        "ELMKMeans": ELMKMeans(k, random_state=seed),
        "ELMNMF": ELMNMF(k, random_state=seed),
        "KMeans": KMeans(k, n_init=10, random_state=seed),
        "SpectralClustering": SpectralClustering(
            k, affinity="nearest_neighbors", random_state=seed
        ),
        "HDBSCAN": HDBSCAN(copy=True),
        "GaussianMixture": GaussianMixture(k, reg_covar=1e-4, random_state=seed),
        "Agglomerative": AgglomerativeClustering(k),
    }
    if find_spec("umap"):
        import umap

        # With points as close as they come, which its authors advise before a clustering.
        places = umap.UMAP(min_dist=0.0, n_components=min(k, 10), random_state=seed, n_jobs=1)
        models["UMAP + KMeans"] = make_pipeline(places, KMeans(k, n_init=10, random_state=seed))
    return models


def cell(job):
    """The figures of one fit."""
    name, clusterer, seed = job
    warnings.simplefilter("ignore")
    X, y = rows_of(name, seed if name in (*TOYS, *BLOBS, "tdt2") else 0)
    model, start = clusterers(len(np.unique(y)), seed)[clusterer], process_time()
    with threadpool_limits(1):
        labels = model.fit_predict(X)
    return job, {
        "ARI": float(adjusted_rand_score(y, labels)),
        "NMI": float(normalized_mutual_info_score(y, labels)),
        "accuracy": float(clustering_accuracy(y, labels)),
        "seconds": process_time() - start,
    }


def cells_in(file):
    """The cells of a file, by "set/clusterer/seed"."""
    return dict(json.loads(line) for line in Path(file).read_text().splitlines()) if file else {}


def measure(seeds, jobs=None, names=SETS, done=None, tell=print, some=None):
    """All cells that are not done yet, by "set/clusterer/seed"; of some clusterers, or all."""
    done = cells_in(os.environ.get("UNLABELLED_CELLS")) if done is None else done
    found, known = dict(done), some or list(clusterers(2, 0))
    work = [
        (name, clusterer, seed)
        for name, clusterer, seed in product(names, known, range(seeds))
        if seed < SEEDS_OF.get(name, seeds)
        and (seed == 0 or clusterer not in SETTLED or name in (*TOYS, *BLOBS, "tdt2"))
        and f"{name}/{clusterer}/{seed}" not in found
    ]
    # The longest first, so that none is waited for at the end.
    work.sort(key=lambda job: (job[0] != "mnist", job[0] not in PIXELS))
    with get_context("fork").Pool(jobs or os.cpu_count()) as pool:
        for (name, clusterer, seed), result in pool.imap_unordered(cell, work):
            found[f"{name}/{clusterer}/{seed}"] = result
            tell(f"{name}/{clusterer}/{seed}", result)
    return found


def by_set(found):
    """The cells by set and clusterer."""
    nested = {name: {} for name in SETS}
    for key, result in found.items():
        name, clusterer, _ = key.split("/")
        nested[name].setdefault(clusterer, []).append(result)
    return {name: cells for name, cells in nested.items() if cells}


def ratios(found):
    """Mean ranks by ARI: among all, and among those that place new rows."""
    table = means(by_set(found), "ARI")
    new = {
        name: {m: v for m, v in each.items() if m in FOR_NEW_ROWS} for name, each in table.items()
    }
    return {
        **{f"mean rank, {model}": rank for model, rank in ranks(table).items()},
        **{f"mean rank with a place for new rows, {m}": rank for m, rank in ranks(new).items()},
    }


def page(found):
    """A table for every figure."""
    nested, parts = by_set(found), []
    titles = {"ARI": "Adjusted Rand index", "NMI": "Normalised mutual information"}
    titles |= {"accuracy": "Clustering accuracy", "seconds": "Seconds of a fit"}
    for figure, digits in FIGURES.items():
        cells = means(nested, figure)
        models = list(next(iter(cells.values())))
        rows = [
            (name, *(f"{each[model]:.{digits}f}" for model in models))
            for name, each in cells.items()
        ]
        mean = {model: np.mean([each[model] for each in cells.values()]) for model in models}
        rows.append(("mean", *(f"{mean[model]:.{digits}f}" for model in models)))
        if figure != "seconds":
            rank = ranks(cells)
            rows.append(("mean rank", *(f"{rank[model]:.2f}" for model in models)))
        parts.append(table(f"Clusters without a label: {titles[figure]}", ["set", *models], rows))
    return "\n\n".join(parts)


def main():
    """Some of the cells, added to a file of those that were measured before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unlabelled")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--clusterers", nargs="+", choices=list(clusterers(2, 0)), default=None)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=None, help="processes (default: every core)")
    parser.add_argument("--cells", type=Path, required=True, help="a file with a line a cell")
    options = parser.parse_args()
    options.cells.touch()
    with options.cells.open("a") as file:

        def tell(key, figures):
            print(json.dumps([key, figures]), file=file, flush=True)

        done, some = cells_in(options.cells), options.clusterers
        found = measure(options.seeds, options.jobs, options.sets, done, tell, some)
    for what, rank in ratios(found).items():
        print(f"{what}: {rank:.2f}")


def run(folder, rounds):
    """Clusterers beside each other: ten seeds, or two with ``--quick``."""
    found = measure(10 if rounds > 1 else 2)
    return found, ratios(found), page(found)


def count(job):
    """The number of clusters that a clusterer of Ulmus finds, and that of the classes."""
    name, clusterer, seed = job
    warnings.simplefilter("ignore")
    X, y = rows_of(name, seed)
    with threadpool_limits(1):
        model = COUNTERS[clusterer]("auto", random_state=seed).fit(X)
    return job, {"found": int(model.n_clusters_), "classes": len(np.unique(y))}


def run_counts(folder, rounds):
    """The number of clusters that n_clusters="auto" finds; three draws, where sets are drawn."""
    work = [
        (name, clusterer, seed)
        for name, clusterer in product(SETS, COUNTERS)
        for seed in range(3 if name in (*TOYS, *BLOBS, "tdt2") and rounds > 1 else 1)
        if name != "mnist"
    ]
    with get_context("fork").Pool() as pool:
        found = {"/".join(map(str, job)): each for job, each in pool.imap(count, work)}
    lines = []
    for name, cells in by_set(found).items():
        numbers = [", ".join(str(each["found"]) for each in cells[model]) for model in COUNTERS]
        lines.append((name, cells["ELMKMeans"][0]["classes"], *numbers))
    right = {
        f"draws with the right number, {model}": float(
            np.mean([v["found"] == v["classes"] for key, v in found.items() if model in key])
        )
        for model in COUNTERS
    }
    title = 'Number of clusters by n_clusters="auto", a number for each draw'
    return found, right, table(title, ["set", "classes", *COUNTERS], lines)


if __name__ == "__main__":
    main()
