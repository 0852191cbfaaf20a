"""Model files whose checksums are right and whose content is not: what a forger would write."""

import copy
import io
import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from attack.bases import NAMES, Model, model
from ulmus.persistence import classes, encoding

__all__ = [
    "FORGERIES",
    "NUMBERS",
    "SHAPES",
    "TYPES",
    "VALUES",
    "WORDS",
    "changed",
    "of_type",
    "packed",
    "places",
    "with_value",
    "written",
]

NUMBERS = (
    0, 1, -1, 2, 3, 5, 64, 255, 1000, 10**6, 2**31 - 1, 2**31, -(2**31), 2**63, -(2**63) - 1,
    10**30, 0.0, 0.5, -0.5, 1e-320, 5e-324, 1e-9, 1e151, 1e308, -1e308, True, False, None,
)  # fmt: skip
WORDS = (
    "", "a", "auto", "loo", "precomputed", "rbf", "poly", "linear", "x" * 5000, "..", "\0", "ü",
    "nan", "passthrough", "drop", "number", "category", "date", "%Y" * 30, "<f8", "numpy.tanh",
    "pandas",
)  # fmt: skip
TYPES = (
    "<f8",
    "<f4",
    ">f8",
    "<f2",
    "<i8",
    "<i1",
    "|b1",
    "<u8",
    "<c16",
    "<U3",
    "|S3",
    "<f16",
    "|O",
)
VALUES = (
    np.nan, np.inf, -np.inf, 1e308, -1e308, 1e151, 1e149, 5e-324, 1e-160, 0.0, -0.0, -1.0, 1.0,
    2**31, 2**62, -(2**31), 10**6,
)  # fmt: skip

_HUGE = 10**4000

Document = dict[str, Any]
Arrays = list[np.ndarray]


# ---------------------------------------------------------------- the document's tree
def places(data: Any) -> list[tuple[Any, Any]]:
    """Every part of a document, as what holds it and its key there."""
    found: list[tuple[Any, Any]] = []

    # Each case looks through its whole document, so this is a plain loop into one list.
    def look(holder: Any) -> None:
        for key, inside in holder.items() if type(holder) is dict else enumerate(holder):
            found.append((holder, key))
            if type(inside) in (dict, list):
                look(inside)

    look(data)
    return found


def _place(rng: Random, document: Document) -> tuple[Any, Any]:
    inside = {"model": document["model"], "random": document["random"]}
    holder, key = rng.choice(places(inside))
    return (document, key) if holder is inside else (holder, key)


