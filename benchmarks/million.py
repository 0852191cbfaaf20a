"""A million rows of a Parquet file, fitted, evaluated and predicted by commands: peaks of memory.

Run by ``python -m benchmarks million``. Twelve columns: numbers, some blank, categories, one of
them with a long tail, whole numbers, dates and yes or no; a number and a class to predict. Each
command is a process of its own, whose peak the system tells when it ends.
"""

import os
import subprocess
import sys
import time

import numpy as np
import pyarrow
import pyarrow.parquet

from benchmarks.measure import table

ROWS = 1_000_000


def write(path, rows=ROWS, seed=0):
    """The file."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(5, rows))
    blank = rng.random(rows) < 0.1
    cities = np.array(["Oslo", "Rome", "Łódź", "Lima", "Pune"])[rng.integers(0, 5, rows)]
    shops = np.char.add("shop ", np.minimum(rng.geometric(0.02, rows), 400).astype(str))
    days = np.datetime64("2023-01-01") + rng.integers(0, 700, rows)
    signal = numbers[0] * numbers[1] + np.where(cities == "Oslo", 1.0, 0.0) + 0.5 * numbers[2]
    columns = {f"x{k}": x for k, x in enumerate(numbers)}
    columns["x3"] = np.where(blank, np.nan, columns["x3"])
    columns |= {
        "count": rng.integers(0, 100, rows),
        "visits": rng.integers(0, 5000, rows),
        "city": cities,
        "shop": shops,
        "day": days,
        "paid": rng.random(rows) < 0.3,
        "level": np.where(signal > 0.5, "high", "low"),
        "amount": signal + 0.3 * rng.normal(size=rows),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=100_000)


def command(*arguments):
    """CPU seconds, seconds and peak megabytes of one command."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "ulmus", *map(str, arguments)],
                               stdout=subprocess.DEVNULL)  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{arguments[0]} ended with status {process.returncode}")
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
    }


def measure(folder, rows=ROWS):
    """What each command takes, for a class and for a number."""
    data, found = folder / "rows.parquet", {}
    write(data, rows)
    for target, other in (("level", "amount"), ("amount", "level")):
        model, out = folder / f"{target}.ulmus", folder / f"{target}.parquet"
        fit = ("fit", data, "--target", target, "--without", other, "--model", model)
        found[f"fit, {target}"] = command(*fit)
        found[f"predict, {target}"] = command("predict", model, data, "--out", out)
        found[f"evaluate, {target}"] = command("evaluate", model, data)
        assert pyarrow.parquet.read_metadata(out).num_rows == rows
    return found


def page(found):
    """The costs as a table."""
    rows = [
        (name, f"{one['cpu_seconds']:.0f}", f"{one['seconds']:.0f}", f"{one['peak_mb']:.0f}")
        for name, one in found.items()
    ]
    return table(
        "A million rows of Parquet, by commands", ["command", "CPU s", "s", "peak MB"], rows
    )


def run(folder, rounds):
    """A million rows of Parquet by commands; minutes, so once."""
    found = measure(folder)
    return found, {}, page(found)
