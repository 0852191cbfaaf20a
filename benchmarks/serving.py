"""Predictions over HTTP, one row a request: how many a second, how late, and memory after many.

Run by ``python -m benchmarks serving`` (``--quick``: 2 seconds each, else 10). ``MINUTES`` in the
environment says how long the load test of the memory lasts; without it a minute. A server process
answers clients of one other process, each of which sends its next request on the same connection
when it has the answer. CPU time of both is told too, for a machine that does other things.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

import numpy as np
from sklearn.datasets import load_iris

import ulmus
from benchmarks.measure import table
from ulmus.tables import Table, fit_table

CLIENTS = (1, 4, 16, 32)
_LOAD_CLIENTS = 16
_TICK = os.sysconf("SC_CLK_TCK")


# ---------------------------------------------------------------------- models
def _flowers():
    """Four columns of numbers, three classes."""
    bunch = load_iris()
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    columns = dict(zip(names, bunch.data.T, strict=True))
    kinds = bunch.target_names[bunch.target].astype(object)
    return Table((*names, "kind"), {**columns, "kind": kinds}), "kind"


def _sales():
    """Numbers, categories and dates, and a number to predict."""
    rng = np.random.default_rng(0)
    n = 2000
    shops = np.array([f"shop {k}" for k in range(40)], dtype=object)
    days = np.datetime64("2025-01-01") + rng.integers(0, 365, n)
    columns = {
        "price": rng.gamma(2, 20, n).round(2),
        "stock": rng.integers(0, 500, n).astype(float),
        "shop": rng.choice(shops, n),
        "colour": rng.choice(np.array(["red", "blue", None], dtype=object), n),
        "day": days.astype(str).astype(object),
    }
    sold = 100 / columns["price"] + 0.1 * columns["stock"] + rng.normal(size=n)
    return Table((*columns, "sold"), {**columns, "sold": sold}), "sold"


MODELS = {"flowers: 4 numbers, 3 classes": _flowers, "sales: 5 mixed columns": _sales}


# ---------------------------------------------------------------------- server and clients
@contextmanager
def served(table, target):
    """The process id and the port of a server, and a request of one row."""
    row = {name: table[name][0] for name in table.names if name != target}
    with tempfile.TemporaryDirectory() as folder:
        ulmus.save(fit_table(table, target), f"{folder}/m.ulmus")
        command = [sys.executable, "-m", "ulmus", "serve", f"{folder}/m.ulmus", "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
            try:
                yield server.pid, port, _request(port, row)
            finally:
                server.send_signal(signal.SIGINT)


def _request(port, row):
    body = json.dumps({"rows": [row]}).encode()
    head = f"POST /predict HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-length: {len(body)}\r\n"
    return f"{head}content-type: application/json\r\n\r\n".encode() + body


def hammer(port, request, clients, seconds):
    """Seconds that each answer took."""
    taken = []
    with DefaultSelector() as ready:
        for _ in range(clients):
            one = socket.create_connection(("127.0.0.1", port))
            one.sendall(request)
            ready.register(one, EVENT_READ, [time.perf_counter(), b""])
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for key, _ in ready.select():
                key.data[1] += key.fileobj.recv(65536)
                if key.data[1].endswith(b"]}"):
                    assert key.data[1].startswith(b"HTTP/1.1 200"), key.data[1][:80]
                    now = time.perf_counter()
                    taken.append(now - key.data[0])
                    key.data[:] = now, b""
                    key.fileobj.sendall(request)
        for key in list(ready.get_map().values()):
            key.fileobj.close()
    return taken


def _megabytes(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def _cpu(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


# ---------------------------------------------------------------------- what is measured
def measure(quick=False):
    """Rates and latencies by clients, and the memory of a server under load."""
    seconds = 2 if quick else 10
    found = {"others": os.getloadavg()[0]}
    for name, make in MODELS.items():
        with served(*make()) as (pid, port, request):
            hammer(port, request, 4, 1)
            found[name] = {k: _rate(pid, port, request, k, seconds) for k in CLIENTS}
    minutes = float(os.environ.get("MINUTES", 0.1 if quick else 1))
    with served(*_flowers()) as (pid, port, request):
        found["load"] = _load(pid, port, request, minutes)
    return found


def _rate(pid, port, request, clients, seconds):
    before, own = _cpu(pid), time.process_time()
    taken = hammer(port, request, clients, seconds)
    middle, high, worst = np.quantile(taken, [0.5, 0.99, 1]) * 1e3
    each = 1e3 / len(taken)
    return {
        "rows_per_second": len(taken) / seconds,
        "median_ms": middle,
        "p99_ms": high,
        "worst_ms": worst,
        "server_cpu_ms": (_cpu(pid) - before) * each,
        "client_cpu_ms": (time.process_time() - own) * each,
    }


def _load(pid, port, request, minutes):
    """Megabytes after each of twenty parts of the time, the first of which warms up."""
    part, memory, count = minutes * 60 / 20, [], 0
    for _ in range(20):
        count += len(hammer(port, request, _LOAD_CLIENTS, part))
        memory.append(_megabytes(pid))
    per_million = (memory[-1] - memory[0]) / (count * 19 / 20) * 1e6
    return {"minutes": minutes, "requests": count, "mb": memory, "mb_per_million": per_million}


def page(found):
    """The rates and the memory as tables."""
    parts = []
    headings = ["clients", "rows a second", "median ms", "99 % ms", "server CPU ms a row", "client",
                "rows a CPU second of the server"]  # fmt: skip
    keys = ("rows_per_second", "median_ms", "p99_ms", "server_cpu_ms", "client_cpu_ms")
    digits = (0, 2, 2, 3, 3)
    for name in MODELS:
        rows = [
            [
                k,
                *(f"{one[key]:.{d}f}" for key, d in zip(keys, digits, strict=True)),
                f"{1000 / one['server_cpu_ms']:.0f}",
            ]
            for k, one in found[name].items()
        ]
        parts.append(table(f"`ulmus serve`, one row a request, {name}", headings, rows))
    load = found["load"]
    words = ["minutes", "requests", "MB at the start", "MB at the end", "MB a million requests"]
    row = [f"{load['minutes']:g}", f"{load['requests']:,}", f"{load['mb'][0]:.1f}",
           f"{load['mb'][-1]:.1f}", f"{load['mb_per_million']:.2f}"]  # fmt: skip
    parts[0] += f"\n\nOther processes that wanted the two cores: {found['others']:.0f}."
    parts.append(table(f"Memory of the server under {_LOAD_CLIENTS} clients", words, [row]))
    return "\n\n".join(parts)


def run(folder, rounds):
    """Requests of one row each, over HTTP."""
    found = measure(quick=rounds == 1)
    return found, {}, page(found)