def _value(rng: Random, arrays: Arrays, depth: int = 0) -> Any:
    """Any value that a document can hold, and some that it cannot."""
    array = rng.randrange(len(arrays) + 1)
    simple: list[Callable[[], Any]] = [
        lambda: rng.choice(NUMBERS),
        lambda: rng.choice(WORDS),
        lambda: {"float": rng.choice(["nan", "inf", "-inf", "1"])},
        lambda: {"array": array},
        lambda: {"symmetric": [array, rng.choice([0, 1, 9, 200, 10**6]), rng.choice("CF")]},
        lambda: {"scalar": [rng.choice(TYPES), rng.choice(NUMBERS + WORDS)]},
        lambda: {"dtype": rng.choice([*TYPES, "<U9999", "|V8", "f8,f8", "<M8[s]"])},
        lambda: {"type": rng.choice([*classes.TYPES, "os.system"])},
        lambda: {"function": rng.choice([*classes.FUNCTIONS, "os.system"])},
        lambda: {"random": rng.choice([0, 1, -1, 10**9])},
        lambda: {"complex": [1.0, rng.choice(NUMBERS)]},
        lambda: {"object": {"class": rng.choice([*classes._KNOWN, "os.system"]), "state": {}}},
        lambda: _sparse(rng, array),
    ]
    if depth > 3 or rng.random() < 0.7:
        return rng.choice(simple)()
    parts = [_value(rng, arrays, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice(
        [
            parts, {"tuple": parts}, {"slice": (parts * 3)[:3]}, {"objects": [[len(parts)], parts]},
            {"dict": [[f"k{i}", part] for i, part in enumerate(parts)]},
            {"objects": [[0, rng.choice([1, 10**6, 10**15])], []]}, {"unknown": parts},
        ]
    )  # fmt: skip


def _sparse(rng: Random, array: int) -> Any:
    form = rng.choice(["csr", "csc", "coo", "lil"])
    parts = ("data", "row", "col") if form == "coo" else ("data", "indices", "indptr")
    sides = [rng.choice([0, 1, 3, 75, 10**12]) for _ in range(2)]
    numbers = {part: {"array": array + i} for i, part in enumerate(parts)}
    return {
        "sparse": {"class": f"{form}_{rng.choice(['array', 'matrix'])}", "shape": sides, **numbers}
    }


def _replaced(rng: Random, document: Document, arrays: Arrays) -> None:
    """One part is another value."""
    holder, key = _place(rng, document)
    holder[key] = _value(rng, arrays)


def _nudged(rng: Random, document: Document, arrays: Arrays) -> None:
    """One number, word or name is a little different."""
    every = places([document["model"]])
    single = [(h, k) for h, k in every if not isinstance(h[k], dict | list)]
    if not single:
        return
    holder, key = rng.choice(single)
    old = holder[key]
    if isinstance(old, str):
        words = [h[k] for h, k in single if isinstance(h[k], str)]
        holder[key] = rng.choice([old[:-1], old + "x", old.upper(), *words, *WORDS])
    elif isinstance(old, bool) or old is None:
        holder[key] = rng.choice(NUMBERS)
    else:
        half = old // 2 if isinstance(old, int) else old / 2
        holder[key] = rng.choice([old + 1, old - 1, -old, old * 10, half, 0, *NUMBERS])


def _removed(rng: Random, document: Document, arrays: Arrays) -> None:
    """One part is missing."""
    holder, key = _place(rng, document)
    del holder[key]


def _renamed(rng: Random, document: Document, arrays: Arrays) -> None:
    """One object is of another class, with the attributes of the old one."""
    objects = [h[k] for h, k in places(document) if k == "object" and isinstance(h[k], dict)]
    if objects:
        rng.choice(objects)["class"] = rng.choice([*classes._KNOWN])


def _exchanged(rng: Random, document: Document, arrays: Arrays) -> None:
    """Two parts have changed places."""
    (a, i), (b, j) = (_place(rng, document) for _ in range(2))
    one, two = copy.deepcopy(a[i]), copy.deepcopy(b[j])
    a[i], b[j] = two, one


def _transplanted(rng: Random, document: Document, arrays: Arrays) -> None:
    """One part is an object of another model, with its arrays."""
    other = model(rng.choice(NAMES))
    objects = [
        h[k] for h, k in places({"model": other.document["model"]})
        if isinstance(h[k], dict) and "object" in h[k]
    ]  # fmt: skip
    part = copy.deepcopy(rng.choice(objects))
    for holder, key in places([part]):
        if key == "array" or (key == 0 and isinstance(holder[key], int)):
            number = holder[key]
            if key == "array" and isinstance(number, int):
                holder[key] = len(arrays) + number
    arrays += other.arrays
    holder, key = _place(rng, document)
    holder[key] = part


def _added(rng: Random, document: Document, arrays: Arrays) -> None:
    """One object has an attribute more."""
    states = [h[k] for h, k in places(document) if k == "state" and isinstance(h[k], dict)]
    names = [name for state in states for name in state]
    odd = ["_x", "x_", "__class__", "fit", "_parameter_constraints", "_sklearn_output_config"]
    if not states:
        return
    rng.choice(states)[rng.choice([*names, *odd])] = _value(rng, arrays)


def _deep(rng: Random, document: Document, arrays: Arrays) -> None:
    """One part lies deep within others."""
    holder, key = _place(rng, document)
    for _ in range(rng.choice([20, 90, 110, 400])):
        holder[key] = rng.choice([[holder[key]], {"tuple": [holder[key]]}])


def _stated(rng: Random, document: Document, arrays: Arrays) -> None:
    """A random state that no generator was ever in."""
    kind = rng.choice(["MT19937", "PCG64", "PCG64DXSM", "SFC64", "Philox"])
    words = np.array([rng.getrandbits(31) for _ in range(rng.choice([4, 623, 624]))], np.uint32)
    inner = {
        "MT19937": [["key", {"array": len(arrays)}], ["pos", rng.choice(NUMBERS)]],
        "SFC64": [["state", {"array": len(arrays)}]],
    }.get(kind, [["state", rng.choice(NUMBERS)], ["inc", rng.choice(NUMBERS)]])
    arrays.append(words.astype(rng.choice(["<u4", "<u8", "<i8", "<f8"])))
    more = ("has_gauss", "gauss", "has_uint32", "uinteger")
    state = [["bit_generator", kind], ["state", {"dict": inner}]]
    state += [[name, rng.choice(NUMBERS)] for name in more]
    document["random"].append([rng.choice(["RandomState", "Generator", "x"]), {"dict": state}])
    holder, key = _place(rng, document)
    holder[key] = {"random": len(document["random"]) - 1}


def _greedy(rng: Random, document: Document, arrays: Arrays) -> None:
    """One part asks for far more than the file is large."""
    number, many = rng.randrange(max(1, len(arrays))), rng.choice([1000, 5000])
    holder, key = _place(rng, document)
    ways: list[Callable[[], Any]] = [
        lambda: {"scalar": ["|S1", 2**33]},
        lambda: [[]] * many,
        lambda: {"dict": [[i * (2**61 - 1), 0] for i in range(many)]},
        lambda: [{"array": number}] * many,
        lambda: {"objects": [[0, 10**15], []]},
        lambda: [{"random": 0}] * many,
        lambda: {"objects": [[many], [0.5] * many]},
        lambda: {"tuple": [{"dict": []}] * many},
        lambda: _HUGE,
    ]
    holder[key] = rng.choice(ways)()


# ---------------------------------------------------------------- arrays
def _array(rng: Random, document: Document, arrays: Arrays) -> None:
    """One array, or two, of another shape, type or content."""
    for _ in range(rng.choice([1, 1, 2]) if arrays else 0):
        number = rng.randrange(len(arrays))
        arrays[number] = changed(rng, arrays[number])
    if len(arrays) > 1 and rng.random() < 0.1:
        i, j = rng.randrange(len(arrays)), rng.randrange(len(arrays))
        arrays[i], arrays[j] = arrays[j], arrays[i]


def changed(rng: Random, a: np.ndarray) -> np.ndarray:
    """An array of another shape, type or content."""
    return rng.choice([_shaped, _typed, _valued, _valued, _valued])(rng, a)


SHAPES: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda a: a.T, lambda a: a[:-1], lambda a: a[..., :-1], lambda a: a[None], np.ravel,
    lambda a: np.concatenate([a, a]), lambda a: a[:0], np.asfortranarray,
    lambda a: a.reshape(-1, 1), lambda a: np.empty((0, 10**12), a.dtype),
    lambda a: a.reshape(1, -1),
)  # fmt: skip


def _shaped(rng: Random, a: np.ndarray) -> np.ndarray:
    return rng.choice(SHAPES)(a) if a.ndim else a.reshape(1)


def _typed(rng: Random, a: np.ndarray) -> np.ndarray:
    kind = rng.choice([t for t in TYPES if t != "|O"])
    with np.errstate(all="ignore"):
        return of_type(a, kind)


def of_type(a: np.ndarray, kind: str) -> np.ndarray:
    """The array as another type, or its bytes where it has none."""
    text = np.dtype(kind).kind in "US"
    return a.astype(kind) if text or a.dtype.kind in "biuf" else np.ravel(a).view("u1")


def _valued(rng: Random, a: np.ndarray) -> np.ndarray:
    if a.dtype.kind not in "biuf" or not a.size:
        return a
    value = rng.choice(VALUES)
    where = rng.choice([slice(None), rng.randrange(a.size), slice(0, None, 2), slice(-1, None)])
    with np.errstate(all="ignore"):
        return with_value(a, value, where)


def with_value(a: np.ndarray, value: float, where: Any) -> np.ndarray:
    """A copy with this value in some places."""
    flat = a.copy().reshape(-1)
    flat[where] = np.array(value).astype(a.dtype)
    return flat.reshape(a.shape)


# ---------------------------------------------------------------- writing
FORGERIES: dict[str, Callable[[Random, Document, Arrays], None]] = {
    "array": _array,
    "attribute more": _added,
    "class": _renamed,
    "deep": _deep,
    "exchange": _exchanged,
    "greedy": _greedy,
    "missing": _removed,
    "nudge": _nudged,
    "random state": _stated,
    "replaced": _replaced,
    "transplant": _transplanted,
}


def written(rng: Random, base: Model, forgery: str) -> bytes:
    """The bytes of a forged file; some have two forgeries."""
    document, arrays = json.loads(base.text), list(base.arrays)
    FORGERIES[forgery](rng, document, arrays)
    if rng.random() < 0.2 and document.keys() == base.document.keys():
        FORGERIES[rng.choice(["array", "nudge"])](rng, document, arrays)
    return packed(document, arrays)


def packed(document: Document, arrays: Arrays) -> bytes:
    """The bytes of a file."""
    arrays = _renumbered(document, arrays)
    stream = io.BytesIO()
    encoding.write(stream, json.dumps(document).encode("ascii"), arrays)
    return stream.getvalue()


def _renumbered(document: Document, arrays: Arrays) -> Arrays:
    """The arrays that the document still refers to, so that none is left over."""
    kept: dict[int, int] = {}

    def renumber(holder: Any, key: Any) -> None:
        if type(holder[key]) is int and 0 <= holder[key] < len(arrays):
            holder[key] = kept.setdefault(holder[key], len(kept))

    def look(data: Any) -> None:
        for inside in data.values() if type(data) is dict else data:
            if type(inside) in (dict, list):
                look(inside)
        if type(data) is dict and "array" in data:
            renumber(data, "array")
        if type(data) is dict and type(data.get("symmetric")) is list and data["symmetric"]:
            renumber(data["symmetric"], 0)

    look(document)
    return [arrays[number] for number in kept]
