"""Other readings of the first paper's experiments, beside the ones the tables use.

Run by ``python -m benchmarks readings``; the data files come from ULMUS_DATA.
"""

from dataclasses import replace
from unittest.mock import patch

import numpy as np

from ulmus.experiments import clustering
from ulmus.experiments.protocol import cases, load
from ulmus.solvers.surface import Surface


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
    for case, best in {"roughness": Surface.best, "squared error": property(_least_square)}.items():
        with patch.object(Surface, "best", best):
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


def _least_square(surface):
    tied = surface.error_rate <= surface.error_rate.min() + 1e-12
    score = np.where(tied, surface.squared_error, np.inf)
    return divmod(int(np.argmin(score)), len(surface.C))


def dimensions():
    """Best clustering accuracy (%) with as many dimensions as clusters, and other settings."""
    problems = clustering.PROBLEMS
    cases = {
        "USPST, 10 dimensions": replace(problems["USPST"], n_components=10),
        "SEGMENT, 7 dimensions": replace(problems["SEGMENT"], n_components=7),
        "WINE, 3 dimensions": replace(problems["WINE"], n_components=3),
        "WINE, raw columns": replace(problems["WINE"], scale="raw"),
        "COIL20, rows as they are, random starts": replace(
            problems["COIL20"], row_normalize=False, init="random"
        ),
    }
    found = {}
    for case, problem in cases.items():
        runs = clustering.evaluate(problem)
        found[case] = {"mean": float(np.mean(runs)), "best": max(runs)}
    return found


def measure():
    """All of them."""
    return {"graph": graphs(), "tie-break": tie_breaks(), "clustering": dimensions()}
