"""Files arrive whole, checked and once, or not at all."""

import hashlib
import io
import itertools
import os
import socket
import threading
import time

import numpy as np
import pytest

from ulmus import progress
from ulmus.datasets import download
from ulmus.datasets.download import downloaded, page
from ulmus.exceptions import CorruptFileError, MissingDatasetError
from ulmus.progress import Bar, duration, line, megabytes

BODY = np.random.default_rng(0).bytes(300_000)
SIZE = len(BODY)
DIGEST = ("sha256", hashlib.sha256(BODY).hexdigest())


def get(url, folder, digest=DIGEST, limit=SIZE):
    with downloaded(url, folder, "file", digest, limit) as path:
        return path.read_bytes()


def leave(folder, body, digest=DIGEST):
    """What an interrupted transfer leaves behind."""
    (folder / f".{digest[1]}.rest").write_bytes(body)


class Clock:
    """The module ``time`` for the code under test, with hands that a test moves."""

    def __init__(self, **hands):
        vars(self).update(vars(time) | hands)


@pytest.fixture
def nowhere():
    """An address that nobody answers at: the port is taken, and nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/a"


def test_a_file_comes_whole_and_leaves_nothing_behind(server, tmp_path):
    assert get(server.serve("/a", BODY), tmp_path) == BODY
    assert get(server.serve("/b", BODY, length=False), tmp_path) == BODY
    assert list(tmp_path.iterdir()) == []


def test_a_broken_transfer_goes_on_where_it_stopped(server, tmp_path):
    url = server.serve("/a", BODY, cut=[100_000, 50_000])
    assert get(url, tmp_path) == BODY
    assert [wanted for _, wanted in server.asked] == [None, "bytes=100000-", "bytes=150000-"]


def test_a_server_that_cannot_go_on_starts_over(server, tmp_path):
    assert get(server.serve("/a", BODY, cut=[100_000], ranges=False), tmp_path) == BODY
    assert len(server.asked) == 2


def test_a_transfer_that_never_ends_well_is_kept_for_the_next_time(server, tmp_path):
    url = server.serve("/a", BODY, cut=[60_000, 0, 0, 0])
    with pytest.raises(MissingDatasetError, match="broke off after 60000 of 300000 bytes"):
        get(url, tmp_path)
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [60_000]
    assert get(url, tmp_path) == BODY
    assert server.asked[-1][1] == "bytes=60000-"
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_taken_over_once_it_is_old(server, tmp_path):
    orphan = tmp_path / f".{DIGEST[1][:16]}-abc.part"
    orphan.write_bytes(BODY[:90_000])
    url = server.serve("/a", BODY)
    assert get(url, tmp_path) == BODY
    assert server.asked[-1][1] is None, "it may still be written to"
    long_ago = time.time() - 2 * download.STALE
    os.utime(orphan, (long_ago, long_ago))
    assert get(url, tmp_path) == BODY
    assert server.asked[-1][1] == "bytes=90000-"
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_keeps_what_has_come(server, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    url = server.serve("/a", BODY, piece=10_000)
    with monkeypatch.context() as patch:
        patch.setattr(Bar, "update", interrupt)
        with pytest.raises(KeyboardInterrupt):
            get(url, tmp_path)
    (rest,) = tmp_path.iterdir()
    assert 0 < rest.stat().st_size <= len(BODY)
    assert get(url, tmp_path) == BODY


@pytest.mark.parametrize("left", [BODY[:1000], b"x" * 1000, BODY, b"x" * len(BODY), BODY + b"x"])
def test_whatever_was_left_the_file_is_right(server, tmp_path, left):
    leave(tmp_path, left)
    assert get(server.serve("/a", BODY), tmp_path) == BODY
    assert list(tmp_path.iterdir()) == []


def test_a_whole_file_that_was_left_needs_no_network(tmp_path, nowhere):
    leave(tmp_path, BODY)
    assert get(nowhere, tmp_path) == BODY


def test_a_wrong_hash_is_thrown_away(server, tmp_path):
    url = server.serve("/a", b"y" + BODY[1:])
    with pytest.raises(CorruptFileError, match=f"and not {DIGEST[1]}.*thrown away"):
        get(url, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [True, False])
def test_a_file_that_is_too_large_is_refused(server, tmp_path, length):
    with pytest.raises(CorruptFileError, match="bytes"):
        get(server.serve("/a", BODY, length=length), tmp_path, limit=1000)
    assert len(server.asked) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_silent_is_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    asked, ask = [], download._answer
    monkeypatch.setattr(download, "_answer", lambda *how: asked.append(how) or ask(*how))
    with pytest.raises(MissingDatasetError, match="does not answer in time"):
        get(server.serve("/a", BODY, pace=threading.Semaphore(0)), tmp_path)
    assert len(asked) == 2


def test_a_server_that_drips_is_given_up(server, tmp_path, monkeypatch):
    pace, seconds = threading.Semaphore(1), itertools.count()
    monkeypatch.setattr(download, "PATIENCE", 60.0)
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    # Ten bytes a second, of which each piece is sent when the one before it has been read.
    monkeypatch.setattr(download, "time", Clock(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(Bar, "update", lambda *_: pace.release())
    with pytest.raises(MissingDatasetError, match="only 610 bytes came in 60 seconds"):
        get(server.serve("/a", BODY, pace=pace, piece=10), tmp_path)


def test_trouble_that_passes_is_waited_for(server, tmp_path):
    assert get(server.serve("/a", BODY, refuse=[503, 429]), tmp_path) == BODY
    assert len(server.asked) == 3


@pytest.mark.parametrize("state", [403, 404, 410])
def test_a_server_that_is_sure_is_not_asked_again(server, tmp_path, state):
    url = server.serve("/a", BODY, refuse=[state] * 4)
    with pytest.raises(MissingDatasetError, match=f"answers {state}"):
        get(url, tmp_path)
    assert len(server.asked) == 1


def test_no_server_at_all_is_said_without_a_pause(tmp_path, nowhere, monkeypatch):
    pauses = []
    monkeypatch.setattr(download, "time", Clock(sleep=pauses.append))
    with pytest.raises(MissingDatasetError, match="could not be fetched"):
        get(nowhere, tmp_path)
    assert pauses == []
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_leads_nowhere(tmp_path, monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(MissingDatasetError, match="perhaps there is no network"):
        get("http://data.invalid/a", tmp_path)


def test_redirects_are_followed_and_only_the_web_is_asked(server, tmp_path):
    server.serve("/b", BODY)
    assert get(server.serve("/a", b"", location="/b"), tmp_path) == BODY
    secret = tmp_path / "secret"
    secret.write_bytes(BODY)
    with pytest.raises(CorruptFileError, match="only http and https"):
        get(secret.as_uri(), tmp_path)
    with pytest.raises(MissingDatasetError, match="answers 302"):
        get(server.serve("/c", b"", location=secret.as_uri()), tmp_path)
    assert list(tmp_path.iterdir()) == [secret]


@pytest.mark.parametrize(
    ("here", "there"), [("https", "http"), ("https", "ftp"), ("http", "ftp"), ("http", "data")]
)
def test_a_redirect_from_the_web_or_to_a_less_safe_address_is_refused(here, there):
    asked = download.urllib.request.Request(f"{here}://example.org/a")
    with pytest.raises(download._Refused, match="not safe"):
        download._Redirects().redirect_request(asked, None, 302, "", {}, f"{there}://example.org/a")


def test_a_redirect_to_another_kind_of_server_is_not_followed(server, tmp_path):
    with pytest.raises(CorruptFileError, match="sends us on to ftp:.* not safe"):
        get(server.serve("/a", b"", location="ftp://127.0.0.1:9/a"), tmp_path)


def test_many_at_once_all_get_the_whole_file(server, tmp_path):
    # None is served before all have asked.
    url = server.serve("/a", BODY, meet=threading.Barrier(6), piece=20_000)
    leave(tmp_path, BODY[:1000])
    found = []
    threads = [threading.Thread(target=lambda: found.append(get(url, tmp_path))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [body == BODY for body in found] == [True] * 6
    assert list(tmp_path.iterdir()) == []
    assert sum(wanted is not None for _, wanted in server.asked) <= 1, "one takes the rest over"


def test_a_page_is_short_and_whole(server):
    assert page(server.serve("/a", b"hello", cut=[3]), 100) == b"hello"
    with pytest.raises(CorruptFileError, match="longer than 100"):
        page(server.serve("/b", BODY), 100)


def test_the_bar_is_for_terminals_alone(monkeypatch):
    quiet = io.StringIO()
    with Bar("usps", quiet) as bar:
        bar.update(1, 2)
    assert quiet.getvalue() == ""
    loud = io.StringIO()
    loud.isatty = lambda: True
    monkeypatch.setattr(progress, "time", Clock(monotonic=lambda: 100.0))
    with Bar("usps", loud) as bar:
        bar.update(1_000_000, 2_000_000)
        bar.update(1_100_000, 2_000_000)
    assert loud.getvalue().count("usps") == 1, "it is not drawn for every piece"
    assert "50%  1.0 of 2.0 MB" in loud.getvalue()
    assert loud.getvalue().endswith("\r\x1b[K")
    assert line("usps", 1_500_000, None, megabytes(1_500_000, None)) == "usps  1.5 MB"
    assert [duration(s) for s in (4, 300, 7200)] == ["4 s", "5 min", "2.0 h"]
