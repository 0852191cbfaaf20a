"""Ctrl-C at any point of a command: no partial file, and what was there before is as it was.

The signal comes at calls, counted, not at moments of a clock: at each one while a file is written,
and in whole commands at some of the thousands of others.
"""

import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import ulmus
from cli.conftest import write
from ulmus.cli import main
from ulmus.files import write_text

# A stream that was interrupted as it was opened is closed when it is forgotten.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
SOURCES = str(Path(ulmus.__file__).parent)
FILES = str(Path(SOURCES, "files.py"))
OLD = "what was there before"


class Calls:
    """Counts calls of functions of Ulmus while a command runs, and interrupts at one of them."""

    def __init__(self, at=None):
        self.at, self.count, self.writing = at, 0, []

    def __call__(self, frame, event, _):
        # Where CPython looks for signals: as a function begins, and after one of the system.
        near = [f.f_code.co_filename for f in (frame, frame.f_back) if f is not None]
        begins = event == "call" and near[0].startswith(SOURCES)
        writes = event in ("call", "c_return") and FILES in near
        if not begins and not writes:
            return
        self.count += 1
        if writes:
            self.writing.append(self.count)
        if self.count == self.at:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)


def run(work, at=None):
    """The exit status of a command, and its calls."""
    calls = Calls(at)
    sys.setprofile(calls)
    try:
        status = work()
    except KeyboardInterrupt:  # before main's first line, or after its last
        status = 130
    finally:
        sys.setprofile(None)
    return status, calls


@pytest.fixture
def heard():
    """Signals are heard, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_file_is_whole_or_as_it_was_wherever_its_writing_stops(heard, tmp_path):
    place = tmp_path / "OUT"

    def work():
        write_text(place, "new" * 10)

    place.write_text(OLD)
    _, whole = run(work)
    assert len(whole.writing) > 30
    for at in whole.writing:
        place.write_text(OLD)
        run(work, at)
        assert [path.name for path in tmp_path.iterdir()] == ["OUT"], f"call {at}"
        assert place.read_text() in (OLD, "new" * 10)


@pytest.fixture
def small(heard, tmp_path, monkeypatch):
    """A file and its model, and a folder for what is temporary."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=24).round(2)
    rows = [
        (a, b, "up" if a > 0 else "down") for a, b in zip(x, rng.integers(0, 4, 24), strict=True)
    ]
    write(tmp_path / "small.csv", ("x", "n", "kind"), rows)
    assert main(["fit", "small.csv", "--target", "kind", "--quiet"]) == 0
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


COMMANDS = {
    "fit": ["fit", "small.csv", "--target", "kind", "--model", "OUT"],
    "predict": ["predict", "small.ulmus", "small.csv", "--out", "OUT"],
    "predict stdin": ["predict", "small.ulmus", "-", "--out", "OUT"],
    "predict parquet": ["predict", "small.ulmus", "small.csv", "--out", "OUT.parquet"],
    "report": ["evaluate", "small.ulmus", "small.csv", "--holdout", "0.3", "--report", "OUT"],
    "explain": ["explain", "small.ulmus", "small.csv", "--rows", "1"],
    "card": ["info", "small.ulmus", "--card", "OUT"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_leaves_all_files_as_they_were(name, small, monkeypatch, capsys):
    arguments = [*COMMANDS[name], "--quiet"]
    place = next((small / word for word in arguments if word.startswith("OUT")), None)
    if place is not None:
        place.write_text(OLD)
        arguments.append("--force")
    text = (small / "small.csv").read_bytes()

    # Which take seconds, in packages that write nothing.
    monkeypatch.setattr("ulmus.cli.report.baselines", lambda *_: [])
    monkeypatch.setattr("ulmus.cli.report._svg", lambda *_: "<svg></svg>")

    def attempt(at=None):
        stdin = io.TextIOWrapper(io.BytesIO(text))
        monkeypatch.setattr(sys, "stdin", stdin)
        return run(lambda: main(arguments), at)

    attempt()  # what is imported and kept for later is so once
    status, whole = attempt()
    assert status == 0
    if place is not None:
        assert place.read_bytes() != OLD.encode()
        place.write_text(OLD)
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
    some = np.linspace(1, whole.count - 1, 3).astype(int).tolist()
    done = False
    for at in sorted({*some, *whole.writing[::20]}):
        status, _ = attempt(at)
        after = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
        assert status in (0, 130)
        replaced = place is not None and after[place] != OLD.encode()
        assert after.keys() == before.keys(), f"call {at} of {whole.count}"
        # Once the new file is in its place, it is whole.
        done = done or replaced
        assert replaced == done
        if place is not None:
            place.write_text(OLD)
            after[place] = OLD.encode()
        assert after == before
    capsys.readouterr()


def test_a_server_that_is_stopped_within_a_request_leaves_nothing(small):
    command = [sys.executable, "-m", "ulmus", "serve", "small.ulmus", "--quiet"]
    environment = {**os.environ, "TMPDIR": str(small / "temporary")}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, text=True) as server:
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as client:
            body = b"x,n\n1,2\n"
            head = b"POST /predict HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n" % port
            head += b"content-type: text/csv\r\ncontent-length: "
            client.sendall(head + b"%d\r\n\r\n" % len(body) + body)
            answer = client.recv(65536)
            client.sendall(head + b"1000\r\n\r\n" + body)  # and never the rest
            server.send_signal(signal.SIGINT)
        _, said = server.communicate()
    assert answer.startswith(b"HTTP/1.1 200")
    assert (server.returncode, said) == (0, "")
    assert list((small / "temporary").iterdir()) == []
