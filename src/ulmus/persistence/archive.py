"""The container: a zip of one JSON document and .npy arrays, none of them compressed.

What is not compressed cannot be larger than the file, so a file can never ask for more memory than
it has bytes. Its directory is looked through before anything in it is read, nothing is ever
written to disk, and zip's checksum of each member is held against what was read.
"""

import io
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from ulmus.archives import ArrayArchive, Charge
from ulmus.exceptions import ModelFileError

__all__ = ["MOST_ARRAYS", "Archive", "write"]

_DOCUMENT = "model.json"
_MEMBER = re.compile(r"model\.json|arrays/(0|[1-9][0-9]{0,5})\.npy")
MOST_ARRAYS = 10**6
_LONGEST_DOCUMENT = 2**28
_LONGEST_DIRECTORY = 128 * MOST_ARRAYS
# One moment for all members, so that the same model gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)

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
        _add(archive, _DOCUMENT, document)
        for number, array in enumerate(arrays):
            header, data = _npy(array)
            _add(archive, f"arrays/{number}.npy", header, data)


def _add(archive: zipfile.ZipFile, name: str, *parts: Any) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    # Known beforehand, so that zip64 is used where it must be and only there.
    info.file_size = sum(memoryview(part).nbytes for part in parts)
    with archive.open(info, "w") as member:
        for part in parts:
            member.write(part)


def _npy(array: np.ndarray) -> tuple[bytes, Any]:
    """An array as .npy has it: a header, and the numbers without a copy where they lie in a row."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    header = io.BytesIO()
    facts = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(header, facts)
    by_rows = array.T if facts["fortran_order"] else array
    data = by_rows.reshape(-1).view(np.uint8) if array.nbytes else b""
    return header.getvalue(), data


class Archive:
    """A container that is open for reading, its directory checked."""

    def __init__(self, stream: IO[bytes]) -> None:
        _check_end(stream, stream.seek(0, io.SEEK_END))
        with _refused():
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
        with _refused():
            return self._members.read(_DOCUMENT)

    def header(self, number: int) -> tuple[tuple[int, ...], np.dtype]:
        """Shape and type of an array, which is not read."""
        with _refused():
            return self._members.header(self._name(number))

    def array(self, number: int, charge: Charge | None = None) -> np.ndarray:
        """An array, once its header agrees with its size; ``charge`` is told of it beforehand."""
        with _refused():
            return self._members.array(self._name(number), charge)

    def _name(self, number: int) -> str:
        name = f"arrays/{number}.npy"
        if type(number) is not int or name not in self._members:
            raise ModelFileError(f"it refers to {name[:80]}, which it does not have")
        return name


@contextmanager
def _refused() -> Iterator[None]:
    """What is wrong with an archive as an error about a model."""
    try:
        yield
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(str(error).removesuffix(".")) from error


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
