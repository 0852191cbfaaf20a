"""A name leads to its data from wherever they are nearest, or to a word of what helps."""

import io
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from papers.datasets import DATASETS, benchmark_rows, cache, catalogue, fetch, load
from papers.errors import CorruptFileError, MissingDatasetError, UnknownDatasetError
from served import packed
from surroundings import make_read_only


@pytest.fixture
def mirror(server, tiny, monkeypatch):
    """The file of twelve rows at an address; a function that serves it otherwise."""
    monkeypatch.setenv("ULMUS_MIRROR", server.address)

    def serve(body=tiny, **how):
        return server.serve("/tiny.npz", body, **how)

    serve()
    return serve


def sources():
    return {entry.name: entry.source for entry in catalogue()}


def test_the_users_own_directory_comes_first(tmp_path, tiny, mirror, server, monkeypatch):
    (tmp_path / "tiny.npz").write_bytes(tiny)
    monkeypatch.setenv("ULMUS_DATA", str(tmp_path))
    assert sources()["tiny"] == "ULMUS_DATA"
    data = load("tiny")
    assert isinstance(data, Bunch)
    assert data.source == "ULMUS_DATA"
    assert data.filename == str(tmp_path / "tiny.npz")
    with np.load(io.BytesIO(tiny)) as file:
        assert_array_equal(data.data, file["X"])
        assert_array_equal(data.target, file["y"])
    assert_array_equal(data.train, np.arange(8))
    assert_array_equal(data.test, np.arange(8, 12))
    assert data.description == "Twelve rows."
    assert data.licence == "none needed"
    assert data.citation == "These tests."
    assert server.asked == []


def test_a_file_of_ones_own_with_another_hash_is_named(tmp_path, tiny, mirror, monkeypatch):
    monkeypatch.setenv("ULMUS_DATA", str(tmp_path))
    path = tmp_path / "tiny.npz"
    path.write_bytes(tiny[:-1] + b"x")
    with pytest.raises(CorruptFileError) as caught:
        load("tiny")
    assert str(path) in str(caught.value)
    assert DATASETS["tiny"].sha256 in str(caught.value)


def test_the_network_fills_the_cache_and_the_cache_serves_from_then_on(mirror, server, tmp_path):
    assert sources()["tiny"] == "network"
    assert load("tiny").source == "network"
    assert sources()["tiny"] == "cache"
    again = load("tiny", download=False)
    assert again.source == "cache"
    assert len(server.asked) == 1
    assert [str(path) for path in (tmp_path / "cache").iterdir()] == [again.filename]


@pytest.mark.parametrize("harm", [b"", b"garbage", None])
def test_a_corrupt_file_in_the_cache_is_fetched_again_and_never_loaded(mirror, server, tiny, harm):
    path = fetch("tiny")
    path.write_bytes(tiny[:-20] + bytes(20) if harm is None else harm)
    with pytest.raises(MissingDatasetError, match="not on this machine"):
        load("tiny", download=False)
    data = load("tiny")
    assert data.source == "network"
    assert len(server.asked) == 2
    assert path.read_bytes() == tiny


def test_a_file_in_the_cache_with_other_rows_is_not_believed(mirror, tiny):
    path = fetch("tiny")
    with np.load(io.BytesIO(tiny)) as data:
        path.write_bytes(packed(X=data["X"] + 1, y=data["y"]))
    data = load("tiny")
    assert data.source == "network"
    assert path.read_bytes() == tiny


def test_another_file_under_a_name_of_ours_is_not_loaded(mirror):
    other = packed(X=np.zeros((2, 2)), y=np.zeros(2, int))
    cache.store("tiny", other)
    assert load("tiny").source == "network"


def test_a_mirror_with_another_file(mirror, tiny, tmp_path):
    mirror(tiny[:-1] + b"x")
    with pytest.raises(CorruptFileError, match="SHA256 hash of downloaded file"):
        load("tiny")
    mirror(tiny + b"x")
    with pytest.raises(CorruptFileError, match="SHA256 hash of downloaded file"):
        load("tiny")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_mirror_without_the_file_leaves_it_to_openml(published, server, monkeypatch):
    published()
    monkeypatch.setenv("ULMUS_MIRROR", server.address + "/nothing")
    assert load("tiny").source == "network"


def test_no_data_and_no_network_say_what_helps(tiny, monkeypatch):
    with pytest.raises(MissingDatasetError, match="no public address") as caught:
        load("tiny")
    assert "tiny.npz into the directory that ULMUS_DATA names" in str(caught.value)
    monkeypatch.setenv("ULMUS_MIRROR", "http://127.0.0.1:9")
    with pytest.raises(MissingDatasetError, match="ULMUS_DATA") as caught:
        load("tiny")
    assert "127.0.0.1:9/tiny.npz could not be fetched" in str(caught.value)


