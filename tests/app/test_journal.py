"""What is appended is there, whatever happens to the process or the last line."""

import errno
import json
import os

import pytest

from ulmus.app.journal import Journal
from ulmus.exceptions import InvalidInputError

HEADER = {"ulmus labels": 1, "rows": 3, "data": "abc"}
ENTRIES = [{"do": "class", "name": "café"}, {"do": "label", "rows": [1], "class": "café"}]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.labels.jsonl"


def reopened(path):
    journal = Journal(path, HEADER)
    journal.close()
    return journal.entries


@pytest.fixture
def written(path):
    journal = Journal(path, HEADER)
    for entry in ENTRIES:
        journal.append(entry)
    journal.close()
    return path


def test_entries_come_back_in_order(written):
    assert reopened(written) == ENTRIES
    assert json.loads(written.read_text().splitlines()[0]) == HEADER


def test_an_entry_is_on_the_disk_when_append_returns(path, monkeypatch):
    journal, synced = Journal(path, HEADER), []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(path.read_bytes()))
    journal.append(ENTRIES[0])
    journal.close()
    assert (
        synced[-1].splitlines()[-1]
        == json.dumps(ENTRIES[0], ensure_ascii=False, separators=(",", ":")).encode()
    )


def test_every_cut_keeps_the_lines_that_are_whole(written, monkeypatch):
    text = written.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda number: None)  # the disk's part is slow
    for size in range(len(text) + 1):
        written.write_bytes(text[:size])
        whole = text[:size].count(b"\n")
        assert reopened(written) == ENTRIES[: max(whole - 1, 0)]
        again = Journal(written, HEADER)
        again.append({"do": "undo"})
        again.close()
        assert reopened(written) == [*ENTRIES[: max(whole - 1, 0)], {"do": "undo"}]


def test_a_second_process_is_refused_until_the_first_ends(path):
    first = Journal(path, HEADER)
    with pytest.raises(InvalidInputError, match="in use by another"):
        Journal(path, HEADER)
    first.append(ENTRIES[0])
    first.close()
    assert reopened(path) == ENTRIES[:1]


def test_labels_of_other_data_are_refused_and_stay(written):
    before = written.read_bytes()
    with pytest.raises(InvalidInputError, match="rows is 3 there and 4 here"):
        Journal(written, HEADER | {"rows": 4})
    assert written.read_bytes() == before


@pytest.mark.parametrize("line", [b"{", b"[1]", b"\xff\xfe", b"null"])
def test_a_damaged_line_is_named_and_nothing_is_cut(written, line):
    text = written.read_bytes().splitlines()
    written.write_bytes(b"\n".join([text[0], line, text[2], b""]))
    before = written.read_bytes()
    with pytest.raises(InvalidInputError, match="line 2"):
        Journal(written, HEADER)
    assert written.read_bytes() == before


def test_a_full_disk_leaves_the_file_as_it_was(path, monkeypatch):
    journal = Journal(path, HEADER)
    journal.append(ENTRIES[0])
    before, sync = path.read_bytes(), os.fsync

    def full(number):
        monkeypatch.setattr(os, "fsync", sync)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        journal.append(ENTRIES[1])
    assert path.read_bytes() == before
    journal.append(ENTRIES[1])
    journal.close()
    assert reopened(path) == ENTRIES


def test_the_file_has_the_usual_mode(path):
    Journal(path, HEADER).close()
    usual = path.with_name("usual")
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode
