"""The tables of the randomized ELM paper and of the kernel ELM paper.

They need the benchmark files in the directory ULMUS_DATA.
"""

import sys
import warnings

from sklearn.exceptions import ConvergenceWarning

from ulmus.exceptions import IllConditionedWarning, LowRankWarning
from ulmus.experiments import low_rank_space, randomized

TRIALS, EXPERIMENTS, WIDTHS = 3, 1, (50, 250)


def measure(trials=TRIALS, experiments=EXPERIMENTS, widths=WIDTHS):
    """Every cell, with the paper's beside it."""
    found = {"table 2": {}, "table 3": {}, "table 4": {}, "low-rank space": {}}
    for name, paper in randomized.DATA.items():
        _say(f"randomized ELM: {name}")
        columns = ("whole", *(f"{part}n" for part in randomized.PARTS))
        for table, ours, theirs in (
            ("table 2", randomized.table_2(name, trials), paper.units),
            ("table 3", randomized.table_3(name, trials), paper.kernel),
        ):
            found[table][name] = {"paper": dict(zip(columns, theirs, strict=True)), "ours": ours}
        found["table 4"][name] = {"paper": paper.linear, "ours": randomized.table_4(name)}
    for name, table in low_rank_space.PAPER.items():
        for width in widths:
            _say(f"low-rank space: {name}, {width} columns")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", IllConditionedWarning)
                warnings.simplefilter("ignore", LowRankWarning)
                ours = low_rank_space.evaluate(name, width, experiments)
            found["low-rank space"].setdefault(name, {})[str(width)] = {
                "paper": table[width],
                "ours": ours,
            }
    return found


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
                row.append(
                    "" if theirs is None else f"{_pair(theirs)} / {_pair(cells['ours'][kind])}"
                )
            rows.append(row)
    yield (
        "Random units and the low-rank space: rate over five folds (%), paper / here",
        ["data", "columns", *low_rank_space.KINDS],
        rows,
    )


def _pair(cell):
    return f"{cell[0]:.2f} ± {cell[1]:.2f}"
