"""A file is the old one or the new one, never half of either."""

import os
import stat
import subprocess
import sys

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


def killed_half_way(path):
    """A process that dies while it writes ``path``; its draft stays behind."""
    code = (
        "import os, signal, sys\n"
        "from ulmus.files import replacing\n"
        "with replacing(sys.argv[1]) as stream:\n"
        "    stream.write(b'half')\n"
        "    stream.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)


@pytest.mark.skipif(os.name == "nt", reason="a draft that is open cannot be told there")
def test_what_a_killed_process_left_goes_with_the_next_file(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "first")
    killed_half_way(path)
    assert len(os.listdir(tmp_path)) == 2
    assert path.read_text() == "first"
    write_text(path, "second")
    assert os.listdir(tmp_path) == ["a.txt"]
    assert path.read_text() == "second"


def test_what_is_being_written_is_left_alone(tmp_path):
    path = tmp_path / "a.txt"
    with replacing(path) as stream:
        stream.write(b"slow")
        write_text(path, "quick")
        write_text(tmp_path / "b.txt", "another")
    assert path.read_bytes() == b"slow"


def test_other_files_of_the_folder_are_left_alone(tmp_path):
    others = {".a.txt-12345678.bak", ".a.txt-1.part", "a.txt-12345678.part", ".b.txt-12345678.part"}
    for name in others:
        (tmp_path / name).write_text("mine")
    write_text(tmp_path / "a.txt", "first")
    assert set(os.listdir(tmp_path)) == {"a.txt", *others}


@pytest.mark.skipif(os.name == "nt", reason="files have no such modes there")
def test_a_file_keeps_its_mode_and_a_new_one_has_the_usual_one(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_text(path, "first")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o664, 0o444):
            path.chmod(mode)
            write_text(path, "again")
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_a_symbolic_link_stays_and_leads_to_the_new_file(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "a.txt", tmp_path / "link"
    link.symlink_to(target)
    for text in ("made", "replaced"):
        write_text(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert os.listdir(target.parent) == ["a.txt"]
    assert os.listdir(tmp_path) == ["far", "link"] or os.listdir(tmp_path) == ["link", "far"]


@pytest.mark.skipif(os.name == "nt", reason="there are no such files there")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "through")
        assert os.read(reader, 99) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "first")
    assert os.listdir(tmp_path) == []


def test_a_name_may_be_as_long_as_the_system_lets_it(tmp_path):
    path = tmp_path / ("ü" * 127)
    write_text(path, "first")
    assert os.listdir(tmp_path) == [path.name]
