"""Run cases in a process of their own, so that one that dies or never ends is only a result."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from attack.outcomes import Outcome, Result

__all__ = ["guarded"]

# Characters of what a process said before it died.
_LAST_WORDS = 400
# The modules here and the papers' are found by these processes too, and each works with one thread
# and starts no others by itself.
_FOLDERS = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
_ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join([*_FOLDERS, *filter(None, [os.environ.get("PYTHONPATH")])]),
    "JOBLIB_MULTIPROCESSING": "0",
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
}


def guarded(part: str, seed: int, numbers: range, limit: float) -> Iterator[tuple[int, Result]]:
    """The cases' numbers and results; ``limit`` is in seconds, for one case."""
    while numbers:
        done = 0
        for result in _one_process(part, seed, numbers, limit):
            yield numbers[done], result
            done += 1
        numbers = numbers[done:]


def _one_process(part: str, seed: int, numbers: range, limit: float) -> Iterator[Result]:
    """Results until the process ends; the last one says how, if it ended too early."""
    span = f"{numbers.start}:{numbers.stop}:{numbers.step}"
    command = [sys.executable, "-m", "attack.child", part, str(seed), span]
    with (
        TemporaryFile() as words,
        subprocess.Popen(
            command, env=os.environ | _ENVIRONMENT, stdout=subprocess.PIPE, stderr=words
        ) as child,
    ):
        due = len(numbers)
        for result in _results(child, limit):
            yield result
            due -= 1
        if due and child.poll() is None:
            child.kill()
            yield Result("?", Outcome.HANG, f"no answer in {limit:g} s")
        elif due:
            words.seek(0)
            last = words.read().decode(errors="replace")[-_LAST_WORDS:]
            yield Result("?", Outcome.CRASH, f"exit status {child.returncode}: {last}")


def _results(child: subprocess.Popen, limit: float) -> Iterator[Result]:
    """What the child reports, until it is silent for too long or has ended."""
    rest = b""
    while select.select([child.stdout], [], [], limit)[0]:
        # One read gives what is there; readline would wait for the end of a line.
        if not (found := child.stdout.read1()):
            child.wait()
            return
        *lines, rest = (rest + found).split(b"\n")
        for line in lines:
            fields = json.loads(line)
            yield Result(fields["kind"], Outcome(fields["outcome"]), fields["detail"])
