"""Docstrings shared by several classes, and by methods of one kind.

A base class documents the parameters and attributes that its subclasses have in common, in numpydoc
as they would. `documented` adds to a subclass's docstring what it leaves out, but for attributes
that the subclass does not have. To those of methods it adds the parameters that mean the same in
all of them.
"""

import re
from inspect import cleandoc, get_annotations, signature
from types import FunctionType
from typing import Any, Self, TypeVar

Class = TypeVar("Class", bound=type)
_SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Warns", "See Also", "Examples")
# Attributes that scikit-learn sets, and no class declares.
_INPUTS = {
    "n_features_in_": "n_features_in_ : int\n    Number of columns seen in `fit`.",
    "feature_names_in_": "feature_names_in_ : ndarray of shape (n_features,)\n"
    "    Names of the columns, if X has names.",
}
_ROWS = "X : array-like or sparse matrix of shape (n_samples, n_features)"
# Parameters of methods that leave them out.
_SHARED = {
    "y": "y : None\n    Not used; here for pipelines.",
    "sample_weight": "sample_weight : array-like of shape (n_samples,), default=None\n"
    "    Sample weights; a row of weight two counts as two rows. Of whole numbers, the least of\n"
    "    them one, leave-one-out leaves out one, and of other weights all.",
    "client": "client : distributed.Client or None, default=None\n"
    "    The Dask client to compute with; None is the current one, or Dask's own scheduler.",
    "ax": "ax : matplotlib Axes or None, default=None\n    Where to draw; None makes a figure.",
    "kwargs": "**kwargs : dict\n    For the function of matplotlib that the class documents.",
}
_SELF = "self : object\n    The fitted estimator."
_DRAWN = "display : Display\n    The display, which is drawn."


def documented(kind: Class) -> Class:
    """The class, its docstring completed from those of its bases in Ulmus, and its methods'.

    Parameters come in the order of its signature. Attributes of its own come first.
    """
    if kind.__doc__ is not None:  # Python's -OO leaves docstrings out
        entries = _of_bases(kind, "Parameters")
        named = [entries[name] for name in signature(kind).parameters if name in entries]
        text = _with(cleandoc(kind.__doc__), "Parameters", named)
        attributes = _of_bases(kind, "Attributes")
        attributes |= _INPUTS if hasattr(kind, "fit") else {}
        kind.__doc__ = _with(text, "Attributes", list(attributes.values()))
        for base in _bases(kind):
            for name, found in vars(base).items():
                method = found.__func__ if isinstance(found, classmethod) else found
                if isinstance(method, FunctionType) and name[0] != "_" and method.__doc__:
                    method.__doc__ = _of_method(method)
    return kind


def _of_method(method: FunctionType) -> str:
    """The docstring with what its signature has and it leaves out."""
    text, stated = cleandoc(method.__doc__ or ""), signature(method)
    blocks = "client" in stated.parameters or hasattr(method, "takes_blocks")
    entries = {"X": f"{_ROWS}{', or Dask collection' * blocks}\n    The rows."} | _SHARED
    for several, entry in _entries(text, "Parameters").items():
        entries |= dict.fromkeys(several.replace("*", "").split(", "), entry)
    names = [name for name in stated.parameters if name not in ("self", "cls")]
    if not set(names) <= entries.keys():
        return text  # not one for users
    text = _with(text, "Parameters", list(dict.fromkeys(entries[name] for name in names)))
    if stated.return_annotation is not Self or _body(text, "Returns"):
        return text
    draws = "ax" in names or "cls" in stated.parameters
    return _with(text, "Returns", [_DRAWN if draws else _SELF])


def _bases(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base.__module__.startswith("ulmus.")]


def _has(kind: type, names: str) -> bool:
    """Whether the class declares an attribute, or the first of several of one entry."""
    name = names.partition(",")[0]
    return hasattr(kind, name) or any(name in get_annotations(base) for base in kind.__mro__)


def _of_bases(kind: type, section: str) -> dict[str, str]:
    """What the class and its bases say of each name, the nearest class first."""
    found: dict[str, str] = {}
    for base in _bases(kind):
        for name, entry in _entries(cleandoc(base.__doc__ or ""), section).items():
            if base is kind or section == "Parameters" or _has(kind, name):
                found.setdefault(name, entry)
    return found


def _entries(text: str, section: str) -> dict[str, str]:
    """What a section says of each name."""
    parts: Any = re.split(r"\n(?=\S)", _body(text, section))
    return {part.partition(" : ")[0].strip(): part for part in parts if part}


def _body(text: str, section: str) -> str:
    """What is below the heading of a section, to the next heading or the end."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n\S|\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def _with(text: str, section: str, entries: list[str]) -> str:
    """The docstring with another section, which comes before those that follow it."""
    new, body = "\n".join(entries), _body(text, section)
    if not new or body:
        return text.replace(body, new, 1) if body else text
    later = "|".join(_SECTIONS[_SECTIONS.index(section) + 1 :])
    found = re.search(rf"^({later})\n---", text, re.MULTILINE)
    end = found.start() if found else len(text)
    heading = f"{section}\n{'-' * len(section)}\n{new}"
    return f"{text[:end].rstrip()}\n\n{heading}\n\n{text[end:]}".rstrip()
