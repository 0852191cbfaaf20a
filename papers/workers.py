"""Runs in processes of their own, one BLAS thread each.

A worker that dies, for want of memory say, costs the run it was at and nothing else. Only the
standard library is imported here: what a worker loads must find the number of threads settled.
"""

import contextlib
import os
import signal
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from papers.protocol import Case
from ulmus.exceptions import UlmusError
from ulmus.machine import peak_megabytes

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def outcomes(cases: Iterable[Case], jobs: int) -> Iterator[tuple[Case, dict[str, Any]]]:
    """What became of every case, in the order in which they end.

    An outcome has ``measures``, ``seconds`` of the whole run and ``peak_mb`` of its process, or
    ``why`` there are none. ``why`` comes with ``broken`` where nobody foresaw it. Leaving the
    loop early ends the workers.
    """
    waiting = iter(cases)
    busy: dict[Connection, tuple[Any, Case]] = {}
    idle: list[tuple[Any, Connection]] = []
    try:
        while True:
            while len(busy) < jobs and (case := next(waiting, None)) is not None:
                process, line = idle.pop() if idle else _hire()
                line.send(case)
                busy[line] = process, case
            if not busy:
                return
            for line in wait(list(busy)):
                assert isinstance(line, Connection)
                process, case = busy.pop(line)
                try:
                    outcome = line.recv()
                    idle.append((process, line))
                except EOFError:
                    process.join()
                    outcome = {"why": _death(process.exitcode), "broken": True}
                yield case, outcome
    finally:
        for process, line in [*idle, *((process, line) for line, (process, _) in busy.items())]:
            process.terminate()
            process.join()
            line.close()


def _hire() -> tuple[Any, Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        process.start()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    theirs.close()  # so that the worker's death closes the line
    return process, ours


def _work(line: Connection) -> None:
    """What a worker does until its line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends us
    warnings.simplefilter("ignore")
    with contextlib.suppress(EOFError, ConnectionError):  # the parent has gone: so do we
        while True:
            line.send(_outcome(line.recv()))


def _outcome(case: Case) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        measures = case.run()
    except UlmusError as error:
        return {"why": str(error)}
    except Exception as error:
        where = traceback.format_exc(limit=-1).strip().splitlines()[-2].strip()
        return {"why": f"{type(error).__name__}: {error} ({where})", "broken": True}
    seconds = measures.pop("seconds", time.perf_counter() - started)
    return {
        "measures": {name: _plain(value) for name, value in measures.items()},
        "seconds": float(seconds),
        "whole_seconds": time.perf_counter() - started,
        "peak_mb": peak_megabytes(),
    }


def _plain(value: Any) -> float | list[float]:
    return [float(v) for v in value] if hasattr(value, "__len__") else float(value)


def _death(code: int | None) -> str:
    reason = "perhaps for want of memory" if code == -signal.SIGKILL else f"with status {code}"
    return f"The process of this run ended, {reason}; run with fewer --jobs."
