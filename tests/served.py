"""A server on this machine that can misbehave, and small data to serve."""

import hashlib
import http.server
import io
import threading
from dataclasses import dataclass, field

import numpy as np

from papers.datasets.facts import Facts


@dataclass
class Served:
    """What an address answers; ``cut`` holds for the first answers alone."""

    body: bytes
    cut: list[int] = field(default_factory=list)  # break off after so many bytes
    length: bool = True
    location: str | None = None
    meet: threading.Barrier | None = None  # answer only when so many have asked


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {}
        self.asked = []

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def serve(self, path, body, **how):
        self.files[path] = Served(body, **how)
        return f"{self.address}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        served = self.server.files.get(self.path)
        if served is None:
            self.send_error(404)
            return
        if served.meet:
            served.meet.wait()
        self.send_response(302 if served.location else 200)
        if served.location:
            self.send_header("Location", served.location)
        if served.length:
            self.send_header("Content-Length", str(len(served.body)))
        self.end_headers()
        self.wfile.write(served.body[: served.cut.pop(0)] if served.cut else served.body)


def packed(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def facts_of(blob, **more):
    known = {
        "about": "Twelve rows.", "shape": (12, 3), "classes": 2, "licence": "none needed",
        "citation": "These tests.", "sha256": hashlib.sha256(blob).hexdigest(), "n_train": 8,
    }  # fmt: skip
    return Facts(**{**known, **more})
