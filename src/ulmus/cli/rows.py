"""The rows of a table as numbers, for commands that learn no target."""

from itertools import pairwise

import numpy as np

from ulmus.cli.places import read_data
from ulmus.cli.watching import watching
from ulmus.exceptions import InvalidInputError
from ulmus.tables import TableEncoder
from ulmus.tables.clipped_bins import ClippedBins
from ulmus.tables.target_column import as_text

__all__ = ["read_rows"]

# A column with more numbers than these is told apart by ranges of equally many rows.
_MOST_NUMBERS = 20
_RANGES = 5


def read_rows(options, aside):
    """The encoded matrix, a column that is put aside (or what the file calls its target), notes."""
    with watching("Reading", options.quiet):
        table = read_data(options)
        column = table.target if aside is None else table[aside]
        for name in dict.fromkeys([*([aside] if aside else []), *options.without]):
            table = table.without(name)
        encoder = TableEncoder().fit(table)
        X = ClippedBins().fit_transform(encoder.transform(table))
    if X.shape[0] < 2:
        raise InvalidInputError("There is only one row; at least two are needed.")
    return X, None if column is None else _words(column), [*table.notes, *encoder.notes]


def _words(cells):
    """A column's cells as text, None where blank; many numbers become a few ranges."""
    if cells.dtype == object:
        return cells
    values = np.asarray(cells, dtype=float)
    known = np.isfinite(values)
    words = np.full(len(values), None, dtype=object)
    if len(np.unique(values[known])) <= _MOST_NUMBERS:
        words[known] = as_text(values[known])
        return words
    cuts = np.quantile(values[known], np.linspace(0, 1, _RANGES + 1))
    codes = np.clip(np.searchsorted(cuts, values, side="right") - 1, 0, _RANGES - 1)
    names = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(cuts)]
    words[known] = [names[k] for k in codes[known]]
    return words
