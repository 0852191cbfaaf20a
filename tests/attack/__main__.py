"""Attack the library and count what becomes of it: ``make attack``.

A part is a module of this package. It has ``COUNT``, the cases of a full run, ``LIMIT``, the
seconds that one may take, and ``attack(seed, number)``, which runs case ``number`` and gives its
`Result`; it may have ``MEMORY``, the bytes of data that a case may hold.
"""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from attack.guard import guarded
from attack.outcomes import Result, Tally

PARTS = ("inputs",)
# Cases that are written out of each part; the others are counted.
_SHOWN = 40


def main() -> int:
    """Run the parts that are asked for; exit status 1 where a case ended badly."""
    parser = argparse.ArgumentParser(prog="python -m attack", description=__doc__)
    parser.add_argument("parts", nargs="*", default="all", choices=[*PARTS, "all"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="cases of each part; default: its own number")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    parts = PARTS if "all" in options.parts else options.parts
    tallies = [run(part, options) for part in parts]
    return int(any(tally.bad for tally in tallies))


def run(part: str, options: argparse.Namespace) -> Tally:
    """Run one part and print its counts."""
    module, tally = import_module(f"attack.{part}"), Tally()
    last = options.first + (options.count or module.COUNT)
    shares = [range(options.first + job, last, options.jobs) for job in range(options.jobs)]

    def work(numbers: range) -> list[tuple[int, Result]]:
        return list(guarded(part, options.seed, numbers, module.LIMIT))

    with ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(work, shares):
            for number, result in results:
                tally.add(number, result)
    print(f"{part}, seed {options.seed}\n{tally.table()}")
    for number, result in tally.bad[:_SHOWN]:
        print(f"  case {number} ({result.kind}): {result.outcome}: {result.detail}")
    return tally


if __name__ == "__main__":
    sys.exit(main())
