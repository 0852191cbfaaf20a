"""Other readings of the first paper's experiments, beside the ones the tables use.

Run by ``python -m benchmarks readings``; the data files come from ULMUS_DATA.
"""

from dataclasses import replace
from unittest.mock import patch

import numpy as np

from ulmus import KNNGraph
from ulmus.experiments import clustering, semi_supervised
from ulmus.solvers.surface import Surface


def graphs():
    """Error (%) on unlabelled and test rows with other graphs, chosen by validation."""
    cases = {
        "COIL20, 2 neighbours, binary, normalised": ("COIL20", KNNGraph(2, weights="binary")),
        "COIL20, 10 neighbours, binary, normalised": ("COIL20", KNNGraph(10, weights="binary")),
        "G50C, second power": ("G50C", KNNGraph(50, weights="binary", power=2)),
    }
    found = {}
    for case, (name, graph) in cases.items():
        errors = semi_supervised.evaluate(semi_supervised.PROBLEMS[name], graph=graph)
        found[case] = {part: float(np.mean(errors["validation"][part])) for part in ("U", "T")}
    return found


def tie_breaks():
    """Error (%) on USPST chosen by leave-one-out, ties broken by squared error or as they are."""
    problem = semi_supervised.PROBLEMS["USPST"]
    found = {}
    for case, best in {"roughness": Surface.best, "squared error": property(_least_square)}.items():
        with patch.object(Surface, "best", best):
            errors = semi_supervised.evaluate(problem)["loo"]
        found[case] = {part: float(np.mean(errors[part])) for part in ("U", "T")}
    return found


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
