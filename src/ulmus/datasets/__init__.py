"""Data sets by name: bundled, generated, fetched, or from a directory of the user's own.

>>> from ulmus.datasets import load
>>> iris = load("iris")
>>> iris.data.shape, iris.licence
((150, 4), 'CC BY 4.0 (UCI)')
"""

from ulmus.datasets.folders import cache_directory
from ulmus.datasets.generated import (
    make_g50c,
    make_spirals,
    make_synthetic_control,
    make_waveform,
    tic_tac_toe,
)
from ulmus.datasets.loading import DATASETS, Entry, catalogue, fetch, load

__all__ = [
    "DATASETS",
    "Entry",
    "cache_directory",
    "catalogue",
    "fetch",
    "load",
    "make_g50c",
    "make_spirals",
    "make_synthetic_control",
    "make_waveform",
    "tic_tac_toe",
]
