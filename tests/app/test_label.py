"""The command: what it refuses, and a real one from its first line to its end."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from tools.labelling import labelling
from ulmus.app.server import listening_socket
from ulmus.cli import main


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.0], [6.0]], 20, axis=0)
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "".join(f"{x:.4f},{y:.4f}\n" for x, y in X))
    return path


def refused(capsys, *arguments):
    try:
        status = main(["label", *map(str, arguments), "--no-open"])
    except SystemExit as stop:
        status = stop.code
    printed = capsys.readouterr()
    assert status in (1, 2)
    assert printed.out == ""
    return " ".join(printed.err.split())


@pytest.mark.parametrize("shape", ["8", "8x", "8x0", "axb", "2x2x2", "-2x1"])
def test_a_wrong_shape_is_refused(capsys, data, shape):
    assert "is not a shape" in refused(capsys, data, f"--image-shape={shape}")


def test_a_shape_of_other_columns_is_refused(capsys, data):
    assert "9 pixels, and a row has 2 columns" in refused(capsys, data, "--image-shape", "3x3")


def test_standard_input_is_refused(capsys):
    assert "needs a file or folder" in refused(capsys, "-")


def test_a_file_that_is_not_there_is_refused(capsys, tmp_path):
    assert "There is no file" in refused(capsys, tmp_path / "none.csv")


def test_a_port_is_a_number_below_65536(capsys, data):
    assert "must be from 0 to 65535" in refused(capsys, data, "--port", "65536")


def test_a_port_that_is_in_use_is_refused_and_no_journal_is_left(capsys, data):
    with listening_socket() as taken:
        taken.listen()
        said = refused(capsys, data, "--port", taken.getsockname()[1])
    assert "give another --port" in said
    assert [path.name for path in data.parent.iterdir()] == ["rows.csv"]


def test_without_the_extra_the_error_names_it(capsys, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'ulmus[app]'" in refused(capsys, data)


def get(url):
    return urllib.request.urlopen(url)


def act(url, action):
    origin = url.split("/", 3)
    headers = {"content-type": "application/json", "origin": "/".join(origin[:3])}
    request = urllib.request.Request(f"{url}act", json.dumps(action).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["version"]


def told(stream):
    """The next event."""
    for line in stream:
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    return None


@pytest.mark.first
def test_windows_are_told_of_actions_and_a_kill_loses_none(capsys, data):
    with labelling(data, "--quiet") as running:
        assert running.url.startswith("http://127.0.0.1:")
        assert len(running.url.split("/")[3]) >= 32
        with get(f"{running.url}events") as one, get(f"{running.url}events") as two:
            assert told(one)["version"] == told(two)["version"] == 0
            for name in ("low", "high"):
                act(running.url, {"do": "class", "name": name})
            act(running.url, {"do": "label", "rows": [0], "class": "low"})
            assert act(running.url, {"do": "label", "rows": [39], "class": "high"}) == 4
            for stream in (one, two):
                while (event := told(stream))["answered"] < 4:
                    pass
                assert event["found"] == [20, 20]
        assert "in use by another" in refused(capsys, data)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(running.url.replace(running.url.split("/")[3], "wrong"))
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
        assert Path(running.journal) == data.with_name("rows.csv.labels.jsonl")
    with labelling(data, "--quiet") as running:
        with get(f"{running.url}events") as stream:
            event = told(stream)
            assert event["version"] == 4
            assert event["given"] == [1, 1]
            running.process.send_signal(signal.SIGINT)
            while told(stream) is not None:
                pass
        assert running.process.wait() == 0
        with pytest.raises(urllib.error.URLError):
            get(running.url)


# Both threads work in compiled code without an end, one ignores the first request to stop, and
# the last line says which threads there are when Python ends.
ENDLESS = """
import atexit, os, sys, threading
import numpy as np
from ulmus.app import session
from ulmus.cli import main

def deaf(X, seed):
    try:
        endless(X, seed)
    except SystemExit:
        endless(X, seed)

def endless(X, seed):
    os.write(1, b"at work\\n")  # whole lines, for two threads write
    while True:
        np.linalg.svd(np.ones((200, 200)))

session.prepared, session.places = endless, deaf
atexit.register(lambda: print([thread.name for thread in threading.enumerate()]))
sys.exit(main(["label", sys.argv[1], "--no-open", "--quiet"]))
"""


@pytest.mark.first
def test_an_interrupt_ends_threads_at_work_and_the_journal_is_whole(data):
    command, pipe = [sys.executable, "-c", ENDLESS, str(data)], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            said = [process.stdout.readline().strip() for _ in range(3)]
            assert said.count("at work") == 2
            (url,) = set(said) - {"at work"}
            assert act(url, {"do": "class", "name": "low"}) == 1
            process.send_signal(signal.SIGINT)
            rest, trouble = process.communicate()
        finally:
            process.kill()  # or it would work, and be waited for, without an end
    assert (process.returncode, trouble) == (0, "")
    assert rest.splitlines()[-1] == "['MainThread']"
    lines = data.with_name("rows.csv.labels.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines[1:]] == [{"do": "class", "name": "low"}]
