"""What commands read and write: tables, models and results; places are checked before any work."""

import io
import os
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from ulmus.cli.printing import note, watching, write_csv
from ulmus.exceptions import InvalidInputError, TableError
from ulmus.files import write_text
from ulmus.persistence import load
from ulmus.tables import Table, TableEncoder, TableModel, read_table
from ulmus.tables.clipped_bins import ClippedBins
from ulmus.tables.target_column import as_text
from ulmus.typing import Rows

__all__ = ["check_free", "load_model", "read_data", "read_rows", "stem_of", "write_rows"]

# A column with more numbers than these is told apart by ranges of equally many rows.
_MOST_NUMBERS = 20
_RANGES = 5


# ---------------------------------------------------------------------- where results go
def check_free(place: str | None, force: bool) -> None:
    """Refuse a file that is there, unless it may be replaced, or whose folder cannot be used."""
    if place is None:
        return
    path = Path(place)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InvalidInputError(
            f"There is no folder {folder} to write {path.name} to; name a folder that is there."
        )
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder; name a file to write to.")
    if not os.access(folder, os.W_OK):
        raise InvalidInputError(f"The folder {folder} cannot be written to; name another.")
    if path.exists() and not force:
        raise InvalidInputError(f"{path} is there already; --force replaces it.")


def write_rows(
    options: Namespace, headings: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Rows as CSV to --out, or to standard output unless --json prints the result there."""
    if options.out:
        check_free(options.out, options.force)  # again: it may have appeared meanwhile
        text = io.StringIO()
        write_csv(text, headings, rows)
        write_text(options.out, text.getvalue())
    elif not options.json:
        write_csv(sys.stdout, headings, rows)
        sys.stdout.flush()


def stem_of(data: str) -> str:
    """What files made from DATA are called, without an ending."""
    name = Path(data).absolute().name
    for suffix in reversed(Path(name).suffixes[-2:]):
        name = name.removesuffix(suffix)
    return "model" if data == "-" or not name else name


# ---------------------------------------------------------------------- what is read
def load_model(path: str) -> TableModel:
    """The model in a file, if it is one that reads tables."""
    model = load(path)
    if not isinstance(model, TableModel):
        raise InvalidInputError(
            f"{path} holds a {type(model).__name__}, which reads no tables; the commands take what "
            "`ulmus fit` wrote, and ulmus.load in Python takes this."
        )
    return model


def read_data(options: Namespace, image_shape: tuple[int, ...] = ()) -> Table:
    """The table that a command's DATA and its options name; "-" is CSV on standard input."""
    how = {"encoding": options.encoding, "delimiter": options.delimiter}
    with watching("Reading", options.quiet):
        if options.data != "-":
            return read_table(
                options.data, kind=options.kind, image_shape=image_shape or None, **how
            )
        with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
            path = Path(folder) / "stdin"
            with path.open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
            try:
                return read_table(path, kind=options.kind or "csv", **how)
            except TableError as error:
                raise TableError(str(error).replace(str(path), "Standard input")) from error


def read_rows(options: Namespace, aside: str | None) -> tuple[Rows, np.ndarray | None]:
    """The encoded matrix, for commands without a target, and the words of the column put aside.

    Where none is, the words are those of the target that the file itself has, or None.
    """
    table = read_data(options)
    column = table.target if aside is None else table[aside]
    for name in dict.fromkeys([*([aside] if aside else []), *options.without]):
        table = table.without(name)
    encoder = TableEncoder().fit(table)
    X = ClippedBins().fit_transform(encoder.transform(table))
    if X.shape[0] < 2:
        raise InvalidInputError("There is only one row; at least two are needed.")
    for sentence in (*table.notes, *encoder.notes):
        note(sentence, options.quiet)
    return X, None if column is None else _words(column)


def _words(cells: np.ndarray) -> np.ndarray:
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
