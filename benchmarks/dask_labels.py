"""Few labels on two Dask workers, and the same rows in one process.

Rows lie along five closed curves in sixteen columns, with noise; a hundred of them have a label.
The larger problem has n² = 4·10¹⁰ distances, which are found by pairs of blocks on the workers.
"""

import time

import numpy as np

from benchmarks.measure import race, table

COLUMNS, CLASSES, LABELS, BLOCKS = 16, 5, 100, 10
CONTENDERS = ["one_process_20000", "two_workers_20000", "two_workers_200000"]


def prepare(folder):
    """Write the rows once for all contenders."""
    for name in CONTENDERS[1:]:
        X, y, few = curves(rows_of(name))
        np.savez(folder / f"{rows_of(name)}.npz", X=X, y=y, few=few)


def rows_of(name):
    """How many rows a contender has."""
    return int(name.rpartition("_")[2])


def curves(n):
    """Rows, their classes, and the labels of some."""
    rng = np.random.default_rng(0)
    y, t = rng.integers(CLASSES, size=n), 2.0 * np.pi * rng.random(n)
    ways = rng.standard_normal((CLASSES, 3, COLUMNS))
    along = np.stack([np.sin(t), np.cos(t), np.sin(2.0 * t)])
    X = np.einsum("kn,nkd->nd", along, ways[y]) + 0.8 * rng.standard_normal((n, COLUMNS))
    few, known = np.full(n, -1), rng.choice(n, LABELS, replace=False)
    few[known] = y[known]
    return X.astype(np.float32), y, few


def _model():
    from ulmus import SemiSupervisedELMClassifier

    return SemiSupervisedELMClassifier(random_state=0)


def _found(folder, model, n):
    """The part of the rows that have their class."""
    np.save(folder / f"found-{n}.npy", model.transduction_)
    with np.load(folder / f"{n}.npz") as data:
        return {"accuracy": float(np.mean(model.transduction_ == data["y"]))}


def one_process_20000(folder):
    with np.load(folder / "20000.npz") as data:
        X, few = data["X"], data["few"]
    model = _model()

    def work():
        model.fit(X, few)
        return lambda: _found(folder, model, 20_000)

    return work


def _two_workers(folder, n):
    import dask.array as da

    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    )
    client = Client(cluster)
    with np.load(folder / f"{n}.npz") as data:
        X, few = data["X"], data["few"]
    size = n // BLOCKS
    X = client.persist(da.from_array(X, chunks=(size, COLUMNS)))
    few = client.persist(da.from_array(few, chunks=size))
    model = _model()

    def busy():
        """CPU seconds of this process and the workers."""
        return time.process_time() + sum(client.run(time.process_time).values())

    before = busy()

    def work():
        model.fit(X, few, client=client)
        return check

    def check():
        spent = busy() - before
        client.close()
        cluster.close()
        found = {"cpu_seconds": spent}
        alone = folder / f"found-{n}.npy"
        if alone.exists():
            found["same"] = float(np.mean(np.load(alone) == model.transduction_))
        return found | _found(folder, model, n)

    return work


def two_workers_20000(folder):
    return _two_workers(folder, 20_000)


def two_workers_200000(folder):
    return _two_workers(folder, 200_000)


def run(folder, rounds):
    """Few labels on a cluster of two workers; one round, for it takes minutes."""
    prepare(folder)
    best = race("benchmarks.dask_labels", CONTENDERS, folder, 1)
    rows = [
        (
            name.rpartition("_")[0].replace("_", " "),
            f"{rows_of(name):,}".replace(",", " "),
            f"{result['seconds']:.0f}",
            f"{result['cpu_seconds']:.0f}",
            f"{result['accuracy']:.4f}",
            f"{result['same']:.4f}" if "same" in result else "",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "rows", "s", "CPU s", "rows that are right", "as in one process"]
    title = f"SS-ELM on Dask, {COLUMNS} columns, {LABELS} labels, h = 2000"
    return best, {}, table(title, columns, rows)
