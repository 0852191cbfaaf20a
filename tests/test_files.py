"""A file is the old one or the new one, never half of either."""

import os

import pytest

from ulmus import files
from ulmus.files import replacing, write_text


def test_a_new_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "first")
    write_text(path, "Grüße")
    assert path.read_bytes() == "Grüße".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


def test_nothing_is_seen_before_the_block_ends(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "first")
    with replacing(path) as stream:
        stream.write(b"second")
        assert path.read_text() == "first"
    assert path.read_text() == "second"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_block_that_fails_leaves_the_old_file_alone(tmp_path, error):
    path = tmp_path / "a.txt"
    write_text(path, "first")
    with pytest.raises(type(error)), replacing(path) as stream:  # noqa: PT012
        stream.write(b"half")
        raise error
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_disk_that_is_full_at_the_last_moment(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "first")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_text(path, "second")
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.txt"]
