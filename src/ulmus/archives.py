"""Arrays in untrusted zip archives, such as .npz files.

The directory is checked before anything in it is read, an array's header is compared with its
member's size before memory is reserved for it, and zip's checksum of each member with what was
read. Nothing is unpickled and nothing is written to disk. A bad archive raises `ValueError`.
"""

import contextlib
import errno
import io
import math
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import IO, Any

import numpy as np

from ulmus.backends.namespace import check_places

# Numbers and text of fixed width; never objects, which NumPy would unpickle.
ARRAY_KINDS = "biufcSU"
# Number types of SciPy's sparse products.
_SPARSE_NUMBERS = "?bBhHiIlLqQfdFD"
_CHUNK = 2**18
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# NumPy's own limit; headers of numbers and text are shorter.
_LONGEST_HEADER = 10_000
# Zeros are compressed a thousandfold. Past the first number of bytes in all, archives that hold
# more than 200 times their own size are refused.
_FREE, _TIMES = 2**30, 200


@contextlib.contextmanager
def _one_error() -> Iterator[None]:
    """Every error of zipfile, zlib or NumPy about damaged bytes as a ValueError."""
    try:
        yield
    except (ValueError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        outside = "it has a member that lies outside of it"
        why = outside if isinstance(error, OSError) else str(error)[:200] or type(error).__name__
        raise ValueError(why) from error


class ArrayArchive:
    """An archive that is open for reading, its directory checked; ``members`` are by name.

    ``belongs`` says whether a member's name is allowed; None allows any. Without ``packed``,
    compressed members are refused, so that together they are no larger than the archive. ``most``
    is the limit of all members' bytes; None is 200 times the archive's, or a gigabyte.
    """

    def __init__(
        self,
        stream: IO[bytes],
        belongs: Callable[[str], object] | None = None,
        *,
        packed: bool = True,
        most: int | None = None,
    ) -> None:
        size = stream.seek(0, 2)
        with _one_error():
            self._zip = zipfile.ZipFile(stream)
            infos = self._zip.infolist()
        self.members = {info.filename: info for info in infos}
        for info in infos:
            if belongs is not None and not belongs(name := info.filename):
                raise ValueError(f"it has a member {name[:80]!r}, which does not belong there")
            if info.flag_bits & 1:
                raise ValueError("it is encrypted")
            whole = info.compress_size == info.file_size
            kinds = [zipfile.ZIP_STORED] * whole + [zipfile.ZIP_DEFLATED] * packed
            if info.compress_type not in kinds:
                raise ValueError("it is compressed in a way that is not allowed")
        if len(self.members) < len(infos):
            raise ValueError("it has two members of one name")
        # Members that overlap would be larger together than the archive.
        most = size if not packed else max(_FREE, _TIMES * size) if most is None else most
        found = sum(info.file_size for info in infos)
        if found > most:
            raise ValueError(f"its members have {found:,} bytes, and {most:,} are plausible")

    def size(self, name: str) -> int:
        """Bytes of a member."""
        if name not in self.members:
            raise ValueError(f"it has no {name[:80]}")
        return self.members[name].file_size

    def read(self, name: str) -> bytes:
        """The bytes of a member."""
        self.size(name)
        with _one_error():
            return self._zip.read(self.members[name])

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[tuple[IO[bytes], tuple[int, ...], bool, np.dtype]]:
        """An array's numbers as a stream of bytes, its shape, whether by columns, and its type."""
        size = self.size(name)
        with _one_error(), self._zip.open(self.members[name]) as member:
            yield member, *_header(member, name, size)

    def header(self, name: str) -> tuple[tuple[int, ...], np.dtype]:
        """Shape and type of an array, which is not read."""
        with self.open(name) as (_, shape, _, dtype):
            return shape, dtype

    def array(
        self, name: str, charge: Callable[[tuple[int, ...], int], None] | None = None
    ) -> np.ndarray:
        """An array; ``charge`` is called with its shape and item size before it is read."""
        with self.open(name) as (member, shape, fortran_order, dtype):
            if charge is not None:
                charge(shape, dtype.itemsize)
            array = np.empty(math.prod(shape), dtype)
            _fill(member, array)
        return array.reshape(shape, order="F" if fortran_order else "C")


def read_npz(
    stream: IO[bytes], names: Collection[str], *, others: bool = False, **rules: Any
) -> dict[str, np.ndarray]:
    """The arrays of an .npz file that have these names; with ``others`` it may hold more.

    ``rules`` are those of `ArrayArchive`.
    """
    members = {f"{name}.npy" for name in names}
    archive = ArrayArchive(stream, None if others else members.__contains__, **rules)
    found = [name for name in archive.members if name in members]
    return {name.removesuffix(".npy"): archive.array(name) for name in found}


def sparse_matrix(cls: type[Any], parts: Sequence[np.ndarray], shape: tuple[int, int]) -> Any:
    """A CSR, CSC or COO matrix, whose parts are checked: SciPy's products would read beyond them.

    The parts are data, indices and indptr, or data, row and col.
    """
    data, *places = parts
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts):
        raise ValueError("a sparse matrix has parts that are not one-dimensional arrays")
    if data.dtype.char not in _SPARSE_NUMBERS or any(part.dtype.kind != "i" for part in places):
        raise ValueError("a sparse matrix has parts of a wrong type")
    if any(type(n) is not int or n < 0 for n in shape):
        raise ValueError("a sparse matrix has an invalid shape")
    form = cls.__name__[:3]
    check_places(form, places, len(data), shape)
    return cls((data, places) if form == "coo" else (data, *places), shape=shape)


def _header(member: IO[bytes], name: str, size: int) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        start = member.read(8)
        length = member.read(2 if start[6:7] == b"\1" else 4)
        rest = member.read(min(int.from_bytes(length, "little"), _LONGEST_HEADER))
        shape, fortran_order, dtype = _parsed(start + length + rest)
    except zipfile.BadZipFile:
        raise
    # NumPy uses Python's parser, which raises errors of its own, MemoryError among them.
    except Exception as error:
        raise ValueError(f"its {name} has no valid header of NumPy's format") from error
    if dtype.hasobject or dtype.kind not in ARRAY_KINDS or not dtype.itemsize:
        raise ValueError(f"its {name} holds {dtype}, which is never read")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size - member.tell():
        raise ValueError(f"its {name} is not as long as its header says")
    return shape, fortran_order, dtype


@lru_cache(2**10)
def _parsed(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type; cached, because many arrays of one model have the same header."""
    stream = io.BytesIO(header)
    shape, by_columns, dtype = _HEADERS[np.lib.format.read_magic(stream)](stream)
    return shape, by_columns, dtype


def _fill(member: IO[bytes], array: np.ndarray) -> None:
    """Read an array's numbers to the end, where zipfile compares the checksum."""
    data = array.view(np.uint8) if array.nbytes else np.empty(0, np.uint8)
    for start in range(0, len(data), _CHUNK):
        piece = data[start : start + _CHUNK]
        piece[:] = np.frombuffer(member.read(len(piece)), np.uint8)
    member.read()
