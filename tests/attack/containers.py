"""Files that are damaged, or whose zip is not what a model's is: nothing of this may be read."""

import io
import struct
import warnings
import zipfile
from collections.abc import Callable
from random import Random

__all__ = ["DAMAGES", "with_headers"]

_ODD = (
    "../x.npy", "/etc/passwd", "arrays/../../x", "arrays/00.npy", "arrays/0.npy", "model.json",
    "C:x", "arrays\\0.npy", "arrays/-1.npy", "", "arrays/9999999.npy", "arrays/0.npy\0.txt",
)  # fmt: skip

_METHODS = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)

_HEADERS = (
    (b"'<f8'", b"'|O8'"), (b"'<f8'", b"'<i8'"), (b"False", b"True "), (b"'shape'", b"'shap'"),
    (b"(", b"(-"), (b"(", b"(("), (b"descr", b"fdscr"), (b"NUMPY\1", b"NUMPY\3"), (b" }", b" )"),
    (b"'<f8'", b"'<f2'"), (b"'shape': (", b"'shape': (9**9**9,"), (b"'<f8'", b"'<U9'"),
)  # fmt: skip


def _flipped(rng: Random, content: bytearray) -> bytes:
    """A few bytes are others; half of the time in the zip's own records at the end."""
    for _ in range(rng.randint(1, 4)):
        first = rng.choice([0, max(0, len(content) - 2000)])
        content[rng.randrange(first, len(content))] ^= rng.randint(1, 255)
    return bytes(content)


def _cut(rng: Random, content: bytearray) -> bytes:
    """The end, the beginning or the middle is missing."""
    a, b = sorted(rng.randrange(len(content)) for _ in range(2))
    return bytes(rng.choice([content[:a], content[b:], content[:a] + content[b:]]))


def _inserted(rng: Random, content: bytearray) -> bytes:
    """There is more than there should be, in the middle or at an end."""
    more = rng.randbytes(rng.choice([1, 22, 500]))
    a = rng.choice([0, len(content), rng.randrange(len(content))])
    return bytes(content[:a] + more + content[a:])


def _lied(rng: Random, content: bytearray) -> bytes:
    """A field of the zip's records says something else: sizes, offsets, counts, methods."""
    marks = (b"PK\1\2", b"PK\3\4", b"PK\5\6")
    places = [i for mark in marks for i in _found(content, mark)]
    place = rng.choice(places) + rng.randrange(4, 42)
    value = rng.choice(
        [0, 1, 8, 12, 14, 0xFFFF, 2**31, 2**32 - 1, len(content), rng.getrandbits(32)]
    )
    content[place : place + 4] = struct.pack("<L", value)
    return bytes(content)


def _header(rng: Random, content: bytearray) -> bytes:
    """An array's header says something else."""
    old, new = rng.choice(_HEADERS)
    return bytes(content).replace(old, new[: len(old)].ljust(len(old)), rng.randint(1, 3))


def with_headers(rng: Random, content: bytes) -> bytes:
    """Some arrays' headers say something else, and the checksums are right."""
    old, new = rng.choice(_HEADERS)
    some, stream = rng.random(), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as base, zipfile.ZipFile(stream, "w") as file:
        for name in base.namelist():
            data = base.read(name)
            changed = name != "model.json" and rng.random() < some
            file.writestr(name, _padded(data, old, new) if changed else data)
    return stream.getvalue()


def _padded(data: bytes, old: bytes, new: bytes) -> bytes:
    """A header with a change, as long as it was."""
    head, rest = data[:128].replace(old, new, 1), data[128:]
    return (head.rstrip(b"\n ") + b" " * 128)[:127] + b"\n" + rest


def _packed(rng: Random, content: bytearray) -> bytes:
    """Members are compressed, one of them by any method, and some are bombs."""
    method, packed = rng.choice(_METHODS), zipfile.ZIP_DEFLATED
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", packed) as new:
        names = old.namelist()
        one = rng.choice(names)
        for name in names:
            bomb = rng.random() < 0.05
            data = bytes(10**6) if bomb else old.read(name)
            # The slow methods take milliseconds, and one member is enough for them.
            new.writestr(name, data, method if name == one else packed)
    return stream.getvalue()


def _named(rng: Random, content: bytearray) -> bytes:
    """A member has a name that leads elsewhere, or that another has."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w") as new,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # two of one name are on purpose
        for name in old.namelist():
            new.writestr(name, old.read(name))
        info = zipfile.ZipInfo("x")
        info.filename = rng.choice(_ODD)
        new.writestr(info, old.read(rng.choice(old.namelist())))
    return stream.getvalue()


def _overlapping(rng: Random, content: bytearray) -> bytes:
    """Two members lie on the same bytes."""
    entries = _found(content, b"PK\1\2")
    if len(entries) < 2:
        return bytes(content)
    one, two = rng.sample(entries, 2)
    content[one + 42 : one + 46] = content[two + 42 : two + 46]
    if rng.random() < 0.5:
        content[one + 16 : one + 28] = content[two + 16 : two + 28]
    return bytes(content)


def _other(rng: Random, content: bytearray) -> bytes:
    """Another kind of file."""
    return rng.choice(
        [b"", b"PK", b"PK\5\6" + bytes(18), b"\x80\x04N.", rng.randbytes(3000), bytes(5000),
         b"PK\3\4" + rng.randbytes(300) + b"PK\5\6" + bytes(18), (b"PK\1\2" + bytes(42)) * 900]
    )  # fmt: skip


def _found(content: bytearray, mark: bytes) -> list[int]:
    """Where a record of the zip begins."""
    places, start = [], content.find(mark)
    while start >= 0:
        places.append(start)
        start = content.find(mark, start + 1)
    return places


DAMAGES: dict[str, Callable[[Random, bytearray], bytes]] = {
    "bytes cut": _cut,
    "bytes flipped": _flipped,
    "bytes more": _inserted,
    "npy header": _header,
    "other file": _other,
    "zip names": _named,
    "zip overlap": _overlapping,
    "zip packed": _packed,
    "zip records": _lied,
}
