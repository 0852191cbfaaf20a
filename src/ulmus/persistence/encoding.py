"""From a model to a file: JSON, and arrays that it refers to by number.

JSON's own types are written as they are; everything else is an object of one key, which names its
kind. The file is a zip of the JSON document and .npy arrays, without compression, so that no array
is larger than the file. A symmetric matrix, such as the HᵀCH of an ELM, is stored as its lower half
by panels of rows: that is faster than writing all of it. `ulmus.persistence.decoding` is the
inverse.
"""

import math
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import is_array_api_obj
from scipy.linalg import issymmetric

from ulmus.archives import ARRAY_KINDS
from ulmus.exceptions import ModelFileError, UnsupportedModelError
from ulmus.fitted import Mark, marked, settled
from ulmus.persistence.classes import FUNCTIONS, TYPES, known_as

DOCUMENT = "model.json"
LONGEST_DOCUMENT = 2**28
MOST_ARRAYS = 10**6
# Rows of a panel of a symmetric matrix.
PANEL = 128
DEEPEST = 100
PLAIN = {bool, int, float, str, type(None)}
GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.SFC64)
}
# Sparse matrices and the arrays that they are made of.
SPARSE: dict[str, tuple[type, tuple[str, ...]]] = {
    f"{form}_{kind}": (getattr(sp, f"{form}_{kind}"), ("data", *rest.split()))
    for form, rest in (("csr", "indices indptr"), ("csc", "indices indptr"), ("coo", "row col"))
    for kind in ("array", "matrix")
}
_ELSEWHERE = "keep the model with skops or pickle, and open such files only if you made them"


def is_plain(value: Any) -> bool:
    """Whether an array of objects may have this entry: text or a number."""
    return type(value) in PLAIN or isinstance(value, np.generic)


