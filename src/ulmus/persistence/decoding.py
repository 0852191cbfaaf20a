"""From an untrusted file to a model: the inverse of `ulmus.persistence.encoding`.

The directory of the file is checked before anything in it is read, nothing is written to disk, and
zip's checksum of each member is compared with what was read.

Data cannot name code to run. A class or function is looked up in a list; an object is created
empty and its attributes are put straight into its dictionary, so that none of its methods and
properties is called; a dataclass is made of its fields. Its attributes are then checked against the
layout of its class.

Memory and work are charged, in bytes, to a budget that is a multiple of the file's size: memory
before it is reserved, and the checks of a class each time. So a short file can neither take much
memory nor refer to one large array a million times.
"""

import inspect
import io
import math
import os
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import lru_cache
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from ulmus.archives import ArrayArchive, sparse_matrix
from ulmus.exceptions import ModelFileError
from ulmus.persistence import encoding
from ulmus.persistence.classes import FUNCTIONS, TYPES, known

_MEMBER = re.compile(r"model\.json|arrays/(0|[1-9][0-9]{0,5})\.npy")
_LONGEST_DIRECTORY = 128 * encoding.MOST_ARRAYS
# The end of a zip: the record of zip64 and its position, if there are any, and the older record.
_TAIL = struct.Struct("<4sQ2H2L4Q4sLQL4s4H2LH")
# The budget in bytes: a multiple of the file's size, plus a constant.
_TIMES, _FREE = 24, 2**25
# Bytes of memory for the list, dict, string or number that each character of JSON begins or ends.
_JSON = {b"[": 88, b"{": 200, b'"': 16, b",": 24}
_DTYPE = re.compile(r"[<>|=][biufcSUO][0-9]{0,4}")
_MT19937_LENGTH = 624
# Python's own type for each kind of NumPy's scalars.
_SCALARS = {"b": bool, "i": int, "u": int, "f": float, "c": complex, "U": str}
# Bytes charged for a list and each of its values, a pair of a dict, an array, an object, and a
# generator, which is slow to create.
LIST, VALUE, _PAIR, _ARRAY, _OBJECT, _GENERATOR = 72, 8, 128, 512, 512, 2**14
# Most keys with one hash: more are an attack, because comparing them takes quadratic time.
_MOST_ALIKE = 16


