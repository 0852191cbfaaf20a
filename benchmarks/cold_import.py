"""How long a cold import takes, beside scikit-learn's linear models."""

import subprocess
import sys
import time


def seconds(statement, rounds=7):
    """The best of several fresh interpreters."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        best = min(best, time.perf_counter() - start)
    return best
