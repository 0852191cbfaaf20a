"""From data to a model: the inverse of `ulmus.persistence.writing`, without trust.

Nothing in the data can name code to run. A class or function is looked up in a list; an object is
made empty and its attributes are put straight into its dictionary, so that no method and no
property of it is called; a dataclass is made of its fields.
"""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.exceptions import ModelFileError
from ulmus.persistence.archive import Archive
from ulmus.persistence.classes import FUNCTIONS, TYPES, known
from ulmus.persistence.symmetric import from_half, half_length
from ulmus.persistence.writing import DEEPEST, GENERATORS, PLAIN, SPARSE_PARTS

__all__ = ["Reader"]

_DTYPE = re.compile(r"[<>|=][biufcSUO][0-9]{0,9}")
_MT19937_LENGTH = 624


class Reader:
    """Turns data into values; arrays are read when they are first referred to.

    ``scikit_learn`` collects the names of scikit-learn's classes that were met.
    """

    def __init__(self, archive: Archive, random: list[Any]) -> None:
        self.scikit_learn: set[str] = set()
        self._archive = archive
        self._arrays: dict[int, np.ndarray] = {}
        self._generators = [self._generator(*parts) for parts in random]

    @property
    def read(self) -> int:
        """How many of the arrays were read."""
        return len(self._arrays)

    def value(self, data: Any, depth: int = 0) -> Any:
        """What the data stands for."""
        if depth > DEEPEST:
            raise ModelFileError(f"its parts lie more than {DEEPEST} levels deep")
        if type(data) in PLAIN:
            return data
        if type(data) is list:
            return self._each(data, depth)
        ((kind, inside),) = data.items()
        if kind not in _KINDS:
            raise ModelFileError(f"it holds a {kind[:80]!r}, which this version does not know")
        return _KINDS[kind](self, inside, depth)

    def _each(self, parts: Any, depth: int) -> list[Any]:
        return [self.value(part, depth + 1) for part in parts]

    def _tuple(self, parts: Any, depth: int) -> Any:
        return tuple(self._each(parts, depth))

    def _dict(self, pairs: Any, depth: int) -> Any:
        return {self.value(k, depth + 1): self.value(v, depth + 1) for k, v in pairs}

    def _slice(self, parts: Any, depth: int) -> Any:
        start, stop, step = self._each(parts, depth)
        return slice(start, stop, step)

    def _float(self, name: Any, depth: int) -> Any:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[name]

    def _complex(self, parts: Any, depth: int) -> Any:
        real, imaginary = self._each(parts, depth)
        return complex(real, imaginary)

    def _dtype(self, name: Any, depth: int) -> Any:
        if not _DTYPE.fullmatch(name):
            raise ModelFileError(f"it holds the type {name[:80]!r}, which is not plain")
        return np.dtype(name)

    def _type(self, name: Any, depth: int) -> Any:
        return TYPES[name]

    def _function(self, name: Any, depth: int) -> Any:
        if name not in FUNCTIONS:
            raise ModelFileError(f"it holds the function {name[:80]!r}, which is not on the list")
        return FUNCTIONS[name]

    def _scalar(self, parts: Any, depth: int) -> Any:
        name, value = parts
        dtype = self._dtype(name, depth)
        return dtype.type(self.value(value, depth + 1))

    def _array(self, number: Any, depth: int) -> Any:
        if number not in self._arrays:
            self._arrays[number] = self._archive.array(number)
        return self._arrays[number]

    def _symmetric(self, parts: Any, depth: int) -> Any:
        number, n, order = parts
        if number not in self._arrays:
            half = self._archive.array(number)
            # The square is no more than twice as large as what is there already.
            if type(n) is not int or n < 0 or half.shape != (half_length(n),):
                raise ModelFileError("it has half a matrix whose size is not what it says")
            self._arrays[number] = from_half(half, n, order)
        return self._arrays[number]

    def _objects(self, parts: Any, depth: int) -> Any:
        shape, values = parts
        values = self._each(values, depth)
        if any(not (type(y) in PLAIN or isinstance(y, np.generic)) for y in values):
            raise ModelFileError("it has an array of objects that are not text or numbers")
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.reshape(shape)

    def _sparse(self, parts: Any, depth: int) -> Any:
        name, (rows, columns) = parts["class"], parts["shape"]
        cls = _SPARSE[name]
        a, b, c = (self.value(parts[part], depth + 1) for part in SPARSE_PARTS[name[:3]])
        if name.startswith("coo"):
            return cls((a, (b, c)), shape=(rows, columns))
        matrix = cls((a, b, c), shape=(rows, columns))
        # Products trust the indices and would read beyond the arrays.
        matrix.check_format(full_check=True)
        return matrix

    def _draws(self, number: Any, depth: int) -> Any:
        return self._generators[number]

    def _generator(self, kind: str, data: Any) -> Any:
        state = self.value(data)
        bits = GENERATORS[state["bit_generator"]](0)
        inner = state["state"]
        # NumPy draws from the key at this place without another look.
        if isinstance(bits, np.random.MT19937) and not (
            0 <= inner["pos"] <= _MT19937_LENGTH and inner["key"].shape == (_MT19937_LENGTH,)
        ):
            raise ModelFileError("it has a random state that no generator was ever in")
        if kind == "RandomState":
            random = np.random.RandomState(bits)
            random.set_state(state)
            return random
        bits.state = state
        return np.random.Generator(bits)

    def _object(self, parts: Any, depth: int) -> Any:
        name = parts["class"]
        entry = known(name)
        if entry is None:
            raise ModelFileError(
                f"it holds a {name[:80]!r}, which is not among the classes that a file may hold. "
                "If it is your own, pass it to ulmus.persistence.register first"
            )
        cls = entry.load()
        state = {key: self.value(part, depth + 1) for key, part in parts["state"].items()}
        if name.startswith("sklearn."):
            self.scikit_learn.add(cls.__name__)
        if is_dataclass(cls):
            _refuse(set(state) - {field.name for field in fields(cls)}, name)
            return cls(**state)
        state |= {attribute: make() for attribute, make in entry.fresh.items()}
        made: Any = object.__new__(cls)
        vars(made).update(_with_defaults(cls, name, state))
        if entry.check is not None:
            entry.check(made)
        return made