class Archive(ArrayArchive):
    """A container that is open for reading, its directory checked.

    It also keeps count of the memory and work that reading it may still take.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._left = _FREE + _TIMES * _checked_size(stream)
        super().__init__(stream, _MEMBER.fullmatch, packed=False)

    def spend(self, cost: int) -> None:
        """Subtract ``cost`` bytes, or refuse the file."""
        self._left -= cost
        if self._left < 0:
            raise ModelFileError(
                f"to read it would take more than {_TIMES} times its own size in memory or work"
            )

    def spend_shape(self, shape: Iterable[int], itemsize: int) -> None:
        """Charge an array; a side of length zero counts as one, because products may be larger."""
        self.spend(_ARRAY + itemsize * math.prod(max(n, 1) for n in shape))

    def document(self) -> bytes:
        """The JSON document; the memory of its values is estimated from the punctuation."""
        if (size := self.size(encoding.DOCUMENT)) > encoding.LONGEST_DOCUMENT:
            raise ModelFileError(f"its {encoding.DOCUMENT} is {size} bytes, too many for a model")
        text = self.read(encoding.DOCUMENT)
        self.spend(size + sum(cost * text.count(mark) for mark, cost in _JSON.items()))
        return text

    def name(self, number: int) -> str:
        """The name of an array."""
        name = f"arrays/{number}.npy"
        if type(number) is not int or name not in self.members:
            raise ModelFileError(f"it refers to {name[:80]}, which it does not have")
        return name


def _checked_size(stream: IO[bytes]) -> int:
    """Bytes of a file; refused if it does not end as a zip, or its directory is too long."""
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
        raise ModelFileError(
            f"it has more members than the {encoding.MOST_ARRAYS} that a model may have"
        )
    return size


class Reader:
    """Turns data into values; arrays are read when they are first referred to.

    ``scikit_learn`` collects the names of scikit-learn's classes, ``arrays`` the arrays.
    """

    def __init__(self, archive: Archive, random: list[Any]) -> None:
        self.scikit_learn: set[str] = set()
        self.arrays: dict[int, np.ndarray] = {}
        self._archive = archive
        self._generators = [self._generator(*parts) for parts in random]

    def value(self, data: Any, depth: int = 0) -> Any:
        """The value that the data describes."""
        if depth > encoding.DEEPEST:
            raise ModelFileError(f"its parts lie more than {encoding.DEEPEST} levels deep")
        if type(data) in encoding.PLAIN:
            return data
        if type(data) is list:
            return self._each(data, depth)
        ((kind, inside),) = data.items()
        if kind not in _KINDS:
            raise ModelFileError(f"it holds a {kind[:80]!r}, which this version does not know")
        return _KINDS[kind](self, inside, depth)

    def _each(self, parts: Any, depth: int) -> list[Any]:
        _check_lists(parts)
        self._archive.spend(LIST + VALUE * len(parts))
        # Most lists are long lists of numbers or words, which need no conversion.
        if set(map(type, parts)) <= encoding.PLAIN:
            return parts
        return [self.value(part, depth + 1) for part in parts]

    def _dict(self, pairs: Any, depth: int) -> Any:
        _check_lists(pairs, *pairs)
        self._archive.spend(_PAIR * len(pairs))
        keys = [self.value(key, depth + 1) for key, _ in pairs]
        if len(keys) > _MOST_ALIKE and max(Counter(map(hash, keys)).values()) > _MOST_ALIKE:
            raise ModelFileError("it has a dict with many keys of the same hash")
        parts = [self.value(part, depth + 1) for _, part in pairs]
        return dict(zip(keys, parts, strict=True))

    def _dtype(self, name: Any, depth: int) -> Any:
        if not _DTYPE.fullmatch(name):
            raise ModelFileError(f"it holds the type {name[:80]!r}, which is not plain")
        return np.dtype(name)

    def _function(self, name: Any, depth: int) -> Any:
        if name not in FUNCTIONS:
            raise ModelFileError(f"it holds the function {name[:80]!r}, which is not on the list")
        return FUNCTIONS[name]

    def _scalar(self, parts: Any, depth: int) -> Any:
        name, inside = parts
        dtype, value = self._dtype(name, depth), self.value(inside, depth + 1)
        # NumPy would turn a list into an array, and a number into that many bytes.
        if type(value) is not _SCALARS.get(dtype.kind):
            raise ModelFileError(f"it has a scalar of type {dtype} with a value of another type")
        return dtype.type(value)

    def _array(self, number: Any, depth: int) -> Any:
        if number not in self.arrays:
            name = self._archive.name(number)
            self.arrays[number] = self._archive.array(name, self._archive.spend_shape)
        return self.arrays[number]

    def _symmetric(self, parts: Any, depth: int) -> Any:
        number, n, order = parts
        if number not in self.arrays:
            half = self._archive.array(self._archive.name(number))
            # The matrix is at most twice as large as its half.
            if type(n) is not int or not 0 <= n <= half.size:
                raise ModelFileError("it has half a symmetric matrix of another size than stated")
            self._archive.spend_shape((n, n), half.itemsize)
            self.arrays[number] = encoding.from_half(half, n, order)
        return self.arrays[number]

    def _objects(self, parts: Any, depth: int) -> Any:
        shape, inside = parts
        values = self._each(inside, depth)
        if not all(map(encoding.is_plain, values)):
            raise ModelFileError("it has an array of objects that are not text or numbers")
        self._archive.spend_shape(shape, VALUE)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.reshape(shape)

    def _sparse(self, parts: Any, depth: int) -> Any:
        (cls, names), shape = encoding.SPARSE[parts["class"]], tuple(parts["shape"])
        arrays = [self.value(parts[name], depth + 1) for name in names]
        # Other formats of the matrix have an entry for each row or each column.
        self._archive.spend(VALUE * sum(shape) + sum(map(_weight_of, arrays)))
        return sparse_matrix(cls, arrays, shape)

    def _generator(self, kind: str, data: Any) -> Any:
        self._archive.spend(_GENERATOR)
        state = self.value(data)
        bits = encoding.GENERATORS[state["bit_generator"]](0)
        inner = state["state"]
        # NumPy reads the key at this position without a check.
        if isinstance(bits, np.random.MT19937) and not (
            0 <= inner["pos"] <= _MT19937_LENGTH and inner["key"].shape == (_MT19937_LENGTH,)
        ):
            raise ModelFileError("it has an invalid random state")
        if kind != "RandomState":
            bits.state = state
            return np.random.Generator(bits)
        random = np.random.RandomState(bits)
        random.set_state(state)
        return random

    def _object(self, parts: Any, depth: int) -> Any:
        name = parts["class"]
        entry = known(name)
        if entry is None:
            raise ModelFileError(
                f"it holds a {name[:80]!r}, which is not among the classes that a file may hold. "
                "If it is your own, pass it to ulmus.persistence.register first"
            )
        cls, layout = entry.load(), entry.layout
        self._archive.spend(_OBJECT)
        state = {key: self.value(part, depth + 1) for key, part in parts["state"].items()}
        made = _made(cls, name, state | {key: make() for key, make in layout.fresh.items()})
        # The checks read every array of the object.
        self._archive.spend(sum(map(_weight_of, state.values())) // 4)
        layout.check(made)
        if name.startswith("sklearn."):
            self.scikit_learn.add(cls.__name__)
            if getattr(made, "n_jobs", None) is not None:
                # No more processes at once than this machine has processors.
                made.n_jobs = min(made.n_jobs, os.cpu_count() or 1)
        return made


def _weight_of(value: Any) -> int:
    """Bytes of the arrays that a value is or has."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return sum(map(_weight_of, vars(value).values())) if sp.issparse(value) else 0


