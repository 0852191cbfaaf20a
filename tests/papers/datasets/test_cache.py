"""Files arrive whole, checked and once, or not at all."""

import hashlib
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from papers.datasets import cache
from papers.datasets.cache import cache_directory, downloaded
from papers.errors import CorruptFileError, MissingDatasetError

BODY = np.random.default_rng(0).bytes(300_000)
SHA256 = hashlib.sha256(BODY).hexdigest()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own."""
    monkeypatch.setenv("ULMUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def get(url):
    return downloaded(url, "file", SHA256).read_bytes()


def test_a_file_comes_whole_and_leaves_nothing_else_behind(server, folder):
    assert get(server.serve("/a", BODY)) == BODY
    assert [path.name for path in folder.iterdir()] == [f"file-{SHA256}.npz"]
    assert get(server.serve("/a", BODY)) == BODY
    assert server.asked == ["/a"], "what is there is not fetched again"


def test_a_file_of_unknown_length_comes_whole(server):
    assert get(server.serve("/a", BODY, length=False)) == BODY


@pytest.mark.parametrize("length", [True, False])
def test_a_broken_transfer_leaves_nothing(server, folder, length):
    url = server.serve("/a", BODY, cut=[100_000], length=length)
    with pytest.raises((MissingDatasetError, CorruptFileError), match="/a"):
        get(url)
    assert list(folder.iterdir()) == []
    assert get(url) == BODY


@pytest.mark.parametrize("body", [b"y" + BODY[1:], BODY + b"x", b""])
def test_a_wrong_hash_is_thrown_away(server, folder, body):
    with pytest.raises(CorruptFileError, match=SHA256):
        get(server.serve("/a", body))
    assert list(folder.iterdir()) == []


def test_a_file_that_is_not_there(server, folder):
    with pytest.raises(MissingDatasetError, match="could not be fetched: 404"):
        get(f"{server.address}/none")
    assert list(folder.iterdir()) == []


def test_no_server_at_all(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # the port is taken, and nobody listens
        with pytest.raises(MissingDatasetError, match="could not be fetched"):
            get(f"http://127.0.0.1:{taken.getsockname()[1]}/a")


def test_redirects_are_followed_and_only_the_web_is_asked(server, tmp_path):
    server.serve("/b", BODY)
    secret = tmp_path / "secret"
    secret.write_bytes(BODY)
    for elsewhere in (secret.as_uri(), "ftp://127.0.0.1:9/a", "data:,a"):
        with pytest.raises(MissingDatasetError, match="could not be fetched: No connection adapt"):
            get(elsewhere)
        with pytest.raises(MissingDatasetError, match="could not be fetched: No connection adapt"):
            get(server.serve("/c", b"", location=elsewhere))
    assert get(server.serve("/a", b"", location="/b")) == BODY


def test_many_at_once_all_get_the_whole_file(server, folder):
    # None is served before all have asked.
    url = server.serve("/a", BODY, meet=threading.Barrier(6))
    found = []
    threads = [threading.Thread(target=lambda: found.append(get(url))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [body == BODY for body in found] == [True] * 6
    assert len(list(folder.iterdir())) == 1


def test_storing_twice_leaves_one_whole_file(monkeypatch, tmp_path):
    monkeypatch.setenv("ULMUS_CACHE", str(tmp_path / "deep" / "cache"))
    first = cache.store("a", b"bytes")
    assert cache.store("a", b"bytes") == first
    assert list(first.parent.iterdir()) == [first]


def test_the_cache_is_where_the_system_has_such_things(monkeypatch):
    monkeypatch.delenv("ULMUS_CACHE")
    assert cache_directory().name.lower() == "ulmus"
    monkeypatch.setenv("ULMUS_CACHE", "/mine")
    assert cache_directory() == Path("/mine")
    monkeypatch.setenv("ULMUS_CACHE", "~/mine")
    assert cache_directory() == Path.home() / "mine"


def test_without_pooch_the_error_names_the_command_that_installs_it():
    code = "import sys; sys.modules['pooch'] = None; import papers.datasets"
    root = Path(__file__).parents[3]
    seen = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert "MissingExtraError" in seen.stderr
    assert "pip install --editable '.[papers]'" in seen.stderr
