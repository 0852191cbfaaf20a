"""Ten neighbours of many rows by pynndescent and by two indices of faiss: CPU, memory, recall.

The rows have 50 columns and lie near a curved surface of 12 dimensions, in 30 groups. Recall is the
part of the ten nearest that is found, of 500 rows whose distances to all are computed. pynndescent,
which Ulmus uses, searches a million rows too.
"""

import numpy as np

from benchmarks.measure import race, table

ROWS, MANY = 100_000, 1_000_000
COLUMNS, LATENT, GROUPS, K, JUDGED = 50, 12, 30, 10, 500
CONTENDERS = ["faiss_ivf", "faiss_hnsw", "pynndescent", "pynndescent_of_many"]


def prepare(folder, count, name):
    """Write so many rows once for all contenders."""
    rng = np.random.default_rng(0)
    centers = 2.0 * rng.standard_normal((GROUPS, LATENT), dtype=np.float32)
    one, two = rng.standard_normal((2, LATENT, COLUMNS), dtype=np.float32)
    X = np.empty((count, COLUMNS), np.float32)
    for start in range(0, count, 100_000):
        size = min(100_000, count - start)
        Z = centers[rng.integers(GROUPS, size=size)]
        Z = Z + rng.standard_normal((size, LATENT), dtype=np.float32)
        noise = 0.1 * rng.standard_normal((size, COLUMNS), dtype=np.float32)
        X[start : start + size] = np.tanh(Z @ one / 4) + 0.3 * (Z @ two) + noise
    np.save(folder / f"{name}.npy", X)


def _judged(X, found):
    """Recall of some rows' neighbours; ``found`` may have the row itself among them."""
    rows = np.random.default_rng(1).choice(len(X), JUDGED, replace=False)
    squares, right = (X**2).sum(1), 0
    for row in rows:
        near = np.argpartition(squares - 2 * X @ X[row], K + 1)[: K + 1]
        right += len((set(near) - {row}) & (set(found[row].tolist()) - {row}))
    return {"recall": right / (K * JUDGED)}


def pynndescent_of_many(folder):
    """The same of a million rows."""
    return pynndescent(folder, "many")


def pynndescent(folder, name="few"):
    """`KNNGraph(method="pynndescent")`, compiled beforehand."""
    from ulmus.backends.neighbors import approximate_neighbors

    X = np.load(folder / f"{name}.npy")
    approximate_neighbors(X[:2000], K, "euclidean", 0)

    def work():
        D = approximate_neighbors(X, K, "euclidean", 0)
        # A row has ten or eleven entries, itself among them or not.
        parts = np.split(D.indices, D.indptr[1:-1])
        return lambda: _judged(X, dict(enumerate(parts)))

    return work


def _faiss(folder, index):
    import faiss

    X = np.load(folder / "few.npy")

    def work():
        found = index(faiss, X)
        _, near = found.search(X, K + 1)
        return lambda: _judged(X, near)

    return work


def faiss_ivf(folder):
    """Rows in √n cells, of which the nearest 32 are searched."""

    def index(faiss, X):
        cells = int(np.sqrt(len(X)))
        made = faiss.IndexIVFFlat(faiss.IndexFlatL2(COLUMNS), COLUMNS, cells)
        made.train(X[:: max(1, len(X) // (64 * cells))].copy())
        made.add(X)
        made.nprobe = 32
        return made

    return _faiss(folder, index)


def faiss_hnsw(folder):
    """A hierarchy of graphs with 16 links a row."""

    def index(faiss, X):
        made = faiss.IndexHNSWFlat(COLUMNS, 16)
        made.hnsw.efConstruction, made.hnsw.efSearch = 60, 40
        made.add(X)
        return made

    return _faiss(folder, index)


def run(folder, rounds):
    """Each once."""
    for count, name in ((ROWS, "few"), (MANY, "many")):
        prepare(folder, count, name)
    found = race("benchmarks.neighbours", CONTENDERS, folder, 1)
    rows = [
        (
            name.removesuffix("_of_many").replace("_", " "),
            f"{MANY if name.endswith('many') else ROWS:,}".replace(",", " "),
            f"{cell['seconds']:.0f}",
            f"{cell['cpu_seconds']:.0f}",
            f"{cell['peak_mb']:.0f}",
            f"{cell['recall']:.3f}",
        )
        for name, cell in found.items()
    ]
    columns = ["contender", "rows", "seconds", "CPU s", "peak MB", "recall"]
    return found, {}, table(f"Ten neighbours of rows with {COLUMNS} columns", columns, rows)
