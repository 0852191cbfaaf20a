"""Kills of a save, a checkpoint, a run of the papers' tables, and of workers.

Afterwards the old file or the new one is whole, the next one leaves no draft behind, and the work
goes on to the result of one that was not disturbed.
"""

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_classification

from attack.killing import calls_of, killed_at
from attack.outcomes import Outcome, Result
from attack.sums import fitted
from papers import runner
from papers.protocol import Measure, Method, Protocol, Row
from papers.store import locked, write_whole
from papers.workers import _outcome
from ulmus import ELMClassifier, load, save
from ulmus.sources import checkpoint

COUNT = 140
LIMIT = 300.0
_OF_WORKERS = 40
X, Y = make_classification(90, 5, n_informative=4, n_redundant=0, random_state=0)


class Broken(Exception):
    """What a kill has left is not what it should be."""


def demand(holds: bool, complaint: str) -> None:
    """Say what is broken."""
    if not holds:
        raise Broken(complaint)


def attack(seed: int, number: int) -> Result:
    """Case ``number``: the last forty kill workers, the others a process that writes."""
    rng = Random(f"{seed} {number}")
    if number >= COUNT - _OF_WORKERS:
        kind, case = (("a worker", _a_worker), ("a Dask worker", _a_dask_worker))[number % 2]
    else:
        kind, case = (
            ("a save", _a_save),
            ("a checkpoint", _a_checkpoint),
            ("a reproduction", _a_reproduction),
        )[number % 3]
    with tempfile.TemporaryDirectory(prefix="ulmus-kills-") as folder:
        try:
            case(rng, Path(folder))
        except Broken as error:
            return Result(kind, Outcome.CORRUPTED, str(error))
    return Result(kind, Outcome.RIGHT)


def _killed(rng: Random, folder: Path, work: Callable[[Path], object]) -> None:
    """Do the work in the folder, and be killed at one of its calls into the file system."""
    calls = _calls(work, (folder / "old").exists())
    demand(killed_at(rng.randint(1, calls), lambda: work(folder)), "the process was not killed")


@cache
def _calls(work: Callable[[Path], object], old: bool) -> int:
    """How many calls the work makes, with and without a file that is there already."""
    with tempfile.TemporaryDirectory(prefix="ulmus-kills-") as folder:
        if old:
            _save_old(Path(folder))
        return calls_of(lambda: work(Path(folder)))


# ---------------------------------------------------------------- save
@cache
def _models() -> tuple[ELMClassifier, ELMClassifier]:
    return tuple(ELMClassifier(n_hidden=h, C=1.0, random_state=0).fit(X, Y) for h in (8, 9))


def _save_old(folder: Path) -> None:
    (folder / "old").touch()
    save(_models()[0], folder / "model.ulmus")


def _save_new(folder: Path) -> None:
    save(_models()[1], folder / "model.ulmus")


def _a_save(rng: Random, folder: Path) -> None:
    path = folder / "model.ulmus"
    if rng.random() < 0.7:
        _save_old(folder)
    _killed(rng, folder, _save_new)
    if path.exists() or (folder / "old").exists():
        widths = [model.beta_.shape for model in _models()]
        demand(load(path).beta_.shape in widths, "the file is neither the old nor the new one")
    _save_new(folder)
    demand((load(path).beta_ == _models()[1].beta_).all(), "the next save is not whole")
    left = {name for name in os.listdir(folder) if name != "old"}
    demand(left == {"model.ulmus"}, f"{left} are left")


# ---------------------------------------------------------------- checkpoint
def _fit(folder: Path) -> ELMClassifier:
    """A fit that writes its sums after every batch."""
    with patch.object(checkpoint, "_PERIOD", 0.0), patch.object(checkpoint, "_SHARE", np.inf):
        return fitted(folder / "sums")


@cache
def _undisturbed() -> bytes:
    return fitted(None).beta_.tobytes()


