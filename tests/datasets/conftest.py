"""A small data set, and the server that serves it."""

import hashlib
import io
import json
import threading

import numpy as np
import pytest

from datasets.served import Server, facts_of, packed
from ulmus.datasets import DATASETS, download, openml
from ulmus.datasets.registry import OpenML


@pytest.fixture
def server(monkeypatch):
    """A server on this machine, and downloads that wait for it however busy the machine is."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "PAUSE", 0.0)
    monkeypatch.setattr(download, "TIMEOUT", 600.0)
    monkeypatch.setattr(download, "PATIENCE", 600.0)
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.stop()
    thread.join()


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A data set of twelve rows, known under the name "tiny"; its file is returned."""
    monkeypatch.delenv("ULMUS_DATA", raising=False)
    monkeypatch.delenv("ULMUS_MIRROR", raising=False)
    monkeypatch.setenv("ULMUS_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3)).astype(np.float32)
    blob = packed(X=X, y=np.arange(12) % 2, n_train=np.array(8))
    monkeypatch.setitem(DATASETS, "tiny", facts_of(blob))
    return blob


@pytest.fixture
def published(server, tiny, monkeypatch):
    """The same data as OpenML would serve them; a function that changes details."""

    def publish(description=(), arff=None, facts=(), **how):
        with np.load(io.BytesIO(tiny)) as data:
            X, y = data["X"], data["y"]
        rows = [
            ",".join([*(repr(float(v)) for v in x), "ab"[k]]) for x, k in zip(X, y, strict=True)
        ]
        head = ["@relation tiny", *(f"@attribute 'col {k}' numeric" for k in range(3))]
        head += ["@ATTRIBUTE kind {a, b}", "", "% a remark", "@data"]
        body = ("\n".join([*head, *rows]) + "\n").encode() if arff is None else arff
        told = {
            "id": "7",
            "name": "Tiny",
            "format": "ARFF",
            "url": server.serve("/files/tiny.arff", body, **how),
            "md5_checksum": hashlib.md5(body).hexdigest(),
            "default_target_attribute": "kind",
            **dict(description),
        }
        text = json.dumps({"data_set_description": told}).encode()
        monkeypatch.setattr(openml, "ADDRESS", server.address + "/api/{}")
        server.serve("/api/7", text)
        known = {"openml": OpenML(7, "tiny"), "counts": (6, 6), **dict(facts)}
        monkeypatch.setitem(DATASETS, "tiny", facts_of(tiny, **known))
        return body

    return publish
