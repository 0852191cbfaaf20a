"""How long a cold import takes, beside scikit-learn's linear models."""

import subprocess
import sys
import time


def seconds(statements, rounds):
    """The best of several fresh interpreters for each statement, taken in turn."""
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(rounds):
        for statement in statements:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            best[statement] = min(best[statement], time.perf_counter() - start)
    return best
