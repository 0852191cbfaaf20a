"""Forged tables: npz, CSR, csv and svmlight files that nobody would write."""

import bz2
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

from attack.containers import DAMAGES
from attack.documents import changed
from attack.outcomes import Outcome
from attack.using import called, error_outcome
from ulmus import batches
from ulmus.tables import Table, read_table

__all__ = ["KINDS", "attacked"]

_CELLS = (
    "", "1", "-1", "1e5", "1e400", "nan", "inf", "-inf", "NA", "?", "007", "0x10", "1,5", "1.234,5",
    '"', '""', "'", "=cmd()", "ü", "\u202e", "a" * 3000,
    "2020-01-01", "2020-13-45", "yes", "9" * 400,
    "\t", " ", "1 000", "1_000", "٣", "1e", "+", "--1", "None", "True", "\x1f", "\\", ";", "|",
)  # fmt: skip
_ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\n\n", "", "\x85", "\u2028", "\0")
_PAIRS = (
    "1:1", "2:0.5", "3:nan", "4:inf", "-1:1", "0:1", "99:1", "4194304:1", "99999999999:1", "a:b",
    "1:", ":1", "qid:3", "#", "1:1e400", "2:2 1:1", "5:0x1", "6:1:1", "7:-0", "8:1e-400",
)  # fmt: skip


def _csv(rng: Random) -> tuple[str, bytes]:
    """Lines of odd cells, some more than others, in some encoding."""
    mark, width = rng.choice(",;\t|, "), rng.choice([1, 2, 3, 5, 40])
    lines = []
    for _ in range(rng.choice([0, 1, 2, 5, 30])):
        cells = rng.choice([1, 1, 1, 0.5, 2]) * width
        lines.append(mark.join(rng.choice(_CELLS) for _ in range(int(cells))))
    names = mark.join(f"c{j}" for j in range(width))
    text = "".join(line + rng.choice(_ENDS) for line in [names, *lines])
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-32", "cp037"])
    content = text.encode(encoding, errors="replace")
    return _packed(rng, _damaged(rng, content), rng.choice([".csv", ".tsv", ".txt"]))


def _svmlight(rng: Random) -> tuple[str, bytes]:
    """Lines of labels and pairs, some of which are none."""
    labels = ("1", "-1", "0", "1.5", "nan", "inf", "", "a", "1,2", "#")
    lines = []
    for _ in range(rng.choice([0, 1, 3, 20])):
        pairs = sorted(
            rng.choices(_PAIRS[:2] if rng.random() < 0.5 else _PAIRS, k=rng.randrange(5))
        )
        lines.append(" ".join([rng.choice(labels[:4] if rng.random() < 0.7 else labels), *pairs]))
    content = "".join(line + rng.choice(_ENDS) for line in lines).encode()
    return _packed(rng, _damaged(rng, content), ".svm")


def _npz(rng: Random) -> tuple[str, bytes]:
    """Arrays of other shapes, types and values, and zips that are none."""
    arrays: dict[str, Any] = {"X": np.arange(12.0).reshape(4, 3), "y": np.array([0, 1, 0, 1])}
    if rng.random() < 0.6:
        arrays = {**_parts(), "y": arrays["y"]}
    return ".npz", _archive(rng, arrays)


def _parts() -> dict[str, Any]:
    X = sp.csr_array(np.array([[0.0, 1, 0], [2, 0, 3], [0, 0, 0], [0, 4, 0]]))
    parts = {name: getattr(X, name) for name in ("data", "indices", "indptr")}
    return {**parts, "shape": np.array(X.shape), "format": np.array(b"csr")}


def _archive(rng: Random, arrays: dict[str, Any]) -> bytes:
    for _ in range(rng.choice([0, 1, 1, 2])):
        name = rng.choice(list(arrays))
        arrays[name] = changed(rng, arrays[name])
        if rng.random() < 0.2 and arrays[name].dtype.kind in "iu":
            arrays[name] = arrays[name] + np.int8(rng.choice([-1, 1, 9]))
    if rng.random() < 0.1:
        del arrays[rng.choice(list(arrays))]
    stream = io.BytesIO()
    rng.choice([np.savez, np.savez_compressed])(stream, **arrays)
    if rng.random() < 0.3:
        return DAMAGES[rng.choice(list(DAMAGES))](rng, bytearray(stream.getvalue()))
    return stream.getvalue()


def _damaged(rng: Random, content: bytes) -> bytes:
    ways = ["bytes cut", "bytes flipped", "bytes more"]
    return (
        DAMAGES[rng.choice(ways)](rng, bytearray(content))
        if content and rng.random() < 0.2
        else content
    )


def _packed(rng: Random, content: bytes, suffix: str) -> tuple[str, bytes]:
    """The file, compressed now and then, and now and then badly."""
    if rng.random() > 0.15:
        return suffix, content
    ending, pack = rng.choice([(".gz", gzip.compress), (".bz2", bz2.compress)])
    return suffix + ending, _damaged(rng, pack(content))


_FORGERS: dict[str, Callable[[Random], tuple[str, bytes]]] = {
    "csv": _csv,
    "svmlight": _svmlight,
    "npz": _npz,
}
KINDS = (*_FORGERS, "CSR batches")


def attacked(rng: Random, kind: str, folder: Path) -> tuple[Outcome, str]:
    """A table that is read, or batches that are."""
    if kind == "CSR batches":
        path = folder / "rows.npz"
        path.write_bytes(_archive(rng, _parts()))
        found, error = called(lambda: _read_batches(path))
    else:
        suffix, content = _FORGERS[kind](rng)
        path = folder / f"table{suffix}"
        path.write_bytes(content)
        found, error = called(lambda: read_table(path))
    path.unlink()
    return error_outcome(error) if error is not None else _judged(found)


def _read_batches(path: Path) -> Table:
    """All rows of the batches together, and what they sum up to."""
    rows = [X for X, _ in batches.from_csr(path, np.zeros(4), rows=2)]
    X = sp.vstack(rows, format="csr")
    # Rows may have any number of columns, and names for them are this test's own.
    X = X[:, : min(X.shape[1], 1000)]
    return Table(tuple(f"x{j}" for j in range(X.shape[1])), matrix=X)


def _judged(table: Table) -> tuple[Outcome, str]:
    """Whether columns are of one length, and products of a matrix stay within it."""
    if table.matrix is None:
        lengths = {len(column) for column in table.columns.values()}
        same = lengths == {len(table)} and len(table) > 0
        return (Outcome.RIGHT, "") if same else (Outcome.WRONG, f"columns of lengths {lengths}")
    n, d = table.matrix.shape
    if len(table.names) != d:
        return Outcome.WRONG, f"{len(table.names)} names for {d} columns"
    sums = table.matrix @ np.ones(d, table.matrix.dtype)
    return (Outcome.RIGHT, "") if sums.shape == (n,) else (Outcome.WRONG, f"sums of {sums.shape}")
