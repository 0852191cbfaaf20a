"""Docstrings that say once what several classes share.

A base class documents the parameters and attributes that its subclasses have in common, in numpydoc
as they would. `documented` adds to a subclass's docstring what it leaves out.
"""

import re
from inspect import signature
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def documented(kind: Class) -> Class:
    """The class, its docstring completed from those of its bases in Ulmus.

    Parameters come in the order of its signature. Attributes of its own come first.
    """
    if kind.__doc__ is not None:  # Python's -OO leaves docstrings out
        entries = _entries(kind, "Parameters")
        names = signature(kind).parameters
        _write(kind, "Parameters", [entries[name] for name in names if name in entries])
        _write(kind, "Attributes", list(_entries(kind, "Attributes").values()))
    return kind


def _entries(kind: type, section: str) -> dict[str, str]:
    """What the class and its bases say of each name, the nearest class first."""
    found: dict[str, str] = {}
    for base in kind.__mro__:
        if base.__module__.startswith("ulmus."):
            for entry in re.split(r"\n(?=    \S)", _body(base.__doc__ or "", section)):
                found.setdefault(entry.partition(" : ")[0].strip(), entry)
    found.pop("", None)
    return found


def _body(text: str, section: str) -> str:
    """What is below the heading of a section, to the next heading or the end."""
    found = re.search(rf"    {section}\n    -+\n(.*?)(?=\n\n    \S|\n    $|\Z)", text, re.DOTALL)
    return found[1] if found else ""


def _write(kind: type, section: str, entries: list[str]) -> None:
    """Replace the section of a docstring that has one."""
    text = kind.__doc__ or ""
    body = _body(text, section)
    kind.__doc__ = text.replace(body, "\n".join(entries), 1) if body else text