def _check_lists(*each: Any) -> None:
    """Refuse other iterables: the letters of a word, the keys of a dict."""
    if any(type(parts) is not list for parts in each):
        raise ModelFileError("it has something else in place of a list")


def _made(cls: type, name: str, state: dict[str, Any]) -> Any:
    """An object with these attributes; parameters that the file lacks have their defaults."""
    defaults = _parameters(cls)
    odd = [key for key in state if key not in defaults and not _may_be_set(cls, key)]
    if odd:
        few = ", ".join(repr(key[:40]) for key in sorted(odd)[:5])
        raise ModelFileError(f"its {name} has attributes that it should not: {few}")
    if is_dataclass(cls):
        return cls(**state)
    missing = {key: value for key, value in defaults.items() if key not in state}
    if inspect.Parameter.empty in missing.values():
        raise ModelFileError(f"its {name} has no {sorted(missing)}")
    made: Any = object.__new__(cls)
    vars(made).update(missing | state)
    return made


@lru_cache
def _parameters(cls: type) -> dict[str, Any]:
    """The parameters of a class and their defaults."""
    return {
        key: parameter.default
        for key, parameter in inspect.signature(cls).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


@lru_cache(2**12)
def _may_be_set(cls: type, attribute: str) -> bool:
    """Whether an attribute may be set: not special to Python, nor defined by the class."""
    if is_dataclass(cls) or attribute.startswith("__") or not attribute.isidentifier():
        return False
    return inspect.getattr_static(cls, attribute, cls) is cls


_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_KINDS: dict[str, Callable[[Reader, Any, int], Any]] = {
    "array": Reader._array,
    "complex": lambda reader, parts, depth: complex(*reader._each(parts, depth)),
    "dict": Reader._dict,
    "dtype": Reader._dtype,
    "float": lambda reader, name, depth: _FLOATS[name],
    "function": Reader._function,
    "object": Reader._object,
    "objects": Reader._objects,
    "random": lambda reader, number, depth: reader._generators[number],
    "scalar": Reader._scalar,
    "slice": lambda reader, parts, depth: slice(*reader._each(parts, depth)),
    "sparse": Reader._sparse,
    "symmetric": Reader._symmetric,
    "tuple": lambda reader, parts, depth: tuple(reader._each(parts, depth)),
    "type": lambda reader, name, depth: TYPES[name],
}
