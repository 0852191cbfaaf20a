"""Other readings of the first paper's experiments, beside the ones the tables use.

Run by ``python -m benchmarks readings``; the data files come from ULMUS_DATA.
"""

from dataclasses import replace
from unittest.mock import patch

import numpy as np

from benchmarks.measure import cases_page
from papers.protocol import cases, load
from ulmus.problem import ErrorPath


def graphs():
    """Error (%) on unlabelled and test rows with other graphs, chosen by validation."""
    readings = {
        "COIL20, 2 neighbours, binary, normalised": ("COIL20", {"n_neighbors": 2}),
        "COIL20, 10 neighbours, binary, normalised": ("COIL20", {"n_neighbors": 10}),
        "G50C, second power": ("G50C", {"n_neighbors": 50, "power": 2}),
    }
    return {
        reading: _errors(row, "SS-ELM", graph={"weights": "binary", **graph})
        for reading, (row, graph) in readings.items()
    }


def tie_breaks():
    """Error (%) on USPST chosen by leave-one-out, ties broken by squared error or as they are."""
    found = {}
    for case, best in {
        "roughness": ErrorPath.best,
        "squared error": property(_least_square),
    }.items():
        with patch.object(ErrorPath, "best", best):
            found[case] = _errors("USPST", "SS-ELM, leave-one-out")
    return found


def _errors(row, method, **settings):
    """Means over the splits of a cell of table II, with other settings."""
    runs = [
        replace(case, settings=case.settings | settings).run()
        for case in cases(load("0-table-2"))
        if (case.row, case.method) == (row, method)
    ]
    return {part: float(np.mean([run[part] for run in runs])) for part in ("U", "T")}


def _least_square(path):
    tied = path.error_rate <= path.error_rate.min() + 1e-12
    return int(np.argmin(np.where(tied, path.squared_error, np.inf)))


def dimensions():
    """Best clustering accuracy (%) with as many dimensions as clusters, and other settings."""
    readings = {
        "USPST, 10 dimensions": ("USPST", "US-ELM", {"dimension": {"US-ELM": 10}}),
        "SEGMENT, 7 dimensions": ("SEGMENT", "US-ELM", {"dimension": {"US-ELM": 7}}),
        "WINE, 3 dimensions": ("WINE", "US-ELM", {"dimension": {"US-ELM": 3}}),
        "WINE, raw columns": ("WINE", "US-ELM", {"scale": "raw"}),
        "COIL20, rows as they are, random starts": (
            "COIL20",
            "US-ELM",
            {"row_normalize": False, "init": "random"},
        ),
        "COIL20, rows as they are": ("COIL20", "US-ELM", {"row_normalize": False}),
        "k-means, COIL20, random starts": ("COIL20", "k-means", {"init": "random"}),
        "k-means, ORL, random starts": ("ORL", "k-means", {"init": "random"}),
        "LE, COIL20, random starts": ("COIL20", "LE", {"init": "random"}),
        "LE, ORL, random starts": ("ORL", "LE", {"init": "random"}),
    }
    table = cases(load("0-table-5"))
    published = {(case.row, case.method): case for case in table if case.repetition == 0}
    found = {}
    for name, (row, method, changed) in readings.items():
        case = published[row, method]
        runs = replace(case, settings=case.settings | changed).run()["ACC"]
        found[name] = {"mean": float(np.mean(runs)), "best": max(runs)}
    return found


def measure():
    """All of them."""
    return {"graph": graphs(), "tie-break": tie_breaks(), "clustering": dimensions()}


def run(folder, rounds):
    """Other readings of the first paper."""
    return cases_page(measure(), "Other readings")