def _a_checkpoint(rng: Random, folder: Path) -> None:
    _killed(rng, folder, _fit)
    demand(_fit(folder).beta_.tobytes() == _undisturbed(), "the fit went on to another model")
    demand(os.listdir(folder) == [], f"{os.listdir(folder)} are left")


# ---------------------------------------------------------------- the papers' tables
def _protocol(*methods: Method, repetitions: int = 3) -> Protocol:
    return Protocol(
        "9-table-1", 9, "Table 1", "toy", "toy_evaluator", repetitions, (Measure("rate", "rate"),),
        methods or (Method("plain", "proposed"),), (Row("one"), Row("two")), None,
        settings={"shift": 0.0}, quick={"repetitions": 1},
    )  # fmt: skip


def _here(cases: Any, jobs: int) -> Iterator[tuple[Any, Any]]:
    """The runs in this process."""
    for case in cases:
        yield case, _outcome(case)


def _reproduced(folder: Path) -> None:
    """All runs, and a report of them."""
    with locked(folder), patch.object(runner, "outcomes", _here):
        runner.run([_protocol()], folder, say=lambda _: None)
        write_whole(folder / "report.json", json.dumps(_rates(folder)))


def _rates(folder: Path) -> dict[str, float]:
    lines = runner.kept([_protocol()], folder, False, 0)["9-table-1"]
    return {line["key"]: line["measures"]["rate"] for line in lines}


@cache
def _all_rates() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="ulmus-kills-") as folder:
        _reproduced(Path(folder))
        return _rates(Path(folder))


def _a_reproduction(rng: Random, folder: Path) -> None:
    _killed(rng, folder, _reproduced)
    report = folder / "report.json"
    if report.exists():
        demand(json.loads(report.read_text()) == _all_rates(), "the report is half of one")
    _reproduced(folder)
    demand(_rates(folder) == _all_rates(), "the next run has other lines")
    demand(json.loads(report.read_text()) == _all_rates(), "the next report is another")
    left = {path.name for path in folder.rglob("*.part")}
    demand(not left, f"{left} are left")


# ---------------------------------------------------------------- workers
def _a_worker(rng: Random, folder: Path) -> None:
    """One of two methods kills its worker: the other's runs are all there."""
    bad = Method("bad", "baseline", settings={"trouble": "killed"})
    toy = _protocol(*rng.sample([Method("plain", "proposed"), bad], 2), repetitions=1)
    outcome = runner.run([toy], folder, jobs=rng.randint(1, 2), say=lambda _: None)
    demand(outcome.done == 2, f"{outcome.done} of 2 runs are done")
    demand({method for _, _, method in outcome.broken} == {"bad"}, "others are broken too")
    lines = runner.kept([toy], folder, False, 0)["9-table-1"]
    demand({line["method"] for line in lines} == {"plain"}, "a killed run has a line")


@contextmanager
def _client() -> Iterator[Any]:
    """Two workers of a case's own: a cluster gives those up that are lost again and again."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@cache
def _on_dask(number: int, reading: int, folder: Path | None) -> bytes:
    """β of a fit over blocks; the worker that reads one of them for the n-th time is killed."""
    import dask.array as da

    def deadly(block: np.ndarray, which: int) -> np.ndarray:
        if folder is not None and which == number:
            (folder / f"read-{len(os.listdir(folder))}").touch()
            if len(list(folder.glob("read-*"))) == reading and not (folder / "dead").exists():
                (folder / "dead").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    blocks = [
        da.from_array(part).map_blocks(deadly, which, meta=X[:0])
        for which, part in enumerate(np.split(X, 6))
    ]
    model = ELMClassifier(n_hidden=20, C=[0.1, 1.0], random_state=0)
    with _client() as client:
        model.fit(da.concatenate(blocks), da.from_array(Y, chunks=15), client=client)
    return model.beta_.tobytes()


def _a_dask_worker(rng: Random, folder: Path) -> None:
    beta = _on_dask(rng.randrange(6), rng.randint(1, 2), folder)
    demand((folder / "dead").exists(), "no worker was killed")
    demand(beta == _on_dask(0, 0, None), "the fit went on to another model")
