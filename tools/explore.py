"""Try the laws on new examples until the time is used.

``python -m tools.explore --minutes 20`` runs every test that draws its examples with Hypothesis,
round after round. A round has a seed of its own, the next number after that of the round before,
and draws several times as many examples as a test run does. What fails is printed with its example
and with the command that finds it again. The exit status is 1 if anything failed.

``--seed 7`` starts with that seed: the same seed draws the same examples. Names of tests or files
after the options limit the rounds to these.
"""

import argparse
import os
import re
import secrets
import subprocess
import sys
import time

import pytest

from tools.draws import redraw
from tools.environments import ROOT, say

# Examples of a law in one round, as a multiple of those in a test run.
TIMES = 4
# When to stop, as time.time() has it; the rounds are processes of their own.
UNTIL = "ULMUS_EXPLORE_UNTIL"
# One thread each for the linear algebra: rounding does not change with the machine's cores.
SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def laws() -> list[str]:
    """The files with a test that draws examples."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path) for path in tests if "@given" in path.read_text(encoding="utf-8")]


def explore(seed: int, until: float, chosen: list[str]) -> set[str]:
    """Rounds from ``seed`` on until the time is used; the tests that failed in any."""
    failed: set[str] = set()
    while (left := until - time.time()) > 0:
        here = run_round(seed, until, chosen)
        say(f"Seed {seed}: {len(here)} failed. The round began with {left / 60:.1f} minutes left.")
        failed |= here
        seed += time.time() < until  # a round that was cut short is begun again the next time
    say(f"To go on from here: make explore SEED={seed}")
    return failed


def run_round(seed: int, until: float, chosen: list[str]) -> set[str]:
    """Every law once; the names of those that failed, after their examples were printed."""
    command = [*(sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "--tb=short")]
    command += ["-p", "tools.explore", "-p", "no:cacheprovider", "--hypothesis-profile=new"]
    command += [f"--hypothesis-seed={seed}", *chosen]
    environ = os.environ | SINGLE | {UNTIL: str(until)}
    ended = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    failed = set(re.findall(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, flags=re.MULTILINE))
    if ended.returncode not in (0, 2, 5) or failed:  # 2: the time was used; 5: at once
        say(ended.stdout + ended.stderr)
        failed = failed or {f"pytest, exit status {ended.returncode}"}
    for name in sorted(failed):
        say(f"To see it again: make explore MINUTES=1 SEED={seed} LAWS='{name}'")
    return failed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """As a plugin of a round: draw more examples of each law."""
    redraw(items, lambda number: TIMES * number)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """As a plugin of a round: begin no law after the time is used."""
    if time.time() > float(os.environ[UNTIL]):
        item.session.shouldstop = "the time is used"
        pytest.skip("the time is used")


def main() -> int:
    """Explore, and say what failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="how long (default: 5)")
    parser.add_argument("--seed", type=int, help="of the first round (default: drawn)")
    parser.add_argument("laws", nargs="*", help="files or tests (default: all that draw)")
    given = parser.parse_args()
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    failed = explore(seed, time.time() + 60 * given.minutes, given.laws or laws())
    say("\n".join(["Failed:", *sorted(failed)]) if failed else "Every law held.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