def test_the_command_is_named_for_what_openml_has(tiny, tmp_path):
    with pytest.raises(MissingDatasetError, match="`ulmus data fetch usps`"):
        load("usps", download=False)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("ups", "usps"), ("USPS", "usps"), ("tic-tac-toe", "tic_tac_toe"), ("coil", "coil20")],
)
def test_an_unknown_name_suggests_the_nearest(name, meant):
    with pytest.raises(UnknownDatasetError, match=f"did you mean '{meant}'"):
        load(name)


@pytest.mark.parametrize("name", ["qqqqqq", "", "../../etc/passwd", None, 3])
def test_a_name_like_no_other_lists_all(name):
    with pytest.raises(UnknownDatasetError, match="adult, .*yaleb"):
        load(name)


def test_a_directory_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("ULMUS_DATA", str(tmp_path / "none"))
    with pytest.raises(MissingDatasetError, match="ULMUS_DATA names .*none"):
        catalogue()


def test_a_cache_that_cannot_be_written_to(mirror, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ULMUS_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(MissingDatasetError, match="name another directory .*ULMUS_CACHE"):
        load("tiny")


def test_a_read_only_cache_is_still_read(mirror, tmp_path, monkeypatch):
    load("tiny")
    make_read_only(tmp_path / "cache", monkeypatch)
    assert load("tiny", download=False).source == "cache"
    next((tmp_path / "cache").iterdir()).unlink()
    with pytest.raises(MissingDatasetError, match="cannot be written to .*ULMUS_CACHE"):
        load("tiny")


FETCH = """
import os, pickle, sys
from papers.datasets import DATASETS, load
os.environ["ULMUS_MIRROR"], os.environ["ULMUS_CACHE"] = sys.argv[1:]
DATASETS["tiny"] = pickle.load(sys.stdin.buffer)
print(repr(float(load("tiny").data.sum())))
"""


def test_processes_that_fetch_at_once_do_not_harm_each_other(mirror, server, tmp_path, tiny):
    mirror(meet=threading.Barrier(2))  # neither is served before the other asks
    other = subprocess.Popen(
        [sys.executable, "-c", FETCH, server.address, str(tmp_path / "cache")],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    other.stdin.write(pickle.dumps(DATASETS["tiny"]))
    other.stdin.close()
    ours = load("tiny")
    assert float(other.stdout.read()) == float(ours.data.sum())
    assert other.wait() == 0
    other.stdout.close()
    assert len(server.asked) == 2
    (path,) = (tmp_path / "cache").iterdir()
    assert path.read_bytes() == tiny


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer"])
def test_bundled_data_need_neither_file_nor_network(name, tiny):
    data = load(name, download=False)
    assert data.source == "bundled"
    assert data.published
    assert data.data.shape == DATASETS[name].shape
    assert len(data.feature_names) == data.data.shape[1]
    assert len(data.target_names) == DATASETS[name].classes == len(np.unique(data.target))
    assert fetch(name) is None


def test_bundled_iris_is_scikit_learns(tiny):
    theirs = load_iris()
    assert_array_equal(load("iris").data, theirs.data)
    assert_array_equal(load("iris").target, theirs.target)


@pytest.mark.parametrize("name", ["g50c", "waveform", "synthetic_control", "tic_tac_toe"])
def test_generated_data_are_the_same_every_time(name, tiny):
    data = load(name, download=False)
    assert data.source == "generated"
    assert data.data.shape == DATASETS[name].shape
    assert len(np.unique(data.target)) == DATASETS[name].classes
    assert_array_equal(data.data, load(name).data)
    assert data.published == (name not in ("g50c", "waveform", "synthetic_control"))
    assert ("new draw" in data.description) != data.published


def test_only_published_rows_are_compared_with_published_figures(tiny):
    X, y = benchmark_rows("iris")
    assert X.dtype == float
    assert len(X) == len(y) == 150
    with pytest.raises(MissingDatasetError, match="published rows of g50c.*ULMUS_DATA"):
        benchmark_rows("g50c")


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_the_facts_are_complete(name):
    facts = DATASETS[name]
    assert facts.about.endswith((".", "?"))
    assert facts.licence
    assert facts.citation.endswith(".")
    assert min(facts.shape) > 0
    assert not facts.sha256 or len(facts.sha256) == 64
    assert not facts.counts or (sum(facts.counts), len(facts.counts)) == (
        facts.shape[0],
        facts.classes,
    )
    assert not facts.target_names or len(facts.target_names) == facts.classes
    assert not facts.feature_names or len(facts.feature_names) == facts.shape[1]
    assert not facts.image_shape or np.prod(facts.image_shape) == facts.shape[1]
    np.dtype(facts.dtype)
