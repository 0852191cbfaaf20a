"""What the pages say of the two kernel papers and of kernels, measured.

Run by ``python -m benchmarks kernel_readings``; the data files come from ULMUS_DATA.
"""

import time
from unittest.mock import patch

import numpy as np
from scipy.special import erf
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.measure import cases_page
from papers import low_rank_space, protocol, randomized
from papers.datasets import benchmark_rows
from ulmus import KernelELMClassifier, KernelFeatures
from ulmus.kernels import RBF, Arcsine, InfiniteRBF, kernel_matrix

# Of USPS: with all of them a fit that keeps every value takes minutes.
ROWS = 2000
SCALINGS = {
    "as they are": lambda X: (0.0, 1.0),
    "[0, 1]": lambda X: (X.min(axis=0), _positive(np.ptp(X, axis=0))),
    "[−1, 1]": lambda X: ((X.min(axis=0) + X.max(axis=0)) / 2, _positive(np.ptp(X, axis=0)) / 2),
    "standardised": lambda X: (X.mean(axis=0), _positive(X.std(axis=0))),
}


def _positive(scale):
    return np.where(scale > 0, scale, 1.0)


def infinite_kernels(draws=4_000_000, block=100_000):
    """Largest differences between HHᵀ/h of very many units and the kernels, ours and as printed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 2))
    node, spread, gamma, bias = 1.0, 1.5, 0.7, 0.5
    gaussian, sigmoid = np.zeros((6, 6)), np.zeros((6, 6))
    for _ in range(draws // block):
        V = spread * rng.standard_normal((block, 2))
        H = np.exp(-np.sum((X[:, None] - V[None]) ** 2, axis=2) / (2 * node**2))
        gaussian += H @ H.T / draws
        V = np.sqrt(gamma) * rng.standard_normal((block, 2))
        H = erf(np.sqrt(bias) * rng.standard_normal(block) + X @ V.T)
        sigmoid += H @ H.T / draws
    largest = gaussian.max()
    ours = InfiniteRBF(0.5 / node**2, spread, normalized=False)(X, X)
    printed = _printed_gaussian(X, node, spread)
    found = {
        "Gaussian units, ours, % of the largest entry": 100 * _far(gaussian, ours) / largest,
        "Gaussian units, as printed, %": 100 * _far(gaussian, printed) / largest,
        "erf units, ours": _far(sigmoid, Arcsine(gamma, bias)(X, X)),
        "erf units, as printed": _far(sigmoid, _printed_arcsine(X, gamma, bias)),
        "erf units, largest entry": sigmoid.max(),
    }
    return {case: float(value) for case, value in found.items()}


def _far(A, B):
    return np.abs(A - B).max()


def _printed_gaussian(X, node, spread):
    """Equation 15 with the constants that the paper prints."""
    scale = np.sqrt((spread**2 + node**2) / (spread**2 * node**2))
    near, far = 2 * spread**2 + node**4 / spread**2, 2 * spread**2 + node**2
    square = np.sum(X**2, axis=1)
    between = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    exponent = (square[:, None] + square[None]) / (2 * far) + between / (2 * near)
    return (scale / spread) ** X.shape[1] * np.exp(-exponent)


def _printed_arcsine(X, gamma, bias):
    """Equation 16, which lacks a factor 2 before each product."""
    G = bias + gamma * X @ X.T
    g = 1.0 + np.diag(G)
    return 2 / np.pi * np.arcsin(G / np.sqrt(np.outer(g, g)))


def linear_scalings():
    """Test rate (%) of the linear kernel at the paper's C under each scaling of the inputs."""
    found = {}
    for row in protocol.load("2-table-4").rows:
        X, y, X_test, y_test = randomized.split(row.data)
        paper = row.paper["KELM"]["rate"]
        for name, law in SCALINGS.items():
            center, scale = law(X)
            C = 2.0 ** row.settings["C"]
            model = KernelELMClassifier("linear", C=C, scaling=None, method="rpcholesky")
            model.set_params(random_state=0).fit((X - center) / scale, y)
            rate = 100 * model.score((X_test - center) / scale, y_test)
            found[f"{row.name} (paper {paper:.2f}), {name}"] = rate
    return found


def projections(trials=4):
    """Mean test rate (%) of sketches of the Gaussian kernel, new rows projected or not."""
    found = {}
    for row in protocol.load("2-table-3").rows:
        if row.name not in ("segment", "svmguide1"):
            continue
        X, y, X_test, y_test = randomized.split(row.data)
        options = {"C": 2.0 ** row.settings["C"], "gamma": 2.0 ** row.settings["gamma"] / 2}
        for project in (False, True):
            kind = KernelELMClassifier if project else randomized.SketchInInverse
            model = kind("rbf", method="randomized", scaling=None, **options)
            for part in (0.01, 0.05, 0.1):
                rates = [
                    model.set_params(rank=part, random_state=seed).fit(X, y).score(X_test, y_test)
                    for seed in range(trials)
                ]
                found[f"{row.name}, project={project}, {part} n"] = 100 * float(np.mean(rates))
    return found


def sketch_norms():
    """‖K − K̃‖ of sketches of 0.01, 0.05 and 0.1 n columns, by the kernel and the columns added."""
    found = {}
    for row in protocol.load("2-table-3").rows:
        if row.name not in ("dna", "optdigits", "svmguide1"):
            continue
        X, *_ = randomized.split(row.data)
        for part in (0.01, 0.05, 0.1):
            paper = row.paper[f"sketch, {part} n"]["gap"]
            for divisor in (1, 2):
                for added in (10, 20):
                    kernel = RBF(2.0 ** row.settings["gamma"] / divisor)
                    rank = round(part * len(X)) + added - 10  # ten come by themselves
                    name = f"{row.name}, {part} n (paper {paper}), γ/{divisor}, {added} added"
                    found[name] = randomized.sketch_error(kernel, X, rank, 0)
    return found


