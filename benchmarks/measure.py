"""One contender in a process of its own: seconds, CPU seconds and peak memory.

Peak memory is only ever the whole process's, so each contender gets a fresh one.
Rounds go through all contenders in turn, and the best of a contender's rounds
counts: on a shared machine the others say more about the neighbours.
"""

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from ulmus import machine as this_machine

ROOT = Path(__file__).parents[1]
# Columns of a page about contenders: the key of each and its format.
COSTS = {
    "s": ("seconds", ".2f"),
    "CPU s": ("cpu_seconds", ".2f"),
    "peak MB": ("peak_mb", ".0f"),
}


class WithoutPandas:
    """Makes an import of pandas fail as if it were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def run_contender(module, name, folder):
    """What a child does: set up, then measure the contender's work alone."""
    # scikit-learn imports pandas, and pandas pyarrow, wherever they happen to be installed;
    # peak memory should not depend on that. Only scikit-elm cannot do without.
    if name != "scikit_elm":
        sys.meta_path.insert(0, WithoutPandas())
    work = getattr(importlib.import_module(module), name)(Path(folder))
    cpu, wall = time.process_time(), time.perf_counter()
    extra = work()
    measured = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    measured["peak_mb"] = this_machine.peak_megabytes()
    # A contender may hand back a check that should not count as its work.
    extra = extra() if callable(extra) else extra
    return measured | (extra or {})


def race(module, names, folder, rounds=3, threads=None):
    """The best of ``rounds`` for every contender that can run here, on all cores or on a few."""
    best = {}
    few = dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)
    )

    def hold():
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])

    for _ in range(rounds):
        for name in names:
            child = subprocess.run(
                [sys.executable, "-m", "benchmarks.measure", module, name, str(folder)],
                capture_output=True,
                text=True,
                cwd=ROOT,
                env=os.environ if threads is None else os.environ | few,
                preexec_fn=None if threads is None else hold,
            )
            if child.returncode == 3:
                print(f"  {name}: {child.stdout.strip()}", file=sys.stderr)
                continue
            if child.returncode:
                raise RuntimeError(f"{name} failed:\n{child.stderr}")
            result = json.loads(child.stdout.splitlines()[-1])
            print(f"  {name}: {result}", file=sys.stderr)
            seen = best.setdefault(name, result)
            for key in ("seconds", "cpu_seconds", "peak_mb"):
                seen[key] = min(seen[key], result[key])
    return best


def table(title, columns, rows):
    """A Markdown table."""
    lines = [f"### {title}", "", "| " + " | ".join(columns) + " |"]
    lines.append("| " + " | ".join("---" for _ in columns) + " |")
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def contenders_page(title, best, columns, check=None):
    """A table with a row for each contender; ``columns`` are the key and the format by heading.

    With ``check``, a format, the last column has what else a contender measured.
    """
    rows = []
    for name, result in best.items():
        cells = [f"{result[key]:{form}}" if key in result else "" for key, form in columns.values()]
        if check is not None:
            others = result.keys() - {"seconds", "cpu_seconds", "peak_mb"}
            found = (f"{key} {result[key]:{check}}" for key in result if key in others)
            cells.append(", ".join(found))
        rows.append((name.strip("_").replace("_", " "), *cells))
    return table(title, ["contender", *columns, *["check"] * (check is not None)], rows)


def cases_page(found, title, digits=3):
    """A table of nested cases."""
    rows = []
    for choice, cases in found.items():
        for case, value in cases.items():
            values = value.items() if isinstance(value, dict) else [("", value)]
            rows += [(choice, f"{case} {name}".strip(), f"{v:.{digits}g}") for name, v in values]
    page = table(title, ["choice", "case", "figure"], rows)
    return found, {}, page


def score_rows(found):
    """Rows of a table of scores by data set."""
    return [
        (name, *(f"{v:.3f}" if isinstance(v, float) else v for v in result.values()))
        for name, result in found.items()
    ]


def gathered(jobs):
    """Lists over draws, by case and name."""
    found = {}
    for case, errors in jobs:
        for name, error in errors.items():
            found.setdefault(case, {}).setdefault(name, []).append(error)
    return found


def mean_rows(found, digits):
    """Columns and rows of a table of means over draws."""
    names = list(next(iter(found.values())))
    rows = [
        [case, *(f"{np.mean(row[name]):.{digits}f}" for name in names)]
        for case, row in found.items()
    ]
    return ["data", *names], rows


def mean_over(found):
    """The mean over all cases and draws, by name."""
    names = next(iter(found.values()))
    return {
        f"mean, {name}": float(np.mean([np.mean(row[name]) for row in found.values()]))
        for name in names
    }


def kept(name):
    """The results of an earlier run that were kept; None where there are none."""
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    return json.loads(path.read_text())["results"] if path.exists() else None


def machine():
    """What the figures were measured on."""
    from threadpoolctl import threadpool_info

    libraries = [info for info in threadpool_info() if info["user_api"] == "blas"]
    threads = max((info["num_threads"] for info in libraries), default=0)
    return this_machine.machine() | {"blas_threads": threads}


if __name__ == "__main__":
    try:
        print(json.dumps(run_contender(*sys.argv[1:])))
    except ModuleNotFoundError as missing:
        print(f"not measured: {missing.name} is not installed")
        sys.exit(3)