def _with_defaults(cls: type, name: str, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes, if all may be set, after the parameters that came with a later version."""
    defaults = {
        key: parameter.default
        for key, parameter in inspect.signature(cls).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    _refuse({key for key in state if key not in defaults and not _may_be_set(cls, key)}, name)
    missing = {key: value for key, value in defaults.items() if key not in state}
    if inspect.Parameter.empty in missing.values():
        raise ModelFileError(f"its {name} has no {sorted(missing)}")
    return missing | state


def _may_be_set(cls: type, attribute: str) -> bool:
    """Whether an attribute is no more than that: neither Python's own, nor a method's name."""
    if attribute.startswith("__") or not attribute.isidentifier():
        return False
    hidden = inspect.getattr_static(cls, attribute, None)
    return not callable(hidden) and not hasattr(hidden, "__get__")


def _refuse(attributes: set[str], name: str) -> None:
    if attributes:
        raise ModelFileError(f"its {name} has attributes that it should not: {sorted(attributes)}")


_SPARSE = {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
    for form in SPARSE_PARTS
    for kind in ("array", "matrix")
}

_KINDS: dict[str, Callable[[Reader, Any, int], Any]] = {
    "array": Reader._array,
    "complex": Reader._complex,
    "dict": Reader._dict,
    "dtype": Reader._dtype,
    "float": Reader._float,
    "function": Reader._function,
    "object": Reader._object,
    "objects": Reader._objects,
    "random": Reader._draws,
    "scalar": Reader._scalar,
    "slice": Reader._slice,
    "sparse": Reader._sparse,
    "symmetric": Reader._symmetric,
    "tuple": Reader._tuple,
    "type": Reader._type,
}
