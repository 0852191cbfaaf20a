"""The container: a zip of one JSON document and .npy arrays, none of them compressed.

What is not compressed cannot be larger than the file, so a file can never ask for more memory than
it has bytes. Its directory is looked through before anything in it is read, nothing is ever
written to disk, and zip's checksum of each member is held against what was read.

A symmetric matrix is kept as its lower half, by panels of rows: an ELM keeps HᵀCH so that rows can
be added, and to wait for the disk takes longer than to fold a matrix and unfold it.
"""

import io
import re
import struct
import zipfile
from collections.abc import Iterable
from typing import IO

import numpy as np

from ulmus.archives import ArrayArchive
from ulmus.exceptions import ModelFileError

_DOCUMENT = "model.json"
_MEMBER = re.compile(r"model\.json|arrays/(0|[1-9][0-9]{0,5})\.npy")
MOST_ARRAYS = 10**6
_LONGEST_DOCUMENT = 2**28
_LONGEST_DIRECTORY = 128 * MOST_ARRAYS
# What a zip ends with: zip64's record and where that is, if it has them, and the record of old.
_TAIL = struct.Struct("<4sQ2H2L4Q4sLQL4s4H2LH")
# Rows of a panel of a symmetric matrix.
_PANEL = 128


def write(stream: IO[bytes], document: bytes, arrays: Iterable[np.ndarray]) -> None:
    """Write a container: the document first, then the arrays in their order."""
    if len(document) > _LONGEST_DOCUMENT:
        raise ModelFileError(
            f"All but its arrays is {len(document)} bytes, and a file may hold "
            f"{_LONGEST_DOCUMENT}; labels that are Python objects are better an array of strings."
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        # Members have no date, so that the same model gives the same bytes.
        archive.writestr(zipfile.ZipInfo(_DOCUMENT), document)
        for number, array in enumerate(arrays):
            # Lengths are not known beforehand, and may need zip64.
            with archive.open(f"arrays/{number}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


class Archive(ArrayArchive):
    """A container that is open for reading, its directory checked."""

    def __init__(self, stream: IO[bytes]) -> None:
        _check_end(stream)
        super().__init__(stream, _MEMBER.fullmatch, packed=False)

    def document(self) -> bytes:
        """The JSON document."""
        if _DOCUMENT not in self.members:
            raise ModelFileError(f"it has no {_DOCUMENT}")
        if (size := self.size(_DOCUMENT)) > _LONGEST_DOCUMENT:
            raise ModelFileError(
                f"its {_DOCUMENT} is {size} bytes, and no model's is over {_LONGEST_DOCUMENT}"
            )
        return self.read(_DOCUMENT)

    def name(self, number: int) -> str:
        """The name of an array."""
        name = f"arrays/{number}.npy"
        if type(number) is not int or name not in self.members:
            raise ModelFileError(f"it refers to {name[:80]}, which it does not have")
        return name


def _check_end(stream: IO[bytes]) -> None:
    """Refuse what does not end as a zip does, or has a directory too long to be a model's."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - _TAIL.size))
    parts = _TAIL.unpack(stream.read(_TAIL.size).rjust(_TAIL.size, b"\0"))
    length_64, locator, start, end, length, comment = (parts[i] for i in (8, 10, 12, 14, 19, 21))
    if end != b"PK\5\6" or comment:
        raise ModelFileError("it does not end as one does; it may have been cut short")
    if locator == b"PK\6\7":
        if start != size - _TAIL.size:
            raise ModelFileError("its directory is not where it should be")
        length = length_64
    if length > _LONGEST_DIRECTORY:
        raise ModelFileError(f"it has more members than the {MOST_ARRAYS} that a model may have")


def is_symmetric(A: np.ndarray) -> bool:
    """Whether half of A is enough, to the bit, and worth the trouble."""
    if A.ndim != 2 or A.shape[0] != A.shape[1] or len(A) <= _PANEL or A.dtype.char not in "fd":
        return False
    if not (A.flags.c_contiguous or A.flags.f_contiguous):
        return False
    bits = _by_rows(A).view(f"u{A.itemsize}")  # 0.0 is not −0.0, and NaN is itself
    return all(
        np.array_equal(bits[rows, columns], bits[columns, rows].T)
        for rows in _panels(len(A))
        for columns in _panels(rows.stop)
    )


def to_half(A: np.ndarray) -> np.ndarray:
    """The rows of each panel up to the diagonal's block, one after the other."""
    A = _by_rows(A)
    return np.concatenate([A[rows, : rows.stop].ravel() for rows in _panels(len(A))])


def from_half(half: np.ndarray, n: int, order: str) -> np.ndarray:
    """The n × n matrix, by rows (order C) or by columns (F)."""
    A, start = np.empty((n, n), half.dtype), 0
    for rows in _panels(n):
        stop = start + (rows.stop - rows.start) * rows.stop
        part, start = half[start:stop].reshape(-1, rows.stop), stop
        A[rows, : rows.stop] = part
        A[: rows.start, rows] = part[:, : rows.start].T
    return A.T if order == "F" else A


def half_length(n: int) -> int:
    """How many numbers half of an n × n matrix has."""
    panels, rest = divmod(n, _PANEL)
    return _PANEL**2 * panels * (panels + 1) // 2 + rest * n


def _by_rows(A: np.ndarray) -> np.ndarray:
    return A if A.flags.c_contiguous else A.T


def _panels(n: int) -> list[slice]:
    return [slice(i, min(i + _PANEL, n)) for i in range(0, n, _PANEL)]
