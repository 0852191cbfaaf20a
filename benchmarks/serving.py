"""Predictions over HTTP: requests of one row each, a second, and memory after many.

Run by ``python -m benchmarks serving`` (``--quick``: 3 seconds, else 30; ``SECONDS`` in the
environment for more). A server process answers one client, which sends the next request on the same
connection when it has the answer: with one connection latency decides, with four the server does.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from sklearn.datasets import load_iris

import ulmus
from ulmus.tables import Table, fit_table


def _request(port):
    row = {"sepal_length": 5.1, "sepal_width": 3.5, "petal_length": 1.4, "petal_width": 0.2}
    body = json.dumps({"rows": [row]}).encode()
    head = f"POST /predict HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-length: {len(body)}\r\n"
    return f"{head}content-type: application/json\r\n\r\n".encode() + body


def _hammer(port, connections, seconds):
    """Answers a second."""
    request, done = _request(port), 0
    with DefaultSelector() as ready:
        for _ in range(connections):
            one = socket.create_connection(("127.0.0.1", port))
            one.sendall(request)
            ready.register(one, EVENT_READ, [])
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            for key, _ in ready.select():
                key.data.append(key.fileobj.recv(65536))
                answer = b"".join(key.data)
                if answer.endswith(b"]}"):
                    assert answer.startswith(b"HTTP/1.1 200"), answer[:80]
                    key.data.clear()
                    done += 1
                    key.fileobj.sendall(request)
        for key in list(ready.get_map().values()):
            key.fileobj.close()
    return done / (time.perf_counter() - start)


def _megabytes(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def measure(quick=False):
    """Requests a second by one and by four connections, and megabytes before and after."""
    seconds = float(os.environ.get("SECONDS", 3 if quick else 30))
    bunch = load_iris()
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    columns = dict(zip(names, bunch.data.T, strict=True))
    kinds = bunch.target_names[bunch.target].astype(object)
    model = fit_table(Table((*names, "kind"), {**columns, "kind": kinds}), "kind")
    with tempfile.TemporaryDirectory() as folder:
        ulmus.save(model, f"{folder}/m.ulmus")
        command = [sys.executable, "-m", "ulmus.cli", "serve", f"{folder}/m.ulmus", "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
            try:
                return {f"{k} connections": _load(server.pid, port, k, seconds) for k in (1, 4)}
            finally:
                server.send_signal(signal.SIGINT)


def _load(pid, port, connections, seconds):
    _hammer(port, connections, min(1, seconds))
    before = _megabytes(pid)
    rate = _hammer(port, connections, seconds)
    memory = {"mb_before": before, "mb_after": _megabytes(pid)}
    return {"requests_per_second": rate, "seconds": seconds, **memory}


def page(found, table):
    """The rates as a table."""
    rows = [
        (name, f"{r['requests_per_second']:.0f}", f"{r['mb_before']:.0f}", f"{r['mb_after']:.0f}")
        for name, r in found.items()
    ]
    headings = ["client", "rows a second", "MB before", "MB after"]
    return table("`ulmus serve`, one row a request", headings, rows)
