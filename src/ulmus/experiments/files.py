"""Benchmark files from the directory ULMUS_DATA."""

import os
from pathlib import Path

import numpy as np

from ulmus.exceptions import InvalidInputError

__all__ = ["benchmark_rows"]


def benchmark_rows(name):
    """X and y of one of the benchmark files."""
    folder = os.environ.get("ULMUS_DATA")
    if not folder:
        raise InvalidInputError(
            "The environment variable ULMUS_DATA is not set; it names the directory with the "
            "benchmark files."
        )
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        raise InvalidInputError(f"{path} is not there; ULMUS_DATA must name the benchmark files.")
    with np.load(path) as data:
        return data["X"].astype(float), data["y"]
