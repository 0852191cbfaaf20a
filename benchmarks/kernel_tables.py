"""The tables of the randomized ELM paper and of the kernel ELM paper.

They need the benchmark files in the directory ULMUS_DATA.
"""

import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from sklearn.exceptions import ConvergenceWarning

from ulmus.exceptions import IllConditionedWarning, LowRankWarning
from ulmus.experiments import low_rank_space, randomized

TRIALS, EXPERIMENTS, WIDTHS = 3, 1, (50, 250)
# S-ELM on the larger sets takes hours over the paper's grid of C; ELM alone is run there.
LARGE = ("optdigits", "segment", "yaleb")


def measure():
    """Every cell, with the paper's beside it; two sets at a time, one BLAS thread each."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"  # the workers are started afresh and read it
    found = {"table 2": {}, "table 3": {}, "table 4": {}, "low-rank space": {}}
    spaces = [(name, width) for name in low_rank_space.PAPER for width in WIDTHS]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        tables = pool.map(_randomized, reversed(randomized.DATA))
        cells = pool.map(_space, *zip(*spaces, strict=True))
        for name, parts in zip(reversed(randomized.DATA), tables, strict=True):
            _say(f"randomized ELM: {name}")
            for table, part in parts.items():
                found[table][name] = part
        for (name, width), cell in zip(spaces, cells, strict=True):
            _say(f"low-rank space: {name}, {width} columns")
            found["low-rank space"].setdefault(name, {})[str(width)] = cell
    return found


def _randomized(name):
    """Tables 2 to 4 for one data set."""
    paper = randomized.DATA[name]
    columns = ("whole", *(f"{part}n" for part in randomized.PARTS))
    pairs = {
        "table 2": (paper.units, randomized.table_2(name, TRIALS)),
        "table 3": (paper.kernel, randomized.table_3(name, TRIALS)),
    }
    parts = {
        table: {"paper": dict(zip(columns, theirs, strict=True)), "ours": ours}
        for table, (theirs, ours) in pairs.items()
    }
    return parts | {"table 4": {"paper": paper.linear, "ours": randomized.table_4(name)}}


def _space(name, width):
    """Random units and the low-rank space for one data set and width."""
    kinds = low_rank_space.KINDS[:2] if name in LARGE else low_rank_space.KINDS
    for category in (ConvergenceWarning, IllConditionedWarning, LowRankWarning):
        warnings.simplefilter("ignore", category)
    ours = low_rank_space.evaluate(name, width, EXPERIMENTS, kinds)
    return {"paper": low_rank_space.PAPER[name][width], "ours": ours}


def _say(what):
    print(f"  {what}", file=sys.stderr, flush=True)


def pages(found):
    """Title, columns and rows of each table."""
    for table, title in (
        ("table 2", "Randomized ELM, 1000 sigmoid units: test rate (%), paper / here"),
        ("table 3", "Randomized kernel ELM, Gaussian kernel: test rate (%), paper / here"),
    ):
        rows = []
        for name, cells in found[table].items():
            row = [name]
            for column, theirs in cells["paper"].items():
                row.append(f"{_pair(theirs)} / {_pair(cells['ours'][column])}")
            if table == "table 3":
                rank, n = cells["ours"]["rank"]
                row += [_pair(cells["ours"]["found"]), f"{rank:.0f} of {n}"]
            rows.append(row)
        columns = ["data", "whole", "0.01 n", "0.05 n", "0.1 n"]
        columns += ["tol = 0.01", "columns"] if table == "table 3" else []
        yield title, columns, rows
    rows = [
        [name, f"{c['paper']:.2f}", f"{c['ours']['whole']:.2f}", f"{c['ours']['sketch']:.2f}"]
        for name, c in found["table 4"].items()
    ]
    yield (
        "Randomized kernel ELM, linear kernel: test rate (%)",
        ["data", "paper", "whole", "sketch"],
        rows,
    )
    rows = []
    for name, widths in found["low-rank space"].items():
        for width, cells in widths.items():
            row = [name, width]
            for kind, theirs in cells["paper"].items():
                ours, theirs = cells["ours"].get(kind), "" if theirs is None else _pair(theirs)
                row.append(theirs if ours is None else f"{theirs} / {_pair(ours)}")
            rows.append(row)
    yield (
        "Random units and the low-rank space: rate over five folds (%), paper / here",
        ["data", "columns", *low_rank_space.KINDS],
        rows,
    )


def _pair(cell):
    return f"{cell[0]:.2f} ± {cell[1]:.2f}"
