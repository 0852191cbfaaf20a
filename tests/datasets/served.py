"""A server on this machine that can misbehave in every way we know of, and small data to serve."""

import hashlib
import http.server
import io
import threading
from dataclasses import dataclass, field

import numpy as np

from ulmus.datasets.registry import Facts


@dataclass
class Served:
    """What an address answers; ``cut`` and ``refuse`` hold for the first answers alone."""

    body: bytes
    cut: list[int] = field(default_factory=list)  # break off after so many bytes
    refuse: list[int] = field(default_factory=list)  # answer with these states
    ranges: bool = True
    length: bool = True
    pace: threading.Semaphore | None = None  # one piece for each release of it
    piece: int = 2**16
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

    def stop(self):
        """Let go of every client that is kept waiting, and end."""
        for served in self.files.values():
            if served.pace:
                served.pace.release(len(served.body) + 1)
        self.shutdown()
        self.server_close()

    def serve(self, path, body, **how):
        self.files[path] = Served(body, **how)
        return f"{self.address}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        wanted = self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        served = self.server.files.get(self.path)
        if served is None or served.refuse:
            self.send_error(404 if served is None else served.refuse.pop(0))
            return
        if served.location:
            self.send_response(302)
            self.send_header("Location", served.location)
            self.end_headers()
            return
        if served.meet:
            served.meet.wait()
        start = int(wanted[6:-1]) if wanted and served.ranges else 0
        if wanted and served.ranges and start >= len(served.body):
            self.send_error(416)
            return
        body = served.body[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header(
                "Content-Range", f"bytes {start}-{len(served.body) - 1}/{len(served.body)}"
            )
        if served.length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self._send(served, body[: served.cut.pop(0)] if served.cut else body)

    def _send(self, served, body):
        for k in range(0, len(body), served.piece):
            if served.pace:
                served.pace.acquire()
            try:
                self.wfile.write(body[k : k + served.piece])
                self.wfile.flush()
            except OSError:
                return


def packed(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def facts_of(blob, **more):
    known = {
        "about": "Twelve rows.", "shape": (12, 3), "classes": 2, "licence": "none needed",
        "citation": "These tests.", "sha256": hashlib.sha256(blob).hexdigest(), "size": len(blob),
        "n_train": 8,
    }  # fmt: skip
    return Facts(**{**known, **more})
