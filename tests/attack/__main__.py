"""Attack the library and count what becomes of it: ``make attack``.

A part is a module of this package. It has ``COUNT``, the cases of a full run, ``LIMIT``, the
seconds that one may take, and ``attack(seed, number)``, which runs case ``number`` and gives its
`Result`; it may have ``MEMORY``, the bytes of data that a case may hold.
"""

import argparse
import math
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Lock

from attack.guard import guarded
from attack.outcomes import Tally

PARTS = ("inputs", "files", "changes", "kills", "labels")
# Cases that are written out of each part; the others are counted.
_SHOWN = 40
# Cases that a process is started for.
_AT_ONCE = 50_000


def main() -> int:
    """Run the parts that are asked for; exit status 1 where a case ended badly."""
    parser = argparse.ArgumentParser(prog="python -m attack", description=__doc__)
    parser.add_argument("parts", nargs="*", default="all", choices=[*PARTS, "all"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="cases of each part; default: its own number")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=math.inf, help="start nothing after these")
    options = parser.parse_args()
    parts = PARTS if "all" in options.parts else options.parts
    tallies = [run(part, options) for part in parts]
    return int(any(tally.bad for tally in tallies))


def run(part: str, options: argparse.Namespace) -> Tally:
    """Run one part and print its counts."""
    module, tally, alone = import_module(f"attack.{part}"), Tally(), Lock()
    last = options.first + (options.count or module.COUNT)
    shares = [range(options.first + job, last, options.jobs) for job in range(options.jobs)]
    ends = time.monotonic() + 60.0 * options.minutes

    def work(numbers: range) -> None:
        while numbers and time.monotonic() < ends:
            for number, result in guarded(part, options.seed, numbers[:_AT_ONCE], module.LIMIT):
                with alone:
                    tally.add(number, result)
            numbers = numbers[_AT_ONCE:]

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, shares))
    print(f"{part}, seed {options.seed}\n{tally.table()}")
    for number, result in tally.bad[:_SHOWN]:
        print(f"  case {number} ({result.kind}): {result.outcome}: {result.detail}")
    return tally


if __name__ == "__main__":
    sys.exit(main())
