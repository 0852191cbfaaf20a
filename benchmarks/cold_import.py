"""How long a cold import takes, beside scikit-learn's linear models."""

import subprocess
import sys
import time

from benchmarks.measure import table


def seconds(statements, rounds):
    """The best of several fresh interpreters for each statement, taken in turn."""
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(rounds):
        for statement in statements:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            best[statement] = min(best[statement], time.perf_counter() - start)
    return best


def run(folder, rounds):
    """Cold import against scikit-learn's."""
    own, peer = "from ulmus import ELMClassifier", "import sklearn.linear_model"
    measured = seconds([own, peer, "import ulmus"], 3 * rounds)
    best = {statement: {"seconds": taken} for statement, taken in measured.items()}
    rows = [(name, f"{result['seconds']:.2f}") for name, result in best.items()]
    ratios = {"seconds more than scikit-learn": measured[own] - measured[peer]}
    return best, ratios, table("Cold import", ["statement", "s"], rows)
