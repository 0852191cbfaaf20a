"""How much memory is left, as the system and a container say."""

import math

import pytest

from ulmus import machine


@pytest.fixture
def system(monkeypatch):
    """The system's files; those that are not named do not exist."""
    files = {}
    monkeypatch.setattr(machine, "_lines", lambda path: files.get(path, "").splitlines())
    return files


def test_what_the_system_says_is_available(system):
    system["/proc/meminfo"] = "MemTotal: 64 kB\nMemAvailable: 5 kB\n"
    assert machine.available_memory() == 5 * 1024


def test_a_container_may_have_less(system):
    system["/proc/meminfo"] = "MemAvailable: 5 kB\n"
    system["/sys/fs/cgroup/memory.max"] = "3000\n"
    system["/sys/fs/cgroup/memory.current"] = "2500\n"
    # Files that are only cached give way.
    system["/sys/fs/cgroup/memory.stat"] = "anon 1500\ninactive_file 1000\n"
    assert machine.available_memory() == 1500
    system["/sys/fs/cgroup/memory.max"] = "max\n"
    assert machine.available_memory() == 5 * 1024


def test_where_nobody_says_there_is_no_limit(system, monkeypatch):
    monkeypatch.setattr(machine, "_memory", lambda: 7.0)
    assert machine.available_memory() == 7.0
    monkeypatch.setattr(machine, "_memory", lambda: 0.0)
    assert machine.available_memory() == math.inf


def test_this_machine_has_memory():
    assert 2**20 < machine.available_memory() < math.inf


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2.5e9, "2.5 GB"), (3e15, "3e+03 TB")],
)
def test_bytes_in_words(size, words):
    assert machine.in_words(size) == words
