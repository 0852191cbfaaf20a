"""Runs are done once, kept as they end, and gone on with after any kind of stop."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from dataclasses import replace
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from papers import runner, store
from papers.errors import ReproductionError
from papers.protocol import Axis, Measure, Method, Protocol, Row, cases
from papers.runner import kept, run
from papers.store import Store, locked, write_whole
from surroundings import BACKGROUND, FOREGROUND, started_in
from toy_evaluator import MEET_AT


def protocol(*methods, repetitions=2, axis=None, shift=0.0, rows=("one",), data=""):
    return Protocol(
        "9-table-1",
        9,
        "Table 1",
        "toy",
        "toy_evaluator",
        repetitions,
        (Measure("rate", "rate"),),
        methods or (Method("plain", "proposed"),),
        tuple(Row(name, data=data) for name in rows),
        axis,
        settings={"shift": shift},
        quick={"repetitions": 1},
    )


def silent(_):
    pass


def test_every_run_has_a_line_and_is_not_done_twice(tmp_path):
    toy = protocol(rows=("one", "two"))
    assert run([toy], tmp_path, say=silent).done == 4
    first = kept([toy], tmp_path, False, 0)["9-table-1"]
    assert run([toy], tmp_path, say=silent).done == 0
    assert kept([toy], tmp_path, False, 0)["9-table-1"] == first
    assert {line["measures"]["threads"] for line in first} == {1}
    assert all(len(line["measures"]["several"]) == 3 for line in first)


def test_the_same_seed_gives_the_same_numbers(tmp_path):
    def rates(folder, seed):
        run([protocol()], folder, seed=seed, say=silent)
        lines = kept([protocol()], folder, False, seed)["9-table-1"]
        return [line["measures"]["rate"] for line in lines]

    assert rates(tmp_path / "a", 0) == rates(tmp_path / "b", 0)
    assert rates(tmp_path / "a", 1) != rates(tmp_path / "b", 0)


def test_quick_runs_count_for_the_full_run(tmp_path):
    assert run([protocol()], tmp_path, quick=True, say=silent).done == 1
    assert run([protocol()], tmp_path, say=silent).done == 1


def test_other_settings_are_another_run(tmp_path):
    run([protocol()], tmp_path, say=silent)
    assert run([protocol(shift=1.0)], tmp_path, say=silent).done == 2


def test_repetition_0_of_everything_comes_first(tmp_path):
    order = []
    store = Store.add
    toy = protocol(rows=("one", "two", "three"), repetitions=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "add", lambda s, t, line: (order.append(line), store(s, t, line)))
        run([toy], tmp_path, jobs=1, say=silent)
    assert [line["repetition"] for line in order] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_half_line_is_cut_off_and_its_run_done_again(tmp_path):
    run([protocol()], tmp_path, say=silent)
    path = tmp_path / "runs" / "9-table-1.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert run([protocol()], tmp_path, say=silent).done == 1
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    again = {line["key"]: line["measures"]["rate"] for line in lines}
    before = [json.loads(text) for text in whole.decode().splitlines()]
    assert again == {line["key"]: line["measures"]["rate"] for line in before}


def test_lines_of_another_version_are_left_alone(tmp_path):
    Store(tmp_path, "0.0.0").add("9-table-1", {"key": "k", "measures": {}})
    assert Store(tmp_path, "0.0.0").lines("9-table-1").keys() == {"k"}
    assert Store(tmp_path, "0.0.1").lines("9-table-1") == {}


@pytest.mark.parametrize("trouble", ["extra", "bug", "killed"])
def test_a_run_that_fails_costs_itself_alone(tmp_path, trouble):
    toy = protocol(
        Method("plain", "proposed"), Method("bad", "baseline", settings={"trouble": trouble})
    )
    said = []
    outcome = run([toy], tmp_path, say=said.append)
    assert outcome.done == 2
    assert list(outcome.why) == [("9-table-1", "one", "bad")]
    assert bool(outcome.broken) == (trouble != "extra")
    reason = {"extra": "pip install", "bug": "ZeroDivisionError", "killed": "memory"}[trouble]
    assert reason in outcome.why["9-table-1", "one", "bad"]
    lines = kept([toy], tmp_path, False, 0)["9-table-1"]
    assert {line["method"] for line in lines} == {"plain"}, "what failed is tried again"


def test_data_that_cannot_be_had_is_asked_for_once(tmp_path, monkeypatch):
    asked = []

    def nothing(name):
        asked.append(name)
        raise runner.DatasetError(f"{name} is not here; set ULMUS_DATA.")

    monkeypatch.setattr(runner, "benchmark_rows", nothing)
    outcome = run([protocol(data="toy", rows=("one", "two"))], tmp_path, say=silent)
    assert asked == ["toy"]
    assert outcome.done == 0
    assert set(outcome.why.values()) == {"toy is not here; set ULMUS_DATA."}


def test_time_over(tmp_path):
    outcome = run([protocol(repetitions=9)], tmp_path, minutes=0.0, say=silent)
    assert (outcome.done, outcome.left) == (0, 9)


def test_figures_have_a_run_for_every_point():
    toy = protocol(axis=Axis("k", "k", (1, 2, 3, 4)), repetitions=1)
    assert [case.x for case in cases(toy)] == [1, 2, 3, 4]
    short = Protocol(**{**vars(toy), "quick": {"repetitions": 1, "every": 2}})
    assert [case.x for case in cases(short, quick=True)] == [1, 3, 4], "the last point stays"


def test_a_row_may_have_runs_of_its_own():
    table = protocol(rows=("one", "two"), repetitions=2)
    more = replace(table, rows=(table.rows[0], replace(table.rows[1], repetitions=5)))
    assert [case.row for case in cases(more)].count("one") == 2
    assert [case.row for case in cases(more)].count("two") == 5
    short = replace(more, quick={"repetitions": 1})
    assert [case.row for case in cases(short, quick=True)] == ["one", "two"]


def test_two_runs_in_one_folder(tmp_path):
    with locked(tmp_path):
        with pytest.raises(ReproductionError, match="Another run .* --out"), locked(tmp_path):
            pass
        with locked(tmp_path / "other"):
            pass


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    for start in (lambda f: Store(f, "1"), lambda f: locked(f).__enter__()):
        with pytest.raises(ReproductionError, match="--out"):
            start(tmp_path / "file" / "folder")


def test_a_report_is_whole_or_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "report.md"
    write_whole(path, "first")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(ReproductionError, match="No space left"):
        write_whole(path, "second")
    assert path.read_text() == "first"
    assert [p.name for p in tmp_path.iterdir()] == ["report.md"]


# Its workers run it too, and have no need of what the first process imports.
SCRIPT = """
if __name__ == "__main__":
    import sys
    from pathlib import Path
    from test_runner import protocol
    from papers.runner import run
    from ulmus.cli import interruptible

    with interruptible():
        run([protocol(repetitions=200)], Path(sys.argv[1]), jobs=2)