def random_units():
    """Rate (%) of one experiment of ELM with random units, by how the columns are scaled."""
    table, found = protocol.load("3-table-2"), {}
    for row in table.rows:
        width = row.settings.get("width")
        if width not in (50, 250, 500) or "ELM, random" not in row.paper:
            continue
        paper = row.paper["ELM, random"]["rate"][0]
        X, y = low_rank_space.inputs(row.data)
        for name in ("[−1, 1]", "standardised"):
            center, scale = SCALINGS[name](X)
            scaled = (X - center) / scale
            with patch.object(low_rank_space, "inputs", lambda _, found=(scaled, y): found):
                rate = _experiment(row.data, width, "elm", "random")
            found[f"{row.name} units (paper {paper}), {name}"] = rate
    return found


def boards():
    """Rate (%) of one experiment with fifty columns, by how boards are coded."""
    found = {}
    codings = {
        "x, o, blank = 1, 2, 3": low_rank_space.inputs,
        "x, o, blank = 1, −1, 0": _standardised,
    }
    for coding, rows in codings.items():
        with patch.object(low_rank_space, "inputs", rows):
            for space in ("random", "low-rank"):
                low_rank_space._eigenvectors.cache_clear()  # the codings share a name
                found[f"{coding}, {space}"] = _experiment("tic_tac_toe", 50, "elm", space)
    return found


def _standardised(name):
    X, y = benchmark_rows(name)
    center, scale = SCALINGS["standardised"](X)
    return (X - center) / scale, y


def sparse_machines():
    """Rate (%) of one experiment in the low-rank space: ELM, and S-ELM by how classes are told."""
    machines = {
        "ELM": ("elm", False),
        "S-ELM, one against the rest": ("s-elm", False),
        "S-ELM, pairs": ("s-elm", True),
    }
    table, found = protocol.load("3-table-2"), {}
    for row in table.rows:
        if row.name not in ("Libras, 50", "Segmentation, 50", "Synth. Control, 50"):
            continue
        for name, (model, pairs) in machines.items():
            method = "ELM, low-rank" if model == "elm" else "S-ELM, low-rank"
            paper = row.paper[method]["rate"][0]
            case = f"{row.name} columns, {name} (paper {paper})"
            found[case] = _experiment(row.data, 50, model, "low-rank", pairs)
    return found


def _experiment(data, width, model, space, pairs=False):
    table = protocol.load("3-table-2")
    settings = table.settings | {"width": width, "model": model, "space": space, "pairs": pairs}
    case = protocol.Case(table.name, table.evaluator, "", data, "", None, 0, 0, settings)
    return low_rank_space.run(case)["rate"]


def ranks():
    """Columns that ``tol`` leads to on at most 6000 rows; the most is 2000."""
    found = {}
    for name in ("svmguide1", "california_housing", "shuttle", "segment", "letter"):
        X, _ = benchmark_rows(name)
        X = X[np.random.default_rng(0).permutation(len(X))[:6000]]
        for tol in (1e-3, 1e-4, 1e-6):
            rank = KernelFeatures(tol=tol, rank=2000, random_state=0).fit(X).rank_
            found[f"{name}, {X.shape[1]} inputs, {len(X)} rows, tol={tol:g}"] = rank
    return found


def vanishing_values():
    """Test rate (%) and CPU seconds of a fit on USPS at γ = 2, by the least kernel value kept.

    "all, in K too" keeps what is lost beside K's diagonal, which the fit leaves out otherwise.
    """
    X, y, X_test, y_test = randomized.split("usps")
    X, y = X[:ROWS], y[:ROWS]
    eps, tiny = (np.log(getattr(np.finfo(float), name)) for name in ("eps", "tiny"))
    lost = kernel_matrix._LOST
    cases = {
        "eps²": (2 * eps, lost),
        "tiny^0.5, as built": (0.5 * tiny, lost),
        "all": (-np.inf, lost),
        "all, in K too": (-np.inf, 0.0),
    }
    found = {}
    for case, (least, lost) in cases.items():
        cut = patch("ulmus.kernels.functions.decay", _cut(least))
        with cut, patch.object(kernel_matrix, "_LOST", lost):
            model = KernelELMClassifier("rbf", gamma=2.0, C=1.0, scaling=None, method="exact")
            start = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - start
            rate = 100 * model.score(X_test, y_test)
        found[f"least value {case}"] = {"rate": rate, "seconds": seconds}
    nearest = KNeighborsClassifier(1).fit(X, y).score(X_test, y_test)
    return found | {"nearest neighbour, rate": 100 * nearest}


def _cut(least):
    """exp, zero where the exponent is below ``least``."""

    def decay(Z):
        Z[least > Z] = -np.inf
        return np.exp(Z, out=Z)

    return decay


def measure():
    """All of them."""
    return {
        "kernels of infinitely many units": infinite_kernels(),
        "linear kernel by scaling": linear_scalings(),
        "sketches": projections(),
        "‖K − K̃‖": sketch_norms(),
        "random units by scaling": random_units(),
        "boards, ELM, 50 columns": boards(),
        "low-rank space": sparse_machines(),
        "columns by tol": ranks(),
        f"USPS, γ = 2, {ROWS} rows": vanishing_values(),
    }


def run(folder, rounds):
    """What the pages say of the two kernel papers and of kernels."""
    return cases_page(measure(), "Kernel readings", digits=4)