class Writer:
    """Turns values into data; it collects ``arrays`` and ``random`` states, each once.

    Without ``for_update`` the attributes that a class declares as `ForUpdate` are left out.
    """

    def __init__(self, for_update: bool = True) -> None:
        self.arrays: list[np.ndarray] = []
        self.random: list[Any] = []
        self._for_update = for_update
        # Data of each value by its address; the value is kept so that the address stays in use.
        self._met: dict[Any, tuple[Any, Any]] = {}

    def value(self, x: Any, where: str, depth: int = 0) -> Any:
        """A value as data; ``where`` is its name in error messages."""
        if depth > DEEPEST:
            raise UnsupportedModelError(
                f"{where} lies {DEEPEST} levels deep, or holds itself; a file cannot hold that."
            )
        if type(x) is float and not math.isfinite(x):
            return {"float": repr(x)}
        if type(x) in PLAIN:
            return x
        if type(x) is list:
            return self._each(x, where, depth)
        if type(x) in _PARTS:
            return {type(x).__name__: self._each(_PARTS[type(x)](x), where, depth + 1)}
        for matches, method in _KINDS:
            if matches(x):
                return method(self, x, where, depth + 1)
        for name, function in FUNCTIONS.items():
            if function is x:
                return {"function": name}
        return self.object(x, where, depth + 1)

    def _each(self, parts: Any, where: str, depth: int) -> list[Any]:
        return [self.value(part, f"{where}[{i}]", depth + 1) for i, part in enumerate(parts)]

    def _dict(self, x: dict[Any, Any], where: str, depth: int) -> Any:
        keys = [self.value(key, f"a key of {where}", depth) for key in x]
        parts = [self.value(part, f"{where}[{key!r}]", depth) for key, part in x.items()]
        return {"dict": [list(pair) for pair in zip(keys, parts, strict=True)]}

    def _dtype(self, x: np.dtype, where: str, depth: int) -> Any:
        if x.kind not in ARRAY_KINDS + "O":
            raise UnsupportedModelError(f"{where} is the type {x}; a file holds plain types alone.")
        return {"dtype": x.str}

    def _type(self, x: type, where: str, depth: int) -> Any:
        for name, kind in TYPES.items():
            if kind is x:
                return {"type": name}
        raise UnsupportedModelError(
            f"{where} is the class {x.__qualname__}, and of classes themselves a file holds those "
            f"of numbers alone; {_ELSEWHERE}."
        )

    def _scalar(self, x: np.generic, where: str, depth: int) -> Any:
        value = x.item()
        if type(value) not in (*PLAIN, complex):
            raise UnsupportedModelError(f"{where} is {x!r}; a file holds numbers and text alone.")
        return {"scalar": [x.dtype.str, self.value(value, where, depth)]}

    def _array(self, x: np.ndarray, where: str, depth: int) -> Any:
        # Empty arrays have no address of their own; they are told apart by shape and type.
        place = (x.__array_interface__["data"], x.strides) if x.size else None
        key = place, x.shape, x.dtype.str
        if key not in self._met:
            self._met[key] = x, self._stored(x, where, depth)
        return self._met[key][1]

    def _stored(self, x: np.ndarray, where: str, depth: int) -> Any:
        if x.dtype == object and all(map(is_plain, x.flat)):
            return {"objects": [list(x.shape), self._each(x.ravel().tolist(), where, depth)]}
        if x.dtype.kind not in ARRAY_KINDS or type(x) not in (np.ndarray, np.memmap):
            kind = "array of Python objects" if x.dtype == object else type(x).__name__
            raise UnsupportedModelError(
                f"{where} is a {kind} of type {x.dtype}; a file holds plain arrays of numbers and "
                "text. Convert it first."
            )
        if len(self.arrays) >= MOST_ARRAYS:
            raise UnsupportedModelError(f"It has more than {MOST_ARRAYS} arrays; {_ELSEWHERE}.")
        number, half = len(self.arrays), is_symmetric(x)
        self.arrays.append(to_half(x) if half else x)
        order = "C" if x.flags.c_contiguous else "F"
        return {"symmetric": [number, len(x), order]} if half else {"array": number}

    def _sparse(self, x: Any, where: str, depth: int) -> Any:
        name = type(x).__name__
        if name not in SPARSE or x.ndim != 2:
            raise UnsupportedModelError(
                f"{where} is a sparse matrix in the format {x.format}; convert it by .tocsr()."
            )
        parts = {p: self.value(getattr(x, p), f"{where}.{p}", depth) for p in SPARSE[name][1]}
        return {"sparse": {"class": name, "shape": [int(n) for n in x.shape], **parts}}

    def _draws(self, x: Any, where: str, depth: int) -> Any:
        if id(x) not in self._met:
            plain = isinstance(x, np.random.RandomState)
            state = x.get_state(legacy=False) if plain else x.bit_generator.state
            if state["bit_generator"] not in GENERATORS:
                raise UnsupportedModelError(
                    f"{where} draws by {state['bit_generator']}; use one of "
                    f"{', '.join(GENERATORS)}."
                )
            self.random.append([type(x).__name__, self.value(state, where, depth)])
            self._met[id(x)] = x, {"random": len(self.random) - 1}
        return self._met[id(x)][1]

    def object(self, x: Any, where: str, depth: int = 1) -> Any:
        """An object of a known class as data."""
        entry = known_as(type(x))
        if entry is None:
            raise UnsupportedModelError(f"{where} is {refusal(x)}; or {_ELSEWHERE}.")
        parts = vars(settled(x))
        left_out = {*entry.layout.fresh, *marked(type(x), Mark.AGAIN)}
        if is_dataclass(x):
            parts, left_out = {field.name: getattr(x, field.name) for field in fields(x)}, set()
        elif not self._for_update:
            left_out.update(marked(type(x), Mark.UPDATE))
        state = {
            name: self.value(part, f"{where}.{name}", depth)
            for name, part in parts.items()
            if name not in left_out
        }
        try:  # the same check as when the file is read
            entry.layout.check(x)
        except ValueError as error:
            raise UnsupportedModelError(
                f"{where} cannot be stored: {error}. If scikit-learn fitted it, {_ELSEWHERE}."
            ) from error
        return {"object": {"class": entry.name, "state": state}}