"""


@pytest.mark.first
@pytest.mark.parametrize(
    ("stop", "place"),
    [
        (signal.SIGINT, FOREGROUND),
        (signal.SIGINT, BACKGROUND),
        (signal.SIGKILL, FOREGROUND),
    ],
)
def test_a_run_that_is_stopped_goes_on(tmp_path, stop, place):
    folder = tmp_path / "out"
    with (
        socket.create_server(("127.0.0.1", 0)) as meeting,
        _started(tmp_path, folder, place, meeting) as process,
    ):
        workers = [_arrival(meeting, process) for _ in range(2)]
        if stop == signal.SIGINT:
            os.killpg(process.pid, stop)  # as a terminal does, to the workers too
        else:
            process.kill()
        process.wait()
        for worker in workers:
            worker.close()
        process.stderr.read()  # which ends when the last of the workers has
    there = len(kept([protocol(repetitions=200)], folder, False, 0)["9-table-1"])
    assert there == MEET_AT
    assert run([protocol(repetitions=there + 3)], folder, say=silent).done == 3


def _started(tmp_path, folder, place, meeting):
    """A run whose workers come to a meeting after some cases, and wait there."""
    script = tmp_path / "go.py"
    script.write_text(textwrap.dedent(SCRIPT))
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), *sys.path])
    port = str(meeting.getsockname()[1])
    return subprocess.Popen(
        started_in(place, sys.executable, script, folder),
        env={**os.environ, "PYTHONPATH": path, "TOY_MEETING": port},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _arrival(meeting, process):
    """The line to the next worker that comes; a process that ends before is an error."""
    ready = wait([meeting, process.stderr])
    assert meeting in ready, process.stderr.read().decode()
    return meeting.accept()[0]
