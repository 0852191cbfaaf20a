"""ARFF, the format of OpenML's files, as far as tables of numbers and one column of classes go."""

import io
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from ulmus.exceptions import CorruptFileError

__all__ = ["read_arff"]

# Rows that are turned into numbers at a time.
_BLOCK = 8192
_LONGEST = 100
_NAME = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+\S""", re.IGNORECASE
)


def read_arff(
    path: Path, target: str, ignored: frozenset[str], shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """X in float32, the target's values as text, and the names of X's columns.

    Parameters
    ----------
    path : Path
        A dense ARFF file.
    target : str
        The column to be learnt.
    ignored : frozenset of str
        Columns that are neither, such as row numbers.
    shape : tuple of int
        Rows and columns X must have; a longer file is not read to its end.
    """
    try:
        with path.open(encoding="utf-8", errors="strict") as stream:
            names = _header(stream, shape[1] + len(ignored) + 1)
            if target not in names:
                raise ValueError(f"it has no column {target!r}")
            columns = [k for k, name in enumerate(names) if name not in ignored | {target}]
            if len(columns) != shape[1]:
                raise ValueError(f"it has {len(columns)} columns and not {shape[1]}")
            X, labels = _rows(stream, columns, names.index(target), len(names), shape)
    except (ValueError, UnicodeDecodeError, IndexError) as error:
        raise CorruptFileError(f"{path.name} is no table that can be read: {error}.") from error
    return X, labels, [names[k] for k in columns]


def _header(stream: TextIO, most: int) -> list[str]:
    """Names of all columns; the stream is left at the first row."""
    names: list[str] = []
    for line in stream:
        word = line.lstrip()[:10].lower()
        if word.startswith("@data"):
            return names
        if word.startswith("@attribute"):
            found = _NAME.match(line.strip())
            if found is None or len(found[1]) > _LONGEST:
                raise ValueError("its header has a column without a plain name and a type")
            if len(names) == most:
                raise ValueError(f"its header has more than {most} columns")
            names.append(_plain(found[1]))
    raise ValueError("it has a header and no data")


def _rows(
    stream: TextIO, columns: list[int], target: int, width: int, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    lines = _lines(stream)
    X = np.empty(shape, dtype=np.float32)
    labels: list[str] = []
    for start in range(0, shape[0] + 1, _BLOCK):
        block = list(islice(lines, min(_BLOCK, shape[0] + 1 - start)))
        if not block:
            break
        if start + len(block) > shape[0]:
            raise ValueError(f"it has more than {shape[0]} rows")
        labels += [_field(line, target, width) for line in block]
        # NumPy's reader counts the fields of a line and refuses what is no number.
        X[start : start + len(block)] = np.loadtxt(
            io.StringIO("\n".join(block)),
            delimiter=",", usecols=columns, quotechar="'", comments=None, ndmin=2,
        )  # fmt: skip
    if len(labels) != shape[0]:
        raise ValueError(f"it has {len(labels)} rows and not {shape[0]}")
    return X, np.array(labels)


def _lines(stream: TextIO) -> Iterator[str]:
    for line in stream:
        line = line.strip()
        if line and not line.startswith("%"):
            if line.startswith("{"):
                raise ValueError("its rows are sparse, which is not read here")
            yield line


def _field(line: str, column: int, width: int) -> str:
    fields = line.count(",") + 1
    if fields != width:
        raise ValueError(f"a row has {fields} fields and not {width}")
    # The target is nearly always the last, and rows of pictures are long.
    text = line.rpartition(",")[2] if column == width - 1 else line.split(",")[column]
    return _plain(text.strip())


def _plain(text: str) -> str:
    """Without quotes."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