def refusal(x: Any) -> str:
    """Why an object cannot be stored, and what to do about it."""
    kind, module = type(x).__qualname__, type(x).__module__
    if kind == "BlockRows":
        return (
            "the Dask collection that the model was fitted to; save(..., for_update=False) leaves "
            "it out"
        )
    if is_array_api_obj(x):
        return (
            f"an array of {module.split('.')[0]}, and a file holds those of NumPy; use "
            "ulmus.to_host(model) first"
        )
    if callable(x):
        return (
            f"a function ({getattr(x, '__qualname__', repr(x))}), and a file holds no code. Use a "
            "name such as 'tanh' or 'rbf', or a function of NumPy or scipy.special"
        )
    return (
        f"a {module}.{kind}, which is not among the classes that a file may hold. If it is your "
        "own and plain data, pass it to ulmus.persistence.register"
    )


# Values that are written as a list of parts.
_PARTS: dict[type, Callable[[Any], Iterable[Any]]] = {
    tuple: lambda x: x,
    slice: lambda x: (x.start, x.stop, x.step),
    complex: lambda x: (x.real, x.imag),
}
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[..., Any]], ...] = (
    (lambda x: isinstance(x, np.ndarray), Writer._array),
    (lambda x: type(x) is dict, Writer._dict),
    (lambda x: isinstance(x, np.generic), Writer._scalar),
    (sp.issparse, Writer._sparse),
    (lambda x: isinstance(x, np.dtype), Writer._dtype),
    (lambda x: isinstance(x, type), Writer._type),
    (lambda x: type(x) in (np.random.RandomState, np.random.Generator), Writer._draws),
)


def write(stream: IO[bytes], document: bytes, arrays: Iterable[np.ndarray]) -> None:
    """Write a container: the document first, then the arrays in their order."""
    if len(document) > LONGEST_DOCUMENT:
        raise ModelFileError(
            f"All but its arrays is {len(document)} bytes, and a file may hold "
            f"{LONGEST_DOCUMENT}; labels that are Python objects are better an array of strings."
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        # Members have no date, so that the same model gives the same bytes.
        archive.writestr(zipfile.ZipInfo(DOCUMENT), document)
        for number, array in enumerate(arrays):
            # Lengths are not known beforehand, and may need zip64.
            with archive.open(f"arrays/{number}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def is_symmetric(A: np.ndarray) -> bool:
    """Whether A is a large matrix that is symmetric to the last bit."""
    if A.ndim != 2 or A.shape[0] != A.shape[1] or len(A) <= PANEL or A.dtype.char not in "fd":
        return False
    if not (A.flags.c_contiguous or A.flags.f_contiguous):
        return False
    return bool(issymmetric(A.view(f"u{A.itemsize}")))  # 0.0 is not −0.0, and NaN is itself


def to_half(A: np.ndarray) -> np.ndarray:
    """The rows of each panel up to the diagonal's block, one after the other."""
    A = A if A.flags.c_contiguous else A.T
    return np.concatenate([A[rows, : rows.stop].ravel() for rows in _panels(len(A))])


def from_half(half: np.ndarray, n: int, order: str) -> np.ndarray:
    """The n × n matrix, by rows (order C) or by columns (F)."""
    A, start = np.empty((n, n), half.dtype), 0
    for rows in _panels(n):
        stop = start + (rows.stop - rows.start) * rows.stop
        part, start = half[start:stop].reshape(-1, rows.stop), stop
        A[rows, : rows.stop] = part
        A[: rows.start, rows] = part[:, : rows.start].T
    if half.shape != (start,):
        raise ModelFileError("it has half a symmetric matrix of another size than stated")
    return A.T if order == "F" else A


def _panels(n: int) -> list[slice]:
    """The rows of each panel."""
    return [slice(i, min(i + PANEL, n)) for i in range(0, n, PANEL)]
