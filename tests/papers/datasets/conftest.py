"""A small data set, the server that serves its file, and OpenML's answers about it."""

import hashlib
import io
import json
import threading
from urllib.error import HTTPError
from urllib.parse import urlsplit

import numpy as np
import pytest
from sklearn.datasets import _openml

from papers.datasets import DATASETS
from papers.datasets.facts import OpenML
from served import Server, facts_of, packed


@pytest.fixture
def server(monkeypatch):
    """A server on this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
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


class Answer(io.BytesIO):
    """What `urlopen` returns, as far as scikit-learn looks at it."""

    def info(self):
        return {}


@pytest.fixture
def published(tiny, monkeypatch):
    """The same data as OpenML would serve them; a function that changes details."""
    answers = {}

    def open_url(request):
        path = urlsplit(request.full_url).path
        if path not in answers:
            raise HTTPError(request.full_url, 412, "Precondition Failed", {}, None)
        return Answer(answers[path])

    monkeypatch.setattr(_openml, "urlopen", open_url)

    def publish(description=(), arff=None, columns=None, facts=(), **texts):
        body = table(tiny) if arff is None else arff
        told = {
            "id": "7", "name": "Tiny", "version": "1", "status": "active", "format": "ARFF",
            "description": "", "url": "https://www.openml.org/files/tiny.arff",
            "md5_checksum": hashlib.md5(body).hexdigest(), **dict(description),
        }  # fmt: skip
        columns = columns or [*((f"col {k}", "numeric") for k in range(3)), ("kind", "target")]
        api = "/api/v1/json/data"
        answers[f"{api}/7"] = as_json(data_set_description=told)
        answers[f"{api}/features/7"] = as_json(data_features={"feature": features(columns)})
        answers[f"{api}/qualities/7"] = as_json(data_qualities={"quality": []})
        answers["/files/tiny.arff"] = body
        answers.update(texts)
        known = {"openml": OpenML(7, "tiny"), "counts": (6, 6), **dict(facts)}
        monkeypatch.setitem(DATASETS, "tiny", facts_of(tiny, **known))
        return answers

    return publish


def as_json(**content):
    return json.dumps(content).encode()


def features(columns):
    """OpenML's list of columns; a kind is "numeric", "nominal", "target", "id" or "ignored"."""
    return [
        {
            "index": str(k), "name": name,
            "data_type": "nominal" if kind in ("nominal", "target") else "numeric",
            "is_target": str(kind == "target").lower(),
            "is_ignore": str(kind == "ignored").lower(),
            "is_row_identifier": str(kind == "id").lower(),
            "number_of_missing_values": "0",
        }
        for k, (name, kind) in enumerate(columns)
    ]  # fmt: skip


def table(blob):
    """An ARFF file of the rows of a data file."""
    with np.load(io.BytesIO(blob)) as data:
        X, y = data["X"], data["y"]
    rows = [",".join([*(repr(float(v)) for v in x), "ab"[k]]) for x, k in zip(X, y, strict=True)]
    head = ["@relation tiny", *(f"@attribute 'col {k}' numeric" for k in range(3))]
    head += ["@ATTRIBUTE kind {a, b}", "", "% a remark", "@data"]
    return ("\n".join([*head, *rows]) + "\n").encode()
