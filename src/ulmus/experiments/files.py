"""Benchmark files from the directory ULMUS_DATA."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ulmus.exceptions import InvalidInputError

__all__ = ["benchmark_counts", "benchmark_rows"]


def _path(name):
    """Where a benchmark file is."""
    folder = os.environ.get("ULMUS_DATA")
    if not folder:
        raise InvalidInputError(
            "The environment variable ULMUS_DATA is not set; it names the directory with the "
            "benchmark files."
        )
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        raise InvalidInputError(f"{path} is not there; ULMUS_DATA must name the benchmark files.")
    return path


def benchmark_rows(name):
    """X and y of one of the benchmark files."""
    with np.load(_path(name)) as data:
        return data["X"].astype(float), data["y"]


def benchmark_counts(name):
    """Term counts, sparse, and y of one of the benchmark files."""
    with np.load(_path(name)) as data:
        entries = data["data"].astype(float), data["indices"], data["indptr"]
        return sp.csr_array(entries, shape=tuple(data["shape"])), data["y"]
