"""Run the papers' tables: what is not there yet, in parallel, and one file of results.

Repetition 0 of every table comes first, then 1, and so on, so that a run that is stopped has a
little of everything.
"""

import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from papers.datasets import benchmark_rows
from papers.errors import DatasetError
from papers.protocol import Case, Protocol, cases
from papers.store import Store
from papers.wording import hours
from papers.workers import outcomes
from ulmus.machine import machine
from ulmus.progress import Bar
from ulmus.version import __version__

_LOG = logging.getLogger(__name__)
_SAY_EVERY = 60.0


@dataclass
class Outcome:
    """What a run of the runner did.

    ``why`` has, for a table, a row and a method, the reason why a cell could not be run; ``broken``
    those of them that nobody foresaw; ``left`` how many runs there was no time for.
    """

    done: int = 0
    left: int = 0
    seconds: float = 0.0
    why: dict[tuple[str, str, str], str] = field(default_factory=dict)
    broken: dict[tuple[str, str, str], str] = field(default_factory=dict)


def kept(protocols: Iterable[Protocol], folder: Path, quick: bool, seed: int) -> dict[str, list]:
    """The lines of a folder that belong to these protocols, by table."""
    store = Store(folder, __version__)
    found = {}
    for protocol in protocols:
        lines = store.lines(protocol.name)
        keys = [case.key for case in cases(protocol, quick, seed)]
        found[protocol.name] = [lines[key] for key in keys if key in lines]
    return found


def run(
    protocols: list[Protocol],
    folder: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    jobs: int = 2,
    minutes: float | None = None,
    say: Callable[[str], None] | None = None,
) -> Outcome:
    """Do every run that the folder does not have; what was done, what was not, and why.

    ``jobs`` processes, each with one BLAS thread, start nothing after so many ``minutes``. ``say``
    takes a line for a person; it goes to the log if None.
    """
    say = say or _LOG.info
    store = Store(folder, __version__)
    lines = {protocol.name: store.lines(protocol.name) for protocol in protocols}
    wanted = [case for protocol in protocols for case in cases(protocol, quick, seed)]
    todo = [case for case in wanted if case.key not in lines[case.table]]
    todo.sort(key=lambda case: case.repetition)  # stable: tables stay in their order
    say(f"{len(wanted) - len(todo)} of {len(wanted)} runs are there, {len(todo)} to do.")
    outcome = Outcome()
    todo = _with_data(todo, outcome, say)
    clock = _Clock(lines, todo, jobs)
    ends = math.inf if minutes is None else time.monotonic() + 60.0 * minutes
    started = time.monotonic()
    where = machine()
    with Bar("runs", words=clock.words) as bar:
        due = started + _SAY_EVERY
        for case, found in outcomes(_until(todo, ends, outcome), jobs):
            cell = case.table, case.row, case.method
            if "why" in found:
                outcome.why[cell] = found["why"]
                if found.get("broken"):
                    outcome.broken[cell] = found["why"]
                    say(f"{case.table}, {case.row}, {case.method}: {found['why']}")
            else:
                store.add(case.table, _line(case, found, where))
                outcome.done += 1
            clock.tick(case, found)
            bar.update(clock.done, len(todo))
            if not bar.shown and time.monotonic() > due:
                due = time.monotonic() + _SAY_EVERY
                say(f"{clock.done} of {len(todo)} runs, {clock.words(clock.done, len(todo))}")
    outcome.seconds = time.monotonic() - started
    return outcome


def _line(case: Case, found: dict[str, Any], where: dict[str, Any]) -> dict[str, Any]:
    named = {"row": case.row, "method": case.method, "x": case.x, "repetition": case.repetition}
    return {"key": case.key, "table": case.table, **named, **found, "machine": where["processor"]}


def _with_data(todo: list[Case], outcome: Outcome, say: Callable[[str], None]) -> list[Case]:
    """The cases whose data can be had; each data set is asked for once, here, before any run.

    So a file is fetched once and not by every process, and without a network each is missed once.
    """
    missing: dict[str, str] = {}
    for name in dict.fromkeys(case.data for case in todo if case.data):
        try:
            benchmark_rows(name)
        except DatasetError as error:
            missing[name] = str(error)
            say(str(error))
    for case in todo:
        if case.data in missing:
            outcome.why[case.table, case.row, case.method] = missing[case.data]
    return [case for case in todo if case.data not in missing]


def _until(todo: list[Case], ends: float, outcome: Outcome) -> Iterator[Case]:
    """The cases one by one, until the time is over."""
    for number, case in enumerate(todo):
        if time.monotonic() > ends:
            outcome.left = len(todo) - number
            return
        yield case


class _Clock:
    """How long the rest will take, by what such runs have taken."""

    def __init__(self, lines: dict[str, dict[str, Any]], todo: list[Case], jobs: int) -> None:
        self.jobs = jobs
        self.done = 0
        self.seen: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for line in (line for table in lines.values() for line in table.values()):
            cell = line["table"], line["row"], line["method"]
            self.seen[cell].append(line["whole_seconds"])
        self.left: dict[tuple[str, str, str], int] = defaultdict(int)
        for case in todo:
            self.left[case.table, case.row, case.method] += 1

    def tick(self, case: Case, found: dict[str, Any]) -> None:
        """One run more is over."""
        cell = case.table, case.row, case.method
        self.done += 1
        self.left[cell] -= 1
        if "whole_seconds" in found:
            self.seen[cell].append(found["whole_seconds"])

    def words(self, done: float, total: float | None) -> str:
        """For the bar."""
        every = [seconds for times in self.seen.values() for seconds in times]
        if not every:
            return f"{done:.0f} of {total:.0f}"
        usual = sum(every) / len(every)
        rest = sum(
            count * (sum(self.seen[cell]) / len(self.seen[cell]) if self.seen.get(cell) else usual)
            for cell, count in self.left.items()
        )
        return f"{done:.0f} of {total:.0f}, about {hours(rest / self.jobs)} left"
