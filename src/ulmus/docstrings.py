"""Docstrings shared by several classes.

A base class documents the parameters and attributes that its subclasses have in common, in numpydoc
as they would. `documented` adds to a subclass's docstring what it leaves out, but for attributes
that the subclass does not have.
"""

import re
from collections.abc import Callable
from inspect import get_annotations, signature
from typing import TypeVar

Class = TypeVar("Class", bound=type)
# The sections that follow another.
_LATER = {"Parameters": "Attributes|See Also|Examples", "Attributes": "See Also|Examples"}
# Attributes that scikit-learn sets, and no class declares.
_INPUTS = {"n_features_in_", "feature_names_in_"}


def documented(kind: Class) -> Class:
    """The class, its docstring completed from those of its bases in Ulmus.

    Parameters come in the order of its signature. Attributes of its own come first.
    """
    if kind.__doc__ is not None:  # Python's -OO leaves docstrings out
        entries = _entries(kind, "Parameters")
        names = signature(kind).parameters
        _write(kind, "Parameters", [entries[name] for name in names if name in entries])
        _write(kind, "Attributes", list(_entries(kind, "Attributes", _has).values()))
    return kind


def _has(kind: type, names: str) -> bool:
    """Whether the class declares an attribute, or the first of several of one entry."""
    name = names.partition(",")[0]
    own = any(name in get_annotations(base) for base in kind.__mro__)
    return own or name in _INPUTS or hasattr(kind, name)


def _entries(
    kind: type, section: str, wanted: Callable[[type, str], bool] | None = None
) -> dict[str, str]:
    """What the class and its bases say of each name that is ``wanted``, the nearest class first."""
    found: dict[str, str] = {}
    for base in kind.__mro__:
        if base.__module__.startswith("ulmus."):
            for entry in re.split(r"\n(?=    \S)", _body(base.__doc__ or "", section)):
                name = entry.partition(" : ")[0].strip()
                if base is kind or wanted is None or wanted(kind, name):
                    found.setdefault(name, entry)
    found.pop("", None)
    return found


def _body(text: str, section: str) -> str:
    """What is below the heading of a section, to the next heading or the end."""
    found = re.search(rf"    {section}\n    -+\n(.*?)(?=\n\n    \S|\n    $|\Z)", text, re.DOTALL)
    return found[1] if found else ""


def _write(kind: type, section: str, entries: list[str]) -> None:
    """Replace the section of a docstring, or put one before those that come later."""
    text, new = kind.__doc__ or "", "\n".join(entries)
    body = _body(text, section)
    later = re.search(rf"    ({_LATER[section]})\n    ---", text)
    if body:
        kind.__doc__ = text.replace(body, new, 1)
    elif new and later:
        heading = f"    {section}\n    {'-' * len(section)}\n{new}\n\n"
        kind.__doc__ = text[: later.start()] + heading + text[later.start() :]
