"""Rows that are made on two Dask workers, up to ten million: seconds, memory and bytes by size.

Each size has a cluster of its own, so that peaks are its own. The scheduler is in the process that
calls ``fit``. CPU seconds are those of that process and the workers.
"""

import json
import subprocess
import sys
import time
from functools import partial

import numpy as np

from benchmarks.measure import ROOT, table
from ulmus.machine import peak_megabytes

COLUMNS, HIDDEN, BLOCK, WORKERS = 50, 200, 100_000, 2
ROWS = (1_000_000, 3_000_000, 10_000_000)
# This many in small blocks too, which shows what a block costs the process that calls ``fit``.
FINE, SMALL = 3_000_000, 10_000
# What is asked of a larger cluster, by arithmetic: rows, units, rows of a block, workers, cores of
# each, and bytes a second between two of them.
LARGE = {
    "rows": 10**9,
    "units": 1000,
    "block": 100_000,
    "workers": 100,
    "cores": 8,
    "bytes_per_s": 1e9,
}


def _made(size, block_id):
    """A block of rows, the same for the same place."""
    rng = np.random.default_rng(block_id[0])
    return rng.standard_normal((size, COLUMNS), dtype=np.float32)


def _values(X):
    return np.sin(X[:, 0] + X[:, 1]) + X[:, 2] * X[:, 3]


def child(n, block=BLOCK):
    """One size, in a process of its own."""
    import dask.array as da

    from distributed import Client, LocalCluster
    from ulmus import ELMRegressor, RandomFeatures

    chunks = ((block,) * (n // block), (COLUMNS,))
    meta = np.empty((0, 0), np.float32)
    X = da.map_blocks(partial(_made, block), chunks=chunks, dtype=np.float32, meta=meta)
    y = X.map_blocks(_values, drop_axis=1, dtype=np.float32)
    kind = {"n_workers": WORKERS, "threads_per_worker": 1, "processes": True}
    with (
        LocalCluster(**kind, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        client.run(_ready)
        before, base = _busy(client), peak_megabytes()
        started = time.perf_counter()
        model = ELMRegressor(RandomFeatures(HIDDEN), C=1.0, random_state=0)
        model.fit(X, y, client=client)
        found = {
            "rows": n,
            "blocks": n // block,
            "seconds": time.perf_counter() - started,
            "cpu_seconds": _busy(client) - before,
            "peak_mb_of_a_worker": max(client.run(peak_megabytes).values()),
            "peak_mb_at_home": peak_megabytes(),
            "mb_at_home_before": base,
            "mb_between_workers": sum(client.run(_sent).values()) / 1e6,
        }
    print(json.dumps(found))


def _ready():
    import ulmus.estimators.elm  # noqa: F401


def _sent(dask_worker):
    """Bytes that a worker has sent to others."""
    return dask_worker.transfer_outgoing_bytes_total


def _busy(client):
    return time.process_time() + sum(client.run(time.process_time).values())


def model_of(blocks, units, workers, outputs=1):
    """Bytes between workers at most: of a tree with four branches all sums but one worker's share.

    ``units``² and a few columns of float64 are a sum; a sum of four is another.
    """
    size = 8.0 * (units**2 + units * (outputs + 1))
    return size * blocks * (1 + 1 / 3) * (1 - 1 / workers)


def work(rows, units):
    """Operations of a fit that grow with the rows: the product of the units, and HᵀH."""
    return rows * (2.0 * COLUMNS * units + units**2)


def run(folder, rounds):
    """All sizes, once: minutes."""
    found = {}
    for n, block in (*((n, BLOCK) for n in ROWS), (FINE, SMALL)):
        code = f"from benchmarks.dask_scale import child; child({n}, {block})"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
        name = str(n) if block == BLOCK else f"{n} in small blocks"
        found[name] = json.loads(done.stdout.splitlines()[-1])
        print(f"  {name}: {found[name]}", file=sys.stderr)
    *cells, fine = found.values()
    logs = {key: np.log([cell[key] for cell in cells]) for key in ("rows", "cpu_seconds")}
    first, last = cells[0], cells[-1]
    ratios = {
        "CPU seconds grow with rows to the power": float(
            np.polyfit(logs["rows"], logs["cpu_seconds"], 1)[0]
        ),
        "peak MB of a worker, ten times the rows / once": last["peak_mb_of_a_worker"]
        / first["peak_mb_of_a_worker"],
        "MB more at home, ten times the rows": last["peak_mb_at_home"] - first["peak_mb_at_home"],
        # Of as many rows, so that what is drawn of them costs the same.
        "MB at home for a block": (fine["peak_mb_at_home"] - found[str(FINE)]["peak_mb_at_home"])
        / (fine["blocks"] - found[str(FINE)]["blocks"]),
        "bytes between workers / those of the model, at most": max(
            1e6 * cell["mb_between_workers"] / model_of(cell["blocks"], HIDDEN, WORKERS)
            for cell in cells
        ),
    }
    return found | {"large": large(cells)}, ratios, _page([*cells, fine], large(cells))


def large(cells):
    """A billion rows on a hundred workers, from what was measured here."""
    n, h, workers = LARGE["rows"], LARGE["units"], LARGE["workers"]
    last = cells[-1]
    # Of small sums CPU seconds hold much that is not products: this is rather too much.
    rate = last["cpu_seconds"] / work(last["rows"], HIDDEN)
    blocks = n // LARGE["block"]
    moved = model_of(blocks, h, workers)
    return {
        "blocks": blocks,
        "CPU hours": rate * work(n, h) / 3600,
        "hours on the workers' cores": rate * work(n, h) / 3600 / (workers * LARGE["cores"]),
        "GB between workers": moved / 1e9,
        "seconds to move them": moved / workers / LARGE["bytes_per_s"],
        "GB of rows in a worker's memory, if kept": 4.0 * n * COLUMNS / workers / 1e9,
    }


def _page(cells, beyond):
    rows = [
        (
            f"{cell['rows']:,}".replace(",", " "),
            cell["blocks"],
            f"{cell['cpu_seconds']:.0f}",
            f"{cell['peak_mb_of_a_worker']:.0f}",
            f"{cell['peak_mb_at_home']:.0f}",
            f"{cell['mb_between_workers']:.0f}",
            f"{model_of(cell['blocks'], HIDDEN, WORKERS) / 1e6:.0f}",
        )
        for cell in cells
    ]
    columns = ["rows", "blocks", "CPU s", "peak MB of a worker", "at home"]
    columns += ["MB between workers", "by the model, at most"]
    title = f"Rows made on {WORKERS} Dask workers, {COLUMNS} columns, h = {HIDDEN}, one C"
    page = table(title, columns, rows)
    words = [(what, f"{value:.3g}") for what, value in beyond.items()]
    title = "By arithmetic: 10⁹ rows on 100 workers of 8 cores, h = 1000, blocks of 100 000 rows"
    return page + "\n\n" + table(title, ["what", "figure"], words)
