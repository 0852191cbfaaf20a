"""Two Dask workers with a thread each against one process with two, on the same cores.

The rows lie in a file that all of them map. The cluster is up, and its workers have imported what
they need, before the clock starts. In float32 sums are cut otherwise by Dask's blocks than by
our own, and β differs by float32's rounding; the smaller problem in float64 shows that nothing else
does.
"""

import time

import numpy as np

from benchmarks.measure import race, table

COLUMNS, HIDDEN, BLOCKS = 50, 1000, 10
ROWS = {"float32": 1_000_000, "float64": 100_000}
CONTENDERS = ["one_process_float32", "two_workers_float32"]
CONTENDERS += ["one_process_float64", "two_workers_float64"]


def prepare(folder):
    """Write the data once for all contenders."""
    rng = np.random.default_rng(0)
    for dtype, n in ROWS.items():
        X = rng.standard_normal((n, COLUMNS), dtype=np.float32).astype(dtype)
        y = np.sin(X[:, 0] + X[:, 1]) + X[:, 2] * X[:, 3] + 0.1 * rng.standard_normal(n)
        np.save(folder / f"X-{dtype}.npy", X)
        np.save(folder / f"y-{dtype}.npy", y)


def _model():
    from ulmus import ELMRegressor, RandomFeatures

    return ELMRegressor(RandomFeatures(HIDDEN), C=[1.0, 10.0, 100.0], random_state=0)


def _one_process(folder, dtype):
    X = np.load(folder / f"X-{dtype}.npy", mmap_mode="r")
    y = np.load(folder / f"y-{dtype}.npy")
    model = _model()

    def work():
        model.fit(X, y)
        return lambda: np.save(folder / f"beta-{dtype}.npy", model.beta_)

    return work


def _two_workers(folder, dtype):
    import dask
    import dask.array as da

    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    )
    client = Client(cluster)
    size = ROWS[dtype] // BLOCKS

    def lazy(name, tail, of):
        def part(number):
            return np.load(folder / name, mmap_mode="r")[number * size : (number + 1) * size]

        parts = [dask.delayed(part)(number) for number in range(BLOCKS)]
        return da.concatenate([da.from_delayed(p, (size, *tail), dtype=of) for p in parts])

    X, y = lazy(f"X-{dtype}.npy", (COLUMNS,), dtype), lazy(f"y-{dtype}.npy", (), float)
    _model().set_params(n_hidden=10).fit(X, y, client=client)
    model = _model()

    def busy():
        """CPU seconds of this process and the workers."""
        return time.process_time() + sum(client.run(time.process_time).values())

    before = busy()

    def work():
        model.fit(X, y, client=client)
        return check

    def check():
        spent = busy() - before
        client.close()
        cluster.close()
        beta = np.load(folder / f"beta-{dtype}.npy")
        difference = float(np.max(np.abs(model.beta_ - beta)) / np.max(np.abs(beta)))
        return {"cpu_seconds": spent, "difference": difference}

    return work


def one_process_float32(folder):
    return _one_process(folder, "float32")


def two_workers_float32(folder):
    return _two_workers(folder, "float32")


def one_process_float64(folder):
    return _one_process(folder, "float64")


def two_workers_float64(folder):
    return _two_workers(folder, "float64")


def run(folder, rounds):
    """A cluster of two workers against one process on the same cores."""
    prepare(folder)
    best = race("benchmarks.dask_cluster", CONTENDERS, folder, rounds)
    ratios = {
        f"two workers / one process, {dtype} ({what})": best[f"two_workers_{dtype}"][key]
        / best[f"one_process_{dtype}"][key]
        for dtype in ROWS
        for what, key in (("seconds", "seconds"), ("CPU seconds", "cpu_seconds"))
    }
    rows = [
        (
            name.replace("_", " "),
            f"{ROWS[name.rpartition('_')[2]]:,}".replace(",", " "),
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds']:.2f}",
            f"{result['difference']:.1e}" if "difference" in result else "",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "rows", "s", "CPU s", "largest difference of β, relative"]
    title = f"Dask, {COLUMNS} columns, h = {HIDDEN}, three values of C"
    return best, ratios, table(title, columns, rows)
