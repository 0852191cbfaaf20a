"""Kills of a process that labels: every action that it had acknowledged is there afterwards.

The process acts at random, and tells after each action that it is done. It is killed at any of its
calls into the file system. The next session has all actions that it told of, one more at most, and
goes on.
"""

import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from attack.killing import calls_of, killed_at
from attack.outcomes import Outcome, Result
from ulmus.app.actions import Labels
from ulmus.app.journal import Journal
from ulmus.app.opened_table import OpenedTable, opened_table
from ulmus.app.session import Session, header_of
from ulmus.tables import Table

COUNT = 100
LIMIT = 60.0
_ROWS, _ACTIONS = 30, 12


@cache
def _opened() -> OpenedTable:
    x = np.random.default_rng(0).normal(size=_ROWS)
    return opened_table(Table(("x",), {"x": x}))


def _session(folder: Path) -> Session:
    return Session(_opened(), Journal(folder / "labels.jsonl", header_of(_opened())))


def _actions(seed: str) -> list[dict[str, Any]]:
    """Actions of which each can be done after those before it."""
    rng, labels, found = Random(seed), _opened().labels, list[dict[str, Any]]()
    while len(found) < _ACTIONS:
        kind = rng.choice(["class", "label", "label", "label", "clear", "undo", "redo"])
        action: dict[str, Any] = {"do": kind}
        if kind == "class":
            action["name"] = f"class {rng.randrange(9)}"
        elif kind == "label":
            action["rows"] = rng.sample(range(_ROWS), rng.randint(1, _ROWS))
            action["class"] = rng.choice([*labels.classes, None])
        try:
            labels = labels.after(action)
        except ValueError:
            continue
        found.append(action)
    return found


def _after(actions: list[dict[str, Any]]) -> Labels:
    labels = _opened().labels
    for action in actions:
        labels = labels.after(action)
    return labels


def attack(seed: int, number: int) -> Result:
    """Case ``number``: a process is killed, and another goes on."""
    rng, actions = Random(f"{seed} {number}"), _actions(f"{seed} {number}")
    read, write = os.pipe()

    def work(folder: Path) -> None:
        session = _session(folder)
        for action in actions:
            session.act(action)
            os.writev(write, [b"."])  # no call that counts

    with tempfile.TemporaryDirectory(prefix="ulmus-labels-") as name:
        calls = calls_of(lambda: work(_new(Path(name) / "counted")))
        os.read(read, len(actions))
        folder = _new(Path(name) / "killed")
        killed = killed_at(rng.randint(1, calls), lambda: work(folder))
        os.close(write)
        with os.fdopen(read, "rb") as report:
            told = len(report.read())
        complaint = _complaint(folder, actions, told) if killed else "the process was not killed"
    return Result("a kill", Outcome.CORRUPTED if complaint else Outcome.RIGHT, complaint)


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _complaint(folder: Path, actions: list[dict[str, Any]], told: int) -> str:
    """What is wrong after the kill, or nothing."""
    for extra in ({"do": "class", "name": "one more"}, {"do": "undo"}):
        session = _session(folder)
        count = session.version
        expected = _after(actions[:count])
        if not told <= count <= told + 1:
            return f"{told} actions were acknowledged, and {count} are there"
        if session.labels.classes != expected.classes:
            return f"the classes are {session.labels.classes}"
        if not np.array_equal(session.labels.codes, expected.codes):
            return "the labels are others"
        session.act(extra)
        session.close()
        actions, told = [*actions[:count], extra], count + 1
    return ""
