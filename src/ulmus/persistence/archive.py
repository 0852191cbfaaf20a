"""The container: a zip of one JSON document and .npy arrays, none of them compressed.

What is not compressed cannot be larger than the file, so a file can never ask for more memory than
it has bytes. Its directory is looked through before anything in it is read, nothing is ever
written to disk, and zip's checksum of each member is held against what was read.
"""

import io
import re
import struct
import zipfile
from collections.abc import Iterable
from typing import IO

import numpy as np

from ulmus.archives import ArrayArchive, Charge
from ulmus.exceptions import ModelFileError

__all__ = ["MOST_ARRAYS", "Archive", "write"]

_DOCUMENT = "model.json"
_MEMBER = re.compile(r"model\.json|arrays/(0|[1-9][0-9]{0,5})\.npy")
MOST_ARRAYS = 10**6
_LONGEST_DOCUMENT = 2**28
_LONGEST_DIRECTORY = 128 * MOST_ARRAYS
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")


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


class Archive:
    """A container that is open for reading, its directory checked."""

    def __init__(self, stream: IO[bytes]) -> None:
        _check_end(stream, stream.seek(0, io.SEEK_END))
        self._members = ArrayArchive(stream, _MEMBER.fullmatch, packed=False)
        if _DOCUMENT not in self._members:
            raise ModelFileError(f"it has no {_DOCUMENT}")

    @property
    def arrays(self) -> int:
        """How many arrays there are."""
        return len(self._members) - 1

    def document(self) -> bytes:
        """The JSON document."""
        size = self._members.size(_DOCUMENT)
        if size > _LONGEST_DOCUMENT:
            raise ModelFileError(
                f"its {_DOCUMENT} is {size} bytes, and no model's is over {_LONGEST_DOCUMENT}"
            )
        return self._members.read(_DOCUMENT)

    def header(self, number: int) -> tuple[tuple[int, ...], np.dtype]:
        """Shape and type of an array, which is not read."""
        return self._members.header(self._name(number))

    def array(self, number: int, charge: Charge | None = None) -> np.ndarray:
        """An array, once its header agrees with its size; ``charge`` is told of it beforehand."""
        return self._members.array(self._name(number), charge)

    def _name(self, number: int) -> str:
        name = f"arrays/{number}.npy"
        if type(number) is not int or name not in self._members:
            raise ModelFileError(f"it refers to {name[:80]}, which it does not have")
        return name


def _check_end(stream: IO[bytes], size: int) -> None:
    """Refuse what does not end as a zip does, or has a directory too long to be a model's."""
    if size < _END.size:
        raise ModelFileError("it is too short to be one")
    signature, *_, length, _, comment = _END.unpack(_tail(stream, size, 0, _END.size))
    if signature != b"PK\5\6" or comment:
        raise ModelFileError("it does not end as one does; it may have been cut short")
    locator = size - _END.size - _LOCATOR.size
    if locator >= _END_64.size:
        signature, _, start, _ = _LOCATOR.unpack(_tail(stream, size, _END.size, _LOCATOR.size))
        if signature == b"PK\6\7":
            if start != locator - _END_64.size:
                raise ModelFileError("its directory is not where it should be")
            before = _END.size + _LOCATOR.size
            length = _END_64.unpack(_tail(stream, size, before, _END_64.size))[8]
    if length > _LONGEST_DIRECTORY:
        raise ModelFileError(f"it has more members than the {MOST_ARRAYS} that a model may have")


def _tail(stream: IO[bytes], size: int, before: int, length: int) -> bytes:
    """The ``length`` bytes that lie ``before`` bytes from the end."""
    stream.seek(size - before - length)
    return stream.read(length)
