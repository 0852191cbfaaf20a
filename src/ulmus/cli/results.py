"""Columns as a file: CSV, TSV, JSON lines or Parquet, by the end of its name."""

import csv
import io
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ulmus.arguments import counted
from ulmus.backends.arrow import typed_columns, write_parquet
from ulmus.cli.printing import check_free, harmless, note
from ulmus.exceptions import InvalidInputError
from ulmus.files import replacing
from ulmus.tables import Table

# Whole numbers below this are written without a point.
_LARGEST_WHOLE = 2.0**53
_PARQUET, _LINES, _TABS = (".parquet", ".pq"), (".jsonl", ".ndjson"), (".tsv", ".tab")
_OTHERS = (".xlsx", ".xls", ".ods", ".json", ".npz", ".feather", ".gz", ".bz2", ".zip")

Columns = dict[str, np.ndarray]


def check_result(place: str | None, force: bool) -> None:
    """Refuse a file that is there, that cannot be, or of a kind that is not written."""
    if place is not None and place.lower().endswith(_OTHERS):
        raise InvalidInputError(
            f"--out {place}: results are written as .csv, .tsv, .jsonl (JSON lines) or .parquet."
        )
    check_free(place, force)


def row_names(data: Table) -> tuple[str, np.ndarray]:
    """What the rows of a file are known by: the images' files, or their numbers."""
    if data.files:
        return "file", np.array(data.files, dtype=object)
    return "row", data.row_numbers


def write_columns(
    options: Namespace, columns: Columns, origins: dict[str, str] | None = None
) -> None:
    """Columns to --out, or as CSV to standard output unless --json prints the result there.

    ``origins`` are columns of DATA, a Parquet file, and what they are called there: in another
    Parquet file they keep their types.
    """
    if options.json and not options.out:
        return
    place = (options.out or "").lower()
    if not place.endswith((*_PARQUET, *_LINES)) and not vars(options).get("raw"):
        columns, changed = without_formulas(columns)
        if changed:
            one = "begins as a formula does, and has"
            verb = one if changed == 1 else "begin as formulas do, and have"
            words = f"{counted(changed, 'cell')} of text {verb} an apostrophe in front, so that no "
            words += "spreadsheet works it out; --raw writes text as it is."
            note(words, options.quiet)
    if not options.out:
        write_text_rows(sys.stdout, columns)
        sys.stdout.flush()
        return
    check_free(options.out, options.force)  # again: it may have appeared meanwhile
    with replacing(options.out) as stream:
        if place.endswith(_PARQUET):
            typed = typed_columns(Path(options.data), origins) if origins else {}
            write_parquet(stream, {**columns, **typed})
            return
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        if place.endswith(_LINES):
            for row in _rows(columns, plain_values):
                found = dict(zip(columns, row, strict=True))
                text.write(json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            write_text_rows(text, columns, "\t" if place.endswith(_TABS) else ",")
        text.detach()


def write_text_rows(stream: TextIO, columns: Columns, delimiter: str = ",") -> None:
    """Columns as CSV, or with another delimiter."""
    writer = csv.writer(stream, lineterminator="\n", delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows(_rows(columns, cell_texts))


def _rows(
    columns: Columns, values_of: Callable[[np.ndarray], Sequence[Any]], at_once: int = 10_000
) -> Iterator[tuple[Any, ...]]:
    """The rows, some thousands of which are made at a time."""
    for start in range(0, len(next(iter(columns.values()))), at_once):
        parts = (values_of(values[start : start + at_once]) for values in columns.values())
        yield from zip(*parts, strict=True)


def rounded(values: np.ndarray, digits: int) -> np.ndarray:
    """Numbers with so many digits; the others are noise, and differ from machine to machine."""
    return np.array([float(f"{value:.{digits}g}") for value in values])


def plain_values(values: np.ndarray) -> list[Any]:
    """Cells as JSON has them: None where there is no number, whole ones without a point."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [_shortest(value) if abs(value) < np.inf else None for value in values.tolist()]


def cell_texts(values: np.ndarray) -> list[str]:
    """Cells as text, empty where blank; numbers in the fewest digits that read back the same."""
    if values.dtype.kind != "f":
        return ["" if value is None else str(value) for value in values.tolist()]
    return ["" if value != value else str(_shortest(value)) for value in values.tolist()]


def _shortest(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < _LARGEST_WHOLE else value


def without_formulas(columns: Columns) -> tuple[Columns, int]:
    """The same with an apostrophe before text that a spreadsheet would take for a formula.

    How many cells have one is counted.
    """
    found, changed = {}, 0
    for name, values in columns.items():
        if values.dtype.kind in "OU":
            texts = cell_texts(values)
            values = np.array(harmless(texts), dtype=object)
            changed += sum(a != b for a, b in zip(texts, values, strict=True))
        found[harmless([name])[0]] = values
    return found, changed
