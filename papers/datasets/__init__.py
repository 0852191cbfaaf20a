"""The papers' data by name: from a directory of one's own, the cache, scikit-learn, a seed, OpenML.

>>> from papers.datasets import load
>>> iris = load("iris")
>>> iris.data.shape, iris.licence
((150, 4), 'CC BY 4.0 (UCI)')
"""

from papers.datasets.facts import DATASETS
from papers.datasets.generated import (
    make_g50c,
    make_synthetic_control,
    make_waveform,
    tic_tac_toe,
)
from papers.datasets.loading import Entry, benchmark_rows, catalogue, fetch, load

__all__ = [
    "DATASETS",
    "Entry",
    "benchmark_rows",
    "catalogue",
    "fetch",
    "load",
    "make_g50c",
    "make_synthetic_control",
    "make_waveform",
    "tic_tac_toe",
]
